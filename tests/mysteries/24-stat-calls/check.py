# SPDX-License-Identifier: Apache-2.0


def check(case):
    """127 calls of stat more per request; for `dwell diff`."""
    case.need(False, "waits for diff")
