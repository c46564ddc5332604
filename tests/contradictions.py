#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""contradictions.py DWELL SESSION: is every finding of the report what the session's tables say?

Recomputes the evidence of `DWELL report --json SESSION` with queries of its own, and holds the verdict, the
sentences, WHY and the signals against the same tables. Prints TAP, a line per finding; exits 1 on a contradiction."""
import collections
import itertools
import json
import re
import sqlite3
import subprocess
import sys

CPU = {"cpu", "cpu.user", "cpu.syscall", "cpu.fault", "cpu.irq", "cpu.softirq"}
QUEUE = {"runq.woken", "runq.preempted"}
RUNQ = QUEUE | {"runq.throttled"}
IDLE = {"blocked.idle", "blocked.sleep", "blocked.stopped", "blocked.poll"}
WAITS = {
    "lock-wait": {"blocked.lock"}, "kernel-lock-wait": {"blocked.kernel-lock"}, "handover-wait": {"blocked.signalled"},
    "net-wait": {"blocked.net"}, "nagle": {"blocked.net"}, "pipe-wait": {"blocked.pipe", "blocked.ipc"},
    "disk-wait": {"blocked.disk"}, "disk-held": {"blocked.disk-held"}, "memory-wait": {"blocked.memory"},
    "page-in": {"blocked.pagein"}, "timeout": {"blocked.sleep"}, "unclear-wait": {"blocked.other"},
}
BY_OBJECT = {"lock-wait", "kernel-lock-wait", "net-wait", "nagle", "pipe-wait", "timeout"}
POLICIES = {1: "FIFO", 2: "RR", 6: "deadline"}
USES = {"(kernel threads)": 4, "(dwell)": 5, "(not measured)": 3, "(interrupts)": 6, "(soft interrupts)": 7}
SOFTIRQ = 7


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def share_text(value):
    """A share as the report prints it."""
    if 0 < value < 0.05:
        return "<0.1 %"
    return f"{value:.1f} %" if 0 < value < 9.95 else f"{value:.0f} %"


def duration_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        value = ns / unit
        if value >= 0.99995:
            digits = 3 if value < 9.9995 else 2 if value < 99.995 else 1 if value < 999.95 else 0
            return f"{value:.{digits}f} {name}"
    return f"{int(ns)} ns"


class Session:
    """The session's tables, added up by queries that share nothing with the report's code."""

    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.text_factory = lambda data: data.decode("utf-8", "replace")
        self.states = dict(self.rows("SELECT id, name FROM states"))
        if "cpu" not in self.states.values():  # made up by a test: as abi/states.def has them
            with open("abi/states.def") as table:
                names = re.findall(r'^STATE\(\w+, "([^"]+)"', table.read(), re.M)
            self.states = {**dict(enumerate(names)), **self.states}
        self.meta = dict(self.rows("SELECT key, value FROM meta"))
        self.calls = dict(self.rows("SELECT call, name FROM syscalls"))
        self.contexts = dict(self.rows("SELECT id, name FROM contexts"))
        if not self.contexts:
            with open("abi/contexts.def") as table:
                self.contexts = dict(enumerate(re.findall(r'^CONTEXT\(\w+, "([^"]*)"', table.read(), re.M)))
        self.kinds = dict(self.rows("SELECT id, name FROM object_kinds"))
        if not self.kinds:
            with open("abi/objects.def") as table:
                self.kinds = dict(enumerate(re.findall(r'^OBJECT\(\w+, "([^"]*)"', table.read(), re.M)))
        self.objects = {row[0]: row[1:] for row in self.rows("SELECT id, kind, name FROM objects")}
        self.span = self.one("SELECT max(end_ns) - min(begin_ns) FROM windows") or 0
        self.end = self.one("SELECT max(end_ns) FROM windows") or 0
        self.read_threads()
        self.read_ledger()

    def has(self, table):
        return self.one("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table)

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def read_threads(self):
        self.threads, self.tids = {}, {}
        names = collections.defaultdict(str)
        self.process = {}
        for pid, start, comm, service, cgroup in self.rows(
                "SELECT pid, start_ns, comm, service, cgroup FROM processes"):
            names[pid, start] = comm or ""
            self.process[pid, start] = {"service": service or "", "cgroup": cgroup or ""}
        account = "ifnull(account_ns, begin_ns)" if any(c[1] == "account_ns" for c in self.rows("PRAGMA table_info(threads)")) else "begin_ns"
        for row in self.rows("SELECT id, pid, process_start_ns, tid, begin_ns, end_ns, comm, is_kernel, threads, is_dead, missed, "
                             f"{account} FROM threads ORDER BY pid, process_start_ns, tid, begin_ns, id"):
            key = row[1], row[2]
            thread = dict(zip("id pid start tid begin end comm is_kernel threads is_dead missed account".split(), row), key=key)
            thread["comm"] = thread["comm"] or ""
            thread["is_sum"] = (thread["threads"] or 1) > 1 or not thread["begin"]
            if (thread["tid"] == thread["pid"] and thread["comm"]) or not names[key]:
                names[key] = thread["comm"]
            self.threads[thread["id"]] = thread
            self.process.setdefault(key, {"service": "", "cgroup": ""})
            before = self.tids.get(thread["tid"])
            if not before or thread["begin"] >= before["begin"]:
                self.tids[thread["tid"]] = thread
        for key, process in self.process.items():
            process["comm"] = names[key] or ("(others)" if not key[0] else "")
        for id_, end in self.rows("SELECT thread, max(end_ns) FROM ledger GROUP BY thread"):
            if id_ in self.threads and end and end > self.threads[id_]["end"]:
                self.threads[id_]["end"] = end

    def read_ledger(self):
        """Sums by thread and cause: one that stays below zero is none."""
        self.ledger, self.account = [], collections.defaultdict(lambda: collections.Counter())
        for thread, state, call, object_, holder, ns, count in self.rows(
                "SELECT thread, state, call, object, iif(holder = tid, 0, holder) AS held, sum(ns), sum(count) FROM ledger "
                "JOIN threads ON threads.id = thread GROUP BY thread, state, call, object, held"):
            ns, count = max(ns or 0, 0), max(count or 0, 0)
            row = {"thread": self.threads[thread], "state": self.states.get(state, str(state)), "call": call,
                   "object": object_, "holder": holder, "ns": ns, "count": count}
            self.ledger.append(row)
            self.account[thread][row["state"]] += ns
        for thread in self.threads.values():
            account = self.account[thread["id"]]
            thread["is_dormant"] = not any(account[s] for s in CPU | RUNQ)

    def object_text(self, id_):
        kind, name = self.objects.get(id_, (0, None))
        if name:
            return name
        number = f"0x{id_ & (1 << 64) - 1:x}"
        if kind and self.kinds.get(kind):
            return f"{self.kinds[kind]} {number}"
        return number if id_ else ""

    def call_text(self, call):
        return self.calls.get(call) or ""

    def is_timeout(self, row):
        return row["state"] == "blocked.sleep" and row["call"] and \
            self.call_text(row["call"]) not in ("nanosleep", "clock_nanosleep")

    def group_of(self, thread):
        process = self.process[thread["key"]]
        return process["service"], process["comm"]

    def comm_of(self, tid):
        thread = self.tids.get(tid)
        return thread["comm"] if thread and thread["comm"] else f"tid {tid}"

    def of(self, subject):
        """Threads of the subject that are shown."""
        for thread in self.threads.values():
            if thread["is_kernel"]:
                continue
            if subject["tid"]:
                if thread["tid"] == subject["tid"]:
                    yield thread
            elif self.group_of(thread) == (subject["service"] or "", subject["comm"] or "") and \
                    (not subject["pid"] or thread["pid"] == subject["pid"] or subject["processes"] > 1):
                yield thread

    def sum(self, threads, states):
        return sum(self.account[t["id"]][s] for t in threads for s in states)

    def growth(self, name, subject=""):
        row = self.db.execute("SELECT end - begin FROM counters WHERE name = ? AND subject = ?", (name, subject)).fetchone() \
            if self.has("counters") else None
        return max(row[0], 0) if row else None


class Checker:
    def __init__(self, session, report):
        self.s, self.report = session, report
        self.wrong = []

    def expect(self, what, said, true, slack=0.0):
        if said is None or abs(said - true) > max(abs(true) * 1e-6, 1e-6, slack):
            self.wrong.append(f"{what}: the report has {said}, the tables have {true}")

    def values(self, finding, name):
        return [(e["what"], e["value"]) for e in finding["evidence"] if e["name"] == name]

    def value(self, finding, name):
        values = self.values(finding, name)
        return values[0][1] if values else None

    # --- what holds for all ---

    def check_form(self, finding):
        for evidence in finding["evidence"]:
            if (evidence["unit"] == "%") != (evidence["base"] is not None):
                self.wrong.append(f"{evidence['name']}: a share has a base, and nothing else has")
            if evidence["unit"] == "%" and evidence["base"] != "time of one CPU" and not -0.01 <= evidence["value"] <= 100.01:
                self.wrong.append(f"{evidence['name']}: {evidence['value']} % of {evidence['base']}")
        if finding["severity"] not in ("problem", "notice", "info") or not finding["sentence"].endswith("."):
            self.wrong.append("severity or sentence")

    def check_sentence(self, finding):
        """Each share and each time of the sentence is in the evidence, or in a chain's parts."""
        sentence = finding["sentence"]
        shares = {share_text(e["value"]) for e in finding["evidence"] if e["unit"] == "%"}
        # rounded half up or to even: a share may be printed either way
        shares |= {share_text(e["value"] + d) for e in finding["evidence"] if e["unit"] == "%" for d in (1e-9, -1e-9)}
        times = {duration_text(e["value"]) for e in finding["evidence"] if e["unit"] == "ns"}
        for chain in self.report["chains"]:
            times |= {duration_text(chain["ns"]), duration_text(chain["alike_ns"])}
        own = re.split(r"; meanwhile[ ,]|: lock .* ← ", sentence)[0] if finding["id"] != "chain" else ""
        own = re.sub(r"not known [0-9.<]+ %", "", own)
        for share in re.findall(r"(?<![\d.])(<?\d+(?:\.\d)? %)", own):
            if share not in shares:
                self.wrong.append(f"'{share}' of the sentence is in no evidence: {sentence}")
        if self.value(finding, "waits"):
            times.add(duration_text(self.value(finding, "waited") // self.value(finding, "waits")))
        for time in re.findall(r"(\d+\.\d+ (?:s|ms|us))\b", sentence if finding["id"] != "partial-cover" else ""):
            if time not in times:
                self.wrong.append(f"'{time}' of the sentence is in no evidence: {sentence}")

    # --- by finding ---

    def cpus(self):
        return self.s.rows("SELECT cpu, use, sum(ns) FROM cpus GROUP BY cpu, use")

    def wall_of_cpus(self):
        return self.s.one("SELECT sum(ns) FROM cpus") or 0

    def check_host_cpu(self, finding, threads):
        wall = self.wall_of_cpus()
        idle = self.s.one("SELECT coalesce(sum(ns), 0) FROM cpus WHERE use = 1")
        longest = self.s.one("SELECT max(ns) FROM (SELECT sum(ns) AS ns FROM cpus GROUP BY cpu)")
        self.expect("busy", self.value(finding, "busy"), percent(wall - idle, wall))
        self.expect("waiting", self.value(finding, "waiting"),
                    (self.s.one("SELECT sum(queue_ns) FROM cpu_queues") or 0) / longest)
        self.expect("cpus", self.value(finding, "cpus"), self.s.one("SELECT count(DISTINCT cpu) FROM cpus"))

    def check_cpu_top(self, finding, threads):
        wall = self.wall_of_cpus()
        of_group = collections.Counter()
        for thread in self.s.threads.values():
            if not thread["is_kernel"]:
                of_group[self.s.group_of(thread)] += self.s.sum([thread], CPU - {"cpu.irq", "cpu.softirq"})
        for what, said in self.values(finding, "cpu"):
            if what in USES:
                true = [self.s.one("SELECT coalesce(sum(ns), 0) FROM cpus WHERE use = ?", USES[what])]
            else:
                true = [ns for (_, comm), ns in of_group.items() if comm == what]
            self.expect(f"cpu of {what}", said, min((percent(ns, wall) for ns in true), key=lambda v: abs(v - said), default=-1))

    def check_cpu_wait(self, finding, threads):
        queue, runnable = self.s.sum(threads, QUEUE), self.s.sum(threads, RUNQ | CPU)
        self.expect("waited", self.value(finding, "waited"), queue)
        self.expect("share", self.value(finding, "share"), percent(queue, runnable))
        rivals, policies = collections.Counter(), collections.Counter()
        ids = {t["id"] for t in threads}
        for thread, pid, tid, comm, policy, ns in self.s.rows("SELECT thread, pid, tid, comm, policy, ns FROM rivals") \
                if self.s.has("rivals") else []:
            if thread not in ids:
                continue
            known = self.s.tids.get(tid) if tid else None
            if known and known["pid"] == pid and self.s.process[known["key"]]["comm"]:
                comm = self.s.process[known["key"]]["comm"]
            if not tid:
                comm = comm if comm == "(idle)" else "(others)"
            rivals[comm] += ns
            policies[POLICIES.get(policy)] += ns
        # Of a thread with a missed switch the queue is known in part only.
        if not any(t["missed"] for t in threads) and sum(rivals.values()) > queue * 1.01 + 100000:
            self.wrong.append(f"rivals ran for {sum(rivals.values())} ns of {queue} ns in the queue")
        for what, said in self.values(finding, "ran_instead"):
            self.expect(f"ran instead: {what}", said, percent(rivals[what], queue))
            if said < 5:
                self.wrong.append(f"{what} is named with {said} %")
        for comm, ns in rivals.items():
            if percent(ns, queue) >= 5.01 and len(self.values(finding, "ran_instead")) < 6 and \
                    comm not in dict(self.values(finding, "ran_instead")):
                self.wrong.append(f"{comm} ran {percent(ns, queue):.1f} % of it and is not named")
        for what, said in self.values(finding, "policy"):
            self.expect(f"policy {what}", said, percent(policies[what], queue))

    def check_cpu_throttled(self, finding, threads):
        throttled = self.s.sum(threads, {"runq.throttled"})
        self.expect("throttled", self.value(finding, "throttled"), throttled)
        self.expect("share", self.value(finding, "share"), percent(throttled, self.s.sum(threads, RUNQ | CPU)))
        self.check_cgroup(finding, threads, "cpu")
        if self.value(finding, "quota") is not None:
            self.expect("quota", self.value(finding, "quota"), self.s.one(
                "SELECT 100.0 * cpu_quota_us / cpu_period_us FROM cgroup_limits WHERE cpu_cgroup = ?",
                self.values(finding, "cgroup")[0][0]))
        if "idle" in finding["sentence"]:
            self.wrong.append("throttling has nothing to do with an idle CPU")

    def check_cgroup(self, finding, threads, kind):
        """A cgroup that is blamed is one that a process of the subject is in, or below."""
        for what, _ in self.values(finding, "cgroup"):
            owned = self.s.rows(f"SELECT pid FROM cgroup_processes JOIN cgroup_limits USING (cgroup) WHERE {kind}_cgroup = ?", what) \
                if self.s.has("cgroup_processes") else []
            pids = {t["pid"] for t in threads if self.is_below(self.s.process[t["key"]]["cgroup"], what)}
            if not (pids | {p for p, in owned}) & {t["pid"] for t in threads}:
                self.wrong.append(f"no process of it is in the cgroup {what}")

    @staticmethod
    def is_below(path, above):
        above = above.rstrip("/")
        return path == above or path.startswith(above + "/")

    def rows_of_wait(self, finding, threads):
        """Rows of the ledger that the finding is about."""
        id_, ids = finding["id"], {t["id"] for t in threads}
        name = next((what for e in ("object", "peer") for what, _ in self.values(finding, e)[:1]), "") or ""
        if id_ == "timeout":
            name = " ".join(filter(None, [self.values(finding, "call")[0][0], name]))
        for row in self.s.ledger:
            if row["state"] not in WAITS[id_] or row["thread"]["id"] not in ids or row["thread"]["is_dormant"] or not row["ns"]:
                continue
            if (id_ == "timeout") != bool(self.s.is_timeout(row)):
                continue
            text = self.s.object_text(row["object"])
            if id_ == "timeout":
                text = " ".join(filter(None, [self.s.call_text(row["call"]), text]))
            if id_ not in BY_OBJECT or text == name:
                yield row

    def check_wait(self, finding, threads):
        rows = list(self.rows_of_wait(finding, threads))
        if finding["id"] == "pipe-wait":  # two states have this id
            by_state = [[r for r in rows if r["state"] == s] for s in ("blocked.pipe", "blocked.ipc")]
            rows = min(by_state, key=lambda r: abs(sum(x["ns"] for x in r) - self.value(finding, "waited")))
        ns, by_thread = sum(r["ns"] for r in rows), collections.Counter()
        for row in rows:
            by_thread[row["thread"]["id"]] += row["ns"]
        self.expect("waited", self.value(finding, "waited"), ns)
        self.expect("waits", self.value(finding, "waits"), sum(r["count"] for r in rows))
        self.expect("threads", self.value(finding, "threads"), len(by_thread))
        if by_thread:
            longest = max(by_thread.values())
            walls = [percent(longest, t["end"] - t["begin"]) for t in threads if by_thread[t["id"]] == longest]
            said = self.value(finding, "longest")
            self.expect("longest", said, min(walls, key=lambda v: abs(v - said)))
        holders = collections.Counter()
        for row in rows:
            if row["holder"]:
                holders[self.s.comm_of(row["holder"])] += row["ns"]
        for what, said in self.values(finding, "holder"):
            self.expect(f"held by {what}", said, percent(holders[what], ns))
        self.check_wakers(finding, rows, ns)
        for name in ("object", "call"):
            for what, said in self.values(finding, name) if finding["id"] not in ("lock-wait", "kernel-lock-wait", "timeout") else []:
                parts = collections.Counter()
                for row in rows:
                    if what == (self.s.object_text(row["object"]) if name == "object" else self.s.call_text(row["call"])):
                        parts[row["call"], row["object"]] += row["ns"]
                self.expect(f"{name} {what}", said, min((percent(p, ns) for p in parts.values()), key=lambda v: abs(v - said),
                                                       default=-1))
        if finding["id"] in ("disk-held", "memory-wait"):
            self.check_cgroup(finding, threads, "io" if finding["id"] == "disk-held" else "memory")
        if finding["id"] in ("disk-wait", "disk-held"):
            disk, held = self.s.sum(threads, {"blocked.disk"}), self.s.sum(threads, {"blocked.disk-held"})
            said = self.value(finding, "device_share" if finding["id"] == "disk-wait" else "held_share")
            self.expect("share", said, percent(disk if finding["id"] == "disk-wait" else held, disk + held))

    def check_wakers(self, finding, rows, ns):
        keys = {(r["thread"]["id"], r["state"], r["call"], r["object"]) for r in rows}
        wakers, nagle, named = collections.Counter(), [0, 0], self.values(finding, "waker")
        if not named and finding["id"] != "nagle":
            return
        for thread, state, call, object_, waker, kind, part, count in self.s.rows(
                "SELECT thread, state, call, object, waker, waker_kind, max(sum(ns), 0), max(sum(count), 0) FROM ledger "
                "JOIN threads ON threads.id = thread GROUP BY 1, 2, 3, 4, iif(holder = tid, 0, holder), 5, 6"):
            if (thread, self.s.states.get(state), call, object_) not in keys or not kind:
                continue
            wakers[self.s.comm_of(waker) if waker else self.s.contexts.get(kind, "")] += part
            if self.s.contexts.get(kind) == "delayed ack":
                nagle = [nagle[0] + part, nagle[1] + count]
        for what, said in named:
            self.expect(f"ended by {what}", said, percent(wakers[what], ns))
        if finding["id"] == "nagle":
            self.expect("delayed_ack", self.value(finding, "delayed_ack"), nagle[0])
            self.expect("delayed_acks", self.value(finding, "delayed_acks"), nagle[1])

    def check_wakeups(self, finding, threads):
        ids = {t["id"] for t in threads}
        rows = [r for r in self.s.ledger if r["state"] == "blocked.sleep" and r["thread"]["id"] in ids and r["count"]]
        woken = {r["thread"]["id"]: r["thread"] for r in rows}
        self.expect("wakeups", self.value(finding, "wakeups"), sum(r["count"] for r in rows) * 1e9 / self.s.span)
        self.expect("timed_out", self.value(finding, "timed_out"), sum(r["count"] for r in rows if self.s.is_timeout(r)))
        cpu = self.s.sum(woken.values(), CPU)
        self.expect("cpu", self.value(finding, "cpu"), cpu)
        self.expect("cpu_share", self.value(finding, "cpu_share"), percent(cpu, self.s.span))

    def check_calls(self, finding, threads):
        name, keys = self.values(finding, "call")[0][0], {(t["tid"], t["account"]) for t in threads}
        count = failed = cpu = 0
        for tid, begin, call, n, bad, ns in self.s.rows(
                "SELECT thread_tid, thread_begin_ns, call, count, failed, cpu_ns FROM calls"):
            if (tid, begin) in keys and self.s.call_text(call) == name:
                count, failed, cpu = count + n, failed + bad, cpu + ns
        whole = self.s.sum(threads, CPU)
        self.expect("calls", self.value(finding, "call"), count)
        self.expect("failed", self.value(finding, "failed"), failed)
        self.expect("failed_share", self.value(finding, "failed_share"), percent(failed, count))
        self.expect("cpu", self.value(finding, "cpu"), cpu)
        self.expect("cpu_share", self.value(finding, "cpu_share"), percent(cpu, whole))
        self.expect("system_share", self.value(finding, "system_share"), percent(self.s.sum(threads, {"cpu.syscall"}), whole))

    def check_faults(self, finding, threads):
        keys, ns = {(t["tid"], t["account"]) for t in threads}, self.s.sum(threads, {"cpu.fault"})
        begun = sum(n for tid, begin, n in self.s.rows("SELECT thread_tid, thread_begin_ns, begun FROM faults") if (tid, begin) in keys)
        self.expect("faults", self.value(finding, "faults"), begun)
        self.expect("cpu", self.value(finding, "cpu"), ns)
        self.expect("cpu_share", self.value(finding, "cpu_share"), percent(ns, self.s.sum(threads, CPU)))

    def check_softirq(self, finding, threads):
        what, said = self.values(finding, "softirq")[0]
        taken = self.s.one("SELECT coalesce(sum(ns), 0) FROM cpus WHERE use = ? AND cpu = ?", SOFTIRQ, int(what))
        self.expect("softirq", said, percent(taken, self.s.one("SELECT sum(ns) FROM cpus WHERE cpu = ?", int(what))))
        for device, rate in self.values(finding, "packets"):
            self.expect("packets", rate, self.s.growth("net.rx_packets", device) * 1e9 / self.s.span)
        if self.values(finding, "taken"):
            ns = self.s.sum(threads, {"cpu.softirq"})
            self.expect("taken_time", self.value(finding, "taken_time"), ns)
            self.expect("taken", self.value(finding, "taken"), percent(ns, self.s.sum(threads, CPU)))

    def check_loop(self, finding, threads):
        tid = finding["subject"]["tid"]
        turns, long_turns, long_ns, longest, wall = self.s.rows(
            "SELECT sum(turns), sum(long_turns), sum(long_ns), max(max_ns), t.end_ns - t.begin_ns FROM loops AS l "
            "JOIN threads AS t ON t.id = l.thread WHERE t.tid = ?", tid)[0]
        for name, true in ("turns", turns), ("long_turns", long_turns), ("long_time", long_ns), ("longest", longest), \
                ("share", percent(long_ns, wall)):
            self.expect(name, self.value(finding, name), true)

    def check_accept(self, finding, threads):
        for name in "overflows", "drops":
            self.expect(name, self.value(finding, name), self.s.growth(f"tcp.listen_{name}") or 0)
        self.expect("syn_retransmits", self.value(finding, "syn_retransmits"), self.s.growth("tcp.syn_retransmits") or 0)

    def check_pressure(self, finding, threads):
        span_us = self.s.span // 1000
        for evidence in finding["evidence"]:
            # Counters are read a moment before the first window and after the last: 100 % at most.
            stalled_us = min(self.s.growth(evidence["name"]), span_us)
            self.expect(evidence["name"], evidence["value"], percent(stalled_us, span_us))

    def check_network(self, finding, threads):
        for device, rate in self.values(finding, "packets"):
            self.expect("packets", rate, self.s.growth("net.rx_packets", device) * 1e9 / self.s.span)
        self.expect("retransmits", self.value(finding, "retransmits"), self.s.growth("tcp.retransmits") or 0)

    def shown(self):
        return [t for t in self.s.threads.values() if not t["is_kernel"]]

    def check_idle(self, finding, threads):
        self.expect("idle", self.value(finding, "idle"), self.s.sum(self.shown(), IDLE) / self.s.span)

    def check_unattributed(self, finding, threads):
        shown = self.shown()
        self.expect("unattributed", self.value(finding, "unattributed"), self.s.sum(shown, {"unattributed"}))
        self.expect("share", self.value(finding, "share"),
                    percent(self.s.sum(shown, {"unattributed"}), self.s.sum(shown, self.s.states.values())))

    def check_subject(self, finding, threads):
        subject = finding["subject"]
        if not subject["processes"]:
            return
        own = [t for t in self.shown() if t["pid"] == subject["pid"] and not t["is_sum"]]
        keys = {t["key"] for t in own if self.s.process[t["key"]]["comm"] == subject["comm"]}
        ends = {max([t["end"] for t in own if t["key"] == key] +
                    [e for e, in self.s.rows("SELECT end_ns FROM processes WHERE pid = ? AND start_ns = ? AND end_ns NOT NULL", *key)])
                - min(t["begin"] for t in own if t["key"] == key) for key in keys}
        said = self.value(finding, "duration")
        self.expect("duration", said, min(ends, key=lambda v: abs(v - said), default=0))
        for key in keys:
            threads = [t for t in self.shown() if t["key"] == key]
            for what, value in self.values(finding, "state") if len(keys) == 1 else []:
                self.expect(f"state {what}", value, percent(self.s.sum(threads, {what}), self.s.sum(threads, self.s.states.values())))
            for what, value in self.values(finding, "threads_in") if len(keys) == 1 else []:
                self.expect(f"threads in {what}", value, self.s.sum(threads, {what}) / said)

    def pool_waits(self, rows, pool):
        """Who waited for these threads, and how long: as (threads, ns)."""
        answers = {waker for tid, waker, _, _ in rows if tid in pool}
        whole, ended, counts = collections.Counter(), collections.Counter(), collections.Counter()
        for tid, waker, ns, count in rows:
            whole[tid] += ns
            if waker in pool and tid not in pool:
                ended[tid] += ns
                counts[tid] += count
        waiters = [t for t in ended if t not in answers and counts[t] >= 5 and ended[t] * 2 >= whole[t]]
        return len(waiters), sum(ended[t] for t in waiters)

    def check_pool(self, finding, threads):
        """Which threads are the pool is found again: so many of those who ended most."""
        tids = {t["id"]: t["tid"] for t in threads}
        rows = [(tids[thread], waker, ns, count) for thread, waker, ns, count in self.s.rows(
            "SELECT thread, waker, sum(ns), sum(count) FROM ledger WHERE state = 23 AND thread IN "
            f"({','.join(map(str, tids))}) GROUP BY thread, waker")]
        ended = collections.Counter()
        for _, waker, ns, _ in rows:
            ended[waker] += ns if waker else 0
        said = self.value(finding, "waiters"), self.value(finding, "waited")
        wakers = [w for w, _ in ended.most_common(16) if w]
        if not any(self.pool_waits(rows, set(p)) == said for p in itertools.combinations(wakers, int(self.value(finding, "pool")))):
            self.wrong.append(f"no {self.value(finding, 'pool')} threads made {said[0]} others wait {said[1]} ns")

    def check_chain(self, finding, threads):
        chain = next((c for c in self.report["chains"] if c["sentence"] == finding["sentence"]), None)
        if not chain:
            self.wrong.append("is not among chains")
            return
        self.expect("waited", self.value(finding, "waited"), chain["ns"])
        self.expect("all_threads", self.value(finding, "all_threads"), chain["ns"] + chain["alike_ns"])

    def check_table_full(self, finding, threads):
        for what, said in self.values(finding, "lost"):
            self.expect(f"lost {what}", said, self.s.one("SELECT sum(count) FROM losses WHERE cause = ?", what))

    CHECKS = {
        "host-cpu": check_host_cpu, "cpu-top": check_cpu_top, "cpu-wait": check_cpu_wait, "cpu-throttled": check_cpu_throttled,
        "wakeups": check_wakeups, "failed-calls": check_calls, "syscall-cost": check_calls, "fault-cost": check_faults,
        "softirq": check_softirq, "loop-busy": check_loop, "accept-queue": check_accept, "pressure": check_pressure,
        "network": check_network, "idle": check_idle, "unattributed": check_unattributed, "command": check_subject,
        "process": check_subject, "pool-busy": check_pool, "chain": check_chain, "table-full": check_table_full,
        **dict.fromkeys(WAITS, check_wait),
    }

    def check_finding(self, finding):
        threads = list(self.s.of(finding["subject"])) if finding["subject"]["processes"] else []
        self.check_form(finding)
        if finding["id"] in self.CHECKS:
            self.CHECKS[finding["id"]](self, finding, threads)
        self.check_sentence(finding)

    # --- the rest of the report against the same tables ---

    def check_verdict(self, _):
        sentences = {f["sentence"] for f in self.report["findings"]}
        for sentence in self.report["verdict"][1:]:
            if sentence not in sentences:
                self.wrong.append(f"is no finding's: {sentence}")
        first = self.report["verdict"][0]
        if not any(first.startswith(s) for s in sentences):
            self.wrong.append(f"is no finding's: {first}")

    def check_chain_sums(self, chain):
        ids = [t["id"] for t in self.s.threads.values() if t["tid"] == chain["thread"]["tid"] and t["pid"] == chain["thread"]["pid"]]
        rows = self.s.rows("SELECT object, part_state, sum(ns) FROM chains WHERE culprit_tid = ? AND state = ? AND thread IN "
                           f"({','.join(map(str, ids))}) GROUP BY 1, 2", chain["links"][0]["tid"],
                           next(k for k, v in self.s.states.items() if v == chain["state"]))
        rows = [r for r in rows if (self.s.object_text(r[0]) or None) == chain["object"]]
        self.expect("ns", chain["ns"], sum(r[2] for r in rows))
        self.expect("unknown", chain["unknown_ns"], sum(r[2] for r in rows if not r[1]))
        for link in chain["links"]:
            self.expect("parts", sum(p["ns"] for p in link["parts"]) + link["other_ns"] + link["unknown_ns"], link["ns"])

    def check_ledgers(self, _):
        """WHY is made of these: by process and state."""
        true = collections.Counter()
        for thread in self.shown():
            for state, ns in self.s.account[thread["id"]].items():
                true[thread["pid"], state] += ns
        said = collections.Counter()
        for process in self.report["processes"]:
            for row in process["ledger"]:
                said[process["pid"], row["state"]] += row["ns"]
            for thread in process["threads"]:
                for row in thread["ledger"]:
                    if row.get("holder") == thread["tid"]:
                        self.wrong.append(f"thread {thread['tid']} holds a lock against itself")
        for key in true | said:
            self.expect(f"pid {key[0]}, {key[1]}", said[key], true[key])

    def check_signals(self, _):
        for signal, series in self.report["signals"].items():
            said, true = collections.Counter(), collections.Counter()
            for row in series:
                said[row["kind"]] += row["count"]
            for kind, count in self.s.rows(
                    "SELECT kind, sum(count) FROM series_values JOIN series ON series.id = series WHERE signal = ? AND pid NOT IN "
                    "(SELECT pid FROM threads WHERE is_kernel) GROUP BY kind", signal):
                true[kind] = count
            for kind in said:
                if said[kind] > true[kind] and true[kind]:
                    self.wrong.append(f"{signal} {kind}: {said[kind]} values of {true[kind]}")


def main():
    program, path = sys.argv[1:3]
    report = json.loads(subprocess.run([program, "report", "--json", path], check=True, capture_output=True).stdout)
    checker, failed = Checker(Session(path), report), 0
    jobs = [(f"{f['id']} {f['subject']['comm'] or 'host'}", checker.check_finding, f) for f in report["findings"]]
    jobs += [(f"chain of {c['thread']['comm']}", checker.check_chain_sums, c) for c in report["chains"]]
    jobs += [("the verdict is made of findings", checker.check_verdict, None),
             ("ledgers by process and state", checker.check_ledgers, None), ("signals", checker.check_signals, None)]
    for name, check, of in jobs:
        checker.wrong = []
        check(of)
        print(("not ok - " if checker.wrong else "ok - ") + "no contradiction: " + name)
        for wrong in checker.wrong:
            print(f"#   {wrong}")
        failed += bool(checker.wrong)
    sys.exit(bool(failed))


main()
