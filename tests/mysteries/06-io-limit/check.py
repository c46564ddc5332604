# SPDX-License-Identifier: Apache-2.0


def check(case):
    """Reads are held back before the device by the cgroup's limit; the disk is not slow."""
    truth = case.truth
    finding = case.cause("disk-held", pid=truth.pid("reader"))
    held = truth.delta("reader.read_ns") - truth.delta("kernel.device_ms") * 1e6
    case.culprit(finding, truth.texts["setup.cgroup"], ["cgroup"])
    case.culprit(finding, r"8388608|8\.0 MiB|8 MiB|8\.4 MB|8\.389", ["limit"])
    case.figure(finding, "the time held back", held, "ns", ["waited"])
    case.figure(finding, "its share of waits for disks", held * 100 / truth.delta("reader.read_ns"), "%", ["held_share"])
    case.screen("reader", truth.texts["setup.cgroup"], "limit")
