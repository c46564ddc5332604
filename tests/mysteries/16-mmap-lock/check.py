# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Threads that map, touch and unmap pages wait for the lock of the address space."""
    truth = case.truth
    finding = case.cause("kernel-lock-wait", pid=truth.pid("mapper"))
    case.culprit(finding, "snapshots", ["holder"])
    case.culprit(finding, "mmap")
    case.figure(finding, "the wait for the lock", truth.delta("mapper.wait_ns"), "ns", ["waited"])
    case.screen("mapper", "mmap", "snapshots")
