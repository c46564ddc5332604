#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that root makes for a session: nobody else's are touched, nobody else sees them grow, and
# sudo opens no place to a person that is not theirs.
. tests/lib.sh
need_root

PERSON=65534
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -m 1777 "$work/shared"
mkdir -m 700 "$work/roots"
install -d -o $PERSON -g $PERSON "$work/theirs"

record() { timeout 60 "$DWELL" record -q -o "$1" -- true; }
sudo_record() { SUDO_UID=$PERSON SUDO_GID=$PERSON record "$1"; }
refuses() { ! "$@"; }
as_person() { setpriv --reuid $PERSON --regid $PERSON --clear-groups "$@"; }

echo root:x:0 >"$work/passwd"
chmod 644 "$work/passwd"
check "what is no session is refused" refuses record "$work/passwd"
check "and has its mode and its bytes" test "$(stat -c %a "$work/passwd"):$(cat "$work/passwd")" = 644:root:x:0

as_person sh -c ": >'$work/shared/empty.dwell' && chmod 666 '$work/shared/empty.dwell'"
check "another user's file is refused, even an empty one" refuses record "$work/shared/empty.dwell"

check "a session is made" record "$work/own.dwell"
exec 5<"$work/own.dwell"
before=$(stat -L -c %i:%s /dev/fd/5)
check "and made again" record "$work/own.dwell"
check "who had the old one open has the old one" test "$(stat -L -c %i:%s /dev/fd/5)" = "$before"
check "the name has a new one" test "$(stat -c %i "$work/own.dwell")" != "${before%:*}"
exec 5<&-
ln "$work/own.dwell" "$work/again.dwell"
check "one with two names is refused" refuses record "$work/own.dwell"

echo "a diary" >"$work/diary-wal"
check "a companion that is no log is refused" refuses record "$work/diary"
check "and is as it was" grep -qx "a diary" "$work/diary-wal"
check "nothing new is left beside it" test "$(find "$work" -name 'diary*' | wc -l)" -eq 1
as_person sh -c ": >'$work/shared/x.dwell-wal' && chmod 666 '$work/shared/x.dwell-wal'"
check "another user's companion is refused" refuses record "$work/shared/x.dwell"

check "sudo: a file in their own folder" sudo_record "$work/theirs/a.dwell"
check "sudo: it is theirs" test "$(stat -c %u:%g:%a "$work/theirs/a.dwell")" = $PERSON:$PERSON:600
check "sudo: it is made again" sudo_record "$work/theirs/a.dwell"
check "sudo: one file" test "$(find "$work/theirs" -type f | wc -l)" -eq 1
for place in "$work/roots/a.dwell" "$work/a.dwell" /etc/cron.d/dwell-test; do
	check "sudo: $place is not opened to them" refuses sudo_record "$place"
	check "sudo: $place is not there" test ! -e "$place"
done
check "sudo: root's own session is not given to them" refuses sudo_record "$work/again.dwell"
check "sudo: and why is said" sh -c "SUDO_UID=$PERSON SUDO_GID=$PERSON '$DWELL' record \
	-o '$work/roots/a.dwell' -- true 2>&1 | grep -q 'who called sudo, may not write there'"
finish
