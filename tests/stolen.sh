# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # for who sources it
#
# What the hypervisor takes is lost to programs that time themselves, and to who measures them: above
# STOLEN_MOST % of the CPU time, a figure that is off says nothing.
STOLEN_MOST=5

# cpu_time: what was stolen so far, and all there was, in ticks; STAT_FILE is a test's own /proc/stat
cpu_time() { awk '/^cpu / { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' "${STAT_FILE:-/proc/stat}"; }

# stolen_since TIME: percent of the CPU time since cpu_time gave that
stolen_since() {
	awk -v a="$1" -v b="$(cpu_time)" 'BEGIN { split(a, x); split(b, y); t = y[2] - x[2]
		printf("%d", (t > 0) ? (y[1] - x[1]) * 100 / t : 0) }'
}
