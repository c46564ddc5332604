#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# sample.py OUT NAME=KIND:ARGS...: the kernel's own counters every 50 ms, into a file of truth
#   file:PATH           the number in it
#   field:PATH:KEY      the number after KEY, at a line's beginning
#   column:PATH:N       the Nth number of its first line, from 0
#   cpu:PID[,PID]       CPU time of processes, ns, by /proc/PID/stat (in ticks)
#   exec:TID[,TID]      CPU time of threads, ns, by schedstat
#   delay:TID[,TID]     time that threads waited for a CPU, ns, by schedstat
#   execs:PID, delays:PID  the same, over all threads that the process has
#   snmp:PATH:GROUP:NAME   of /proc/net/netstat and /proc/net/snmp
#   softirq:CPU         softirq time of a CPU, ns, by /proc/stat
import glob
import os
import sys
import time

TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def schedstat(paths, column):
    return sum(int((text(path).split() or [0, 0, 0])[column]) for path in paths)


def threads(tids):
    return [f"/proc/{tid}/task/{tid}/schedstat" for tid in tids.split(",")]


def field(path, key):
    for line in text(path).splitlines():
        words = line.split()
        if words and words[0] == key:
            return int(words[1])
    return 0


def snmp(path, group, name):
    names = None
    for line in text(path).splitlines():
        words = line.split()
        if words[0] != group + ":":
            continue
        if names is None:
            names = words
        else:
            return int(words[names.index(name)])
    return 0


def cpu(pids):
    total = 0
    for pid in pids.split(","):
        words = text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        total += (int(words[11]) + int(words[12])) * TICK if words else 0
    return total


def softirq(number):
    for line in text("/proc/stat").splitlines():
        words = line.split()
        if words[0] == f"cpu{number}":
            return int(words[7]) * TICK
    return 0


KINDS = {
    "file": lambda path: int(text(path) or 0),
    "field": field,
    "column": lambda path, column: int(text(path).split()[int(column)]),
    "cpu": cpu,
    "exec": lambda tids: schedstat(threads(tids), 0),
    "delay": lambda tids: schedstat(threads(tids), 1),
    "execs": lambda pid: schedstat(glob.glob(f"/proc/{pid}/task/*/schedstat"), 0),
    "delays": lambda pid: schedstat(glob.glob(f"/proc/{pid}/task/*/schedstat"), 1),
    "snmp": snmp,
    "softirq": softirq,
}


def main():
    with open("/proc/self/comm", "w") as comm:
        comm.write("sampler")  # one of the mysteries is python3
    wanted = []
    for argument in sys.argv[2:]:
        name, _, rest = argument.partition("=")
        kind, *args = rest.split(":")
        wanted.append((name, KINDS[kind], args))
    with open(sys.argv[1], "a", buffering=1) as out:
        while True:
            lines = []
            for name, function, args in wanted:
                lines.append(f"{time.monotonic_ns()} {name} {function(*args)}\n")
            out.write("".join(lines))
            time.sleep(0.05)


main()
