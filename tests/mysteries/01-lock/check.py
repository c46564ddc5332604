# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Workers wait for a mutex; the flusher holds it, in fsync of wal.log."""
    truth = case.truth
    finding = case.cause("lock-wait", pid=truth.pid("kv"))
    case.culprit(finding, "flusher", ["holder"])
    case.figure(finding, "the workers' wait for the lock", truth.delta("kv.wait_ns"), "ns", ["waited"])
    case.chain("worker", "flusher.*(fsync|wal.log)")
    case.screen("flusher", "fsync|wal.log", "kv")
