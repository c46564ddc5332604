#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""exports.py FORMAT FILE REPORT [KIND]: says where an export of `dwell export` is wrong by its format, or
has other sums than REPORT, the --json of `dwell report` of the same; exits 0 if nowhere."""
import collections
import gzip
import json
import sys
import xml.etree.ElementTree as xml

from protobuf import fields, packed

problems = []


def expect(what, found, expected):
    if found != expected:
        problems.append(f"{what}: {found}, not {expected}")


def told(report, kind):
    """count and weight by kind, as the report has them"""
    sums = collections.Counter()
    for stack in report["stacks"]:
        if kind in (None, stack["kind"]):
            sums["count"] += stack["count"]
            sums[stack["kind"]] += stack["weight_ns"]
    return sums


def check_folded(data, sums, _):
    lines = data.decode().splitlines()
    expect("sum", sum(int(line.rpartition(" ")[2]) for line in lines), sums["count"])
    expect("lines without a process and a function", [line for line in lines if ";" not in line], [])
    expect("control characters", [line for line in lines if any(ord(c) < 32 for c in line)], [])


def depths(report):
    """by stack_id: its frames, of which each is as often in the report as it has functions"""
    frames = report["frames"]
    return {stack["stack_id"]: round(sum(1 / (1 + len(frames[i]["inlined"])) if i else 1 for i in stack["frame_ids"]))
            for stack in report["stacks"]}


def check_pprof(data, sums, report):
    expected = depths(report)
    profile = fields(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    expect("string 0", strings[0], "")
    types = [strings[fields(t)[1][0]] for t in profile[1]]
    names = {"cpu": "cpu", "off_cpu": "blocked"}
    expect("first type", types[0], "samples")
    expect("types", [names[t] for t in types[1:]], [k for k in ("cpu", "blocked") if sums[k]])
    mappings = [fields(m) for m in profile[3]]
    locations = {fields(location)[1][0]: fields(location) for location in profile[4]}
    functions = {fields(function)[1][0] for function in profile[5]}
    values = [0] * len(types)
    used = set()
    for sample in map(fields, profile[2]):
        used.update(packed(sample[1][0]))
        for i, value in enumerate(packed(sample[2][0])):
            values[i] += value
        label = [strings[fields(label)[2][0]] for label in sample[3] if strings[fields(label)[1][0]] == "stack_id"]
        if label:
            expect("locations of " + label[0], len(packed(sample[1][0])), expected[label[0]])
        expect("values of a sample", len(packed(sample[2][0])), len(types))
    expect("samples", values[0], sums["count"])
    for i, kind in enumerate(types[1:], 1):
        expect(kind, values[i], sums[names[kind]])
    expect("locations that are not there", used - set(locations), set())
    expect("mapping 0", strings[mappings[0][5][0]], "/usr/bin/server")
    expect("its build id", strings[mappings[0][6][0]], "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678")
    lines = [[fields(line)[1][0] for line in location[4]] for location in locations.values()]
    expect("functions that are not there", {f for line in lines for f in line} - functions, set())
    if sums["cpu"]:
        expect("a location with inlined functions", max(map(len, lines)), 3)
        expect("period", profile[12], [20000000])
    expect("start, duration", profile[9] + profile[10], [1760000000000000000, 2000000000])


def check_speedscope(data, sums, _):
    document = json.loads(data)
    frames = len(document["shared"]["frames"])
    weights = collections.Counter()
    for profile in document["profiles"]:
        expect(profile["name"] + ": weights", len(profile["weights"]), len(profile["samples"]))
        expect(profile["name"] + ": end", profile["endValue"], sum(profile["weights"]))
        expect(profile["name"] + ": frames", [s for s in profile["samples"] if not s or max(s) >= frames], [])
        weights[profile["name"].rpartition(", ")[2]] += sum(profile["weights"])
    for kind in "cpu", "blocked":
        expect(kind, weights[kind], sums[kind])


def check_svg(data, sums, _):
    root = xml.fromstring(data)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [g for g in root.iter(space + "g") if g.get("class") == "f"]
    roots = [g for g in boxes if g.get("data-p") == ""]
    expect("panels", len(roots), sum(bool(sums[kind]) for kind in ("cpu", "blocked")))
    titles = [g.find(space + "title").text for g in boxes]
    expect("boxes without a share", [t for t in titles if " % of " not in t or " sample" not in t], [])
    known = {"svg", "style", "rect", "text", "g", "title", "foreignObject", "script", "div", "input", "button"}
    expect("foreign elements", {e.tag.rpartition("}")[2] for e in root.iter()} - known, set())
    expect("handlers", [k for e in root.iter() for k in e.attrib if k.startswith("on") or "href" in k], [])
    text = data.decode()
    for name in "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml":
        text = text.replace(name, "")
    expect("addresses", text.count("://") + text.count("url(") + text.count("@import"), 0)
    for i, box in enumerate(boxes):
        if box.get("data-p") != "":
            below = boxes[int(box.get("data-p"))]
            inside = float(box.get("data-x")) - float(below.get("data-x"))
            if not (int(box.get("data-p")) < i and -1e-6 <= inside and
                    inside + float(box.get("data-w")) <= float(below.get("data-w")) + 1e-6):
                problems.append(f"a box that is not on its caller: {titles[i]}")


CHECKS = {"folded": check_folded, "pprof": check_pprof, "speedscope": check_speedscope, "svg": check_svg}
with open(sys.argv[2], "rb") as file, open(sys.argv[3]) as text:
    whole = json.load(text)
    CHECKS[sys.argv[1]](file.read(), told(whole, sys.argv[4] if len(sys.argv) > 4 else None), whole)
print("\n".join(problems))
sys.exit(bool(problems))
