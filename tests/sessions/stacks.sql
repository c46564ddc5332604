-- SPDX-License-Identifier: Apache-2.0
-- Stacks: a C++ server (a recursion, inlined functions, code without names, a hostile name, kernel
-- frames, a lock with its holder's stack), a python process with a JIT, stacks that end too early for
-- several reasons, one that is not there, and a kernel thread. Two windows of 1 s, from 1 s on; a
-- sample every 20 ms. Of samples on a CPU 187 x 20 ms = 3.74 s; blocked 28, standing for 3.9 s;
-- complete are 215 - 10 = 205 of them.
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('dwell_version', '0.1'), ('kernel', '6.18.0'),
	('cpus', '2'), ('started_real_ns', '1760000000000000000'), ('started_ns', '1000000000'),
	('ended_ns', '3000000000'), ('tier', 'B'), ('filter', 'all'), ('window_ns', '1000000000');
INSERT INTO windows VALUES (0, 1000000000, 2000000000), (1, 2000000000, 3000000000);
INSERT INTO syscalls (call, name) VALUES (75, 'fsync'), (203, 'futex'), (233, 'epoll_wait'), (231, 'clock_nanosleep');
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel, exit_code) VALUES
	(500, 90, 1, 'server', '/usr/bin/server', 'server.service', 0, NULL),
	(600, 91, 1, 'python3', '/usr/bin/python3.11', 'job.service', 0, NULL),
	(12, 0, 2, 'kworker/0:1', '', '', 1, NULL);
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	VALUES
	(1, 500, 90, 500, 90, 1000000000, 3000000000, 'server', 0, 0, 1, 90, 2, 90, 2, 200000000, 0, 0, 0),
	(2, 500, 90, 501, 92, 1000000000, 3000000000, 'worker-1', 0, 0, 1, 40, 9, 40, 9, 1500000000, 100000000, 0, 0),
	(3, 500, 90, 502, 93, 1000000000, 3000000000, 'worker-2', 0, 0, 1, 70, 8, 70, 8, 400000000, 100000000, 0, 0),
	(4, 600, 91, 600, 91, 1000000000, 3000000000, 'python3', 0, 0, 1, 3, 7, 3, 7, 1640000000, 0, 0, 0),
	(5, 12, 0, 12, 0, 1000000000, 3000000000, 'kworker/0:1', 1, 0, 1, 10, 0, 10, 0, 40000000, 0, 0, 0);
-- in each of the two windows half of: main 200 ms user, 1.8 s poll; worker-1 1.2 s user, 300 ms system
-- calls, 400 ms disk, 100 ms queue; worker-2 400 ms user, 1.5 s lock, 100 ms queue; python 1.6 s user,
-- 40 ms faults, 360 ms sleep; the kernel's own 40 ms
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT w.id, l.value ->> 0, l.value ->> 1, l.value ->> 2, l.value ->> 3, l.value ->> 4, l.value ->> 5, l.value ->> 6,
		l.value ->> 7, l.value ->> 8
	FROM windows AS w, json_each('[[1,2,0,0,0,0,0,100000000,45], [1,13,233,0,0,0,3,900000000,45],
		[2,2,0,0,0,0,0,600000000,30], [2,3,0,0,0,0,0,150000000,20], [2,11,75,7001,0,0,4,200000000,20], [2,7,0,0,0,0,7,50000000,20],
		[3,2,0,0,0,0,0,200000000,40], [3,10,203,139637976727552,501,501,1,750000000,35], [3,8,0,0,0,501,6,50000000,4],
		[4,2,0,0,0,0,0,800000000,30], [4,4,0,0,0,0,0,20000000,30], [4,15,231,0,0,0,2,180000000,2],
		[5,1,0,0,0,0,0,20000000,5], [5,14,0,0,0,0,0,980000000,5]]') AS l;
