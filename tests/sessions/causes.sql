-- SPDX-License-Identifier: Apache-2.0
-- `dwell record -a` of a host with one of each problem: 10 s, 2 CPUs, one window from 1 s on. What a
-- thread's rows leave of the 10 s is idle.
CREATE TABLE IF NOT EXISTS chains (window, thread, state, call, object, culprit_pid, culprit_tid, culprit_comm, part_state,
	part_call, part_object, part_culprit, ns);
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('kind', 'record'), ('option.0', '-a'), ('option.1', '-d 10'), ('kernel', '6.18.0'), ('host', 'box'), ('cpus', '2'),
	('started_ns', '1000000000'), ('started_real_ns', '1700000000000000000'), ('ended_ns', '11000000000'), ('tier', 'A'),
	('filter', 'all'), ('unwind_tables_full', '3');
INSERT INTO windows VALUES (0, 1000000000, 11000000000);
INSERT INTO syscalls (call, name) VALUES (1, 'read'), (2, 'write'), (8, 'poll'), (46, 'recvfrom'), (75, 'fsync'), (203, 'futex'),
	(231, 'clock_nanosleep'), (18, 'pread64'), (233, 'epoll_wait'), (289, 'accept4'), (58, 'fork');
INSERT INTO objects (id, kind, name) VALUES (9001, 9, 'Store::mu'), (9002, 1, '/srv/wal.log'), (9003, 5, '127.0.0.1:5432'), (9004, 6, '10.0.0.53:53'),
	(9005, 2, 'pipe:[77]'), (9006, 1, '/srv/data.bin'), (9007, 5, '0.0.0.0:8080'), (9008, 5, '10.1.1.1:6379');
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, cgroup, is_kernel) VALUES
	(100, 1, 1, 'kv', '/usr/bin/kv', 'kv.service', '/kv', 0), (300, 3, 1, 'fio', '/usr/bin/fio', 'fio', '/fio', 0),
	(400, 4, 1, 'web', '/usr/bin/web', 'web.service', '/web', 0), (500, 5, 1, 'app', '/usr/bin/app', 'app.service', '/box/app/worker', 0),
	(600, 6, 1, 'poller', '/usr/bin/poller', 'poller', '/', 0), (700, 7, 1, 'resolver', '/usr/bin/resolver', 'resolver', '/', 0),
	(800, 8, 1, 'node', '/usr/bin/node', 'node.service', '/node', 0), (900, 9, 1, 'java', '/usr/bin/java', 'java.service', '/java', 0),
	(1000, 10, 1, 'reader', '/usr/bin/reader', 'reader', '/limited/reader', 0), (1100, 11, 1, 'rt', '/usr/bin/rt', 'rt', '/', 0);
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, cgroup, is_kernel)
	SELECT 200 + value, 20 + value, 1, 'postgres', '/usr/bin/postgres', 'postgresql.service', '/pg', 0 FROM json_each('[0,1,2,3,4,5]');
CREATE TEMP TABLE t (id, pid, start, tid, comm);
INSERT INTO t VALUES (1, 100, 1, 100, 'kv'), (2, 100, 1, 103, 'worker-3'), (3, 100, 1, 104, 'flusher'), (4, 100, 1, 105, 'worker-4'),
	(30, 300, 3, 300, 'fio'), (40, 400, 4, 400, 'web'), (50, 500, 5, 500, 'app'), (60, 600, 6, 600, 'poller'),
	(70, 700, 7, 700, 'resolver'), (80, 800, 8, 800, 'node'), (90, 900, 9, 900, 'java'), (91, 900, 9, 901, 'pool-1'),
	(92, 900, 9, 902, 'pool-2'), (93, 900, 9, 903, 'req-1'), (94, 900, 9, 904, 'req-2'), (95, 900, 9, 905, 'req-3'),
	(96, 900, 9, 906, 'req-4'), (100, 1000, 10, 1000, 'reader'), (110, 1100, 11, 1100, 'rt');
