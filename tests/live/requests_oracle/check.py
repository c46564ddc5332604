# SPDX-License-Identifier: Apache-2.0
"""check.py SESSION REPORT PORT SERVER_LOG CLIENT_LOG DATABASE_LOG: judges what dwell says of each request by what the server
says of it, with its own clock; REPORT is `dwell report --json --requests --slowest 1000` of the session.

It prints TAP. A part is right within 5 % or 1 ms, whichever is more: of each request, and of the average of each endpoint.

A kernel may hide from all tracers what happens while certain threads run: a switch from them, a wake-up by an interrupt. dwell
counts the switches that it missed. In a session with such, 2 % of the requests may be off; their averages may not. There the
holder is not named of all, either.

A hypervisor takes CPUs away. The kernel's clock of what a thread ran leaves that out, so that the server takes it for a wait, or for
nothing; for dwell the thread has the CPU. The kernel's clock of what a thread waited for a CPU begins when that CPU puts it into
its queue, which a CPU that was taken away does when it is back; for dwell it begins when the thread is woken. Requests of which this
alone is off are not judged, if all that they have too much on the CPU, and waiting for one, is no more than what the hypervisor
took in the whole recording, by the kernel's count, and if they are at most half of each endpoint's."""
import collections
import json
import re
import sqlite3
import sys

session, report, port, server_log, client_log, database_log = sys.argv[1:]
port = int(port)
OFF_PERCENT, OFF_NS = 5, 1000000
SAID_MOST = 12
SPOILT_PERCENT, NAMELESS_PERCENT = 2, 5
STOLEN_PERCENT = 50  # of an endpoint's requests: a fault of dwell's is in all of them
TICK_NS = 10000000  # in which the kernel prints what was stolen from all CPUs: of a difference, less than one is missing
# What each endpoint is made of: the others are to be nothing. All of them run, and may wait for a CPU.
ENDPOINTS = {"/sleep": ["sleep"], "/burn": [], "/lock": ["lock"], "/file": ["disk"], "/ask": ["net"],
             "/all": ["sleep", "lock", "disk", "net"], "/checkout": ["lock", "net"]}
# In which function of the server its longest wait is.
LONGEST = {"/sleep": ("sleep", "do_sleep"), "/lock": ("lock", "do_lock"), "/file": ("disk", "do_read"), "/ask": ("net", "do_query"),
           "/all": ("net", "do_query"), "/checkout": ("net", "do_query")}
FUNCTIONS = {function for _, function in LONGEST.values()}
SPANS = ["window", "cpu", "runq"]
WAITS = ["sleep", "lock", "disk", "net", "signalled"]
TAKEN = ["cpu", "runq"]
OTHERS = ["throttled", "ipc", "memory", "poll", "pool_queue", "other", "loop_busy", "handed_over", "unattributed"]
PAUSE_MS = 30  # pg_sleep()


def check(what, problems):
    print("%s - %s" % ("not ok" if problems else "ok", what))
    for text in problems[:SAID_MOST]:
        print("#   " + text)
    if len(problems) > SAID_MOST:
        print("#   and %d more" % (len(problems) - SAID_MOST))


def ms(ns):
    return "%.2f ms" % (ns / 1e6)


def mean(values):
    return sum(values) / max(len(values), 1)


def off(seen, least, most):
    """How far it is from there; negative: too little."""
    return min(seen - least, 0) or max(seen - most, 0)


def is_right(seen, least, most):
    return abs(off(seen, least, most)) <= max(OFF_NS, (least if seen < least else most) * OFF_PERCENT / 100)


class Part:
    """Of one request, one part."""

    def __init__(self, request, text, seen, least, most):
        self.request, self.text, self.seen, self.least, self.most = request, text, seen, least, most
        self.off, self.is_right = off(seen, least, most), is_right(seen, least, most)


