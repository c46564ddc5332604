# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Threads that append to one file wait for its inode's lock."""
    truth = case.truth
    finding = case.cause("kernel-lock-wait", pid=truth.pid("append"))
    waited = truth.delta("append.wait_ns") - truth.delta("kernel.device_ms") * 1e6
    case.culprit(finding, "append-", ["holder"])
    case.culprit(finding, "journal.log|inode")
    case.figure(finding, "the wait for the lock", waited, "ns", ["waited"])
    case.screen("append", "journal.log|inode")
