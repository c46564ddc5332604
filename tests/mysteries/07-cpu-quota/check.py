# SPDX-License-Identifier: Apache-2.0


def check(case):
    """A CPU quota of 20 % throttles the service."""
    truth = case.truth
    throttled = truth.delta("kernel.throttled_ns") if "kernel.throttled_ns" in truth.series else \
        truth.delta("kernel.throttled_us") * 1000
    finding = case.cause("cpu-throttled", comm="service")
    case.culprit(finding, truth.texts["setup.cgroup"], ["cgroup"])
    case.figure(finding, "the quota", 20, "%", ["quota"])
    case.figure(finding, "the time throttled", throttled, "ns", ["throttled"])
    case.screen("service", truth.texts["setup.cgroup"], "throttled", "20 %")