class Comparison:
    """Of one part of many requests."""

    def __init__(self):
        self.parts = []

    def add(self, truth, seen, least, most=None):
        most = least if most is None else most
        self.parts.append(Part(key(truth), "%s: %s, by its own clock %s" % (
            who(truth), ms(seen), ms(least) if least == most else "%s to %s" % (ms(least), ms(most))), seen, least, most))

    def judged(self, spoilt=()):
        return [part.text for part in self.parts if not part.is_right and part.request not in spoilt]

    def judge(self, what, spoilt=(), stolen=(), whose="by its own clock"):
        """Its average is within the averages of what each must be within. Requests that are spoilt count in it, stolen ones do not."""
        problems = self.judged(set(spoilt) | set(stolen))
        parts = [part for part in self.parts if part.request not in stolen]
        seen, least, most = (mean([getattr(part, name) for part in parts]) for name in ("seen", "least", "most"))
        worst = max((part.off for part in parts if part.request not in spoilt), key=abs, default=0)
        if not parts or not is_right(seen, least, most):
            problems.append("the average")
        check("%s: %s on average of %d, %s %s; within 5 %% or 1 ms, and so is each, at worst %+.0f us" % (
            what, ms(seen), len(parts), whose, ms((least + most) / 2), worst / 1e3), problems)


db = sqlite3.connect("file:%s?mode=ro" % session, uri=True)
db.row_factory = sqlite3.Row
REQUESTS = "SELECT r.*, e.name FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE kind = 'request' "
with open(server_log) as file:
    truths = [json.loads(line) for line in file]
with open(client_log) as file:
    clients = {row[:2]: row for row in (tuple(map(int, line.split())) for line in file)}
with open(report) as file:
    told = {(row["tid"], row["queue_ns"], row["window_ns"]): row for row in json.load(file)["requests"]["slowest"]}
requests = {(row["client_port"], row["turn"]): row for row in db.execute(REQUESTS + "AND port = ?", (port,))}
switches = db.execute("SELECT sum(missed) FROM threads").fetchone()[0]
steal_ns = int(db.execute("SELECT value FROM meta WHERE key = 'steal_ns'").fetchone()[0])


def key(truth):
    return truth["port"], truth["number"]


def who(truth):
    return "%s, request %d of port %d" % (truth["path"], truth["number"], truth["port"])


def check_all_known():
    problems = []
    for truth in truths:
        row = requests.get(key(truth))
        if not row:
            problems.append("%s was not kept" % who(truth))
        elif row["name"] != "GET " + truth["path"] or row["tid"] != truth["thread"] or row["model"] != "thread":
            problems.append("%s by thread %d is %s by thread %d, model %s" % (
                who(truth), truth["thread"], row["name"], row["tid"], row["model"]))
    if not len(truths) == len(clients) == len(requests):
        problems.append("%d by the server, %d by the client, %d by dwell" % (len(truths), len(clients), len(requests)))
    check("all %d requests are kept, each with its name and its thread" % len(truths), problems or ([] if truths else ["none"]))
    return not problems


def compare_parts():
    """By path and part."""
    found = collections.defaultdict(lambda: collections.defaultdict(Comparison))
    for truth in truths:
        row, of_path = requests[key(truth)], found[truth["path"]]
        for name in SPANS:
            of_path[name].add(truth, row[name + "_ns"], min(truth[name]), max(truth[name]))
        for name in WAITS:
            of_path[name].add(truth, row[name + "_ns"], truth[name])
        of_path["others"].add(truth, sum(row[name + "_ns"] for name in OTHERS), 0)
    return found


def stolen_from(wrong):
    """How much of its time on the CPU, or in the queue, the hypervisor had, if that explains all that is wrong with a request; else 0.
    wrong: by part."""
    taken = [part.off for name, part in wrong.items() if name in TAKEN]
    missing = [-part.off for name, part in wrong.items() if name in WAITS]
    explained = len(taken) + len(missing) == len(wrong) and min(taken + missing) >= 0 and sum(missing) <= sum(taken) + OFF_NS
    return sum(taken) if explained else 0


def find_stolen(wrong):
    """By request, what the hypervisor had of it: none, if it took less than that, or nothing."""
    stolen = {request: stolen_from(parts) for request, parts in wrong.items()}
    stolen = {request: ns for request, ns in stolen.items() if ns}
    asked = collections.Counter(truth["path"] for truth in truths)
    of_path = collections.Counter(truth["path"] for truth in truths if key(truth) in stolen)
    is_chance = all(count * 100 <= asked[path] * STOLEN_PERCENT for path, count in of_path.items())
    return stolen if steal_ns and is_chance and sum(stolen.values()) < steal_ns + TICK_NS else {}