INSERT INTO t SELECT 20 + value, 200 + value, 20 + value, 200 + value, 'postgres' FROM json_each('[0,1,2,3,4,5]');
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	SELECT id, pid, start, tid, start, 1000000000, 11000000000, comm, 0, 0, 1, 10, 1, 10, 1, 0, 0, 0, 0 FROM t;
-- window, thread, state, call, object, holder, waker, its kind, ns, count
CREATE TEMP TABLE l (thread, state, call, object, holder, waker, kind, ns, count);
INSERT INTO l VALUES
	-- workers wait for the lock that the flusher holds in fsync; an old kernel side named the waiter itself
	(2, 2, 0, 0, 0, 0, 0, 1000000000, 9), (2, 10, 203, 9001, 104, 104, 1, 2960000000, 140),
	(4, 2, 0, 0, 0, 0, 0, 1000000000, 9), (4, 10, 203, 9001, 104, 104, 1, 1500000000, 90), (4, 10, 203, 9001, 105, 103, 1, 1088000000, 50),
	(3, 2, 0, 0, 0, 0, 0, 400000000, 9), (3, 11, 75, 9002, 0, 0, 4, 3200000000, 150), (3, 8, 0, 0, 0, 300, 6, 800000000, 30),
	-- a busy loop of 6 s in six backends; one of them waits for a CPU: fio was there first, but kv ran
	(20, 2, 0, 0, 0, 0, 0, 4000000000, 5), (21, 2, 0, 0, 0, 0, 0, 1000000000, 5), (22, 2, 0, 0, 0, 0, 0, 1000000000, 5),
	(21, 7, 0, 0, 0, 300, 6, 2000000000, 80), (23, 2, 0, 0, 0, 0, 0, 10000000, 5), (24, 2, 0, 0, 0, 0, 0, 10000000, 5),
	(25, 2, 0, 0, 0, 0, 0, 10000000, 5), (30, 2, 0, 0, 0, 0, 0, 280000000, 50),
	-- polls: most of the time was ended by the network, most rows by a timer
	(40, 2, 0, 0, 0, 0, 0, 900000000, 9), (40, 12, 46, 9003, 0, 201, 1, 3000000000, 300), (40, 13, 8, 0, 0, 0, 2, 1000000000, 1),
	(40, 13, 8, 0, 0, 0, 3, 4000000000, 1), (40, 12, 46, 9008, 0, 0, 9, 800000000, 20), (40, 12, 46, 9008, 0, 0, 3, 200000000, 5),
	-- a quota on a cgroup above
	(50, 2, 0, 0, 0, 0, 0, 2000000000, 100), (50, 9, 0, 0, 0, 0, 7, 6000000000, 100),
	(60, 2, 0, 0, 0, 0, 0, 300000000, 10000), (60, 15, 8, 0, 0, 0, 2, 9600000000, 10000),
	(70, 2, 0, 0, 0, 0, 0, 10000000, 5), (70, 15, 46, 9004, 0, 0, 2, 5000000000, 5),
	(80, 2, 0, 0, 0, 0, 0, 1400000000, 100),
	-- a pool whose tasks sleep, and those who wait for it; a correction takes back what was called idle
	(91, 2, 0, 0, 0, 0, 0, 1000000000, 10), (91, 15, 231, 0, 0, 0, 2, 9000000000, 180),
	(92, 2, 0, 0, 0, 0, 0, 1000000000, 10), (92, 15, 231, 0, 0, 0, 2, 9000000000, 180),
	(93, 2, 0, 0, 0, 0, 0, 10000000, 10), (93, 23, 203, 77, 0, 901, 1, 9000000000, 100), (94, 2, 0, 0, 0, 0, 0, 10000000, 10),
	(94, 23, 203, 78, 0, 902, 1, 9000000000, 100), (95, 2, 0, 0, 0, 0, 0, 10000000, 10), (95, 23, 203, 79, 0, 901, 1, 9000000000, 100),
	(96, 2, 0, 0, 0, 0, 0, 10000000, 10), (96, 23, 203, 80, 0, 902, 1, 9000000000, 100), (96, 14, 203, 80, 0, 0, 0, 5000000000, 50),
	(96, 14, 203, 80, 0, 0, 0, -5000000000, -50),
	(100, 2, 0, 0, 0, 0, 0, 100000000, 10), (100, 11, 18, 9006, 0, 0, 4, 418000000, 500), (100, 26, 18, 9006, 0, 0, 2, 5522000000, 480),
	(100, 25, 18, 9006, 0, 0, 0, 700000000, 40), (100, 18, 0, 9006, 0, 0, 4, 600000000, 30), (100, 16, 2, 9005, 0, 600, 1, 900000000, 20),
	(110, 2, 0, 0, 0, 0, 0, 1500000000, 40);
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count) SELECT 0, * FROM l;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT 0, id, 14, 233, 0, 0, 0, 3, 10000000000 - coalesce((SELECT sum(ns) FROM l WHERE thread = id), 0), 7 FROM t;
INSERT INTO rivals VALUES (0, 21, 100, 103, 'worker-3', 0, 1000000000), (0, 21, 100, 105, 'worker-4', 0, 220000000),
	(0, 21, 1100, 1100, 'rt', 1, 440000000), (0, 21, 300, 300, 'fio', 0, 20000000), (0, 21, 0, 0, '(idle)', 0, 60000000),
	(0, 3, 200, 200, 'postgres', 0, 488000000), (0, 3, 300, 300, 'fio', 0, 100000000);
