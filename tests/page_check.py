#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_check.py PAGE SESSION [FROM_WINDOW TO_WINDOW]: the data of an HTML report follows docs/page-data.md, and its sums
are those of the session's tables, by SQL. It knows nothing of how dwell made it. Prints what is wrong."""
import collections
import sqlite3
import sys

import page_parts

wrong = []


def expect(condition, what):
    if not condition:
        wrong.append(what)


def columns(name, rows):
    """A column set: all arrays are as long; how long."""
    lengths = {key: len(values) for key, values in rows.items()}
    expect(len(set(lengths.values())) <= 1, f"{name}: columns differ in length: {lengths}")
    return next(iter(lengths.values()), 0)


def within(name, values, count, none=False):
    low = -1 if none else 0
    bad = [value for value in values if not low <= value < count]
    expect(not bad, f"{name}: {bad[:3]} are not within {low} to {count - 1}")


def by(keys, values):
    sums = collections.Counter()
    for key, value in zip(keys, values):
        sums[key] += value
    return {key: value for key, value in sums.items() if value}


def bucketed(name, part, head):
    rows, windows = part["rows"], len(head["windows"]["begin_ns"])
    columns(name, rows)
    buckets = -(-windows // part["windows"])
    expect(part["bucket_ns"] == part["windows"] * head["window_ns"], f"{name}: bucket_ns")
    within(f"{name}.bucket", rows["bucket"], buckets)
    if "span" in rows:
        expect(all(span >= 1 and bucket + span <= buckets for bucket, span in zip(rows["bucket"], rows["span"])),
               f"{name}: a span ends after the last bucket")
    return rows


def check_subjects(parts):
    subjects = parts["subjects"]
    groups, processes = columns("groups", subjects["groups"]), columns("processes", subjects["processes"])
    columns("threads", subjects["threads"])
    within("processes.group", subjects["processes"]["group"], groups)
    within("threads.process", subjects["threads"]["process"], processes)
    return groups, processes, len(subjects["threads"]["tid"])


def check_ledger(parts, db, where):
    head = parts["head"]
    groups, _, threads = check_subjects(parts)
    sums = {state: ns for state, ns in db.execute(
        f"SELECT state, sum(ns) FROM ledger WHERE thread IN (SELECT id FROM threads) AND {where} GROUP BY state") if ns}
    counts = {state: count for state, count in db.execute(
        f"SELECT state, sum(count) FROM ledger WHERE thread IN (SELECT id FROM threads) AND {where} GROUP BY state") if count}
    host = bucketed("ledger.host", parts["ledger"]["host"], head)
    by_group = bucketed("ledger.groups", parts["ledger"]["groups"], head)
    by_thread = bucketed("threads", parts["threads"], head)
    if "busiest" in parts["threads"]:
        busiest = bucketed("threads.busiest", parts["threads"]["busiest"], head)
        expect(parts["threads"]["busiest"]["windows"] < parts["threads"]["windows"], "the busiest have no shorter buckets")
        some = set(busiest["thread"])
        expect(by(busiest["thread"], busiest["ns"]) ==
               by(*zip(*[(thread, ns) for thread, ns in zip(by_thread["thread"], by_thread["ns"]) if thread in some])),
               "the busiest threads have other sums than in all")
    within("ledger.groups.group", by_group["group"], groups)
    within("threads.thread", by_thread["thread"], threads)
    expect(by(host["state"], host["ns"]) == sums, f"ledger.host {by(host['state'], host['ns'])} is not SQL's {sums}")
    expect(by(by_group["state"], by_group["ns"]) == sums, "ledger.groups is not SQL's sum")
    expect(by(host["state"], host["count"]) == counts, "the counts of ledger.host are not SQL's")
    left_out = any(limit["part"] in ("threads", "subjects.threads") for limit in head["limits"])
    if not left_out:
        expect(by(by_thread["state"], by_thread["ns"]) == sums, "threads is not SQL's sum")
    expect(all(ns >= 0 for ns in host["ns"] + by_group["ns"]), "a time is negative")
    # A group is the sum of its threads.
    group_of = [parts["subjects"]["processes"]["group"][process] for process in parts["subjects"]["threads"]["process"]]
    if not left_out:
        expect(by([group_of[thread] for thread in by_thread["thread"]], by_thread["ns"]) ==
               by(by_group["group"], by_group["ns"]), "groups are not the sums of their threads")


def check_wakes(parts):
    head, threads = parts["head"], len(parts["subjects"]["threads"]["tid"])
    rows = bucketed("wakes", parts["wakes"], head)
    within("wakes.thread", rows["thread"], threads)
    within("wakes.waker", rows["waker"], threads, none=True)
    within("wakes.context", rows["context"], len(head["contexts"]))


def check_stacks(parts, db, where):
    head, stacks = parts["head"], parts["stacks"]
    functions = columns("functions", stacks["functions"])
    nodes = columns("nodes", stacks["nodes"])
    within("functions.look", stacks["functions"]["look"], len(head["looks"]))
    within("nodes.function", stacks["nodes"]["function"], functions)
    expect(all(-1 <= parent < index for index, parent in enumerate(stacks["nodes"]["parent"])),
           "a node comes before its parent")
    check_samples(parts, db, where, nodes)


def check_samples(parts, db, where, nodes):
    """The samples of groups, or of threads where all of them have room, are SQL's; of a thread, all are there or none."""
    head, groups = parts["head"], len(parts["subjects"]["groups"]["comm"])
    left_out = sum(limit["left_out"] for limit in head["limits"] if limit["part"] == "samples")
    cut = any(limit["part"] == "group_samples" for limit in head["limits"])
    for name, subject, count, none in (("samples", "thread", len(parts["subjects"]["threads"]["tid"]), False),
                                       ("group_samples", "group", groups, cut)):
        if name not in parts:
            continue
        rows = bucketed(name, parts[name], head)
        within(f"{name}.node", rows["node"], nodes, none)
        within(f"{name}.{subject}", rows[subject], count, none=True)
        within(f"{name}.kind", rows["kind"], len(head["kinds"]))
        within(f"{name}.stop", rows["stop"], len(head["stops"]))
    is_short = parts["samples"]["windows"] == 1 and not left_out
    expect(("group_samples" in parts) != is_short, "group_samples is there where samples tell all, or is missing")
    expected = {column: {(kind, state): value for kind, state, value in db.execute(
        f"SELECT kind, state, sum({column}) FROM samples WHERE {where} GROUP BY 1, 2") if value}
        for column in ("weight_ns", "count")}
    for name in ("samples", "group_samples"):
        if name not in parts:
            continue
        rows = parts[name]["rows"]
        missing = left_out if name == "samples" else 0
        expect(sum(rows["count"]) + missing == sum(expected["count"].values()), f"the count of {name} is not SQL's")
        for column in expected if not missing else ():
            expect(by(zip(rows["kind"], rows["state"]), rows[column]) == expected[column],
                   f"the {column} of {name} by kind and state is not SQL's")
    tids = parts["subjects"]["threads"]["tid"]
    if left_out and len(set(tids)) == len(tids):
        weights = dict(db.execute(f"SELECT tid, sum(weight_ns) FROM samples WHERE {where} GROUP BY 1"))
        rows = parts["samples"]["rows"]
        kept = by([tids[thread] for thread in rows["thread"]], rows["weight_ns"])
        expect(all(weights[tid] == weight for tid, weight in kept.items()), "a thread has a part of its samples only")
        expect(max((weights[tid] for tid in weights if tid not in kept), default=0) <= min(kept.values()),
               "a thread is left out that has more weight than one that is not")
    if "group_samples" in parts and not left_out:
        group_of = [parts["subjects"]["processes"]["group"][process] for process in parts["subjects"]["threads"]["process"]]
        rows, of_groups = parts["samples"]["rows"], parts["group_samples"]["rows"]
        if -1 not in rows["thread"]:
            expect(by([group_of[thread] for thread in rows["thread"]], rows["weight_ns"]) ==
                   by(of_groups["group"], of_groups["weight_ns"]), "samples of groups are not those of their threads")


def check_signals(parts):
    signals, head = parts["signals"], parts["head"]
    count = columns("series", signals["series"])
    within("series.process", signals["series"]["process"], len(parts["subjects"]["processes"]["pid"]), none=True)
    expect(signals["slots"] == sorted(signals["slots"]), "slots are not in order")
    for name, is_all in (("values", 1), ("histograms", 1), ("series_values", 0), ("series_histograms", 0)):
        rows = bucketed(f"signals.{name}", signals[name], head)
        within(f"signals.{name}.series", rows["series"], count)
        expect(all(signals["series"]["all"][series] == is_all for series in rows["series"]), f"{name}: `all` is not {is_all}")
        if "slot" in rows:
            within(f"signals.{name}.slot", rows["slot"], len(signals["slots"]) - 1)
    # What a measure has is the sum of its series, unless some were left out.
    if not any(limit["part"].startswith("signals") for limit in head["limits"]):
        for value in ("count", "sum"):
            sums = [collections.Counter(), collections.Counter()]
            for is_all, name in ((1, "values"), (0, "series_values")):
                rows = signals[name]["rows"]
                for series, number in zip(rows["series"], rows[value]):
                    sums[is_all][signals["series"]["signal"][series], signals["series"]["kind"][series]] += number
            expect(sums[0] == sums[1], f"signals: {value} of a measure is not that of its series")


def check_requests(parts, db, where):
    """Of a kept request its parts are its window; a call and its answer are rows of the session that belong together."""
    has_table = any(table["tab"] == "requests" for table in parts["tables"]["tables"])
    expect(("requests" in parts) == has_table, "tables of requests and no part of them, or the reverse")
    if "requests" not in parts:
        return
    data, head = parts["requests"], parts["head"]
    endpoints, requests = columns("endpoints", data["endpoints"]), columns("requests", data["requests"])
    processes, threads = len(parts["subjects"]["processes"]["pid"]), len(parts["subjects"]["threads"]["tid"])
    calls = columns("calls", data["calls"])
    for name in ("endpoint_processes", "budgets", "request_parts"):
        columns(name, data[name])
    for name, column, count, none in (
            ("endpoints", "grown", len(data["parts"]), True), ("endpoint_processes", "endpoint", endpoints, False),
            ("endpoint_processes", "process", processes, True), ("budgets", "endpoint", endpoints, False),
            ("budgets", "part", len(data["parts"]), False), ("requests", "endpoint", endpoints, False),
            ("requests", "process", processes, True), ("requests", "thread", threads, True),
            ("requests", "outcome", len(data["outcomes"]), False), ("requests", "model", len(data["models"]), False),
            ("request_parts", "request", requests, False), ("request_parts", "part", len(data["parts"]), False),
            ("calls", "request", requests, False), ("calls", "answer", requests, True),
            ("calls", "outcome", len(data["outcomes"]), False), ("calls", "grade", len(data["grades"]), False)):
        within(f"{name}.{column}", data[name][column], count, none)
    rows = data["requests"]
    windows = {request: ns for request, ns in enumerate(rows["window_ns"]) if ns}
    expect(by(data["request_parts"]["request"], data["request_parts"]["ns"]) == windows, "the parts of a request are not its window")
    latencies = [queue + window for queue, window in zip(rows["queue_ns"], rows["window_ns"])]
    expect(latencies == sorted(latencies, reverse=True), "the slowest request is not the first")
    start = int(db.execute("SELECT value FROM meta WHERE key = 'started_ns'").fetchone()[0])
    kept = collections.Counter(db.execute("SELECT max(begin_ns - ?, 0), queue_ns, window_ns, ifnull(status, '') FROM requests", (start,)))
    shown = collections.Counter(zip(rows["begin_ns"], rows["queue_ns"], rows["window_ns"], rows["status"]))
    expect(not shown - kept, "a request is not one of the session")
    whole = where == "1" and not any(limit["part"] == "requests" for limit in head["limits"])
    expect(not whole or shown == kept, "a kept request is missing")
    grades = [grade["name"] for grade in data["grades"]]
    linked = collections.Counter(db.execute(
        "SELECT r.begin_ns - ?1, c.begin_ns - ?1, c.wait_ns, c.window_ns, c.grade, ifnull(c.name, ''), coalesce(a.begin_ns - ?1, -1) FROM request_calls c"
        " JOIN requests r ON r.id = c.request LEFT JOIN requests a ON a.parent = c.id", (start,)))
    made = data["calls"]
    found = collections.Counter(
        (rows["begin_ns"][made["request"][i]], made["begin_ns"][i], made["wait_ns"][i], made["window_ns"][i], grades[made["grade"][i]],
         made["name"][i], rows["begin_ns"][made["answer"][i]] if made["answer"][i] >= 0 else -1) for i in range(calls))
    expect(not whole or found == linked, f"calls and their answers are not the session's: {(found - linked) or (linked - found)}")


UNITS = {"text", "ns", "bytes", "count", "percent", "rate", "id", "state", "time", "node", "subject"}


def check_tables(parts):
    subjects = {"thread": len(parts["subjects"]["threads"]["tid"]), "process": len(parts["subjects"]["processes"]["pid"]),
                "group": len(parts["subjects"]["groups"]["comm"])}
    ids = [table["id"] for table in parts["tables"]["tables"]]
    expect(len(ids) == len(set(ids)), f"two tables have one id: {sorted(ids)}")
    for table in parts["tables"]["tables"]:
        name = table["id"]
        expect(columns(name, table["rows"]) > 0, f"{name} has no rows")
        expect([column["key"] for column in table["columns"]] == list(table["rows"]), f"{name}: columns and rows differ")
        for column in table["columns"]:
            values = table["rows"][column["key"]]
            expect(column["unit"] in UNITS, f"{name}: unit {column['unit']}")
            if column["unit"] == "subject":
                within(f"{name}.{column['key']}", values, subjects[column["subject"]], none=True)
            if column["unit"] == "node":
                within(f"{name}.{column['key']}", values, len(parts["stacks"]["nodes"]["parent"]), none=True)
            if column["unit"] == "text":
                expect(all(isinstance(value, str) for value in values), f"{name}.{column['key']} is no text")


def check_head(parts):
    head = parts["head"]
    expect(head["schema"] == "dwell.page/1", "schema")
    windows = head["windows"]
    expect(all(begin <= end for begin, end in zip(windows["begin_ns"], windows["end_ns"])), "a window ends before it begins")
    counts = {"thread": len(parts["subjects"]["threads"]["tid"]), "process": len(parts["subjects"]["processes"]["pid"]),
              "group": len(parts["subjects"]["groups"]["comm"])}
    ids = {state["id"] for state in head["states"]}
    for finding in head["findings"]:
        for key, index in (finding["subject"] or {}).items():
            within(f"finding {finding['id']}", [index], counts[key])
        expect(set(finding["states"]) <= ids, f"finding {finding['id']}: states {finding['states']}")
    expect(head["trust"]["sentences"] and head["verdict"], "nothing is said")
    for empty in head["empty"]:
        expect(empty["tab"] and empty["why"], f"an empty view without a reason: {empty}")
    tabs = {empty["tab"] for empty in head["empty"]}
    if not parts["samples"]["rows"]["count"]:
        expect("flame" in tabs, "there are no samples, and no reason why")
    expect(("latency" in tabs) == (not parts["signals"]["series"]["signal"]), "no signals and no reason, or a false one")
    with_tables = {table["tab"] for table in parts["tables"]["tables"]}
    for tab in ("waits", "locks", "disks", "network", "requests"):
        expect((tab in tabs) != (tab in with_tables), f"{tab} is empty without a reason, or has a false one")


def main():
    parts = page_parts.parts(sys.argv[1])
    db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
    where = f"window BETWEEN {int(sys.argv[3])} AND {int(sys.argv[4])}" if len(sys.argv) > 3 else "1"
    check_ledger(parts, db, where)
    check_wakes(parts)
    check_stacks(parts, db, where)
    check_signals(parts)
    check_requests(parts, db, where)
    check_tables(parts)
    check_head(parts)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
