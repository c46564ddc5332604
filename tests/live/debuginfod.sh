#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug files from a server: this one is on the loopback. Without one, or with one that does not answer,
# nobody waits for long.
. tests/lib.sh

work=$(mktemp -d)
server=
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	rm -rf "$work"
}
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
finish