def check_parts():
    found = compare_parts()
    wrong = collections.defaultdict(dict)
    for parts in found.values():
        for name, comparison in parts.items():
            for part in comparison.parts:
                if not part.is_right:
                    wrong[part.request][name] = part
    stolen = find_stolen(wrong)
    texts = ["%s: %s" % (name, part.text) for request, parts in wrong.items() if request not in stolen for name, part in parts.items()]
    spoilt = {request for request in wrong if request not in stolen} if switches else set()
    is_much = len(spoilt) * 100 > len(requests) * SPOILT_PERCENT
    print("# the hypervisor took %s; of %d requests, %s, which is all that is wrong with them" % (
        ms(steal_ns), len(stolen), ms(sum(stolen.values()))))
    check("%d of %d requests are off, where %d switches of all threads were missed: at most %d %%" % (
        len(spoilt), len(requests), switches, SPOILT_PERCENT), texts if is_much else [])
    for text in [] if is_much else texts:
        print("# off: " + text)
    for path in ENDPOINTS:
        own = SPANS + ENDPOINTS[path]
        for name in own:
            found[path][name].judge("%s: %s" % (path, name), spoilt, stolen)
        check("%s: nothing else is 1 ms more than by its own clock" % path, [
            "%s: %s" % (name, text) for name, comparison in found[path].items() if name not in own
            for text in comparison.judged(spoilt | set(stolen))])


def check_latency():
    """Its client can have the answer before the send returns."""
    problems = []
    for truth in truths:
        row, client = requests[key(truth)], clients[key(truth)]
        end = row["begin_ns"] + row["queue_ns"] + row["window_ns"]
        if row["begin_ns"] < client[2] or end > max(client[3], truth["begin"] + truth["window"][1]):
            problems.append("%s: %d + %d + %d, its client waits from %d to %d" % (
                who(truth), row["begin_ns"], row["queue_ns"], row["window_ns"], client[2], client[3]))
    check("each request begins and ends while its client waits", problems)


def has_holder(truth, row):
    """Of what a request waited, the report looks at the most of lock, signalled and disk; not at less than a tenth of it."""
    return truth["lock"] > max(truth["signalled"], truth["disk"]) + OFF_NS and \
        truth["lock"] > (row["queue_ns"] + row["window_ns"]) / 10 + OFF_NS


def check_holders():
    """In the window of a wait whose end was missed, the report names nobody: that wait might be the request's."""
    wrong, nameless, named, least, waited = [], [], 0, 0, 0
    for truth in truths:
        row = requests[key(truth)]
        culprit = (told.get((row["tid"], row["queue_ns"], row["window_ns"])) or {}).get("culprit")
        text = "%s waits %s for the lock of holder %d: %s" % (who(truth), ms(truth["lock"]), truth["holder"], culprit)
        if culprit and culprit["part"] == "lock":
            named += 1
            least += culprit["least_ns"]
            waited += truth["lock"]
            if culprit["tid"] != truth["holder"] or not re.fullmatch(r"holder-\d+", culprit["comm"] or "") or (
                    culprit["least_ns"] > row["lock_ns"]):
                wrong.append(text)
        elif has_holder(truth, row):
            nameless.append(text)
    check("who held the lock is named of %d requests, for at least %s of %s" % (named, ms(least), ms(waited)),
          wrong or ([] if named else ["of none"]))
    check("it is not of %d, where %d switches of all threads were missed: at most %d %%" % (
        len(nameless), switches, NAMELESS_PERCENT),
          nameless if len(nameless) * 100 > named * NAMELESS_PERCENT or not switches else [])


def check_waits():
    """The function of the server in which its longest wait was. A stack can be lost, or be taken before dwell has what it takes to
    unwind the program: 5 % have none. Which wait is the longest is by the server's clock: where that is one of several, it is at most all of them."""
    wrong, nameless, named, off_by = [], [], 0, 0
    for truth in truths:
        path = truth["path"]
        if path not in LONGEST:
            continue
        part, function = LONGEST[path]
        row = told.get((requests[key(truth)]["tid"], requests[key(truth)]["queue_ns"], requests[key(truth)]["window_ns"])) or {}
        wait = row.get("longest_wait") or {"part": None, "ns": 0, "frames": []}
        text = "%s waits in %s: %s" % (who(truth), function, wait)
        if not any(frame in FUNCTIONS for frame in wait["frames"]):
            nameless.append(text)
            continue
        named += 1
        alone = path in ("/sleep", "/lock", "/ask")
        if wait["part"] != part or function not in wait["frames"] or (
                not is_right(wait["ns"], truth[part], truth[part]) if alone else wait["ns"] > truth[part] + OFF_NS):
            wrong.append(text)
        off_by = max(off_by, abs(wait["ns"] - truth[part]) if alone else 0)
    spoilt = len(wrong) * 100 <= named * SPOILT_PERCENT and switches
    check("the longest wait of %d requests is in the server's function, and as long as by its clock, at worst %s off" % (
        named, ms(off_by)), ([] if spoilt else wrong) or ([] if named else ["of none"]))
    check("of %d requests it has no such function: at most %d %%" % (len(nameless), NAMELESS_PERCENT),
          nameless if len(nameless) * 100 > (named + len(nameless)) * NAMELESS_PERCENT else [])


