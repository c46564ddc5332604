# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	javac -d "$work" tests/mysteries/05-pool/Pool.java || return
	spawn java java -Xmx256m -Dsun.net.httpserver.nodelay=true -cp "$work" Pool 28050 "$truth/java.log"
	java=$spawned
	until_listening 28050 || return
	spawn load "$programs/load" 28050 16 0 /
	sleep 2
	# shellcheck disable=SC2046 # a list of pids
	sample "gc=exec:$(grep -l '^G1\|^GC' /proc/"$java"/task/*/comm | cut -d/ -f5 | paste -sd,)" "all=cpu:$java"
}
