-- SPDX-License-Identifier: Apache-2.0
-- `dwell record -a`, three windows, cut short, and everything wrong that can be: losses, a silent
-- hook, one that is not attached, steps of the governor, missed switches, hostile names, a futex, a
-- row that stands for several dead threads, kernel threads, a pool of idle ones.
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('dwell_version', '0.1'), ('kernel', '6.18.0'),
	('cpus', '4'), ('started_ns', '5000000000'), ('tier', 'A'), ('filter', 'all'), ('max_overhead', '1%'),
	('kind', 'record'), ('option.0', '-a'), ('option.1', '--max-overhead 1%');
INSERT INTO windows VALUES (0, 5000000000, 6000000000), (1, 6000000000, 7000000000), (2, 7000000000, 8000000000);
INSERT INTO states VALUES (30, 'blocked.new', 'a state that came later');
INSERT INTO losses VALUES (0, 'ring_full', 800), (1, 'ring_full', 12), (2, 'no_storage', 3), (2, 'gremlins', 1);
INSERT INTO hooks (hook, fallback_of, attached, failure, events, bpf_ns, misses, measured_ns, is_rare) VALUES ('ledger_switch', NULL, 1, NULL, 812000, 121800000, 5, 2000000000, 0),
	('ledger_softirq', NULL, 1, NULL, 0, 0, 0, 2000000000, 0),
	('ledger_iter', 'ledger_rows', 0, 'the kernel has no task iterator', 0, 0, 0, 0, 0),
	('sample_resume', NULL, 0, 'No such process', 0, 0, 0, 0, 0),
	('sample_resume_kprobe', 'sample_resume', 1, NULL, 9000, 9000000, 0, 2000000000, 0);
INSERT INTO overhead VALUES (0, 40000000, 9000000, 12582912, 8388608, 100000),
	(1, 41000000, 9000000, 12582912, 8388608, 4194304), (2, NULL, 9000000, 12683912, 8388608, 3000);
INSERT INTO coverage VALUES ('detail', 2000000000, 3000000000, 1), ('stacks', 3000000000, 3000000000, 4), ('tier_b server (4700)', 1500000000, 3000000000, 1);
INSERT INTO steps VALUES (6500000000, 'Tier B off for server (4700)', 'cost 1.4 %, allowed 1 %'),
	(7000000000, 'detail off', 'cost 1.2 %, allowed 1 %');
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel, exit_code) VALUES
	(4700, 100, 1, 'server', '/usr/bin/server', 'server.service', 0, NULL),
	(900, 50, 1, char(27) || '[31mred' || char(10), '/tmp/' || char(0x202e) || 'cod.exe', '', 0, NULL),
	(12, 0, 2, 'kworker/0:1', '', '', 1, NULL);
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	VALUES
	(10, 4700, 100, 4700, 100, 5000000000, 8000000000, 'server', 0, 0, 1, 300, 2, 300, 2, 30000000, 1000000, 0, 0),
	(11, 4700, 100, 4711, 101, 5000000000, 8000000000, 'worker-7', 0, 0, 1, 900, 200, 900, 200, 2600000000, 200000000, 0, 0),
	(12, 4700, 100, 4713, 102, 5000000000, 8000000000, 'worker-3', 0, 0, 1, 800, 9, 800, 9, 700000000, 10000000, 3, 2),
	(14, 4700, 100, 4700, 100, 0, 500000000, 'server', 0, 1, 25, 50, 0, 50, 0, 500000000, 0, 0, 0),
	(15, 900, 50, 900, 50, 5000000000, 8000000000, char(27) || '[31mred' || char(10), 0, 0, 1, 3, 0, 3, 0, 0, 0, 0, 0),
	(16, 12, 0, 12, 0, 5000000000, 8000000000, 'kworker/0:1', 1, 0, 1, 100, 0, 100, 0, 90000000, 1000000, 0, 0);
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	SELECT 100 + value, 4700, 100, 4800 + value, 200 + value, 5000000000, 8000000000, 'pool-' || value, 0, 0, 1,
	1, 0, 1, 0, 100000, 0, 0, 0 FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]');
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel)
	SELECT 2000 + value, 300 + value, 1, 'daemon', '/usr/sbin/daemon', 'daemon.service', 0
	FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	SELECT 200 + value, 2000 + value, 300 + value, 2000 + value, 300 + value, 5000000000, 8000000000, 'daemon', 0, 0, 1,
	1, 0, 1, 0, 1000000, 0, 0, 0 FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
-- each of three windows: main polls, worker-7 runs, worker-3 waits for its lock
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 10, 1, 0, 0, 0, 0, 0, 10000000, 100 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 10, 13, 233, 0, 0, 0, 3, 989666666, 100 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 10, 7, 0, 0, 0, 0, 7, 333334, 100 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 11, 1, 0, 0, 0, 0, 0, 866666666, 300 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 11, 8, 0, 0, 0, 4713, 6, 66666667, 70 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 11, 12, 46, 6001, 0, 0, 3, 66666667, 200 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 12, 1, 0, 0, 0, 0, 0, 233333333, 270 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 12, 10, 203, 0x7f0012345678, 4711, 4711, 1, 610000000, 270 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 12, 30, 17, -6002, 0, 0, 0, 50000000, 5 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 12, 0, 0, 0, 0, 0, 0, 106666667, 1 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	VALUES (1, 14, 1, 0, 0, 0, 0, 0, 500000000, 25);
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 15, 15, 231, 0, 0, 0, 2, 1000000000, 1 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 16, 1, 0, 0, 0, 0, 0, 30000000, 30 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 16, 14, 0, 0, 0, 0, 0, 970000000, 30 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT w.id, t.id, 14, 203, 0x7f0012349000 + t.id, 0, 0, 0, 1000000000, 1
	FROM windows AS w, threads AS t WHERE t.id BETWEEN 100 AND 115;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT w.id, t.id, 1, 0, 0, 0, 0, 0, 333333, 1 FROM windows AS w, threads AS t WHERE t.id BETWEEN 200 AND 299;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT w.id, t.id, 13, 8, 0, 0, 0, 2, 999666667, 1 FROM windows AS w, threads AS t WHERE t.id BETWEEN 200 AND 299;
INSERT INTO objects (id, kind, name) VALUES (6001, 5, '127.0.0.1:5432'), (-6002, 1, '/srv/' || CAST(x'ff9b41' AS TEXT) || char(7));
INSERT INTO execs VALUES (6200000000, 900, 50, 1, '/tmp/' || char(0x202e) || 'cod.exe');
INSERT INTO cpus SELECT w.id, c.value, 1, 700000000 FROM windows AS w, json_each('[0,1,2,3]') AS c;
INSERT INTO cpus SELECT w.id, c.value, 2, 290000000 FROM windows AS w, json_each('[0,1,2,3]') AS c;
INSERT INTO cpus SELECT w.id, c.value, 0, 10000000 FROM windows AS w, json_each('[0,1,2,3]') AS c;
INSERT INTO cpu_queues SELECT w.id, c.value, 250000000, 40000, 1 FROM windows AS w, json_each('[0,1,2,3]') AS c;
