# SPDX-License-Identifier: Apache-2.0
#
# Draws the table of features for run.sh. Reads lines "kernel, feature, status, cause or -"
# and the variable kernels; one row for each feature, one column for each kernel. A cell is
# the status with the cause behind a colon, or ? where the kernel's report has no such line.

BEGIN { FS = "\t" }

!seen[$2]++ { feature[++rows] = $2 }
{ cell[$2, $1] = $3 ($4 == "-" ? "" : ":" $4) }

# Text filled up to a width; not every awk knows printf's "*".
function pad(text, width) { return sprintf("%-" width "s", text) }

function content(row, column) {
	if (column == 0)
		return row == 0 ? "feature" : feature[row]
	if (row == 0)
		return kernel[column]
	return (feature[row], kernel[column]) in cell ? cell[feature[row], kernel[column]] : "?"
}

END {
	columns = split(kernels, kernel, " ")
	for (column = 0; column <= columns; column++)
		for (row = 0; row <= rows; row++)
			if (length(content(row, column)) > width[column])
				width[column] = length(content(row, column))

	for (row = 0; row <= rows; row++) {
		line = ""
		for (column = 0; column <= columns; column++)
			line = line pad(content(row, column), width[column]) "  "
		sub(/ +$/, "", line)
		print line
	}
}
