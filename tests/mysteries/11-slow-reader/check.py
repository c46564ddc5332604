# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Writing a log line blocks, since the process that reads them sleeps."""
    truth = case.truth
    finding = case.cause("pipe-wait", pid=truth.pid("logs"))
    case.culprit(finding, "collector", ["waker", "peer"])
    case.figure(finding, "the time in write", truth.delta("logs.write_ns"), "ns", ["waited"])
    case.chain("logs", "collector.*sleep")
    case.screen("logs", "collector", "sleep")
