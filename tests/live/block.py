# SPDX-License-Identifier: Apache-2.0
"""The checks of block.sh: block.py LOAD FOLDER DEVICE CHECK...; TAP on stdout."""
import json
import os
import re
import sqlite3
import sys

load, folder, device = sys.argv[1:4]
db = sqlite3.connect(f"{folder}/{load}.dwell")
number = os.stat(device).st_rdev
disk = os.major(number) << 20 | os.minor(number)
OPS = ["reads", "writes", "flushes", "discards"]


def check(what, is_so, *why):
    print(f"{'ok' if is_so else 'not ok'} - {load}: {what}")
    if not is_so:
        print("#  ", *why)


def rows(kind, where="", column="sum"):
    return db.execute(
        f"""SELECT detail, {column} FROM series JOIN series_values ON series = id
        WHERE signal = 'block' AND kind = ? AND object = ? {where}""", (kind, disk)).fetchall()


def total(kind, column="sum", op=None):
    return sum(value for detail, value in rows(kind, column=column) if op in (None, detail % 5))


def done(op=None):
    """One whose end was not seen was done, too: its bytes are counted, and its time is not known."""
    return total("total", "count", op) + total("total", "orphan_starts", op)


def middle(place):
    return 0 if place == 0 else 2 ** ((place - 1.5) / 16)


def percentile(kind, share, size=None):
    """Of the device's values, or of those with a size class."""
    buckets = {}
    for _, text in rows(kind, "" if size is None else f"AND more = {size}", "buckets"):
        for pair in text.split():
            place, count = map(int, pair.split(":"))
            buckets[place] = buckets.get(place, 0) + count
    wanted, seen = share * sum(buckets.values()), 0
    for place in sorted(buckets):
        seen += buckets[place]
        if seen >= wanted:
            return middle(place)
    return 0


def fio(name):
    with open(f"{folder}/{name}.json") as file:
        job = json.load(file)["jobs"][0]
    return max((job["read"], job["write"]), key=lambda side: side["total_ios"])


def is_near(ours, theirs):
    """2 %, beside what a bucket may be wrong by; or what a thread needs to run again."""
    return abs(ours - theirs) <= max(0.045 * theirs, 100e3)


def counted():
    before, after = (open(f"{folder}/{when}").read().split() for when in ("before", "after"))
    grown = [int(b) - int(a) for a, b in zip(before[3:], after[3:])]
    if len(grown) > 15:
        grown[4] -= grown[15]  # the empty write that asks for a flush is no request to the disk
    for op, count, sectors in ((0, 0, 2), (1, 4, 6), (3, 11, 13), (2, 15, None)):
        if len(grown) <= count:
            continue
        ours = done(op)
        check(f"{OPS[op]} are counted as the kernel does", ours == grown[count], ours, grown[count])
        if sectors is not None:
            ours = total("total", "sum1", op)
            check("and their bytes", ours == grown[sectors] * 512, ours, grown[sectors] * 512)
    theirs = (grown[3] + grown[7] + (grown[14] if len(grown) > 14 else 0)) * 1e6
    ours = sum(total("total", op=op) for op in (0, 1, 3))
    # the kernel's begins when the request is made, and it cuts each kind to milliseconds
    check("their time is nearly the kernel's", -0.01 * theirs <= theirs - ours + 3e6 <= 0.1 * theirs + 100e6, ours, theirs)


def against_fio():
    """What fio waits for its CPU when a request is done is in its times alone: where that is much, at the top."""
    for name, size in (("read", 12), ("write", 16)):
        theirs = fio(name)["clat_ns"]["percentile"]
        for share in (10, 50, 90):
            ours, own = percentile("total", share / 100, size), theirs[f"{share}.000000"]
            is_so = is_near(ours, own) or (share == 90 and ours < own)
            check(f"fio's own {name} p{share}", is_so, ours, theirs)


def parts():
    ours, sums = total("total"), total("queue") + total("service")
    check("total is queue and service, to the nanosecond", ours == sums, ours, sums)
    counts = {total(kind, "count") for kind in ("total", "queue", "service")}
    check("each is counted as often", len(counts) == 1, counts)


def unreported(name):
    """Requests of which perf, too, has one end only: the kernel reported the other to nobody. 0 without perf."""
    path = f"{folder}/{name}.observed"
    text = open(path).read() if os.path.exists(path) else ""
    samples = dict(re.findall(r"block:block_rq_(\w+) stats:\s+SAMPLE events:\s+(\d+)", text))
    return max(0, int(samples.get("issue", 0)) - int(samples.get("complete", 0)))


def matched():
    """One in a thousand; or a few in a row; and those of which the kernel reported one end only."""
    counts = [total("total", column) for column in ("orphan_starts", "orphan_ends", "expired")]
    most = max(8, total("total", "count") / 1000) + unreported(load)
    check("nearly all have both ends", sum(counts) <= most, counts)
    print(f"# {sum(counts)} of {done()} without; {unreported(load)} by perf's count")


