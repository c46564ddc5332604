#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# churn.py SECONDS [FORKS_A_SECOND [BINARIES_A_SECOND]]: processes that come and go. Most of them run one shell, the
# rest each a copy of it that no process ran before: with a build id of its own, removed once it has run. Prints how
# many of each there were.
import os, random, subprocess, sys, tempfile, time

SHELL = os.path.realpath("/bin/bash")
LOOP = "for ((i = 0; i < 10000; i++)); do :; done"  # long enough to be sampled, and looked at
LIVE_MAX = 64

seconds = float(sys.argv[1])
forks = float(sys.argv[2]) if len(sys.argv) > 2 else 300
binaries = float(sys.argv[3]) if len(sys.argv) > 3 else 30


def build_id_at(image):
    """Where the 20 bytes of the GNU build id are: behind the header of its note."""
    return image.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16


def run(folder, image, at, number):
    path = os.path.join(folder, f"binary-{number}")
    image[at:at + 20] = random.randbytes(20)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o755)
    os.write(descriptor, image)
    os.close(descriptor)
    return path, subprocess.Popen([path, "-c", LOOP])


def wait_for(live, most):
    """Waits for the oldest until at most so many are left; who has ended meanwhile is reaped."""
    while live and (len(live) > most or live[0][1].poll() is not None):
        path, process = live.pop(0)
        process.wait()
        if path:
            os.unlink(path)


begin = time.monotonic()
forked = copied = 0
live = []
with open(SHELL, "rb") as file:
    image = bytearray(file.read())
at = build_id_at(image)
with tempfile.TemporaryDirectory() as folder:
    while (passed := time.monotonic() - begin) < seconds:
        if forked + copied >= passed * forks:
            time.sleep(0.001)
        elif copied * forks <= (forked + copied) * binaries:
            live.append(run(folder, image, at, copied))
            copied += 1
        else:
            live.append((None, subprocess.Popen([SHELL, "-c", ":"])))
            forked += 1
        wait_for(live, LIVE_MAX)
    wait_for(live, 0)
print(f"processes {forked + copied}\nbinaries {copied}")
