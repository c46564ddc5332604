# SPDX-License-Identifier: Apache-2.0


def check(case):
    """A thousand wake-ups a second, for nothing."""
    truth = case.truth
    finding = case.cause("wakeups", pid=truth.pid("poller"))
    case.culprit(finding, "poll", ["wakeups"])
    case.figure(finding, "wake-ups a second", truth.delta("poller.polls") / truth.seconds, "/s", ["wakeups"])
    case.figure(finding, "CPU time", truth.delta("poller.cpu_ns"), "ns", ["cpu"])
    case.screen("poller", "poll")
