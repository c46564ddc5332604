#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# duplicate_symbols.sh OBJECT...: fails where two of the objects define the same symbol for others. In an archive that
# links silently as long as only one of both is drawn in, and which one that is depends on who else is.

set -u -o pipefail

nm --defined-only --extern-only --print-file-name "$@" | awk '
	{
		file = $1
		sub(/:[^:]*$/, "", file) # the address
		if ($NF in first) {
			print $NF ": defined in " first[$NF] " and in " file
			bad++
		} else {
			first[$NF] = file
			symbols++
		}
	}
	END {
		if (!symbols)
			print "no symbol was found: are these objects?"
		else if (!bad)
			print "ok - " symbols " symbols, each is defined once"
		exit bad || !symbols
	}'
