# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
#
# What the setups of the mysteries need. run.sh sources it, then a setup.sh, in a shell of its own. What is
# started is ended by its pid, what is made is removed, in reverse order.
#
#   $work    a folder for the mystery; programs may write there
#   $truth   a folder with files of truth (truth.h says how they look)
#   $here    the mystery's folder in tests/mysteries
#   $programs  where the Makefile puts the mysteries' programs
#   target   an array: the command, for those that `dwell run` records
#   before, after  arrays: the two commands, for those that `dwell diff` compares

programs=${BUILD:-build}/tests/mysteries
deferred=()
target=()
before=() after=()

defer() { deferred+=("$(printf '%q ' "$@")"); }

undo() {
	local i
	for ((i = ${#deferred[@]} - 1; i >= 0; i--)); do
		eval "${deferred[i]}" >/dev/null 2>&1
	done
	deferred=()
}

end_process() {
	kill "$1" 2>/dev/null || return 0
	for _ in $(seq 50); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.02
	done
	kill -9 "$1"
}

# spawn NAME COMMAND...: in the background; NAME is its file of truth. $spawned is its pid.
spawn() {
	local name=$1
	shift
	TRUTH=$truth/$name.log "$@" >"$work/$name.out" 2>&1 </dev/null &
	spawned=$!
	disown "$spawned"
	defer end_process "$spawned"
}

# sample NAME=KIND:ARGS...: counters of the kernel's, by sample.py
sample() { spawn kernel /usr/bin/python3 tests/mysteries/sample.py "$truth/kernel.log" "$@"; }

# say NAME TEXT: a truth that does not change
say() { echo "- $1 $2" >>"$truth/setup.log"; }

fail() {
	echo "# setup: $*" >&2
	return 1
}

# until_true WHAT COMMAND...: for 20 s at most
until_true() {
	local what=$1
	shift
	for _ in $(seq 400); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	fail "$what: not within 20 s"
}

listens() { ss -Hltn "sport = :$1" | grep -q .; }
until_listening() { until_true "a listener on port $1" listens "$1"; }

# make_cgroup CONTROLLER: one of its own below the controller's root, v1 or v2; $cgroup is its folder, $cgroup_name its name
make_cgroup() {
	cgroup_name=dwell-mystery-$number
	if [ -d "/sys/fs/cgroup/$1" ]; then
		cgroup=/sys/fs/cgroup/$1/$cgroup_name
		cgroup_version=1
	elif grep -qw "$1" /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		echo "+$1" >/sys/fs/cgroup/cgroup.subtree_control
		cgroup=/sys/fs/cgroup/$cgroup_name
		cgroup_version=2
	else
		fail "no cgroup hierarchy has the controller $1"
		return
	fi
	mkdir "$cgroup" || return
	defer leave_cgroup "$cgroup"
}

leave_cgroup() {
	for _ in $(seq 50); do
		rmdir "$1" && return
		sleep 0.1
	done
}

# in_cgroup COMMAND...: runs it there, as a process that was never elsewhere
# shellcheck disable=SC2016 # it is the inner shell's $$
in_cgroup() { exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$@"; }

# make_disk MB: an ext4 on a loop device; $disk is where it is mounted, $loop the device
make_disk() {
	truncate -s "$1M" "$work/disk.img" && mkfs.ext4 -q -E lazy_itable_init=0 "$work/disk.img" || return
	loop=$(losetup --find --show "$work/disk.img") || return
	defer losetup -d "$loop"
	disk=$work/disk
	mkdir "$disk" && mount "$loop" "$disk" || return
	defer umount "$disk"
}

# start_postgres PORT: a cluster in $work, for this mystery; psql as its owner by `sql`
start_postgres() {
	pg_port=$1
	pg_bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
	[ -x "$pg_bin/postgres" ] || { fail "no PostgreSQL"; return; }
	chmod 755 "$work"
	mkdir "$work/pg"
	chown postgres "$work/pg"
	as_postgres "$pg_bin/initdb" -D "$work/pg/data" -A trust -N >"$work/initdb.out" 2>&1 || return
	as_postgres "$pg_bin/pg_ctl" -D "$work/pg/data" -l "$work/pg/log" -w -o \
		"-p $pg_port -k $work/pg -c listen_addresses=127.0.0.1 -c fsync=off -c max_parallel_workers_per_gather=0 -c jit=off" \
		start >"$work/pg_ctl.out" 2>&1 || return
	defer as_postgres "$pg_bin/pg_ctl" -D "$work/pg/data" -m immediate stop
	postmaster=$(head -1 "$work/pg/data/postmaster.pid")
}

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env -C / "$@"; }
sql() { as_postgres "$pg_bin/psql" -q -h "$work/pg" -p "$pg_port" -v ON_ERROR_STOP=1 "$@"; }

# backends: the pids of the server's processes for clients
backends() { pgrep -P "$postmaster" -f "postgres: postgres shop" | paste -sd,; }

# start_nginx PORT UPSTREAM_PORT: in front of a server on this host
start_nginx() {
	cat >"$work/nginx.conf" <<-END
		worker_processes 1;
		pid $work/nginx.pid;
		error_log $work/nginx.log;
		events { worker_connections 256; }
		http {
			access_log off;
			client_body_temp_path $work/nginx-body;
			proxy_temp_path $work/nginx-proxy;
			fastcgi_temp_path $work/nginx-fastcgi;
			uwsgi_temp_path $work/nginx-uwsgi;
			scgi_temp_path $work/nginx-scgi;
			upstream app { server 127.0.0.1:$2; keepalive 32; }
			server {
				listen 127.0.0.1:$1;
				location / {
					proxy_pass http://app;
					proxy_http_version 1.1;
					proxy_set_header Connection "";
				}
			}
		}
	END
	nginx -c "$work/nginx.conf" -e "$work/nginx.log" || return
	defer end_process "$(cat "$work/nginx.pid")"
}
