# SPDX-License-Identifier: Apache-2.0


def check(case):
    """One callback keeps the event loop, up to hundreds of milliseconds at a stretch."""
    truth = case.truth
    turns = truth.lasted("node.turn")
    finding = case.cause("loop-busy", pid=truth.pid("node"))
    case.figure(finding, "the longest turn", max(turns), "ns", ["longest"])
    case.figure(finding, "turns of 10 ms or more", len(turns), "count", ["long_turns"], slack=1)
    case.culprit(finding, r"(?i)json|parse|server\.js", ["function"])
    case.screen("node", "event loop")