INSERT INTO objects (id, kind, name) VALUES (7001, 1, '/var/lib/server/journal');
INSERT INTO modules VALUES (0, 0, '', ''), (1, 1, '[kernel]', ''), (2, 3, '/usr/bin/server', 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678'),
	(3, 3, '/usr/lib/x86_64-linux-gnu/libc.so.6', '1122334455667788990011223344556677889900'),
	(4, 3, '/opt/lib/libsecret.so.2', ''), (5, 3, '/usr/bin/python3.11', 'cafe0000cafe0000cafe0000cafe0000cafe0000'),
	(6, 5, '[jit]', '');
INSERT INTO frames VALUES
	(1, 2, 0x1040, '_start', 'symtab', NULL, 0), (2, 2, 0x1101, 'main', 'symtab', 'src/main.cpp', 40),
	(3, 2, 0x1210, 'serve::Loop::run(std::chrono::milliseconds)', 'symtab', 'src/loop.cpp', 112),
	(4, 3, 0x8a000, 'start_thread', 'debug file', NULL, 0), (5, 3, 0x10b000, 'clone3', 'dynsym', NULL, 0),
	(6, 2, 0x1300, 'serve::Worker::work()', 'symtab', 'src/worker.cpp', 88),
	(7, 2, 0x1404, 'serve::Parser<std::map<std::string, std::vector<serve::Value>>>::parse(std::string_view)', 'symtab', 'src/utf8.h', 17),
	(8, 4, 0x4a10, NULL, NULL, NULL, 0), (9, 2, 0x1501, 'quicksort(int*, int*)', 'symtab', 'src/sort.cpp', 9),
	(10, 3, 0xfb000, 'fsync', 'dynsym', NULL, 0), (11, 1, 0x1000130, 'entry_SYSCALL_64_after_hwframe', 'kallsyms', NULL, 0),
	(12, 1, 0x9b0040, 'do_syscall_64', 'kallsyms', NULL, 0), (13, 1, 0x3c0011, 'ext4_sync_file', 'kallsyms', NULL, 0),
	(14, 1, 0x9c0022, 'io_schedule', 'kallsyms', NULL, 0), (15, 1, 0x1a0033, 'futex_wait', 'kallsyms', NULL, 0),
	(16, 1, 0x1a0144, 'futex_wake', 'kallsyms', NULL, 0), (17, 3, 0x8c100, 'pthread_mutex_lock', 'dynsym', NULL, 0),
	(18, 3, 0x8c900, 'pthread_mutex_unlock', 'dynsym', NULL, 0), (19, 3, 0x10a600, 'epoll_wait', 'dynsym', NULL, 0),
	(20, 1, 0x33f001, 'ep_poll', 'kallsyms', NULL, 0), (21, 1, 0x1000b60, 'asm_exc_page_fault', 'kallsyms', NULL, 0),
	(22, 1, 0x2a0077, 'handle_mm_fault', 'kallsyms', NULL, 0),
	(30, 5, 0x5000, '_start', 'symtab', NULL, 0), (31, 5, 0x5100, 'Py_RunMain', 'debugdata', NULL, 0),
	(32, 5, 0x5200, '_PyEval_EvalFrameDefault', 'debugdata', NULL, 0), (33, 5, 0x5300, '_PyObject_Call', 'debugdata', NULL, 0),
	(-34, 5, 0x5400, 'dict_lookup', 'debugdata', NULL, 0), (35, 6, 0x7f3300001000, 'py::fib:/srv/job.py', 'perf map', NULL, 0),
	(36, 5, 0x5500, 'time_sleep', 'debugdata', NULL, 0), (37, 3, 0xe0000, 'clock_nanosleep', 'dynsym', NULL, 0),
	(38, 1, 0x150088, 'hrtimer_nanosleep', 'kallsyms', NULL, 0),
	(40, 2, 0x1600, '<b onload="alert(1)">a;b & c' || char(10) || char(27) || '[31m</b>', 'symtab', NULL, 0),
	(50, 1, 0xb0099, 'worker_thread', 'kallsyms', NULL, 0);
INSERT INTO inlines VALUES (7, 0, 'utf8_next(char const*&)', 'src/text.h', 31), (7, 1, 'skip_space(std::string_view&)', 'src/parser.cpp', 204);
INSERT INTO stacks VALUES
	(101, 0, 1, 1), (102, 101, 2, 2), (103, 102, 3, 3), (104, 103, 19, 4), (105, 104, 11, 5), (106, 105, 12, 6), (107, 106, 20, 7),
	(201, 0, 5, 1), (202, 201, 4, 2), (203, 202, 6, 3), (204, 203, 7, 4), (205, 203, 9, 4), (206, 205, 9, 5), (207, 206, 9, 6),
	(208, 204, 8, 5), (209, 203, 40, 4), (210, 203, 10, 4), (211, 210, 11, 5), (212, 211, 12, 6), (213, 212, 13, 7), (214, 213, 14, 8),
	(220, 203, 17, 4), (221, 220, 11, 5), (222, 221, 12, 6), (-223, 222, 15, 7),
	(230, 203, 18, 4), (231, 230, 11, 5), (232, 231, 12, 6), (233, 232, 16, 7),
	(301, 0, 8, 1),
	(401, 0, 30, 1), (402, 401, 31, 2), (403, 402, 32, 3), (404, 403, 33, 4), (405, 404, 32, 5), (406, 405, -34, 6), (407, 405, 35, 6),
	(410, 0, 33, 1), (411, 410, 32, 2), (420, 406, 21, 7), (421, 420, 22, 8),
	(430, 405, 36, 6), (431, 430, 37, 7), (432, 431, 11, 8), (433, 432, 12, 9), (434, 433, 38, 10),
	(501, 0, 50, 1);
-- window, pid, process start, tid, thread start, kind, state, mode, stack, stop, waker, its kind and stack, count, weight, ns, mismatches
INSERT INTO samples VALUES
	(0, 500, 90, 500, 90, 0, 2, 0, 103, 1, 0, 0, 0, 4, 80000000, 0, 0), (1, 500, 90, 500, 90, 0, 2, 0, 103, 1, 0, 0, 0, 6, 120000000, 0, 0),
	(0, 500, 90, 501, 92, 0, 2, 0, 204, 1, 0, 0, 0, 20, 400000000, 0, 0), (1, 500, 90, 501, 92, 0, 2, 0, 204, 1, 0, 0, 0, 10, 200000000, 0, 0),
	(0, 500, 90, 501, 92, 0, 2, 0, 207, 1, 0, 0, 0, 12, 240000000, 0, 0), (1, 500, 90, 501, 92, 0, 2, 0, 206, 1, 0, 0, 0, 6, 120000000, 0, 0),
	(0, 500, 90, 501, 92, 0, 2, 0, 208, 1, 0, 0, 0, 6, 120000000, 0, 0), (1, 500, 90, 501, 92, 0, 2, 0, 209, 1, 0, 0, 0, 2, 40000000, 0, 0),
	(0, 500, 90, 501, 92, 0, 2, 0, 301, 6, 0, 0, 0, 3, 60000000, 0, 0), (0, 500, 90, 501, 92, 0, 2, 0, 0, 4, 0, 0, 0, 1, 20000000, 0, 0),
	(0, 500, 90, 501, 92, 0, 3, 1, 213, 1, 0, 0, 0, 14, 280000000, 0, 0), (1, 500, 90, 501, 92, 0, 3, 0, 203, 1, 0, 0, 0, 1, 20000000, 0, 1),
	(0, 500, 90, 502, 93, 0, 2, 0, 204, 1, 0, 0, 0, 15, 300000000, 0, 0), (1, 500, 90, 502, 93, 0, 2, 0, 205, 1, 0, 0, 0, 5, 100000000, 0, 0),
	(0, 600, 91, 600, 91, 0, 2, 0, 406, 1, 0, 0, 0, 25, 500000000, 0, 0), (1, 600, 91, 600, 91, 0, 2, 0, 406, 1, 0, 0, 0, 15, 300000000, 0, 0),
	(0, 600, 91, 600, 91, 0, 2, 0, 407, 1, 0, 0, 0, 30, 600000000, 0, 0), (1, 600, 91, 600, 91, 0, 2, 0, 405, 1, 0, 0, 0, 5, 100000000, 0, 0),
	(1, 600, 91, 600, 91, 0, 2, 0, 411, 3, 0, 0, 0, 4, 80000000, 0, 0), (1, 600, 91, 600, 91, 0, 2, 0, 999, 1, 0, 0, 0, 1, 20000000, 0, 0),
	(1, 600, 91, 600, 91, 0, 4, 1, 421, 1, 0, 0, 0, 2, 40000000, 0, 0),
	(0, 12, 0, 12, 0, 0, 1, 1, 501, 0, 0, 0, 0, 2, 40000000, 0, 0),
	(0, 500, 90, 502, 93, 1, 10, 1, -223, 1, 501, 1, 233, 10, 1000000000, 1000000000, 0),
	(1, 500, 90, 502, 93, 1, 10, 1, -223, 1, 501, 1, 0, 4, 420000000, 8000000, 0), (1, 500, 90, 502, 93, 1, 10, 1, 0, 11, 501, 1, 0, 1, 40000000, 40000000, 0),
	(0, 500, 90, 501, 92, 1, 11, 1, 214, 1, 0, 4, 0, 5, 380000000, 380000000, 0),
	(0, 500, 90, 500, 90, 1, 13, 1, 107, 1, 0, 3, 0, 6, 1700000000, 1700000000, 0),
	(1, 600, 91, 600, 91, 1, 15, 1, 434, 1, 0, 2, 0, 2, 360000000, 360000000, 0);
