#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py FILE [KEY=VALUE]...: a session to be compared with another one, in windows of a second.

A server with 40 requests (accept4) a second. Numbers: seconds=30, seed=1, cpu=1.0 (its time in cpu.user, 300 ms a second),
lock=1.0 (in blocked.lock, 100 ms a second), calls=3 (of newfstatat per request), render=1.0 (of the function render),
latency=1.0 (of file reads, 200 us), drift=0 (share by which cpu.user rises from the first window to the last),
from=0 (seconds after which the factors hold), requests=0 (that it answers a second, of 5 ms), answer=1.0 (of their latency),
errors=0 (of 100). Anything else is a fact of meta: freq=49, tier=B."""
import math
import random
import sqlite3
import sys

NOISE = 0.02
SECOND = 10**9
numbers = dict(seconds=30, seed=1, cpu=1.0, lock=1.0, calls=3, render=1.0, latency=1.0, drift=0.0,
               requests=0, answer=1.0, errors=0)
numbers["from"] = 0
meta = dict(schema="dwell.session/1", kind="record", kernel="6.18.0", machine="x86_64", host="box", boot_id="b", cpus="2",
            started_ns=str(SECOND), tier="B", filter="all", window_ns=str(SECOND), freq="99", min_block_ns="1000000",
            signals="files", dwell_version="0.2.0", started_real_ns="1700000000000000000", build="aa")
for word in sys.argv[2:]:
    key, value = word.split("=", 1)
    if key in numbers:
        numbers[key] = float(value)
    else:
        meta[key] = value
seconds = int(numbers["seconds"])
build = meta.pop("build")
meta.setdefault("ended_ns", str(SECOND * (1 + seconds)))

db = sqlite3.connect(sys.argv[1])
with open("tests/sessions/schema.sql") as sql:
    db.executescript(sql.read())
chance = random.Random(numbers["seed"])


def rows(table, columns, *values):
    db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({','.join('?' * len(values[0]))})", values)


def noisy(value):
    return int(value * (1 + NOISE * chance.gauss(0, 1)))


def bucket(value):
    return max(0, math.ceil(16 * math.log2(value)) + 1)


rows("meta", "key, value", *meta.items())
rows("processes", "pid, start_ns, parent, comm, exe, service, is_kernel", (100, 5, 1, "server", "/usr/bin/server", "web.service", 0))
rows("threads", "id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads, account_ns",
     (1, 100, 5, 100, 5, SECOND, SECOND * (1 + seconds), "server", 0, 0, 1, SECOND),
     (2, 100, 5, 101, 6, SECOND, SECOND * (1 + seconds), "idler", 0, 0, 1, SECOND))
rows("syscalls", "call, name", (289, "accept4"), (263, "newfstatat"))
rows("modules", "id, kind, path, build_id", (1, 3, "/usr/bin/server", build))
rows("frames", "id, module, address, name", (1, 1, 16, "main"), (2, 1, 32, "parse"), (3, 1, 48, "render"))
rows("stacks", "id, parent, frame, depth", (1, 0, 1, 1), (2, 1, 2, 2), (3, 1, 3, 2))
rows("series", "id, signal, kind, pid, start_ns, detail, object, more", (1, "files", "latency", 100, 5, 0, 0, 0))
for i in range(seconds):
    now = i >= numbers["from"]
    cpu = noisy(300e6 * (numbers["cpu"] if now else 1) * (1 + numbers["drift"] * i / seconds))
    lock = noisy(100e6 * (numbers["lock"] if now else 1))
    parse, render = chance.gauss(150, 3), chance.gauss(150, 3) * (numbers["render"] if now else 1)
    calls = int(40 * (numbers["calls"] if now else 3))
    rows("windows", "id, begin_ns, end_ns", (i, SECOND * (1 + i), SECOND * (2 + i)))
    rows("ledger", "window, thread, state, call, object, holder, waker, waker_kind, ns, count, end_ns",
         (i, 1, 2, 0, 0, 0, 0, 0, cpu, 40, None), (i, 1, 10, 203, 0, 0, 0, 0, lock, 40, None),
         (i, 1, 14, 0, 0, 0, 0, 0, SECOND - cpu - lock, 40, None))
    rows("calls", "window, thread_tid, thread_start_ns, thread_begin_ns, call, count, failed, cpu_ns, total_ns",
         (i, 100, 5, SECOND, 289, 40, 0, 40000, 40000), (i, 100, 5, SECOND, 263, calls, 0, calls * 1000, calls * 1000))
    for stack, weight in (2, parse), (3, render):
        count = max(1, round(weight / 10))
        rows("samples", "window, pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop, waker, waker_kind,"
             " waker_stack, count, weight_ns, ns, mismatches",
             (i, 100, 5, 100, 5, 0, 2, 0, stack, 0, 0, 0, 0, count, int(weight * 1e6), 0, 0))
    values = [noisy(200e3 * (numbers["latency"] if now else 1)) for _ in range(100)]
    buckets = {}
    for value in values:
        buckets[bucket(value)] = buckets.get(bucket(value), 0) + 1
    rows("series_values", "window, series, count, sum, max, orphan_starts, orphan_ends, expired, sum1, sum2, buckets",
         (i, 1, len(values), sum(values), max(values), 0, 0, 0, 0, 0, " ".join(f"{b}:{n}" for b, n in sorted(buckets.items()))))
    if numbers["requests"]:
        count = int(numbers["requests"])
        values = [noisy(5e6 * (numbers["answer"] if now else 1)) for _ in range(count)]
        buckets = {}
        for value in values:
            buckets[bucket(value)] = buckets.get(bucket(value), 0) + 1
        rows("request_counts", "window, endpoint, requests, errors, answered, latency_ns",
             (i, 1, count + 3, int(count * numbers["errors"] / 100), count, sum(values)), (i, 2, 7, 0, 7, 7000))
        rows("request_latency", "window, endpoint, buckets", (i, 1, " ".join(f"{b}:{n}" for b, n in sorted(buckets.items()))))
if numbers["requests"]:
    rows("endpoints", "id, pid, start_ns, port, protocol, name, kind", (1, 100, 5, 8080, "http", "GET /cart/:id", "request"),
         (2, 100, 5, 8080, "http", "CONNECT", "setup"))
# A thread that never moves has one row for all of it, in the last window.
rows("ledger", "window, thread, state, call, object, holder, waker, waker_kind, ns, count, end_ns",
     (seconds - 1, 2, 14, 0, 0, 0, 0, 0, SECOND * seconds, 1, SECOND * (1 + seconds)))
db.commit()
