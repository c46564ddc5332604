# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Copying page tables in fork()."""
    truth = case.truth
    finding = case.cause("syscall-cost", comm="forker", said=r'"(clone3?|v?fork)"')
    case.culprit(finding, "^(clone3?|v?fork)$", ["call"])
    case.figure(finding, "forks", truth.total("forker.forks"), "count", ["call"], slack=3)
    case.figure(finding, "the CPU time in fork", truth.total("forker.fork_cpu_ns"), "ns", ["cpu"])
    case.screen("forker", r"clone", r"copy_\w+|dup_mm|page tables")
