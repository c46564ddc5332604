#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug files from a server: this one is on the loopback. Without one, or with one that does not answer,
# nobody waits for long.
# timing: limits in seconds are compared with the clock
. tests/lib.sh

work=$(mktemp -d)
server=
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	rm -rf "$work"
}
mkdir "$work/tmp"
chmod 1777 "$work" "$work/tmp"
export TMPDIR=$work/tmp # scratch folders are made there
trap clean_up EXIT
unset DEBUGINFOD_URLS http_proxy HTTP_PROXY
# The library remembers what it did not find: each request has a cache of its own.
fetch() { DEBUGINFOD_CACHE_PATH=$(mktemp -d "$work/cache.XXX") DEBUGINFOD_URLS=$1 "$TOOLS/fetch" "$2" "$3"; }
id=00112233445566778899aabbccddeeff00112233

# fails_with ERROR MS URL: what fetching ends with, within two seconds of the limit
fails_with() {
	local begin=$EPOCHREALTIME error spent
	error=$(fetch "$3" $id "$2" 2>&1)
	spent=$(awk "BEGIN { print int(($EPOCHREALTIME - $begin) * 1000) }")
	echo "$error after $spent ms"
	[ "$error" = "$1" ] && [ "$spent" -lt $(($2 + 2000)) ]
}
check "without a server there is no debug file" fails_with ENOENT 0 ""

if ! ldconfig -p | grep -q libdebuginfod.so.1; then
	check "without the library it says so" fails_with ENOSYS 0 http://127.0.0.1:9
	finish
fi

# A server of the files of a folder, and a listener that never says a word; both tell their ports.
mkdir -p "$work/root/buildid/$id"
head -c 100000 /dev/urandom >"$work/root/buildid/$id/debuginfo"
python3 - "$work" <<'END' &
import functools, http.server, os, socket, sys

class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

work = sys.argv[1]
silent = socket.create_server(("127.0.0.1", 0))
closed = socket.create_server(("127.0.0.1", 0))
handler = functools.partial(Quiet, directory=work + "/root")
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    ports = [s.getsockname()[1] for s in (server.socket, silent, closed)]
    closed.close()
    with open(work + "/ports.new", "w") as f:
        print(*ports, file=f)
    os.rename(work + "/ports.new", work + "/ports")
    server.serve_forever()
END
server=$!
for _ in $(seq 100); do
	[ ! -e "$work/ports" ] || break
	sleep 0.1
done
read -r serving silent closed <"$work/ports"

gives_the_file() {
	fetch "http://127.0.0.1:$serving" $id 10000 | cmp - "$work/root/buildid/$id/debuginfo"
}
lacks_another() {
	fetch "http://127.0.0.1:$serving" ffff$id 10000 2>&1 | grep -x ENOENT
}
check "a server that does not answer costs no more than the limit" fails_with ETIMEDOUT 1000 "http://127.0.0.1:$silent"
check "a server that is not there is told at once" fails_with ECONNREFUSED 1000 "http://127.0.0.1:$closed"
check "a server gives the file" gives_the_file
check "a server does not have another" lacks_another

# --- a stripped program, whose names only the server has ---

need_root
cat >"$work/burn.c" <<'END'
#include <time.h>
static volatile unsigned long sink;
static __attribute__((noinline)) void known_burner(void) { for (int i = 0; i < 100000; i++) sink += i; }
static __attribute__((noinline)) void known_caller(void) { known_burner(); sink++; }
int main(void) { for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;) known_caller(); return 0; }
END
gcc -O1 -g -Wl,--build-id=sha1 -o "$work/burn" "$work/burn.c"
id=$(readelf -n "$work/burn" | awk '/Build ID/ { print $3 }')
mkdir "$work/root/buildid/$id"
objcopy --only-keep-debug "$work/burn" "$work/root/buildid/$id/debuginfo"
strip "$work/burn"
file=$work/burn.dwell
check "a stripped program is recorded" "$DWELL" record -q -F 499 -o "$file" -- "$work/burn"
chmod 644 "$file"
served=http://127.0.0.1:$serving

# shown SERVER COMMAND...: its stdout in $work/out, its stderr in $work/told
shown() { DEBUGINFOD_URLS=$1 "${@:2}" >"$work/out" 2>"$work/told"; }
has_names() { grep -q known_burner "$work/out" && grep -q known_caller "$work/out"; }
has_addresses() { grep -q 'burn+0x' "$work/out" && ! grep known_ "$work/out"; }
is_named() { shown "$served" "$DWELL" "$@" "$file" && has_names; }
is_not_named() { shown "$served" "$DWELL" "$@" "$file" && has_addresses; }
knows_the_source() {
	is_named report --debuginfod --json &&
		jq -e '[.frames[] | select(.name == "known_burner").source] | unique == ["debuginfod"]' "$work/out"
}
is_kept_for_a_user() {
	mkdir -m 777 "$work/home"
	shown "$served" setpriv --reuid 65534 --clear-groups env HOME="$work/home" \
		"$DWELL" report --debuginfod --stacks "$file" && has_names &&
		find "$work/home" -path "*$id/debuginfo" | grep .
}
leaves_nothing() { ! find "$work/tmp" -mindepth 1 | grep .; }
check "without asking there are addresses" is_not_named report --stacks
check "report --debuginfod: names" is_named report --debuginfod --stacks
check "what came is told" grep -qE 'symbolized [1-9][0-9]* of [0-9]* frames; found [1-9][0-9]* of' "$work/told"
check "report --json: where the names came from" knows_the_source
check "export -f folded --debuginfod: names" is_named export -f folded --debuginfod=20
check "export -f speedscope --debuginfod: names" is_named export -f speedscope --debuginfod=20
check "root keeps no file" leaves_nothing
check "a user does, and has names" is_kept_for_a_user

# Nobody waits for longer than they said; the report is there all the same
keeps_the_limit() {
	local begin=$SECONDS
	shown "http://127.0.0.1:$silent" "$DWELL" report --debuginfod=4 --stacks "$file"
	cat "$work/told"
	has_addresses && [ $((SECONDS - begin)) -le 7 ]
}
check "the limit is for all files together" keeps_the_limit
check "a long wait is told" grep -q 'waiting for the debug file of' "$work/told"
check "that time was up, too" grep -q 'timed out before' "$work/told"

mv "$work/root/buildid/$id/debuginfo" "$work/sound"
objcopy --only-keep-debug "$DWELL" "$work/root/buildid/$id/debuginfo"
check "another program's file is not believed" is_not_named report --debuginfod --stacks
head -c 3000 "$work/sound" >"$work/root/buildid/$id/debuginfo"
check "a file that was cut has no names" is_not_named report --debuginfod --stacks

is_refused() {
	"$DWELL" "$@" "$file" >"$work/out" 2>"$work/told"
	[ $? -eq 64 ] && grep -q 'name some in DEBUGINFOD_URLS' "$work/told" && [ ! -s "$work/out" ]
}
check "report: no server: wrong usage, and what to do" is_refused report --debuginfod
check "export: likewise" is_refused export -f folded --debuginfod

within_5s() { for _ in $(seq 50); do ! "$@" >/dev/null || return 0; sleep 0.1; done; return 1; }
has_folder() { ! leaves_nothing; }
DEBUGINFOD_URLS=http://127.0.0.1:$silent "$DWELL" report --debuginfod=20 "$file" >/dev/null 2>&1 &
reporter=$!
check "while it waits it has a folder" within_5s has_folder
kill -9 $reporter
wait $reporter 2>/dev/null
check "killed meanwhile, it leaves none" within_5s leaves_nothing
finish
