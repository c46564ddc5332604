# SPDX-License-Identifier: Apache-2.0


def check(case):
    """The first waits for the second, the second for the third, which computes."""
    truth = case.truth
    finding = case.cause("pipe-wait", pid=truth.pid("extract"))
    case.culprit(finding, "transform")
    case.figure(finding, "the first one's wait", truth.delta("extract.write_ns"), "ns", ["waited"])
    second = case.cause("pipe-wait", pid=truth.pid("transform"))
    case.culprit(second, "load")
    case.figure(second, "the second one's wait", truth.delta("transform.write_ns") + truth.delta("transform.read_ns"),
                "ns", ["waited"])
    case.chain("extract", "transform.*pipe", "load.*cpu")
    case.screen("extract", "transform", "load")
