# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	mkfifo "$work/a" "$work/b"
	spawn load sh -c "exec '$programs/stage' load <'$work/b'"
	spawn transform sh -c "exec '$programs/stage' transform <'$work/a' >'$work/b'"
	spawn extract sh -c "exec '$programs/stage' extract >'$work/a'"
	sleep 0.5
}
