# SPDX-License-Identifier: Apache-2.0
#
# A report (dwell.report/1) against what the program said of itself: prints a TAP line per check.
#   $name   what ran, for the lines
#   $truth  what the oracle printed: "key value", see tests/workloads/oracle.h
#   $steal  what the hypervisor took from the host meanwhile, in ns
#   $tier   A or B

def tap(good; text): (if good then "ok" else "not ok" end) + " - \($name): \(text)";

def lines: $truth | split("\n") | map(select(. != "") | split(" "));
# {key: the sum of its values}, of the lines with one value
def truths: reduce (lines[] | select(length == 2)) as [$key, $value] ({}; .[$key] += ($value | tonumber));

def threads: [.processes[].threads[]];
def calls: [.processes[].calls[]?];
def sum(f): map(f) | add // 0;
# of one thread
def rows(f): [.ledger[] | select(f)] | length > 0;

# Within 1 % or 1 ms, and what the program's own clock cannot tell apart: $missing may be missing in dwell's figure,
# $extra may be too much in it.
def near($what; $seen; $truth; $missing; $extra):
	([$truth / 100, 1000000] | max) as $slack
	| tap($seen <= $truth + $slack + $extra and $seen + $missing >= $truth - $slack;
		"\($what) is what it measured itself: dwell \($seen) (and up to \($missing) that its clock cannot tell apart, "
		+ "at most \($extra) too much), itself \($truth)");

# A state or a call is compared on the threads that were in it. A program that times its own wait also times how long
# it waited for a CPU once it was woken (runq.woken), or had one that the hypervisor took; the kernel counts the latter
# for the whole host only. Other waits for a CPU begin while it runs, between two waits, and give no slack. Nor is there
# any for a wait for a CPU itself.
def near_on_threads($what; $truth; is_one):
	[threads[] | select(rows(is_one))]
	| (sum(.ledger[] | select(is_one) | .ns)) as $seen
	| (if $what | startswith("runq.") then 0 else sum(.ledger[] | select(.state == "runq.woken") | .ns) end) as $woken
	| near($what; $seen; $truth; $woken + $steal; 0);

# Its CPU clock does not count what the hypervisor took, and maybe not interrupts, which dwell finds on its CPU.
def near_cpu($truth):
	threads
	| sum(.ledger[] | select(.state | startswith("cpu")) | .ns) as $seen
	| sum(.ledger[] | select(.state == "cpu.irq" or .state == "cpu.softirq") | .ns) as $irq
	| near("the time on a CPU"; $seen; $truth; $irq; $steal + $irq);

# --- what holds for every program ---------------------------------------------------------

def closes:
	[threads[] | select(([.ledger[].ns] | add) != .wall_ns) | .tid] as $open
	| tap(($open | length) == 0 and .quality.closure_error_ns == 0;
		"parts - wall = 0 ns on each of \(threads | length) threads (not on: \($open[:5]))");

