# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Workers wait for a lock; its holder waits for a TCP peer that is slow."""
    truth = case.truth
    finding = case.cause("lock-wait", pid=truth.pid("pricing"))
    case.culprit(finding, "refresher", ["holder"])
    case.figure(finding, "the workers' wait for the lock", truth.delta("pricing.wait_ns"), "ns", ["waited"])
    case.chain("worker", "refresher.*(net|28210)", "rates")
    case.screen("refresher", "127.0.0.1:28210", "rates")
