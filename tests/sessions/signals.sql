-- SPDX-License-Identifier: Apache-2.0
-- Signals: waits for a CPU and for other things, as histograms, in two windows of 1 s from 1 s on. A server whose
-- waits have two humps, twelve short-lived shells that read as one, a process with a hostile name, keys that had
-- no place, unmatched ends, slow events with stacks, a kernel thread; and what is wrong: a signal that nobody
-- knows, buckets that are none.
INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('dwell_version', '0.1'), ('kernel', '6.18.0'), ('cpus', '2'),
	('tick_ns', '4000000'), ('started_ns', '1000000000'), ('ended_ns', '3000000000'), ('tier', 'A'), ('filter', 'all'),
	('kind', 'record'), ('option.0', '-a'), ('option.1', '-s runq,offcpu');
INSERT INTO windows VALUES (0, 1000000000, 2000000000), (1, 2000000000, 3000000000);
INSERT INTO processes (pid, start_ns, parent, comm, exe, is_kernel) VALUES (500, 90, 1, 'server', '/usr/bin/server', 0),
	(900, 50, 1, char(27) || '[31mred' || char(10), '/tmp/red', 0), (12, 0, 2, 'kworker/0:1', '', 1);
INSERT INTO processes (pid, start_ns, parent, comm, exe, is_kernel)
	SELECT 2000 + value, 300 + value, 500, 'sh', '/bin/sh', 0 FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads,
	voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed)
	VALUES
	(1, 500, 90, 500, 90, 1000000000, 3000000000, 'server', 0, 0, 1, 90, 2, 90, 2, 2000000000, 0, 0, 0),
	(2, 500, 90, 501, 91, 1000000000, 3000000000, 'worker-1', 0, 0, 1, 90, 2, 90, 2, 2000000000, 0, 0, 0);
INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count)
	SELECT w.id, t.id, 1, 0, 0, 0, 0, 0, 1000000000, 90 FROM windows AS w, threads AS t;
INSERT INTO modules VALUES (1, 1, '[kernel]', ''), (2, 3, '/usr/bin/server', 'a1b2');
INSERT INTO frames VALUES (1, 2, 0x1040, 'main', 'symtab', NULL, 0),
	(2, 2, 0x1404, 'serve::Parser<std::map<std::string, std::vector<serve::Value>>>::parse(std::string_view)', 'symtab', NULL, 0),
	(3, 2, 0x1501, 'evil' || char(27) || '[31m', 'symtab', NULL, 0), (4, 1, 0x9c0022, 'io_schedule', 'kallsyms', NULL, 0);
INSERT INTO stacks VALUES (101, 0, 1, 1), (102, 101, 2, 2), (103, 102, 3, 3), (-104, 103, 4, 4);
INSERT INTO objects (id, kind, name) VALUES (7001, 1, '/var/lib/server/journal'), (-7002, 1, NULL);
INSERT INTO labels VALUES ('runq', 8388608, 'sda'), ('offcpu', 1, 'not of this one'), ('nosuch', 1, 'x');
INSERT INTO shares VALUES ('runq', 512, 300, 4000, 0, 0, 2), ('offcpu', 512, 4, 0, 7, 3, 0), ('nosuch', 1, 1, 1, 1, 1, 1);
INSERT INTO series VALUES (1, 'runq', 'wait', 500, 90, 7, 0, 0), (2, 'runq', 'wait', 500, 90, 8, 0, 0),
	(3, 'runq', 'wait', 900, 50, 7, 0, 0), (4, 'runq', 'wait', 0, 0, 0, -1, 0), (5, 'runq', 'wait', 12, 0, 7, 0, 0),
	(6, 'offcpu', 'wait', 500, 90, 10, 0, 0), (7, 'offcpu', 'wait', 500, 90, 13, 0, 0), (8, 'nosuch', 'wait', 500, 90, 1, 0, 0),
	(9, 'runq', 'nokind', 500, 90, 1, 0, 0), (10, 'runq', 'wait', 500, 90, 7, 0, 0);
INSERT INTO series SELECT 100 + value, 'runq', 'wait', 2000 + value, 300 + value, 7, 0, 0
	FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
-- 210 us, and 14 ms; the second window knows the first series by another number
INSERT INTO series_values VALUES (0, 1, 3700, 760000000, 230000, 0, 0, 0, 0, 0, '280:100 281:300 282:800 283:1200 284:900 285:300 286:100'),
	(1, 10, 740, 10400000000, 15300000, 0, 0, 0, 0, 0, '378:20 379:80 380:200 381:250 382:150 383:40'),
	(0, 2, 3, 3600, 1600, 0, 0, 0, 0, 0, '160:1 163:1 172:1'), (1, 2, 1, 2000000000, 2000000000, 0, 0, 0, 0, 0, '496:1'),
	(0, 3, 2, 22000, 12500, 0, 0, 0, 0, 0, '215:1 219:1'), (0, 4, 4000, 40000000, 13000, 0, 0, 0, 0, 0, '200:1000 214:2000 220:1000'),
	(0, 5, 9, 648, 72, 0, 0, 0, 0, 0, '100:9'), (1, 6, 120, 600000000, 7300000, 2, 3, 1, 0, 0, '350:40 357:60 366:20'),
	(1, 7, 5, 1900000000, 860000000, 0, 0, 0, 0, 0, '440:1 450:2 470:1 476:1'), (0, 7, 1, 1, 1, 0, 0, 0, 0, 0, 'no buckets'),
	(0, 8, 1, 1, 1, 0, 0, 0, 0, 0, '1:1'), (0, 99, 1, 1, 1, 0, 0, 0, 0, 0, '1:1');
INSERT INTO series_values SELECT 0, 100 + value, 10, 270000, 31000, 0, 0, 0, 0, 0, '234:5 240:5'
	FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]');
INSERT INTO slow VALUES (1, 2500000000, 'runq', 'wait', 500, 90, 501, 7, 0, 0, 15300000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	(0, 1900000000, 'offcpu', 'wait', 500, 90, 501, 10, 0, 0, 7300000, -104, 0, 0, 700000, 100000, 6500000, 0, 0, 0, 0, 0),
	(1, 2900000000, 'offcpu', 'wait', 500, 90, 500, 13, 0, 0, 860000000, 102, 0, 0, 0, 0, 0, 0, 0, 860000000, 0, 0),
	(1, 2900000000, 'nosuch', 'wait', 500, 90, 500, 13, 0, 0, 1, 102, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0);