def matched_in_all():
    """The same, of several sessions together: name-1, name-2, ..."""
    global db
    lacking = done = sessions = by_perf = 0
    while os.path.exists(path := f"{folder}/{load[:-1]}{sessions + 1}.dwell"):
        db = sqlite3.connect(path)
        by_perf += unreported(f"{load[:-1]}{sessions + 1}")
        lacking += sum(total("total", column) for column in ("orphan_starts", "orphan_ends", "expired"))
        done += total("total", "count")
        sessions += 1
    check("nearly all have both ends, however often dwell comes and goes",
          sessions == 3 and done and lacking <= max(8, done / 1000) + by_perf, lacking, done, sessions)
    print(f"# {lacking} of {done} without, in {sessions} sessions; {by_perf} by perf's count")


def submitted():
    ours = db.execute(
        """SELECT sum(count) FROM series JOIN series_values ON series = series.id
        WHERE signal = 'block' AND kind = 'submitted' AND object = ? AND pid IN
        (SELECT pid FROM processes WHERE comm = 'fio')""", (disk,)).fetchone()[0]
    wanted = fio("read")["total_ios"] + fio("write")["total_ios"]
    check("fio's own are fio's", wanted - total("total", "orphan_starts") <= ours <= wanted, ours, wanted)


def owners():
    """Requests are fio's, or the cgroup's where the kernel made them later; never a bystander's."""
    by_fio, others = 0, []
    for comm, count in db.execute(
            """SELECT (SELECT comm FROM processes p WHERE p.pid = series.pid LIMIT 1), sum(count)
            FROM series JOIN series_values ON series = id
            WHERE signal = 'block' AND kind = 'submitted' AND object = ? GROUP BY 1""", (disk,)):
        if comm == "fio":
            by_fio += count
        elif comm not in ("sh", "grep"):
            others.append((comm, count))
    by_cgroup = db.execute(
        """SELECT total(count) FROM series JOIN series_values ON series = series.id JOIN labels
        ON labels.signal = 'block' AND labels.id = object
        WHERE series.signal = 'block' AND kind = 'cgroup' AND name LIKE 'cgroup dwell-block-%'""").fetchone()[0]
    wanted = fio("limited")["total_ios"]
    check("owners are who submitted, or their cgroup", not others and by_cgroup > 0, others, by_cgroup)
    check("and all are counted once", wanted <= by_fio + by_cgroup <= wanted * 2.1, by_fio, by_cgroup, wanted)
    bystanders = db.execute(
        """SELECT DISTINCT p.comm FROM slow JOIN processes p USING (pid)
        WHERE signal = 'block' AND object = ? AND p.comm NOT IN ('fio')""", (disk,)).fetchall()
    check("no slow request is a bystander's", not bystanders, bystanders)
    print(f"# fio {by_fio}, cgroup {by_cgroup}")


def regions():
    bytes_of = dict(db.execute("SELECT region, bytes - over_bytes FROM block_regions WHERE device = ?", (disk,)))
    # the first 32 MB were written in order, 4 of them again, after reads of 4 KiB from anywhere
    sums = [bytes_of.get(region, 0) >> 20 for region in range(4)]
    check("where it was moved", all(2 <= mib < 3 for mib in sums), bytes_of)
    name = db.execute("SELECT name FROM labels WHERE signal = 'block' AND id = ?", (disk,)).fetchone()
    check("the disk has its name", name == (os.path.basename(device),), name)


def queues():
    share = total("queue") / total("total")
    check("what is beyond the disk's depth queues", share > 0.2, share)


def tail():
    slow, all_of = fio("slow"), total("total", "count")
    p50, p99 = (percentile("total", share) for share in (0.5, 0.99))
    mean = total("total") / all_of
    check("half of all are fast", p50 < 2e6 and p50 < mean / 2, p50, mean)
    check("one in a hundred is not", p99 > 20 * p50 and p99 > 5e6, p99, p50)
    theirs = slow["clat_ns"]["percentile"]["99.000000"]
    ours = percentile("service", 0.99, 14)
    check("the slow ones are as fio has them", is_near(ours, theirs), ours, theirs)


def slow():
    events = db.execute("SELECT ns, value0, value1, tid FROM slow WHERE signal = 'block' AND object = ?", (disk,))
    events = events.fetchall()
    wanted = 0
    for _, text in rows("total", column="buckets"):
        wanted += sum(int(pair.split(":")[1]) for pair in text.split() if middle(int(pair.split(":")[0])) > 22e6)
    check("those above --slow are told one by one", len(events) >= wanted > 0, len(events), wanted)
    check("with their bytes", all(size in (4096, 8192) for _, _, size, _ in events), events[:9])
    check("and who waits", all(tid for _, _, _, tid in events), events[:9])


def cut():
    failed = [value for detail, value in rows("total", column="count") if detail == 10 * 5]
    check("the one that goes beyond the end fails", failed == [1], rows("total", column="count"))


def failing():
    failed = [value for detail, value in rows("total", column="count") if detail // 5 == 3 and detail % 5 == 1]
    check("writes that fail for want of room are told as such", sum(failed) == 2, rows("total", column="count"))


CHECKS = {"fio": against_fio}
for name in sys.argv[4:]:
    CHECKS.get(name, globals().get(name))()
