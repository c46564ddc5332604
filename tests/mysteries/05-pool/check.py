# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Both threads of the pool are always busy, asleep inside their tasks; the request threads wait for them."""
    truth = case.truth
    finding = case.cause("pool-busy", pid=truth.pid("java"))
    case.culprit(finding, "backend", ["pool"])
    case.figure(finding, "threads of the pool", 2, "count", ["pool"])
    case.figure(finding, "the requests' wait for the pool", truth.delta("java.wait_ns"), "ns", ["waited"])
    case.figure(finding, "the share of the pool's time that it sleeps",
                truth.delta("java.sleep_ns") * 100 / (2e9 * truth.seconds), "%", ["mostly"], what_is="sleep")
    case.screen("backend", "java")
