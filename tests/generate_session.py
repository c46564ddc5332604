#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_session.py FILE [--seconds N] [--threads N] [--stacks N] [--active N]

Makes up the session of a large host: by default one hour of 10,000 threads and 100,000 stacks, as big as a
report, a comparison or a page must be able to bear. The rules of docs/session.md hold: the rows of a thread
sum up to its time exactly, and a thread that does not move has no rows. The same arguments give the same file.
"""
import argparse
import os
import random
import re
import sqlite3

SECOND = 1_000_000_000
START = 1_000 * SECOND
HERE = os.path.dirname(os.path.abspath(__file__))
SERVICES = ["checkout", "search", "cart", "ingest", "billing", "gateway", "session-cache", "mailer"]
WAITS = ["blocked.lock", "blocked.disk", "blocked.net", "blocked.ipc", "blocked.sleep", "blocked.poll"]
THREADS_PER_PROCESS = 25
STACKS_PER_PROCESS = 250
SAMPLES_PER_ACTIVE = 2
FREQ = 49
STOP_END = 1  # a complete stack


def states():
    with open(os.path.join(HERE, "../abi/states.def")) as rows:
        names = re.findall(r'^STATE\(\w+, "([^"]+)"', rows.read(), re.M)
    return {name: number for number, name in enumerate(names)}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--stacks", type=int, default=100_000)
    parser.add_argument("--active", type=int, default=500, help="threads that move in a second")
    return parser.parse_args()


def write_host(db, args, state):
    end = START + args.seconds * SECOND
    db.executemany("INSERT INTO meta VALUES (?, ?)", {
        "schema": "dwell.session/1", "dwell_version": "0.2", "kernel": "6.18.0", "machine": "x86_64", "host": "large",
        "cpus": "64", "tick_ns": "4000000", "started_ns": str(START), "started_real_ns": str(1_700_000_000 * SECOND),
        "ended_ns": str(end), "tier": "A", "filter": "all", "kind": "record", "option.0": "-a",
        "option.1": f"-d {args.seconds}", "option.2": "-s runq", "signals": "runq", "window_ns": str(SECOND),
        "freq": str(FREQ), "min_block_ns": "1000000", "seed": "1", "duration_ns": str(args.seconds * SECOND),
    }.items())
    db.executemany("INSERT INTO windows VALUES (?, ?, ?)",
                   ((w, START + w * SECOND, START + (w + 1) * SECOND) for w in range(args.seconds)))
    db.executemany("INSERT INTO states VALUES (?, ?, '')", ((number, name) for name, number in state.items()))
    for table in "contexts", "sample_kinds", "stops", "cpu_uses", "object_kinds":
        source = {"sample_kinds": "samples", "object_kinds": "objects"}.get(table, table)
        with open(os.path.join(HERE, f"../abi/{source}.def")) as rows:
            names = re.findall(r'^[A-Z_]+\(\w+, "([^"]+)"', rows.read(), re.M)
        db.executemany(f"INSERT INTO {table} VALUES (?, ?, '')", enumerate(names))
    db.executemany("INSERT INTO syscalls VALUES (?, ?, NULL)", [(1, "read"), (203, "futex"), (233, "epoll_wait")])
    db.executemany("INSERT INTO objects VALUES (?, 9, ?, 0)", ((n, f"lock-{n}") for n in range(1, 65)))
    db.executemany("INSERT INTO overhead VALUES (?, 2000000, 3000000, 40000000, 20000000, 65536)",
                   ((w,) for w in range(args.seconds)))
    db.executemany("INSERT INTO losses VALUES (?, 'ring_full', ?)", ((w, 3) for w in range(60, args.seconds, 900)))
    db.executemany("INSERT INTO steps VALUES (?, ?, ?)",
                   ((START + w * SECOND, "rates thinned to 1/2, in all", "made up") for w in range(90, args.seconds, 1200)))


def process_of(thread):
    return thread // THREADS_PER_PROCESS


def write_subjects(db, args):
    end = START + args.seconds * SECOND
    processes = process_of(args.threads - 1) + 1
    db.executemany(
        "INSERT INTO processes VALUES (?, ?, 1, ?, ?, 1000, ?, NULL, ?, NULL, ?, 1, 1, 1, 0, NULL, NULL)",
        ((1000 + p, 100 + p, f"{SERVICES[p % 8]}d", f"/srv/{SERVICES[p % 8]}/bin", f"/system.slice/{SERVICES[p % 8]}-{p // 64}",
          f"{SERVICES[p % 8]}-{p // 64}.service", f"{SERVICES[p % 8]}-{p // 64}") for p in range(processes)))
    db.executemany(
        "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, 900, 20, 900, 20, 0, 0, 0, 0, ?)",
        ((t + 1, 1000 + process_of(t), 100 + process_of(t), 100_000 + t, 1000 + t, START, end, f"worker-{t % 25}", START)
         for t in range(args.threads)))


def write_stacks(db, args, chance):
    """A call tree: each new node is the callee of one that is not too deep."""
    db.executemany("INSERT INTO modules VALUES (?, ?, ?, ?)",
                   [(1, 1, "[kernel]", "")] + [(m, 3, f"/srv/lib/lib{m}.so", f"{m:040x}") for m in range(2, 42)])
    frames = min(args.stacks, 20_000)
    db.executemany("INSERT INTO frames VALUES (?, ?, ?, ?, 'symtab', NULL, 0)",
                   ((f, 2 + f % 40, 0x1000 + 16 * f, f"module{f % 40}::function_{f}") for f in range(1, frames + 1)))
    depths = [0]
    rows = []
    for node in range(1, args.stacks + 1):
        parent = node - 1 if chance.random() < 0.6 else chance.randrange(0, node)
        if depths[parent] >= 60:
            parent = chance.randrange(0, 50) if node > 50 else 0
        depths.append(depths[parent] + 1)
        rows.append((node, parent, chance.randrange(1, frames + 1), depths[node]))
    db.executemany("INSERT INTO stacks VALUES (?, ?, ?, ?)", rows)


def active_threads(args, chance, window):
    """Two fifths are busy all the time, the rest is drawn anew for each second."""
    always = min(args.active * 2 // 5, args.threads)
    seldom = range(always, args.threads)
    yield from range(always)
    yield from sorted(chance.sample(seldom, min(args.active - always, len(seldom))))


def moved_rows(state, chance, window, thread):
    """The rows of one thread that moved: they sum up to the second."""
    cpu = chance.randrange(1_000_000, 400_000_000)
    runq = chance.randrange(10_000, 90_000_000)
    wait = state[WAITS[(thread + window // 600) % len(WAITS)]]
    rest = SECOND - cpu - runq
    lock = 1 + process_of(thread) % 64 if wait == state["blocked.lock"] else 0
    yield (window, thread + 1, state["cpu"], 0, 0, 0, 0, 0, cpu, 30, None)
    yield (window, thread + 1, state["runq.woken"], 0, 0, 0, 0, 0, runq, 25, None)
    yield (window, thread + 1, wait, 203 if lock else 1, lock, 0, 100_000 + (thread + 7) % 1000, 1, rest // 2, 20, None)
    yield (window, thread + 1, state["blocked.idle"], 233, 0, 0, 0, 0, rest - rest // 2, 5,
           START + (window + 1) * SECOND)


def ledger_rows(args, state, chance):
    read_until = [0] * args.threads
    for window in range(args.seconds):
        for thread in active_threads(args, chance, window):
            silent = window - read_until[thread]
            if silent:
                yield (window - 1, thread + 1, state["blocked.idle"], 233, 0, 0, 0, 0, silent * SECOND, 0,
                       START + window * SECOND)
            yield from moved_rows(state, chance, window, thread)
            read_until[thread] = window + 1
    for thread, until in enumerate(read_until):
        if until < args.seconds:
            yield (args.seconds - 1, thread + 1, state["blocked.idle"], 233, 0, 0, 0, 0, (args.seconds - until) * SECOND, 0,
                   START + args.seconds * SECOND)


def write_kernel_counts(db, state):
    """What the kernel counted for itself agrees."""
    for column, name in ("kernel_exec_ns", "cpu"), ("kernel_delay_ns", "runq.woken"):
        db.execute(f"UPDATE threads SET {column} = total FROM (SELECT thread, sum(ns) AS total FROM ledger "
                   "WHERE state = ? GROUP BY thread) WHERE thread = threads.id", (state[name],))


def write_sums(db):
    """What dwell adds up while it writes a long session."""
    def add_up(name, table, keys, sums):
        db.execute(f"INSERT INTO {name} SELECT {', '.join(keys + sums)} FROM {table} GROUP BY {', '.join(keys)}")
        db.execute(f"INSERT INTO meta SELECT 'sums.{name}', max(rowid) FROM {table}")

    times = ["sum(ns) AS ns", "sum(count) AS count"]
    weights = ["sum(count) AS count", "sum(weight_ns) AS weight_ns"]
    add_up("ledger_sums", "ledger", ["thread", "state", "call", "object", "holder", "waker", "waker_kind"], times)
    # A silence of several windows is in each of them: steps, up where it begins and down where it ends.
    db.execute("""INSERT INTO window_sums SELECT window, state, sum(ns), sum(count), sum(step) FROM (
        SELECT window, state, ns, count, 0 AS step FROM ledger WHERE count <> 0 OR ns < 1500000000 UNION ALL
        SELECT window + 1 - ns / 1000000000, state, 0, 0, 1000000000 FROM ledger WHERE count = 0 AND ns >= 1500000000 UNION ALL
        SELECT window + 1, state, 0, 0, -1000000000 FROM ledger WHERE count = 0 AND ns >= 1500000000) GROUP BY 1, 2""")
    db.execute("INSERT INTO meta SELECT 'sums.window_sums', max(rowid) FROM ledger")
    add_up("samples_sums", "samples",
           ["pid", "process_start_ns", "tid", "thread_start_ns", "kind", "state", "mode", "stack", "stop", "waker",
            "waker_kind", "waker_stack"],
           weights + ["sum(ns) AS ns", "sum(mismatches) AS mismatches",
                      "sum(weight_ns * 1.0 * weight_ns / count) AS squares"])
    add_up("stack_sums", "samples", ["kind", "stack"], weights)


def first_stack(args, thread):
    return 1 + process_of(thread) * STACKS_PER_PROCESS % max(args.stacks - STACKS_PER_PROCESS, 1)


def sample_rows(args, state, chance):
    for window in range(args.seconds):
        for thread in active_threads(args, chance, window):
            for _ in range(SAMPLES_PER_ACTIVE):
                stack = first_stack(args, thread) + int(STACKS_PER_PROCESS * chance.random() ** 6)
                is_wait = chance.random() < 0.3
                what = state["blocked.lock"] if is_wait else state["cpu"]
                weight = chance.randrange(1_000_000, 50_000_000) if is_wait else SECOND // FREQ
                yield (window, 1000 + process_of(thread), 100 + process_of(thread), 100_000 + thread, 1000 + thread,
                       1 if is_wait else 0, what, 0, stack, STOP_END, 0, 0, 0, 1, weight, weight if is_wait else 0, 0)


def write_series(db, args, chance):
    db.execute("INSERT INTO shares VALUES ('runq', 4096, 400, 0, 0, 0, 0)")
    processes = process_of(args.threads - 1) + 1
    db.executemany("INSERT INTO series VALUES (?, 'runq', 'wait', ?, ?, 7, 0, 0)",
                   ((p + 1, 1000 + p, 100 + p) for p in range(processes)))

    def values():
        for window in range(args.seconds):
            for p in range(window % 4, processes, 4):
                low = 200 + chance.randrange(0, 100)
                yield (window, p + 1, 60, 60 * 300_000, 20_000_000, 0, 0, 0, 0, 0, f"{low}:30 {low + 9}:20 {low + 40}:10")

    db.executemany("INSERT INTO series_values VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values())


def main():
    args = arguments()
    state = states()
    if os.path.exists(args.file):
        os.unlink(args.file)
    db = sqlite3.connect(args.file)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    with open(os.path.join(HERE, "sessions/schema.sql")) as sql:
        db.executescript(sql.read())
    write_host(db, args, state)
    write_subjects(db, args)
    write_stacks(db, args, random.Random(1))
    db.executemany("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   ledger_rows(args, state, random.Random(2)))
    db.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   sample_rows(args, state, random.Random(3)))
    write_kernel_counts(db, state)
    write_series(db, args, random.Random(4))
    write_sums(db)
    db.commit()
    db.close()


main()
