# SPDX-License-Identifier: Apache-2.0


def check(case):
    """127 calls of stat more per request, by `dwell diff --per syscalls:write`: a request has one write()."""
    truth = case.truth
    line = case.changed("syscall", "newfstatat", "count")
    if not line:
        return
    for side, run in ("a", "before"), ("b", "after"):
        case.close(f"calls per request {run}", line[side], truth.total(f"{run}.stats") / truth.total(f"{run}.requests"))
    case.need(any("newfstatat of pages rose from" in sentence for sentence in case.diff["verdict"]),
              f"the verdict does not name the calls: {case.diff['verdict']}")
    case.screen("Calls of newfstatat of pages rose from 1.0", "per syscalls:write")
