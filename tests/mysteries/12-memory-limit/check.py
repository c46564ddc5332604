# SPDX-License-Identifier: Apache-2.0


def check(case):
    """The working set does not fit the cgroup's limit: memory has to be reclaimed, and read back."""
    truth = case.truth
    # From the wake-up on, a wait is one for a CPU; the kernel's count of that begins later, when it is in the queue.
    waited = truth.delta("cache.touch_ns") - truth.delta("cache.cpu_ns")
    of = case.find("memory-wait", "page-in", pid=truth.pid("cache"))
    finding = case.cause("memory-wait", "page-in", pid=truth.pid("cache"), said=truth.texts["setup.cgroup"])
    case.culprit(finding, truth.texts["setup.cgroup"], ["cgroup"])
    case.figure(finding, "the limit", int(truth.texts["setup.limit"]), "bytes", ["limit"])
    total = sum(item["value"] for one in of for item in one["evidence"] if item["name"] == "waited")
    total += case.queued(truth.pid("cache"))
    case.need(abs(total - waited) <= 0.1 * waited, f"it waited {waited:,.0f} ns for memory; reported {total:,.0f}")
    case.screen("cache", truth.texts["setup.cgroup"], "memory")
