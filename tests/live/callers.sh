#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whose rights open a file: with file capabilities (setcap) the caller's, not dwell's. Another user's link is not
# followed; a session that loses its name is not reported as written; a set-user-ID copy does not run.
. tests/lib.sh
need_root

PERSON=65534
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -m 1777 "$work/shared"
install -d -o $PERSON -g $PERSON "$work/theirs"
as_person() { setpriv --reuid $PERSON --regid $PERSON --clear-groups "$@"; }
# exits STATUS WORDS COMMAND...: with this status, and says so
exits() {
	local expected=$1 words=$2 status
	shift 2
	"$@" >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	[ $status -eq "$expected" ] && grep -q -- "$words" "$work/said"
}

# --- a session that loses its name
# disturbed COMMAND...: record, and do that after half a second
disturbed() {
	(cd "$work" && rm -f ./*.dwell* && exec "$OLDPWD/$DWELL" record -q -a --no-stacks -d 2 -o x.dwell) >"$work/said" 2>&1 &
	local pid=$!
	until_begun "$work/x.dwell"
	(cd "$work" && "$@")
	wait $pid
	echo "status $?" >>"$work/said"
	cat "$work/said"
}
check "deleted while it is written: it is said, with status 1" sh -c "$(declare -f until_begun disturbed); work=$work OLDPWD=$PWD DWELL=$DWELL
	disturbed rm x.dwell | tee $work/all; grep -q 'x.dwell: its file was deleted' $work/all && grep -q 'status 1' $work/all"
check "moved: likewise, and the session is complete" sh -c "$(declare -f until_begun disturbed); work=$work OLDPWD=$PWD DWELL=$DWELL
	disturbed mv x.dwell y.dwell | tee $work/all; grep -q 'x.dwell: its file was moved' $work/all && grep -q 'status 1' $work/all &&
	$DWELL report $work/y.dwell | grep -q quality:"
check "replaced: likewise" sh -c "$(declare -f until_begun disturbed); work=$work OLDPWD=$PWD DWELL=$DWELL
	disturbed sh -c 'mv x.dwell z.dwell; echo other >x.dwell' | tee $work/all
	grep -q 'another took its name' $work/all && grep -q 'status 1' $work/all && grep -qx other $work/x.dwell"
rm -f "$work"/x.dwell*

# --- export -o
"$DWELL" record -q -o "$work/own.dwell" -- true
echo precious >"$work/precious"
as_person ln -s "$work/precious" "$work/shared/flame.svg"
check "another user's link is not followed" exits 1 "symbolic link of another user" "$DWELL" export -f folded -o "$work/shared/flame.svg" "$work/own.dwell"
check "what it leads to is as it was" grep -qx precious "$work/precious"
as_person sh -c "echo theirs >'$work/shared/theirs'"
check "another user's file is not replaced" exits 1 "belongs to another user" "$DWELL" export -f folded -o "$work/shared/theirs" "$work/own.dwell"
ln -s "$work/precious" "$work/link"
check "a link of the caller's own is followed" "$DWELL" export -q -f folded -o "$work/link" "$work/own.dwell"
check "and is still a link" test -L "$work/link"
check "/dev/stdout is written to" sh -c "'$DWELL' export -q -f speedscope -o /dev/stdout '$work/own.dwell' | grep -q speedscope"
check "a file of the caller's own is written again" sh -c "'$DWELL' export -q -f speedscope -o '$work/a' '$work/own.dwell' &&
	'$DWELL' export -q -f speedscope -o '$work/a' '$work/own.dwell' && grep -q speedscope '$work/a'"

# --- file capabilities
cp "$DWELL" "$work/dwell"
cp "$TOOLS/workloads/oracle" "$work/secret"
chmod 700 "$work/secret"
if setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep "$work/dwell" 2>/dev/null; then
	check "setcap: root's session is not readable through dwell" exits 1 "Permission denied" as_person "$work/dwell" report "$work/own.dwell"
	check "setcap: nor by export" exits 1 "Permission denied" as_person "$work/dwell" export -f folded "$work/own.dwell"
	check "setcap: nor the symbols of a program that they may not read" exits 1 "cannot open.*Permission denied" \
		as_person "$work/dwell" trace -d 1 -u "$work/secret:main"
	check "setcap: it records all the same" as_person "$work/dwell" record -q -a -d 1 -o "$work/theirs/a.dwell"
	check "setcap: into a file of theirs" test "$(stat -c %u "$work/theirs/a.dwell")" = $PERSON
	check "setcap: not where they may not write" exits 1 "Permission denied" as_person "$work/dwell" record -q -a -d 1 -o "$work/b.dwell"
	check "setcap: they read their own" exits 0 "quality:" as_person "$work/dwell" report "$work/theirs/a.dwell"
	setcap -r "$work/dwell"
else
	echo "ok - file capabilities # SKIP this file system has none"
fi
chmod 4755 "$work/dwell"
check "a set-user-ID copy is refused" exits 77 "set-user-ID" as_person "$work/dwell" report "$work/own.dwell"
finish
