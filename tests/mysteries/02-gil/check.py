# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Threads wait for each other's interpreter lock, and for PostgreSQL."""
    truth = case.truth
    finding = case.cause("handover-wait", pid=truth.pid("app-gil"))
    case.culprit(finding, "python3", ["waker"])
    case.figure(finding, "the wait for the interpreter's lock", truth.delta("app-gil.signalled_ns"), "ns", ["waited"])
    net = case.cause("net-wait", pid=truth.pid("app-gil"), said="127.0.0.1:28025")
    case.culprit(net, "postgres")
    case.screen("python3", "127.0.0.1:28025")
