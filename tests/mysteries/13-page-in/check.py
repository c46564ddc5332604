# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Pages of a mapped file have to be read again and again."""
    truth = case.truth
    finding = case.cause("page-in", pid=truth.pid("lookup"))
    # From the wake-up on, a wait is one for a CPU; the kernel's count of that begins later, when it is in the queue.
    waited = truth.delta("lookup.wait_ns") - case.queued(truth.pid("lookup"))
    case.culprit(finding, "index.dat")
    case.figure(finding, "the wait for pages", waited, "ns", ["waited"])
    case.figure(finding, "pages read", truth.delta("lookup.faults"), "count", ["waits"])
    case.screen("lookup", "index.dat")
