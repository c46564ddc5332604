# SPDX-License-Identifier: Apache-2.0
"""What fail_calls.c counts and says: its struct shared, in a file that both sides map."""
import struct

KINDS = "open mmap malloc bpf perf_event_open socketpair fork write send fsync".split()
PROCESSES = 32
SITES = 16384
SITE = struct.Struct("QQII")
HEAD = struct.Struct(f"II{PROCESSES}i{PROCESSES}i{PROCESSES * len(KINDS)}Q128s4096s")
BYTES = HEAD.size + SITES * SITE.size


def text(data):
    return data.split(b"\0")[0].decode(errors="replace").strip()


class Shared:
    """One look at the file after a run."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        fields = HEAD.unpack_from(data)
        self.processes = fields[0]
        self.has_failed = fields[1] != 0
        self.pids = fields[2 : 2 + self.processes]
        self.ended_by = fields[2 + PROCESSES : 2 + PROCESSES + self.processes]
        counts = fields[2 + 2 * PROCESSES : -2]
        self.counts = {
            (process, kind): counts[process * len(KINDS) + i]
            for process in range(self.processes)
            for i, kind in enumerate(KINDS)
        }
        self.what, self.trace = text(fields[-2]), text(fields[-1])
        self.sites = {}
        for _, nth, process, kind in filter(lambda site: site[0], SITE.iter_unpack(data[HEAD.size :])):
            self.sites.setdefault((process, KINDS[kind]), []).append(nth)


def clear(path):
    with open(path, "wb") as file:
        file.truncate(BYTES)
