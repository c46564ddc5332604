# SPDX-License-Identifier: Apache-2.0
#
# For test scripts, which source it: TAP results and what many of them need.
# BUILD is the build folder, set by the Makefile.

DWELL=${BUILD:-build}/dwell
TOOLS=${BUILD:-build}/tests
failures=0

# check "what is expected" COMMAND...: ok if the command succeeds; else its output is shown.
check() {
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok - $what"
	else
		echo "not ok - $what"
		echo "$output" | sed 's/^/#   /'
		failures=$((failures + 1))
	fi
}

finish() {
	[ -z "${work:-}" ] || check_sessions "$work"
	[ "$failures" -eq 0 ]
	exit
}

# check_sessions FOLDER: of the sessions that a test has left there, a few, and none of those that are large,
# half written or not dwell's own
SESSIONS_CHECKED=6
SESSION_BYTES=20000000
check_sessions() {
	local file files=() results pids=() i
	for file in "$1"/*.dwell; do
		if [ ! -f "$file" ] || [ -e "$file-wal" ] || [ "$(stat -c %s "$file")" -gt $SESSION_BYTES ] ||
			[ ${#files[@]} -ge $SESSIONS_CHECKED ] || ! is_whole "$file"; then
			continue
		fi
		files+=("$file")
	done
	results=$(mktemp -d)
	# The test has measured what it had to: as many at once as there are CPUs.
	for i in "${!files[@]}"; do
		(no_contradictions "${files[i]}" >"$results/$i" 2>&1; echo $? >"$results/$i.status") & pids+=($!)
		[ ${#pids[@]} -lt "$(nproc)" ] || { wait "${pids[@]}"; pids=(); }
	done
	[ ${#pids[@]} -eq 0 ] || wait "${pids[@]}" # without a name it would wait for what the test has left running
	for i in "${!files[@]}"; do
		check "no finding of $(basename "${files[i]}") contradicts its tables" result "$results/$i"
	done
	rm -rf "$results"
}
# result FILE: what a command in the background printed there, and its status
result() { cat "$1"; return "$(cat "$1.status")"; }
is_whole() {
	python3 - "$1" <<-'END' 2>/dev/null
		import sqlite3, sys
		db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
		sys.exit(not db.execute("SELECT 1 FROM meta WHERE key = 'ended_ns'").fetchone())
	END
}

# no_alarm REPORT: it has no warning, which begins with "!", but one that may be in any recording: where an interrupt
# comes while the program for it runs, the kernel skips it.
no_alarm() { ! grep -nE '^ +! ' "$1" | grep -v '! skipped by the kernel, as they came while the same program ran:'; }

# Scripts mount what they need; a machine may start without.
mount_tracefs() {
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
}

mount_securityfs() {
	mountpoint -q /sys/kernel/security ||
		mount -t securityfs securityfs /sys/kernel/security 2>/dev/null || :
}

# What the hypervisor has taken from all CPUs so far.
steal_ns() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f", $9 * 1e9 / hz }' /proc/stat; }

# exits STATUS COMMAND...: what it prints is in $dir/out and $dir/err
# shellcheck disable=SC2154 # dir is the test's own folder
exits() {
	local expected=$1 status
	shift
	"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ "$status" -eq "$expected" ] || { echo "exit $status: $(cat "$dir/err")"; return 1; }
}

# skip WHAT WHY: a check that is left out is printed, never silent
skip() { echo "ok - $1 # SKIP $2"; }

need_root() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "not ok - $(basename "$0") needs root: sudo make check-live"
		exit 1
	fi
}

# helpers_of PID [NAME]: the processes of dwell PID beside its own: dwell-NAME, or all of them
helpers_of() {
	ps -e -o ppid=,pid=,comm= | awk -v top="$1" -v name="dwell-$2" '{ parent[$2] = $1; comm[$2] = $3 } END {
		for (pid in comm) {
			for (at = pid; at > 1 && at != top; at = parent[at])
				;
			if (at == top && pid != top && index(comm[pid], name) == 1)
				print pid
		}
	}'
}

# until_begun SESSION: until dwell, in the background, has begun to record it
until_begun() {
	for _ in $(seq 200); do [ ! -s "$1-wal" ] || return 0; sleep 0.1; done
	return 1
}

# make_session NAME FOLDER: FOLDER/NAME.dwell out of tests/sessions
make_session() {
	python3 - "$1" "$2/$1.dwell" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[2])
		for name in "schema", sys.argv[1]:
		    with open(f"tests/sessions/{name}.sql") as sql:
		        db.executescript(sql.read())
	END
}

# no_contradictions SESSION: what its report says is what its tables say
no_contradictions() {
	local output
	output=$(tests/contradictions.py "$DWELL" "$1") || { grep -v "^ok" <<<"$output"; return 1; }
}

# documented_tables: the session's tables as docs/session.md has them, "table column column ...", sorted
documented_tables() {
	awk -F'|' '/^## Tables/ { on = 1 } /^## Views/ { on = 0 } on && /^\| `/ {
		gsub(/\([^)]*\)/, "", $4)
		gsub(/[`,]/, "", $2)
		gsub(/[`,]/, "", $4)
		$1 = $1 # of one space each
		columns = split($4, column, " ")
		for (i = split($2, table, " "); i > 0; i--) {
			printf "%s", table[i]
			for (c = 1; c <= columns; c++)
				printf " %s", column[c]
			print ""
		}
	}' docs/session.md | LC_ALL=C sort
}