def is_attributed:
	(threads | sum(.ledger[] | select(.state == "blocked.other") | .ns)) as $other
	| tap(.quality.unattributed_ns * 1000 <= .quality.wall_ns;
		"unattributed is at most 0.1 %: \(.quality.unattributed_ns) of \(.quality.wall_ns) ns"),
	  tap($other * 100 <= .quality.wall_ns; "'other' is at most 1 %: \($other) of \(.quality.wall_ns) ns"),
	  tap(([.quality.lost[]] | add // 0) == 0; "nothing was lost: \(.quality.lost | tojson)");

# Each switch that never reached dwell may be missing in one count, and no more than those.
def counts_switches:
	def off: (.voluntary - .kernel_voluntary | fabs) + (.involuntary - .kernel_involuntary | fabs);
	.quality.missed_switches as $missed
	| [threads[] | select(off > 0) | .tid] as $wrong
	| (threads | sum(off)) as $off
	| tap($off <= $missed;
		"switches are the kernel's own count: \($off) off, \($missed) never reached dwell (on: \($wrong[:5]))");

def faults: reduce (.processes[].faults // empty) as $f ({}; reduce ($f | keys[]) as $k (.; .[$k] += $f[$k]));
def pairs_faults:
	if $tier == "B" then
		faults | tap(.begun == .ended + .failed and .begun > 0; "faults begun = ended + failed: \(tojson)")
	else empty end;

# In Tier B all but a moment at the start is.
def splits_cpu:
	(threads | sum(.ledger[] | select(.state == "cpu") | .ns)) as $unsplit
	| (threads | sum(.ledger[] | select(.state | startswith("cpu.")) | select(.state != "cpu.softirq") | .ns)) as $split
	| if $tier == "B" then tap($unsplit * 100 <= $split; "time on a CPU is split: \($split) ns, \($unsplit) are not")
	  else tap($split == 0; "time on a CPU is not split, in Tier A, but for soft interrupts") end;

def never_calls_a_pipe_disk:
	[threads[].ledger[] | select(.state == "blocked.disk" and (.object // "" | startswith("pipe")))] as $wrong
	| tap(($wrong | length) == 0; "no pipe is called a disk: \($wrong[:2] | tojson)");

# --- what a program says of itself --------------------------------------------------------

# "lock ADDRESS HOLDER WAITER COUNT NS": dwell must name the same holder in 95 % of the blocks.
def names_holders:
	[lines[] | select(.[0] == "lock")] as $locks
	| if ($locks | length) == 0 then empty else
		(reduce $locks[] as $l ({}; .["\($l[1]) \($l[2]) \($l[3])"] = ($l[4] | tonumber))) as $truth
		| (reduce (threads[] | .tid as $waiter | .ledger[] | select(.state == "blocked.lock") | . + {$waiter}) as $row
			({}; .["\($row.object // "" | split(" ") | last // "?") \($row.holder // 0) \($row.waiter)"] += $row.count)) as $seen
		| ([$truth | keys[] | [$truth[.], $seen[.] // 0] | min] | add) as $same
		| ([$truth[]] | add) as $all
		| ([lines[] | select(.[0] == "again") | .[1] | tonumber] | add // 0) as $again
		| ([$seen[]] | add // 0) as $named
		| tap($same >= 0.95 * $all; "lock and holder are right in \($same) of \($all) blocks"),
		  tap($named <= 1.05 * ($all + $again);
			"only locks are called lock: \($named) blocks, and there were \($all + $again)")
	end;

def checks_plugin($truth):
	(calls | map(select(.call == "openat"))) as $opens
	| ($opens | sum(.count) / $truth.requests) as $tried
	| ($opens | sum(.failed) / $truth.requests) as $failed
	| tap($truth.client_ns >= 10 * $truth.handler_ns;
		"the client waits \($truth.client_ns) ns, the server's timer says \($truth.handler_ns)"),
	  if $tier == "B" then
		tap($tried >= 16 and $tried < 18 and $failed >= 15 and $failed < 17;
			"openat is called \($tried) times a request, and fails \($failed) times")
	  else empty end;

def checks_faults($truth):
	if $tier == "B" then
		faults
		| tap(.failed == $truth.faults_failed; "faults that failed: \(.failed), itself \($truth.faults_failed)"),
		  tap((.ended - $truth.faults | fabs) <= $truth.faults / 100; "other faults: \(.ended), itself \($truth.faults)")
	else empty end;

def check_truth($key; $value; $all):
	if $key == "cpu" then near_cpu($value)
	elif $key | test("^(blocked|runq)\\.") then near_on_threads($key; $value; .state == $key)
	elif $key | startswith("call.") then
		($key | ltrimstr("call.")) as $call
		| near_on_threads($key; $value; .call == $call and (.state | startswith("blocked.")))
	elif $key | startswith("count.") then
		if $tier == "B" then
			($key | ltrimstr("count.")) as $call
			| (calls | map(select(.call == $call)) | sum(.count)) as $seen
			| tap($seen == $value; "\($call) was called \($seen) times, itself \($value)")
		else empty end
	elif $key == "threads" then
		(threads | sum(.threads // 1)) as $seen | tap($seen == $value; "threads: \($seen), itself \($value)")
	elif $key == "processes" then
		(.processes | length) as $seen | tap($seen == $value; "processes: \($seen), itself \($value)")
	elif $key == "requests" then checks_plugin($all)
	elif $key == "faults_failed" then checks_faults($all)
	else empty end;

. as $report | closes, is_attributed, counts_switches, pairs_faults, splits_cpu, never_calls_a_pipe_disk, names_holders,
(truths as $all | $all | to_entries[] as {$key, $value} | $report | check_truth($key; $value; $all))
