# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# Half a CPU's time of Python per customer is what a request costs; an index makes the query cheap.
shop() {
	start_postgres 28025 || return
	sql -d postgres -c 'create database shop' &&
		sql -d shop -c 'create table orders (id serial, customer int, total int, note text)' -c "insert into orders
			(customer, total, note) select i % 1000, i, repeat('x', 100) from generate_series(1, $1) i" \
			-c "$2" -c 'analyze orders'
}

# serve ROUNDS CONNECTIONS: the web server behind nginx, and its load
serve() {
	spawn app env "LD_PRELOAD=$(realpath "$programs/gilclock.so")" /usr/bin/python3 tests/mysteries/02-gil/app.py 28021 28025 "$1"
	app=$spawned
	until_listening 28021 && start_nginx 28020 28021 && until_listening 28020 || return
	spawn load "$programs/load" 28020 "$2" 0 '/report?customer=7'
	sleep 1
}

setup() {
	shop 50000 'create index on orders (customer)' && serve 30000 6 || return
	sample "backends=exec:$(backends)" "backends_delay=delay:$(backends)"
}