def check_calls():
    """Returns the request that each call was found for, by the call's id."""
    problems, times, found = [], Comparison(), {}
    calls = collections.defaultdict(list)
    ports = {truth["database"] for truth in truths}
    for row in db.execute("SELECT * FROM request_calls ORDER BY begin_ns"):
        if row["client_port"] in ports:
            calls[row["request"]].append(row)
    grades = collections.Counter(row["grade"] for rows in calls.values() for row in rows)
    for truth in truths:
        rows = calls.pop(requests[key(truth)]["id"], [])
        if len(rows) != len(truth["calls"]):
            problems.append("%s makes %d calls: %d are linked" % (who(truth), len(truth["calls"]), len(rows)))
            continue
        for row, (begin, end, runq) in zip(rows, truth["calls"]):
            if row["client_port"] != truth["database"] or not begin <= row["begin_ns"] <= end or \
                    row["name"] != "SELECT pg_sleep()" or row["outcome"] != "answered":
                problems.append("%s asks PostgreSQL from port %d at %d to %d: %s" % (
                    who(truth), truth["database"], begin, end, dict(row)))
            # Its thread can wait for a CPU before it sends, and after it has received.
            times.add(truth, row["window_ns"], end - begin - runq, end - begin)
            found[row["id"]] = truth
    problems += ["requests of others have %d calls" % sum(map(len, calls.values()))] if calls else []
    if problems:
        problems[:0] = ["lost: %s %d" % tuple(row) for row in db.execute("SELECT cause, sum(count) FROM losses GROUP BY cause")]
    check("all %d calls of PostgreSQL are linked to the requests that made them: %s" % (
        sum(len(truth["calls"]) for truth in truths), dict(grades)), problems)
    times.judge("calls of PostgreSQL")
    return found


def check_database(found):
    """PostgreSQL knows the truth, too: a process for each connection, whose log has its statements in their order."""
    durations = collections.defaultdict(list)
    with open(database_log) as file:
        for line in file:
            match = re.match(r"(\d+) LOG:  duration: ([0-9.]+) ms  statement: SELECT pg_sleep", line)
            if match:
                durations[int(match[1])].append(float(match[2]) * 1e6)
    problems, times, sleeps = [], Comparison(), []
    of_backend = collections.Counter()
    for row in db.execute(REQUESTS + "AND name LIKE 'SELECT pg_sleep%' ORDER BY begin_ns"):
        truth = found.pop(row["parent"], None)
        if not truth or truth["backend"] != row["pid"]:
            problems.append("request %d of process %d answers %s" % (row["id"], row["pid"], truth))
            continue
        number = of_backend[row["pid"]]
        of_backend[row["pid"]] += 1
        # It can wait for a CPU before it looks at its clock, and after it has done so again.
        duration = durations[row["pid"]][number]
        times.add(truth, row["window_ns"], duration, duration + row["runq_ns"])
        sleeps.append(row["sleep_ns"])
    problems += ["call %d of %s has no request of PostgreSQL" % (call, who(truth)) for call, truth in found.items()]
    check("each call has its request of PostgreSQL, which is of the process that it asked", problems)
    times.judge("PostgreSQL: window", whose="by its log")
    asked = PAUSE_MS * 1e6
    check("PostgreSQL: it sleeps %s on average, as it was asked to for %d ms, within 5 %% or 1 ms" % (ms(mean(sleeps)), PAUSE_MS),
          [] if is_right(mean(sleeps), asked, asked) else ["it is not"])


def check_cold():
    cold = mean([truth["disk"] for truth in truths if truth["path"] == "/file"])
    if cold < OFF_NS:
        print("ok - a cold file is waited for # SKIP it is there within %s: no disk" % ms(cold))


if check_all_known():
    check_cold()
    check_parts()
    check_latency()
    check_holders()
    check_waits()
    check_database(check_calls())
