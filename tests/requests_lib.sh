# SPDX-License-Identifier: Apache-2.0
#
# For tests of -s requests, which source it after lib.sh: a folder that goes away at the end, a recording of the host, and
# what holds in each.

work=$(mktemp -d)
dwell=$(realpath "$DWELL")
port=$((20000 + $$ % 9000)) # as they are left alone by the kernel
pids=()
end() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

ask() { sqlite3 -readonly "$session" "$1"; }

# all COLUMN [WHERE]: its sum over all windows and endpoints
all() { ask "SELECT coalesce(sum($1), 0) FROM request_counts c JOIN endpoints e ON e.id = c.endpoint WHERE ${2:-1}"; }

# is_within SEEN TRUTH PERMILLE
is_within() {
	awk -v seen="$1" -v truth="$2" -v most="$3" 'BEGIN {
		off = seen > truth ? seen - truth : truth - seen
		exit !(truth > 0 && off * 1000 <= truth * most)
	}'
}

# budgets_close NAME: of all requests that were kept
budgets_close() {
	local parts
	parts=$(ask "SELECT group_concat(name, ' + ') FROM pragma_table_info('requests') WHERE cid > (SELECT cid FROM pragma_table_info('requests') WHERE name = 'sent_bytes')
		AND name LIKE '%_ns' AND name != 'wait_ns'")
	check "$1: the parts of each request sum to its window, 0 ns" test \
		"$(ask "SELECT count(*) FROM requests WHERE $parts != window_ns")" = 0
	check "$1: requests were kept" test "$(ask "SELECT count(*) FROM requests")" -gt 0
}

# bytes_close NAME [WHERE]: what the kernel counted is in turns, or has a reason; nothing moved unseen
bytes_close() {
	check "$1: bytes in turns and outside are the kernel's: $(all kernel_bytes "$2")" test "$(all kernel_bytes "$2")" -eq \
		"$(all "received_bytes + sent_bytes + before_bytes + no_turn_bytes + unread_bytes + unseen_bytes" "$2")"
	check "$1: no byte moved unseen" test "$(all unseen_bytes "$2")" -eq 0
}

# latency_of_all PORT: of all its answered requests, by the kernel's own sum, in which each one is. (Those of endpoints are
# estimates where requests were sampled.) Without set-up, of which each has a record.
latency_of_all() {
	ask "SELECT (SELECT sum(v.sum) FROM series s JOIN series_values v ON v.series = s.id WHERE signal = 'requests'
			AND s.kind = 'latency' AND object IN (SELECT object FROM endpoints WHERE port = $1))
		- (SELECT coalesce(sum(latency_ns), 0) FROM request_counts c JOIN endpoints e ON e.id = c.endpoint
			WHERE port = $1 AND e.kind != 'request')"
}

# counts NAME SEEN TRUTH: within 0.1 %
counts() { check "$1: $2 requests, its client counts $3" is_within "$2" "$3" 1; }

stacks=(--no-stacks) # a test that looks at them empties this

# measure SECONDS [OPTION]...: records the host while the caller goes on, into $session
measure() {
	local seconds=$1
	shift
	"$dwell" record -a -q -s requests --max-overhead 100% "${stacks[@]}" -d "$seconds" -o "$session" "$@" \
		>"$work/said" 2>&1 &
	recorder=$!
	until_begun "$session"
}
# measured: it has ended
measured() { kill -INT $recorder 2>/dev/null; wait $recorder; }

no_secrets() { check "$1: no secret is in the session" eval "! grep -aq hunter2secret '$session'"; }
