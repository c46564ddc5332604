# SPDX-License-Identifier: Apache-2.0


def check(case):
    """The first name server never answers."""
    truth = case.truth
    finding = case.cause("timeout", pid=truth.pid("resolver"), said=truth.texts["setup.silent"])
    case.culprit(finding, truth.texts["setup.silent"], ["peer"])
    case.figure(finding, "time-outs", truth.delta("resolver.timeouts"), "count", ["call", "waits"], slack=1)
    case.figure(finding, "the time lost", truth.delta("resolver.timeout_ns"), "ns", ["peer", "waited"], slack=0.3e9)
    case.screen("resolver", truth.texts["setup.silent"], "timed out|no answer")
