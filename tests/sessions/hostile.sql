-- SPDX-License-Identifier: Apache-2.0
-- Names that are markup, control characters, or no UTF-8 at all, wherever a session has names; and a thread that does
-- not move for ten windows, whose silence is one row. Twelve windows of 1 s from 1 s on.
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('dwell_version', '0.2'), ('kernel', '</script><img src=x>'),
	('host', '<script>alert("host")</script>'), ('machine', 'x86_64'), ('cpus', '2'), ('started_ns', '1000000000'),
	('ended_ns', '13000000000'), ('tier', 'A'), ('filter', 'all'), ('kind', 'record'), ('window_ns', '1000000000'),
	('option.0', '-d 12'), ('option.1', '--comm </script><script>alert(1)</script>'), ('note', '<!-- --!><script>'),
	('label.<b>', '&lt;script&gt; ' || char(8232));
INSERT INTO windows SELECT value, (value + 1) * 1000000000, (value + 2) * 1000000000
	FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
INSERT INTO processes (pid, start_ns, parent, comm, exe, service, cgroup, container, pod, uid, is_kernel) VALUES
	(500, 90, 1, '</script><script', '/tmp/</script><script>alert(1)</script>', '<svg onload=alert(1)>',
	 '/"onmouseover="alert(1)', ']]>', '<!--', 1000, 0),
	(600, 95, 1, 'x', char(27) || '[31m' || char(10), 'plain', '/', NULL, NULL, NULL, 0);
UPDATE processes SET comm = CAST(x'fffe3c2f62' AS TEXT) WHERE pid = 600;
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	VALUES
	(1, 500, 90, 500, 90, 1000000000, 13000000000, '</script><script', 0, 0, 1, 9, 2, 9, 2, 12000000000, 0, 0, 0),
	(2, 600, 95, 600, 95, 1500000000, 13000000000, CAST(x'fffe3c2f62' AS TEXT), 0, 0, 1, 9, 2, 9, 2, 1000000000, 0, 0, 0);
-- The first runs throughout. The second begins in the middle of window 0, waits, and runs in window 11 alone.
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT id, 1, 1, 0, 0, 0, 0, 0, 1000000000, 1 FROM windows;
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count) VALUES
	(10, 2, 13, 0, 0, 0, 0, 0, 10500000000, 1), (10, 2, 13, 0, 0, 0, 0, 0, -10500000000, -1),
	(10, 2, 10, 203, 7001, 500, 500, 1, 10500000000, 1), (11, 2, 1, 0, 0, 0, 0, 0, 1000000000, 1);
INSERT INTO objects (id, kind, name) VALUES (7001, 6, '"></script><script>alert(2)</script>');
INSERT INTO modules VALUES (1, 3, '/usr/bin/<i>', 'a1');
INSERT INTO frames VALUES (1, 1, 0x1040, 'std::map<int, </script><script>alert(3)</script>>', 'symtab', NULL, 0),
	(2, 1, 0x1080, CAST(x'c3283c736372697074' AS TEXT), 'symtab', NULL, 0);
INSERT INTO stacks VALUES (101, 0, 1, 1), (102, 101, 2, 2);
INSERT INTO samples (window, pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop, waker, waker_kind,
	waker_stack, count, weight_ns, ns, mismatches) VALUES (3, 500, 90, 500, 90, 0, 1, 0, 102, 1, 0, 0, 0, 49, 1000000000, 0, 0);
INSERT INTO losses VALUES (4, '<script>', 7);
INSERT INTO steps VALUES (5500000000, '</script>', '<b>');
