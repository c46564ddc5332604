# SPDX-License-Identifier: Apache-2.0


def check(case):
    """A SCHED_FIFO thread runs half of the time on the service's only CPU."""
    truth = case.truth
    others = truth.seconds * 1e9 - truth.delta("kernel.exec")
    finding = case.cause("cpu-wait", pid=truth.pid("svc"))
    case.figure(finding, "the wait for a CPU", truth.delta("kernel.delay"), "ns", ["waited"])
    case.culprit(finding, "rtloop", ["ran_instead"])
    case.culprit(finding, "FIFO", ["policy"])
    shares = [item["value"] for item in (finding or {}).get("evidence", [])
              if item["name"] == "ran_instead" and item["what"] == "rtloop"]
    least = truth.delta("kernel.fifo") * 100 / others
    case.need(shares and 0.9 * least <= shares[0] <= 100.5,
              f"rtloop ran {least:.0f} % of the CPU's other time; {shares} of the wait")
    case.screen("svc", "rtloop", "FIFO")
