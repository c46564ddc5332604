#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cycles.py OBJECTS [ALLOWED]: fail where the files of a folder need each other in a circle.

File A needs file B if A's object uses a symbol, a function or data, that B's object defines; a table of
functions is data, so that its file needs every function in it. Files that need each other in a circle (a
strongly connected component) can only be read, tested and moved together. OBJECTS is the folder of object
files, made from the sources below the current folder. ALLOWED has a line for each cycle that may stay:
"FOLDER: FILE FILE ...: REASON".
"""

import pathlib
import subprocess
import sys

FOLDERS = ("src/*", "signals/*", "records/*")
DEFINED = set("TDBRCVWGSiu")


def folders():
    """Folders of sources: their path, and the names of their files without .c."""
    for pattern in FOLDERS:
        for folder in sorted(pathlib.Path(".").glob(pattern)):
            names = sorted(
                path.stem for path in folder.glob("*.c") if not path.name.endswith(".bpf.c")
            )
            if names:
                yield folder, names


def symbols(objects):
    """The symbols that each object defines for others, and those that it needs."""
    defines, needs = {}, {}
    output = subprocess.run(
        ["nm", "--format=posix", "--print-file-name", *map(str, objects)],
        check=True, capture_output=True, text=True,
    ).stdout
    for line in output.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if kind in DEFINED:
            defines.setdefault(path, set()).add(name)
        elif kind in "Uwv":
            needs.setdefault(path, set()).add(name)
    return defines, needs


def needed_files(folder, names, objects):
    """For each file of the folder: the other files of it that it needs, each with a symbol as proof."""
    paths = {name: objects / folder / f"{name}.o" for name in names}
    for name, path in paths.items():
        if not path.exists():
            sys.exit(f"{path}: no such object file. Build first: make all")
    defines, needs = symbols(paths.values())
    owner = {symbol: name for name in names for symbol in defines.get(str(paths[name]), ())}
    graph = {name: {} for name in names}
    for name in names:
        for symbol in sorted(needs.get(str(paths[name]), ())):
            other = owner.get(symbol)
            if other and other != name:
                graph[name].setdefault(other, []).append(symbol)
    return graph


def components(graph):
    """Strongly connected components of two files and more (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(found)


def read_allowed(path):
    """The allowed cycles: (folder, files) and the reason for it."""
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(":", 2)]
        if len(parts) < 3 or not parts[2]:
            sys.exit(f"{path}:{number}: not 'FOLDER: FILE FILE ...: REASON'")
        allowed[parts[0], tuple(sorted(parts[1].split()))] = parts[2]
    return allowed


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    objects = pathlib.Path(sys.argv[1])
    allowed = read_allowed(pathlib.Path(sys.argv[2])) if len(sys.argv) == 3 else {}
    files = bad = 0
    for folder, names in folders():
        files += len(names)
        graph = needed_files(folder, names, objects)
        for cycle in components(graph):
            reason = allowed.pop((str(folder), tuple(f"{name}.c" for name in cycle)), None)
            print(f"{folder}: {len(cycle)} files need each other in a circle"
                  + (f", allowed: {reason}" if reason else ""))
            bad += not reason
            for name in cycle:
                for other in cycle:
                    if other in graph[name]:
                        print(f"    {name}.c needs {other}.c: {' '.join(graph[name][other])}")
    for (folder, names), _ in allowed.items():
        print(f"{folder}: {' '.join(names)}: is allowed, but is no cycle; remove the line")
        bad += 1
    if not files:
        sys.exit("no source was found below this folder: is it dwell's?")
    if bad:
        sys.exit(1)
    print(f"ok - {files} files, no unexpected cycle between the files of a folder")


main()
