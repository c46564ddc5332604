#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The checker of contradictions: finds none in made-up sessions, and each that is put into a report.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for name in causes run server stacks signals; do
	make_session "$name" "$dir"
	check "no contradiction in $name.dwell" no_contradictions "$dir/$name.dwell"
done

# lies FILTER: a dwell whose JSON went through the filter contradicts its session.
lies() {
	cat >"$dir/liar" <<-END
		#!/bin/bash
		"$PWD/$DWELL" "\$@" | jq '$1'
	END
	chmod +x "$dir/liar"
	! tests/contradictions.py "$dir/liar" "$dir/causes.dwell" >"$dir/out" && grep -q "^not ok" "$dir/out"
}
check "the filter alone is no lie" eval '! lies .'
evidence() { echo "(.findings[] | select(.id == \"$1\") | .evidence[] | select(.name == \"$2\") | .value)"; }
while read -r id name; do
	check "a wrong $name of $id is found" lies "$(evidence "$id" "$name") *= 1.02"
done <<-END
	host-cpu busy
	host-cpu waiting
	cpu-top cpu
	cpu-wait waited
	cpu-wait ran_instead
	cpu-wait policy
	cpu-throttled throttled
	cpu-throttled quota
	lock-wait waited
	lock-wait holder
	handover-wait waker
	net-wait waited
	nagle delayed_ack
	pipe-wait waker
	disk-wait device_share
	disk-held held_share
	page-in object
	timeout waits
	wakeups wakeups
	wakeups cpu
	loop-busy longest
	softirq softirq
	accept-queue overflows
	pressure psi.cpu.some_us
	idle idle
	process duration
	chain waited
END
check "a share without a base is found" lies '(.findings[].evidence[] | select(.unit == "%") | .base) = null'
check "another number in a sentence is found" lies '(.findings[] | select(.id == "lock-wait") | .sentence) |= sub("80 %"; "81 %")'
check "another time in it too" lies '(.findings[] | select(.id == "lock-wait") | .sentence) |= sub("5.548 s"; "5.948 s")'
check "a verdict that is no finding is found" lies '.verdict[1] = "All is well."'
check "a process whose ledger is another is found" lies '.processes[0].ledger[0].ns += 1000000'
check "a part of a chain that is another is found" lies '.chains[0].links[0].parts[0].ns += 1000000'
check "a thread that holds a lock against itself is found" lies '(.processes[].threads[] | select(.tid == 105) | .ledger[0].holder) = 105'
finish
