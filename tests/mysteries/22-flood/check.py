# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Soft interrupts take CPU 1 from a program that computes there; the packets come from one device."""
    truth = case.truth
    taken = truth.delta("service.gap_ns") - truth.delta("kernel.delay")
    finding = case.cause("softirq", comm="calculator")
    case.culprit(finding, truth.texts["setup.device"], ["packets"])
    case.figure(finding, "packets", truth.delta("kernel.packets") / truth.seconds, "/s", ["packets"])
    case.figure(finding, "the share of its CPU time that was taken",
                taken * 100 / (truth.seconds * 1e9 - truth.delta("kernel.delay")), "%", ["taken"])
    case.screen("calculator", truth.texts["setup.device"], "(?i)soft interrupt")
