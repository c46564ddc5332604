# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Two busy loops run on the service's only CPU."""
    truth = case.truth
    hogs = truth.delta("kernel.hog_a") + truth.delta("kernel.hog_b")
    others = truth.seconds * 1e9 - truth.delta("kernel.exec")
    finding = case.cause("cpu-wait", pid=truth.pid("svc"))
    case.figure(finding, "the wait for a CPU", truth.delta("kernel.delay"), "ns", ["waited"])
    case.figure(finding, "the loops' share of it", hogs * 100 / others, "%", ["ran_instead"], what_is="hog")
    case.screen("svc", "hog")
