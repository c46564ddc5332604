# SPDX-License-Identifier: Apache-2.0


def check(case):
    """15 of 16 openat fail, in the loader, as it looks through sixteen folders."""
    truth = case.truth
    requests = truth.total("plugins.requests")
    finding = case.cause("failed-calls", comm="plugins")
    case.culprit(finding, "^openat$", ["call"])
    case.figure(finding, "openat calls", 16 * requests, "count", ["call"])
    case.figure(finding, "openat calls that failed", 15 * requests, "count", ["failed"])
    case.figure(finding, "their share", 15 * 100 / 16, "%", ["failed_share"])
    case.screen("plugins", "openat", "dlopen|_dl_|load_plugin|ld-linux")
