#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py TOOL symbols|lines FILE: FILE's addresses by TOOL (tests/live/names) and by others.

Symbols are held against eu-addr2line's, lines against those of eu-addr2line and of addr2line, which
do not always agree: one of them has to be right.

Prints how many are the same, of how many, and some of those that differ. A name that another symbol of
the same address has is the same: which of them is shown is a matter of taste. Of lines, only addresses
in functions that both have a line for are counted, and no more frames than dwell keeps.
"""
import os
import re
import subprocess
import sys

FRAMES_MAX = 16
COUNT = 2000


def run(command, stdin=None):
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True).stdout


def addresses_of(path):
    """COUNT of them, evenly over the code."""
    for line in run(["readelf", "-SW", path]).splitlines():
        found = re.match(r"\s*\[ *\d+\] \.text +PROGBITS +(\w+) \w+ (\w+)", line)
        if found:
            begin, size = int(found[1], 16), int(found[2], 16)
            return [begin + size * i // COUNT for i in range(COUNT)]
    sys.exit(f"{path} has no .text")


def aliases_of(path):
    """Every symbol's name, and all names at its address."""
    at = {}
    for option in ([], ["-D"]):
        listing = subprocess.run(["nm", *option, path], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if len(words) == 3:
                at.setdefault(words[0], set()).add(words[2].split("@")[0])
    return {name: names for names in at.values() for name in names}


def theirs_of(program, path, addresses, options):
    """What the program says of each address: its lines."""
    found, current = {}, None
    command = [program, "-a", *options, "-e", path, *map(hex, addresses)]
    # The status is 1 if the file has no DWARF, but it has symbols all the same.
    for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-f]{16}", line):
            current = found.setdefault(int(line, 16), [])
        else:
            current.append(line)
    return found


def symbols_of(tool, path, addresses):
    text = "".join(f"{address:x}\n" for address in addresses)
    return dict(zip(addresses, run([tool, "--raw", path], text).splitlines()))


def compare_symbols(tool, path, addresses):
    theirs, aliases = theirs_of("eu-addr2line", path, addresses, ["-S"]), aliases_of(path)
    differing = []
    for address, name in symbols_of(tool, path, addresses).items():
        symbol = re.sub(r"\+0x[0-9a-f]+$", "", theirs[address][0]).split("@")[0]
        if symbol == "()":
            symbol = "??"
        if name != symbol and name not in aliases.get(symbol, ()):
            differing.append(f"{address:#x}: {name}, not {symbol}")
    return len(addresses), differing


def frames_of(program, path, addresses):
    """(function, file:line), innermost first, for each address."""
    found = {}
    for address, lines in theirs_of(program, path, addresses, ["-i", "-f"]).items():
        found[address] = frames = []
        for name, place in zip(lines[::2], lines[1::2]):
            place = ":".join(place.split(" ")[0].split(":")[:2])
            frames.append((name.split(" inlined at ")[0], os.path.basename(place)))
    return found


def compare_lines(tool, path, addresses):
    text = "".join(f"{address:x}\n" for address in addresses)
    ours, current = {}, None
    for line in run([tool, "--lines", path], text).splitlines():
        if line.startswith("0x"):
            current = ours.setdefault(int(line, 16), [])
        else:
            name, place = line.rsplit(" ", 1)
            current.append((name, os.path.basename(place)))
    others = [frames_of(program, path, addresses) for program in ("eu-addr2line", "addr2line")]
    count, differing, symbols = 0, [], symbols_of(tool, path, addresses)
    for address in addresses:
        theirs = [frames[address] for frames in others]
        if symbols[address] == "??" or any(
            len(frames) > FRAMES_MAX or frames[0][1].startswith("??") for frames in theirs
        ):
            continue
        count += 1
        if ours[address] and ours[address][-1][0] == "??":  # DWARF does not say: the symbol does
            ours[address][-1] = (symbols[address], ours[address][-1][1])
        if ours[address] not in theirs:
            differing.append(f"{address:#x}: {ours[address]}, not {theirs[0]}")
    return count, differing


tool, what, path = sys.argv[1:]
compare = {"symbols": compare_symbols, "lines": compare_lines}[what]
count, differing = compare(tool, path, addresses_of(path))
print(count - len(differing), count)
for text in differing[:5]:
    print(f"  {text[:500]}")
