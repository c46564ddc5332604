-- SPDX-License-Identifier: Apache-2.0
-- `dwell run -- sh`: a shell that waits for three children, all of them dead, nothing wrong. One
-- window; Tier B. It starts at 1,000,000,000 ns; times below are in ns.
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('dwell_version', '0.1'), ('kernel', '6.18.0'),
	('cpus', '2'), ('started_ns', '1000000000'), ('ended_ns', '1352000000'), ('command', 'sh'),
	('tier', 'B'), ('window_ns', '1000000000'), ('label.jobs', '3'),
	('kind', 'run'), ('option.0', '--tier B');
INSERT INTO windows VALUES (0, 1000000000, 1352000000);
INSERT INTO syscalls (call, name) VALUES (1, 'read'), (62, 'wait4'), (75, 'fsync'), (258, 'openat'), (231, 'clock_nanosleep');
INSERT INTO hooks (hook, fallback_of, attached, failure, events, bpf_ns, misses, measured_ns, is_rare) VALUES ('ledger_switch', NULL, 1, NULL, 2200, 330000, 0, 352000000, 0), ('ledger_waking', NULL, 1, NULL, 900, 81000, 0, 352000000, 0),
	('calls_enter', NULL, 1, NULL, 52000, 4200000, 0, 352000000, 0), ('calls_signal', NULL, 1, NULL, 0, 0, 0, 352000000, 1);
INSERT INTO overhead VALUES (0, 4611000, 3100000, 9437184, 4194304, 2048);
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel, exit_code) VALUES
	(700, 9000, 690, 'sh', '/bin/sh', 'sh', 0, 0),
	(701, 9001, 700, 'cc1', '/usr/lib/gcc/cc1', 'cc1', 0, 0),
	(702, 9002, 700, 'cc1', '/usr/lib/gcc/cc1', 'cc1', 0, 256),
	(703, 9003, 700, 'sleep', '/bin/sleep', 'sleep', 0, 9);
INSERT INTO execs VALUES (1000500000, 700, 9000, 690, '/bin/sh'), (1002500000, 701, 9001, 700, '/usr/bin/gcc'),
	(1003500000, 701, 9001, 700, '/usr/lib/gcc/cc1'), (1003700000, 702, 9002, 700, '/usr/lib/gcc/cc1'),
	(1004500000, 703, 9003, 700, '/bin/sleep');
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	VALUES
	(1, 700, 9000, 700, 9000, 1000000000, 1350000000, 'sh', 0, 1, 1, 5, 1, 5, 1, 2010000, 60000, 0, 0),
	(2, 701, 9001, 701, 9001, 1002000000, 1342000000, 'cc1', 0, 1, 1, 40, 12, 40, 12, 280050000, 20000000, 0, 0),
	(3, 702, 9002, 702, 9002, 1003000000, 1303000000, 'cc1', 0, 1, 1, 41, 10, 41, 10, 240000000, 20000000, 0, 0),
	(4, 703, 9003, 703, 9003, 1004000000, 1204000000, 'sleep', 0, 1, 1, 2, 0, 2, 0, 1000000, 0, 0, 0);
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	VALUES
	(0, 1, 2, 0, 0, 0, 0, 0, 1200000, 6), (0, 1, 3, 0, 0, 0, 0, 0, 800000, 40), (0, 1, 7, 0, 0, 0, 0, 7, 60000, 5),
	(0, 1, 17, 62, 0, 0, 701, 1, 347940000, 4),
	(0, 2, 2, 0, 0, 0, 0, 0, 180000000, 900), (0, 2, 3, 0, 0, 0, 0, 0, 80000000, 40100), (0, 2, 4, 0, 0, 0, 0, 0, 20000000, 800),
	(0, 2, 8, 0, 0, 0, 702, 6, 20000000, 12), (0, 2, 11, 75, 5001, 0, 0, 4, 40000000, 38),
	(0, 3, 2, 0, 0, 0, 0, 0, 170000000, 870), (0, 3, 3, 0, 0, 0, 0, 0, 70000000, 9000),
	(0, 3, 8, 0, 0, 0, 701, 6, 20000000, 10), (0, 3, 16, 1, 5002, 0, 701, 1, 40000000, 41),
	(0, 4, 2, 0, 0, 0, 0, 0, 1000000, 3), (0, 4, 15, 231, 0, 0, 0, 2, 199000000, 1);
INSERT INTO objects (id, kind, name) VALUES (5001, 1, '/tmp/out.o'), (5002, 2, 'pipe:[4242]');
INSERT INTO calls VALUES
	(0, 700, 9000, 1000000000, 62, 4, 1, 100000, 348040000),
	(0, 701, 9001, 1002000000, 258, 40000, 37500, 60000000, 60000000), (0, 701, 9001, 1002000000, 75, 38, 0, 2000000, 42000000),
	(0, 702, 9002, 1003000000, 1, 9000, 0, 30000000, 70000000), (0, 702, 9002, 1003000000, 258, 8000, 7500, 12000000, 12000000),
	(0, 702, 9002, 1003000000, 0, 12, 0, 40000, 40000),
	(0, 703, 9003, 1004000000, 231, 1, 0, 10000, 199010000);
INSERT INTO faults VALUES (0, 701, 9001, 1002000000, 800, 790, 10), (0, 702, 9002, 1003000000, 60, 60, 0);
INSERT INTO cpus VALUES (0, 0, 1, 52000000), (0, 0, 2, 290000000), (0, 0, 3, 2000000), (0, 0, 4, 5000000), (0, 0, 5, 3000000),
	(0, 1, 1, 104000000), (0, 1, 2, 240000000), (0, 1, 3, 3000000), (0, 1, 4, 5000000);
INSERT INTO cpu_queues VALUES (0, 0, 30000000, 900, 0), (0, 1, 10060000, 880, 0);
