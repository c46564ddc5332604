# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Connections wait in an accept queue of four, and more are dropped."""
    truth = case.truth
    finding = case.cause("accept-queue")
    case.culprit(finding, "127.0.0.1:28170", ["listener"])
    case.figure(finding, "overflows", truth.delta("kernel.overflows"), "count", ["overflows"], slack=1)
    case.culprit(finding, "backlog-server")
    case.screen("backlog-server", "127.0.0.1:28170", "overflow")