INSERT INTO chains VALUES
	(0, 2, 10, 203, 9001, 100, 104, 'flusher', 11, 75, 9002, 0, 2101600000), (0, 2, 10, 203, 9001, 100, 104, 'flusher', 8, 0, 0, 0, 503200000),
	(0, 2, 10, 203, 9001, 100, 104, 'flusher', 2, 0, 0, 0, 200000000), (0, 2, 10, 203, 9001, 100, 104, 'flusher', 0, 0, 0, 0, 155200000),
	(0, 4, 10, 203, 9001, 100, 104, 'flusher', 11, 75, 9002, 0, 1500000000),
	(0, 40, 12, 46, 9003, 201, 201, 'postgres', 7, 0, 0, 0, 1900000000), (0, 40, 12, 46, 9003, 201, 201, 'postgres', 2, 0, 0, 0, 900000000),
	(0, 100, 16, 2, 9005, 600, 600, 'poller', 10, 203, 9001, 104, 800000000);
INSERT INTO loops VALUES (0, 80, 2000, 5, 1390000000, 280000000);
INSERT INTO cgroup_limits VALUES ('/box/app/worker', 20000, 100000, NULL, NULL, NULL, 100, 6000000, '/box/app', NULL, NULL),
	('/limited', NULL, NULL, NULL, 268435456, NULL, NULL, NULL, NULL, '/limited', NULL),
	('/io/limited', NULL, NULL, NULL, NULL, 'loop0 rbps=1048576', NULL, NULL, NULL, NULL, '/io/limited');
INSERT INTO cgroup_processes VALUES ('/box/app/worker', 500), ('/io/limited', 1000);
INSERT INTO counters VALUES ('psi.cpu.some_us', '', 1000, 4001000), ('psi.memory.some_us', '', 0, 500000),
	('psi.memory.full_us', '', 0, 100000), ('psi.io.some_us', '', 0, 2000000), ('psi.io.full_us', '', 0, 0),
	('tcp.listen_overflows', '', 5, 45), ('tcp.listen_drops', '', 5, 45), ('tcp.syn_retransmits', '', 0, 38),
	('tcp.retransmits', '', 10, 12), ('net.rx_packets', 'eth0', 100, 2000100), ('net.rx_packets', 'lo', 0, 5000),
	('net.rx_dropped', 'eth0', 0, 3), ('softirq.net_rx', '', 0, 100000);
INSERT INTO cpus VALUES (0, 0, 1, 500000000), (0, 0, 2, 8500000000), (0, 0, 7, 1000000000), (0, 1, 1, 2000000000), (0, 1, 2, 5000000000),
	(0, 1, 7, 3000000000);
INSERT INTO cpu_queues VALUES (0, 0, 15000000000, 900, 0), (0, 1, 6000000000, 880, 0);
UPDATE threads SET kernel_exec_ns = coalesce((SELECT sum(ns) FROM l WHERE thread = id AND state = 2), 0);
DROP TABLE t;
DROP TABLE l;
