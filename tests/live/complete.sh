#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real programs as distributions build them, most without frame pointers: how many of their stacks lead
# to the outermost function, and how many of these agree with libdw's own unwinding of the same moments.
# timing: stacks of a program's first milliseconds are incomplete; a CPU that is taken away then makes them more
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/a.dwell
chmod 755 "$work"
end() {
	[ -z "${load:-}" ] || kill "$load" 2>/dev/null
	[ -z "${nginx:-}" ] || kill "$nginx" 2>/dev/null
	[ -z "${pg_bin:-}" ] || as_postgres "$pg_bin/pg_ctl" -D "$work/pg" -m immediate stop >/dev/null 2>&1
	rm -rf "$work"
}
trap end EXIT

PYTHON='import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    fib(15); json.loads(json.dumps(list(range(500))))
    sorted(str(i) for i in range(2000)); re.sub("a+", "b", "aaab" * 500)'
PERL='sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
while (1) { fib(12); my %h; $h{$_} = 1 for 1 .. 1000; join ",", sort keys %h }'
RUBY='def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
loop { fib(15); (1..1000).map(&:to_s).sort.join }'
BASH='fib() { local n=$1 a; ((n < 2)) && { r=$n; return; }; fib $((n - 1)); a=$r; fib $((n - 2)); r=$((a + r)); }
while :; do fib 12; done'
NODE='function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
for (;;) { fib(20); JSON.parse(JSON.stringify(Array.from({ length: 500 }, (_, i) => i))) }'

# judge NAME LEAST: of at least 500 samples in $file, so many per cent are complete
judge() {
	local all share
	all=$(sqlite3 -readonly "$file" "SELECT coalesce(sum(count), 0) FROM samples")
	share=$(sqlite3 -readonly "$file" "SELECT round(100.0 * sum(CASE WHEN stop IN (SELECT id FROM stops
		WHERE name IN ('none', 'end', 'zero')) THEN count ELSE 0 END) / sum(count), 2) FROM samples")
	check "$1: $share % of $all stacks are complete, at least $2" awk -v a="$all" -v s="$share" -v l="$2" \
		'BEGIN { exit !(a >= 500 && s >= l) }'
	sqlite3 -readonly "$file" "SELECT '#   ' || n.name || ' ' || sum(s.count) FROM samples s JOIN stops n
		ON n.id = s.stop WHERE n.name NOT IN ('none', 'end', 'zero') GROUP BY n.id"
}

# command NAME LEAST COMMAND...: runs for five seconds, of which the first milliseconds, until dwell knows the
# new process, are a small part. Before that for a moment: the first time ever, the tables of its files are
# built while it runs (node's take 40 ms), and then are in the cache.
command() {
	local name=$1 least=$2
	shift 2
	timeout 60 "$DWELL" record --tier A -o "$file" -- timeout 0.3 "$@" >/dev/null 2>&1
	timeout 60 "$DWELL" record -F 997 --tier A -o "$file" -- timeout 5 "$@" >/dev/null 2>"$work/err"
	judge "$name" "$least"
}

# agrees NAME COMMAND...: 500 of its samples, unwound by libdw too
agrees() {
	local name=$1 output
	shift
	output=$(timeout 60 "$TOOLS/agree" "$name" 500 "$@" 2>&1) && grep -q '^ok' <<<"$output" ||
		failures=$((failures + 1))
	echo "$output"
}

recursion=$TOOLS/workloads/recursion
command "C++ without frame pointers" 99.5 "$recursion" 10000
command "signals, vdso, threads" 99.5 "$TOOLS/workloads/oracle" signals
command "python3.11" 99.5 /usr/bin/python3.11 -c "$PYTHON"
command ruby 99.5 ruby -e "$RUBY"
command perl 99.5 perl -e "$PERL"
command bash 99.5 bash -c "$BASH"
command "node" 99 node -e "$NODE"
for what in rsa2048 ecdsap256 ed25519; do
	command "openssl speed $what" 99 openssl speed -seconds 10 "$what"
done

agrees "C++" "$recursion" 30000
agrees signals "$TOOLS/workloads/oracle" signals
agrees "python3.11" /usr/bin/python3.11 -c "$PYTHON"
agrees perl perl -e "$PERL"
agrees bash bash -c "$BASH"

# --- servers ---

# server NAME COMM LEAST: while $load runs
server() {
	timeout 60 "$DWELL" record -F 997 --tier A --comm "$2" -d 3 -o "$file" 2>"$work/err"
	kill "$load" 2>/dev/null
	wait "$load" 2>/dev/null
	judge "$1" "$3"
}

mkdir "$work/www" "$work/nginx"
echo hello >"$work/www/index.html"
cat >"$work/nginx/nginx.conf" <<-END
	worker_processes 2;
	daemon off;
	pid $work/nginx/pid;
	error_log $work/nginx/error;
	events { worker_connections 256; }
	http {
		access_log $work/nginx/access;
		client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx;
		uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
		server { listen 127.0.0.1:18080; root $work/www; }
	}
END
/usr/sbin/nginx -c "$work/nginx/nginx.conf" >/dev/null 2>&1 &
nginx=$!
sleep 0.5
wrk -t 1 -c 16 -d 20 http://127.0.0.1:18080/ >/dev/null 2>&1 &
load=$!
sleep 0.3
server "nginx under wrk" nginx 99.5
kill "$nginx"
wait "$nginx" 2>/dev/null
nginx=

# Some machines let nobody but root read who their users are, and initdb wants to know.
install -m 644 /etc/passwd "$work/passwd"
as_postgres() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount sh -c 'mount --bind "$0" /etc/passwd &&
		exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"' "$work/passwd" "$@"
}
pg_bin=$(echo /usr/lib/postgresql/*/bin)
mkdir "$work/pg"
chown postgres "$work/pg"
as_postgres "$pg_bin/initdb" -D "$work/pg" -A trust >/dev/null 2>&1
as_postgres "$pg_bin/pg_ctl" -D "$work/pg" -w -o "-c listen_addresses= -k $work/pg" start >/dev/null 2>&1
as_postgres "$pg_bin/pgbench" -h "$work/pg" -i -q postgres >/dev/null 2>&1
as_postgres "$pg_bin/pgbench" -h "$work/pg" -S -c 4 -T 20 postgres >/dev/null 2>&1 &
load=$!
sleep 0.5
server "postgres under pgbench -S" postgres 99.5
load=
finish
