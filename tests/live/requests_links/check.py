# SPDX-License-Identifier: Apache-2.0
"""check.py SESSION FRONT_PORT UPSTREAM_PORT CALLS CLIENT_LOG UPSTREAM_LOG: judges the calls that dwell linked to requests by
the ids in the logs of both ends. dwell does not see the ids. A kept request makes CALLS calls.

It prints "name=value" lines for the shell, and what is wrong as comments."""
import bisect
import collections
import sqlite3
import sys

session, front, upstream, calls_each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
GRADES = ("published", "confirmed", "backward", "forward")
SAID_MOST = 5
found = collections.Counter()


def wrong(what, text):
    found[what] += 1
    if found[what] <= SAID_MOST:
        print(f"# {what}: {text}")


class Log:
    """Entries of a connection do not overlap: port and time find the entry."""

    def __init__(self, path, begin, end):
        self.of_port, self.end_at = collections.defaultdict(list), end
        with open(path) as file:
            rows = sorted((tuple(map(int, line.split())) for line in file), key=lambda row: row[begin])
        self.count = len(rows)
        for row in rows:
            self.of_port[row[0]].append(row)
        self.begins = {port: [row[begin] for row in rows] for port, rows in self.of_port.items()}
        self.ends = {port: [row[end] for row in rows] for port, rows in self.of_port.items()}

    def last_before(self, port, ns):
        """The entry that had begun at that time, and not ended."""
        at = bisect.bisect_right(self.begins.get(port, []), ns) - 1
        return self.of_port[port][at] if at >= 0 and ns <= self.ends[port][at] else None

    def last_begun(self, port, ns):
        at = bisect.bisect_right(self.begins.get(port, []), ns) - 1
        return self.of_port[port][at] if at >= 0 else None

    def nearest_end(self, port, ns):
        """The first entry that had not ended at that time."""
        at = bisect.bisect_left(self.ends.get(port, []), ns)
        return self.of_port[port][at] if at < len(self.ends.get(port, [])) else None


db = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
db.row_factory = sqlite3.Row
client = Log(sys.argv[5], 3, 4)  # sent, answered
server = Log(sys.argv[6], 4, 5)  # received, answered
REQUESTS = """SELECT r.* FROM requests r JOIN endpoints e ON e.id = r.endpoint
    WHERE port = ? AND kind = 'request' AND outcome = 'answered'"""


def truth_of_request(row):
    entry = client.last_before(row["client_port"], row["begin_ns"])
    if not entry:
        wrong("strays", f"request {row['id']} of port {row['client_port']}: its client does not know it")
        return None
    late = entry[1] - row["turn"]  # requests before the recording
    if late_of.setdefault(row["client_port"], late) != late:
        wrong("turns_off", f"turn {row['turn']} of port {row['client_port']} is the client's request {entry[1]}")
    return entry[2]


def truth_of_call(row):
    """The last one that the upstream had received when its answer was read: the next one was sent later."""
    entry = server.last_begun(row["client_port"], row["begin_ns"] + row["wait_ns"])
    if not entry:
        wrong("unknown", f"call {row['id']} of port {row['client_port']}: its upstream does not know it")
    return entry


def judge_call(row, request, entry):
    grade = row["grade"]
    found["calls_" + grade] += 1
    if ids[row["request"]] != entry[2]:
        wrong("wrong_" + grade, f"call {row['id']}, port {row['client_port']}, of id {entry[2]} is linked to request "
              f"{row['request']} of id {ids[row['request']]}")
        return
    if entry[:5] in taken:
        wrong("twice", f"the upstream's request {entry[:4]} is a call of {taken[entry[:5]]} and of {row['id']}")
    taken[entry[:5]] = row["id"]
    end = request["begin_ns"] + request["queue_ns"] + request["window_ns"]
    if not request["begin_ns"] <= row["begin_ns"] <= end or row["wait_ns"] > row["window_ns"]:
        wrong("outside", f"call {row['id']} is not within its request {row['request']}")
    if (row["sent_bytes"], row["received_bytes"]) != entry[6:8]:
        wrong("bytes_off", f"call {row['id']}: {row['sent_bytes']} and {row['received_bytes']} bytes, {entry[6:8]} "
              "by the upstream")
    if row["port"] != upstream or row["status"] != "200" or row["outcome"] != "answered":
        wrong("unlike", f"call {row['id']}: port {row['port']}, status {row['status']}, {row['outcome']}")


def judge_child(row):
    call = entries.get(row["parent"])
    if not call:
        found["children_of_others"] += 1  # of a call that was not kept
        return
    found["children"] += 1
    entry = server.nearest_end(row["client_port"], row["begin_ns"])
    if not entry or entry[:5] != call[:5]:
        wrong("wrong_parents", f"request {row['id']}, {entry and entry[:4]}, has the parent {row['parent']}, which is "
              f"{call[:4]}")


late_of = {}
requests = {row["id"]: row for row in db.execute(REQUESTS, (front,)) if row["weight"]}
ids = {row["id"]: truth_of_request(row) for row in requests.values()}
entries, taken = {}, {}
for row in db.execute("SELECT * FROM request_calls"):
    if row["request"] not in requests or ids[row["request"]] is None:
        continue
    entries[row["id"]] = truth_of_call(row)
    if entries[row["id"]]:
        judge_call(row, requests[row["request"]], entries[row["id"]])
for row in db.execute(REQUESTS.replace("= r.endpoint", "= r.endpoint AND r.parent"), (upstream,)):
    judge_child(row)

found["asked"] = client.count
found["late"] = sum(map(bool, late_of.values()))
found["kept"] = sum(1 for value in ids.values() if value is not None)
found["calls"] = found["kept"] * calls_each
found["accepted"] = sum(found["calls_" + grade] for grade in GRADES)
found["wrong"] = sum(found["wrong_" + grade] for grade in GRADES)
found["unlinked"] = found["calls"] - found["accepted"]
for name in ("confirmed", "backward", "conflict", "forward", "refused", "unlinked", "published", "checked", "wrong"):
    found["judged_" + name] = db.execute(
        f"SELECT coalesce(sum({name}), 0) FROM request_links l WHERE pid IN "
        "(SELECT pid FROM endpoints WHERE port = ?)", (front,)).fetchone()[0]
names = ["asked", "kept", "calls", "accepted", "unlinked", "wrong", "strays", "turns_off", "late", "unknown", "twice", "outside",
         "bytes_off", "unlike", "children", "children_of_others", "wrong_parents"]
names += [prefix + grade for grade in GRADES for prefix in ("calls_", "wrong_")]
names += sorted(name for name in found if name.startswith("judged_"))
for name in names:
    print(f"{name}={found[name]}")
