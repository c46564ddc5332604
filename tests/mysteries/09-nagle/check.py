# SPDX-License-Identifier: Apache-2.0


def check(case):
    """The second part of each request waits until the peer has acknowledged the first."""
    truth = case.truth
    finding = case.cause("nagle", comm="order-")
    case.culprit(finding, "127.0.0.1:28090")
    case.figure(finding, "the time held back", truth.delta("client.wait_ns"), "ns", ["delayed_ack"])
    case.figure(finding, "how often", truth.delta("client.requests"), "count", ["delayed_acks"], slack=1)
    case.screen("order-(client|server)", "acknowledged|ACK|Nagle")
