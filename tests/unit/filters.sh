#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which processes a report and an export are of, and by what they are grouped: --comm, --exe, --service, --container,
# --pod, --cgroup, --user, --group-by.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }

make_session server "$dir"
make_session stacks "$dir"
make_session signals "$dir"
server=$dir/server.dwell stacks=$dir/stacks.dwell
# 4700 is server; 2000 to 2011 are daemons: two pods, two users, a tree of cgroups
python3 - "$server" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""
UPDATE processes SET uid = 0, cgroup = '/system.slice/server.service' WHERE pid = 4700;
UPDATE processes SET uid = 33 + pid % 2, cgroup = '/kube/pod' || (pid % 2) || '/' || pid,
    pod = CASE pid % 2 WHEN 0 THEN '11112222-aaaa' ELSE '11113333-bbbb' END,
    container = 'c0ffee' || pid WHERE pid BETWEEN 2000 AND 2011;
UPDATE processes SET cgroup = '/kubernetes' WHERE pid = 900;
""")
END
# pids OPTIONS...: of the processes that the report has, comma-separated
pids() { "$DWELL" report --json "$server" "$@" | jq -r '[.processes[].pid] | sort | map(tostring) | join(",")'; }
even=2000,2002,2004,2006,2008,2010 odd=2001,2003,2005,2007,2009,2011
daemons=2000,2001,2002,2003,2004,2005,2006,2007,2008,2009,2010,2011
# has EXPECTED OPTIONS...
has() {
	local found
	found=$(pids "${@:2}")
	[ "$found" = "$1" ] || { echo "found $found"; return 1; }
}
check "--comm" has 4700 --comm server
check "it is a pattern" has $daemons --comm 'dae*'
check "or several" has $daemons,4700 --comm 'dae?on,server'
check "it is not a part of a name" says 1 "no process" "$DWELL" report --comm serv "$server"
check "--exe by its path" has 4700 --exe /usr/bin/server
check "and by its file's name" has 4700 --exe server
check "and by a pattern of the path" has $daemons --exe '/usr/sbin/*'
check "--service" has $daemons --service daemon.service
check "--container by the beginning of an id" has 2000,2001,2002,2003,2004,2005,2006,2007,2008,2009 --container c0ffee200
check "--pod, too" has $even --pod 11112222
check "--cgroup has what is below it" has $daemons --cgroup /kube
check "not what begins alike" has $odd --cgroup /kube/pod1/
check "--user by number" has $even --user 33
check "and by name" has 4700 --user root
check "or both" has $even,4700 --user root,33
check "several options must all fit" has $even --service daemon.service --user 33
check "with --pid too" has 2000 --user 33 --pid 2000,2001
check "--tid below it" has 4700 --comm server --tid 4711
check "a part of the session too" sh -c "'$DWELL' report --json '$server@1s-2s' --comm server | jq -e '[.processes[].pid] == [4700]'"

check "none that fits is told, with what is written alike" says 1 "no process of the session has --service demon.service; there is daemon.service" \
	"$DWELL" report "$server" --service demon.service
check "with nothing else" sh -c "! grep -q 'server.service' '$dir/err'"
check "a kind that nobody has is told" says 1 "--pod x; none of them has one" "$DWELL" report "$dir/signals.dwell" --pod x
check "options that do not go together are told" says 1 "has all of service server.service, user 33" "$DWELL" report "$server" \
	--service server.service --user 33
check "a user who is not there is told" says 64 "no such user" "$DWELL" report "$server" --user no-such-user-here
check "an empty name is wrong usage" says 64 "--comm needs a name" "$DWELL" report "$server" --comm ""
check "the head says what is shown" says 0 "shown: service daemon.service, user 33: 6 processes" "$DWELL" report "$server" \
	--service daemon.service --user 33
check "a report of all has no such line" sh -c "! '$DWELL' report '$server' | grep -q '^shown:'"

# Sums of what is chosen are those of what was recorded
time_of() { "$DWELL" report --json "$server" "$@" | jq '[.processes[].ledger[].ns] | add'; }
check "two halves are the whole" test "$(($(time_of --user 33) + $(time_of --user 34)))" = "$(time_of --service daemon.service)"
check "a session that has no process table answers" says 1 "no process" "$DWELL" report "$dir/stacks.dwell" --service none

# Export
samples() { "$DWELL" export -f folded --weight count "$stacks" "$@" 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }'; }
pid=$("$DWELL" report --json "$stacks" | jq '.processes[0].pid')
comm=$("$DWELL" report --json "$stacks" | jq -r '.processes[0].comm')
check "export has the samples of what is chosen" test "$(samples --comm "$comm")" = "$(samples --pid "$pid")"
check "that is not all" test "$(samples --comm "$comm")" -lt "$(samples)"
check "none that fits is told there too" says 1 "no process of the session has --comm nobody" "$DWELL" export -f folded "$stacks" --comm nobody

# Groups
group() { "$DWELL" report --json "$server" "${@:3}" --group-by "$1" | jq -c "[.groups[] | [.name, .processes]] | sort" | grep -qxF -- "$2"; }
check "by comm" sh -c "'$DWELL' report --json '$server' --group-by comm | jq -e '[.groups[] | select(.name == \"daemon\").processes] == [12]'"
check "by user" group user '[["uid 33",6],["uid 34",6]]' --comm daemon
check "by pod" group pod '[["11112222-aaaa",6],["11113333-bbbb",6]]' --comm daemon
check "those that have none are in one group" group pod '[["(none)",1]]' --comm server
check "by pid" group pid '[["server (4700)",1]]' --comm server
sums_agree() {
	"$DWELL" report --json "$server" --group-by "$1" | jq -e '([.groups[].ledger[].ns] | add) == ([.processes[].ledger[].ns] | add) and
		([.groups[].processes] | add) == (.processes | length)'
}
for what in comm exe service container pod cgroup user pid; do
	check "groups by $what have all of the time" sums_agree $what
	check "JSON by $what follows its schema" sh -c "'$DWELL' report --json '$server' --group-by $what >'$dir/out' &&
		tests/schema.py docs/report.schema.json '$dir/out'"
	check "the text has a table by $what" says 0 "BY $(tr a-z A-Z <<<$what)" "$DWELL" report "$server" --group-by $what
done
check "without it JSON has services" sh -c "'$DWELL' report --json '$server' | jq -e '.group_by == \"service\" and .filter == {}'"
check "a wrong one is told with all that there are" says 64 "--group-by is one of comm, exe, service, container, pod, cgroup, user, pid" \
	"$DWELL" report "$server" --group-by host
finish
