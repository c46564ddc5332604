# SPDX-License-Identifier: Apache-2.0
"""The checks of file_calls.sh: file_calls.py REPORT TRUTH CHECK; TAP on stdout."""
import collections
import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
truth = collections.defaultdict(int)
told = []
with open(sys.argv[2]) as file:
    for line in file:
        key, value = line.split()
        truth[key] += int(value)
        told.append((key, int(value)))


NAME_MAX = 127  # bytes of a path that are kept


def check(what, is_so, *why):
    print(f"{'ok' if is_so else 'not ok'} - {sys.argv[3]}: {what}")
    if not is_so:
        print("#  ", *why)


def rows(kind, file, op, error):
    for row in report["signals"]["files"]:
        name = (row["file"] or "").rsplit("/", 1)[-1]
        if (row["kind"], row["op"], row["error"]) == (kind, op, error) and file in (None, name):
            yield row


def total(kind, column, file, op, error="ok"):
    return sum(row[column] for row in rows(kind, file, op, error))


def is_near(ours, theirs):
    return theirs - max(0.02 * theirs, 100e3) <= ours <= theirs


def counted():
    for key in sorted({key.rsplit(".", 1)[0] for key in truth}):
        file, op, error = (key.split(".") + ["ok"])[:3]
        if file == "open":  # of files that are not there
            file, op, error = None, "open", "ENOENT"
        calls = truth[f"{key}.calls"]
        ours = total("latency", "count", file, op, error)
        if file:
            check(f"{key}: all calls", ours == calls, ours, calls)
        else:
            check(f"{key}: all calls", ours >= calls, ours, calls)
        if f"{key}.ns" in truth:
            ours = total("latency", "sum_ns", file, op, error)
            theirs = truth[f"{key}.ns"]
            # of short calls, most of their time is the hooks', which come before ours and after
            is_so = is_near(ours, theirs) if op == "sync" else 0 < ours <= theirs
            check(f"{key}: their time", is_so, ours, theirs)
        if op in ("read", "write") and error == "ok" and file == "dwell-first":
            for kind in ("asked", "returned"):
                ours = total("latency", f"{kind}_bytes", file, op)
                check(f"{key}: bytes {kind}", ours == truth[f"{key}.{kind}"], ours, truth[f"{key}.{kind}"])
    check("pipes are not files", not any("pipe" in (row["file"] or "") for row in report["signals"]["files"]))


def locked():
    """A slow read says where its time went."""
    theirs = sorted(value for key, value in told if key == "read.ns")
    events = [e for e in report["slow"] if e["signal"] == "files" and e["op"] == "read"]
    ours = sorted(e["ns"] for e in events if (e["file"] or "").endswith("/dwell-held"))
    slow = [ns for ns in theirs if ns > 10.2e6]
    check("reads over 10 ms are told one by one", len(ours) >= len(slow) > 0, ours, theirs)
    check("as long as they were", all(any(is_near(o, t) for o in ours) for t in slow), ours, theirs)
    for event in events:
        parts = event["parts"]
        check("its parts are its time", sum(parts.values()) == event["ns"], event)
    # The ledger takes it for a wait for the disk where the kernel does not say more; but the thread's own
    # requests tell that the disk had nothing to do with it.
    whole = sum(e["ns"] for e in events)
    waited = sum(e["parts"][f"{part}_ns"] for e in events for part in ("lock", "other", "disk"))
    disk = sum(e["parts"][f"disk_{part}_ns"] for e in events for part in ("queue", "service"))
    check("it waited, and not for the disk", waited > 0.8 * whole and disk < 0.1 * whole, [e["parts"] for e in events])
    check("with who called", all(e["stack"] and "do_readlock" in e["stack"] for e in events), events[:1])


def lock():
    """It says so where the kernel tells that it was a lock, and the ledger says of which file."""
    events = [e for e in report["slow"] if e["signal"] == "files" and e["op"] == "read"]
    events = [e for e in events if (e["file"] or "").endswith("/dwell-held")]
    whole = sum(e["ns"] - e["parts"]["runq_ns"] for e in events)
    known = sum(e["parts"]["lock_ns"] for e in events)
    check("a slow read waited for a lock", known > 0.8 * whole > 0, [e["parts"] for e in events])
    rows = [row for process in report["processes"] for thread in process["threads"] for row in thread["ledger"]]
    rows = [row for row in rows if (row.get("object") or "").endswith("/dwell-held") and row.get("call") == "pread64"]
    ours = sum(row["ns"] for row in rows if row["state"] == "blocked.kernel-lock")
    check("so does the ledger, with its file", ours > 0 and is_near(ours, known), rows)


def many():
    share = next(s for s in report["shares"] if s["signal"] == "files")
    for op in ("write", "open"):
        ours = sum(r["count"] for r in report["signals"]["files"] if r["kind"] == "latency" and r.get("op") == op)
        print(f"# {op}: {ours} with a place of their own")
    everything = sum(r["count"] for r in report["signals"]["files"] if r["kind"] == "latency")
    wanted = 2 * truth["files.written"]
    check("all are counted, with a place or as others", everything >= wanted, everything, wanted)
    check("there are others", share["folded"] > 0 and share["lost"] == 0, share)


def named():
    """The end of each path, as long as fits, and that something is missing only where it is."""
    names = [row["file"] or "" for row in report["signals"]["files"] if row["op"] == "write"]
    for path in truth:
        expected = path if len(path) <= NAME_MAX else "…" + path[-NAME_MAX:]
        check(f"the name of …{path[-20:]}, {len(path)} bytes", names.count(expected) == 1, expected, names)


def throttled():
    events = [e for e in report["slow"] if e["signal"] == "files" and e["op"] == "read"]
    check("there are slow reads", len(events) > 0, report["slow"][:3])
    disk = sum(e["parts"][f"disk{part}_ns"] for e in events for part in ("", "_queue", "_service"))
    check("their time is the disk's", disk > 0.9 * sum(e["ns"] - e["parts"]["runq_ns"] for e in events), [e["parts"] for e in events[:5]])
    known = sum(e["parts"]["disk_service_ns"] for e in events)
    check("what the disk took is told apart", 0.9 * disk < known, known, disk)


globals()[sys.argv[3]]()
