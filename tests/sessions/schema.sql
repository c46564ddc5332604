-- SPDX-License-Identifier: Apache-2.0
-- The tables of docs/session.md, for sessions that tests make up.
PRAGMA application_id = 0x4457454c;
PRAGMA user_version = 1004;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE windows (id INTEGER PRIMARY KEY, begin_ns, end_ns);
CREATE TABLE states (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE contexts (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE object_kinds (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE cpu_uses (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE sample_kinds (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE stops (id INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE syscalls (call INTEGER PRIMARY KEY, name TEXT, meaning TEXT);
CREATE TABLE losses (window, cause, count);
CREATE TABLE hooks (hook, fallback_of, attached, failure, events, bpf_ns, misses, measured_ns, scaled_ns, is_rare);
CREATE TABLE overhead (window, bpf_ns, user_cpu_ns, rss_bytes, map_bytes, ring_fill_max);
CREATE TABLE steps (ts_ns, what, why);
CREATE TABLE coverage (part TEXT PRIMARY KEY, covered_ns, total_ns, thinned);
CREATE TABLE cgroup_limits (cgroup TEXT PRIMARY KEY, cpu_quota_us, cpu_period_us, memory_high, memory_max, io_limit,
	nr_throttled, throttled_us, cpu_cgroup, memory_cgroup, io_cgroup);
CREATE TABLE cgroup_processes (cgroup, pid, PRIMARY KEY (cgroup, pid));
CREATE TABLE counters (name, subject, begin, end, PRIMARY KEY (name, subject));
CREATE TABLE speed (window INTEGER PRIMARY KEY, loop_ns);
CREATE TABLE threads (id INTEGER PRIMARY KEY, pid, process_start_ns, tid, start_ns, begin_ns, end_ns,
	comm, is_kernel, is_dead, threads, voluntary, involuntary, kernel_voluntary,
	kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed, account_ns);
CREATE TABLE ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count, end_ns);
CREATE TABLE calls (window, thread_tid, thread_start_ns, thread_begin_ns, call, count, failed, cpu_ns,
	total_ns);
CREATE TABLE faults (window, thread_tid, thread_start_ns, thread_begin_ns, begun, ended, failed);
CREATE TABLE objects (id INTEGER PRIMARY KEY, kind, name, pid);
CREATE TABLE processes (pid, start_ns, parent, comm, exe, uid, cgroup, container, unit, pod, service,
	pid_ns, mnt_ns, net_ns, is_kernel, exit_code, end_ns, PRIMARY KEY (pid, start_ns));
CREATE TABLE execs (ts_ns, pid, start_ns, parent, exe);
CREATE TABLE cpus (window, cpu, use, ns);
CREATE TABLE cpu_queues (window, cpu, queue_ns, switches, missed);
CREATE TABLE samples (window, pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop,
	waker, waker_kind, waker_stack, count, weight_ns, ns, mismatches);
CREATE TABLE rivals (window, thread, pid, tid, comm, policy, ns);
CREATE TABLE chains (window, thread, state, call, object, culprit_pid, culprit_tid, culprit_comm, part_state,
	part_call, part_object, part_culprit, ns);
CREATE TABLE loops (window, thread, turns, long_turns, long_ns, max_ns);
CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent, frame, depth);
CREATE TABLE frames (id INTEGER PRIMARY KEY, module, address, name, source, file, line);
CREATE TABLE inlines (frame, depth, name, file, line);
CREATE TABLE modules (id INTEGER PRIMARY KEY, kind, path, build_id);
CREATE TABLE series (id INTEGER PRIMARY KEY, signal, kind, pid, start_ns, detail, object, more);
CREATE TABLE series_values (window, series, count, sum, max, orphan_starts, orphan_ends, expired, sum1, sum2, buckets);
CREATE TABLE slow (window, ts_ns, signal, kind, pid, start_ns, tid, detail, object, more, ns, stack, value0,
	value1, cpu_ns, runq_ns, lock_ns, disk_ns, net_ns, other_ns, disk_queue_ns, disk_service_ns);
CREATE TABLE labels (signal, id, name, PRIMARY KEY (signal, id));
CREATE TABLE shares (signal TEXT PRIMARY KEY, places, used, folded, lost, unpaired, slow_unspoken);
CREATE TABLE connections (id INTEGER PRIMARY KEY, window, pid, start_ns, direction, object, local, peer, begin_ns,
	end_ns, connect_ns, accept_wait_ns, lifetime_ns, reply_ns, sent_bytes, received_bytes, retransmits, rtt_ns,
	min_rtt_ns, cwnd, mss_bytes, receive_buffer_bytes, send_buffer_bytes, drops, ended, error);
CREATE TABLE block_regions (device, region, bytes, over_bytes, requests, PRIMARY KEY (device, region));
CREATE TABLE details (signal, id, name, PRIMARY KEY (signal, id));
CREATE TABLE ledger_sums (thread, state, call, object, holder, waker, waker_kind, ns, count);
CREATE TABLE window_sums (window, state, ns, count, steps);
CREATE TABLE rivals_sums (thread, pid, tid, comm, policy, ns);
CREATE TABLE chains_sums (thread, state, call, object, culprit_pid, culprit_tid, culprit_comm, part_state, part_call,
	part_object, part_culprit, ns);
CREATE TABLE samples_sums (pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop, waker,
	waker_kind, waker_stack, count, weight_ns, ns, mismatches, squares);
CREATE TABLE stack_sums (kind, stack, count, weight_ns);
CREATE TABLE calls_sums (thread_tid, thread_start_ns, thread_begin_ns, call, count, failed, cpu_ns, total_ns);
CREATE TABLE endpoints (id INTEGER PRIMARY KEY, pid, start_ns, object, port, protocol TEXT, name TEXT, kind TEXT);
CREATE TABLE request_counts (window, endpoint, requests, errors, answered, closed, reset, timed_out, open, thread, loop,
	pool, records, several, latency_ns, queue_ns, received_bytes, sent_bytes, before_bytes, no_turn_bytes, unread_bytes,
	unseen_bytes, kernel_bytes);
CREATE TABLE request_latency (window, endpoint, buckets);
CREATE TABLE requests (id INTEGER PRIMARY KEY, window, endpoint, pid, start_ns, tid, connection, turn, client_port, parent,
	begin_ns, queue_ns, window_ns, weight, status TEXT, outcome TEXT, model TEXT, received_bytes, sent_bytes, cpu_ns, runq_ns, throttled_ns,
	lock_ns, signalled_ns, disk_ns, net_ns, ipc_ns, sleep_ns, memory_ns, poll_ns, pool_queue_ns, other_ns, loop_busy_ns,
	handed_over_ns, unattributed_ns, trace_id TEXT, wait_part TEXT, wait_ns, wait_stack, wait_stop);
CREATE TABLE request_calls (id INTEGER PRIMARY KEY, window, request, grade TEXT, pid, start_ns, tid, object, port, client_port,
	protocol TEXT, name TEXT, status TEXT, outcome TEXT, begin_ns, wait_ns, window_ns, sent_bytes, received_bytes, trace_id TEXT);
CREATE TABLE request_links (window, pid, start_ns, confirmed, backward, conflict, forward, refused, unlinked, published, checked,
	wrong);
