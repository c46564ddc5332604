# SPDX-License-Identifier: Apache-2.0


def check(case):
    """PostgreSQL computes, in sequential scans; the web server waits for it."""
    truth = case.truth
    cpu = truth.delta("kernel.postgres") * 100 / (truth.seconds * 1e9) / int(case.report["meta"]["cpus"])
    top = case.cause("cpu-top")
    case.figure(top, "PostgreSQL's share of the CPUs", cpu, "%", ["cpu"], what_is="postgres")
    case.culprit(top, "(?i)scan|heap|exec|slot", ["function"])
    net = case.cause("net-wait", pid=truth.pid("app-gil"), said="127.0.0.1:28025")
    case.culprit(net, "postgres")
    case.screen("postgres", "python3", "127.0.0.1:28025", "(?i)scan|heap_?get|ExecInterp|slot_")
