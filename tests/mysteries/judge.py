#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# judge.py FOLDER WORK: whether the report of a mystery solves it. WORK has report.json, screen.txt (the first 40
# lines of the report at 80 columns) and truth/. FOLDER/check.py has check(case). Prints what was found, then
# "verdict|solved|", "verdict|partly|why" or "verdict|not|why".
#
# Solved: the cause is named, the culprit is named, the figures are within 10 % of the truth, the first screen has
# them, and no sentence is false. Partly: the cause is named, and something else is missing.
import bisect
import glob
import importlib.util
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # check.py lies among the sources
TOLERANCE = 0.10


class Truth:
    """What a setup measured by itself, over the recorded time."""

    def __init__(self, folder, begin, end):
        self.begin, self.end = begin, end
        self.series, self.events, self.texts = {}, {}, {}
        for path in sorted(glob.glob(folder + "/*.log")):
            stem = os.path.basename(path)[:-4]
            with open(path) as file:
                for line in file:
                    self.add(stem, line.rstrip("\n"))

    def add(self, stem, line):
        words = line.split(" ", 2)
        if len(words) != 3:
            return
        time, name, value = words
        if time == "-":
            self.texts[f"{stem}.{name}"] = value
        elif name.startswith("!"):
            self.events.setdefault(f"{stem}.{name[1:]}", []).append((int(time), int(value)))
        else:
            self.series.setdefault(f"{stem}.{name}", []).append((int(time), int(value)))

    def at(self, name, time):
        points = self.series[name]
        i = bisect.bisect_left(points, (time, 0))
        if i == 0:
            return points[0][1]
        if i == len(points):
            return points[-1][1]
        (t0, v0), (t1, v1) = points[i - 1], points[i]
        return v0 + (v1 - v0) * (time - t0) / (t1 - t0)

    def delta(self, name):
        """How much a counter grew while it was recorded"""
        return self.at(name, self.end) - self.at(name, self.begin)

    def total(self, name):
        """All of it: for what `dwell run` recorded from its start"""
        return self.series[name][-1][1]

    def lasted(self, name):
        """How long events took that began and ended in that time"""
        return [value for time, value in self.events.get(name, []) if time - value >= self.begin and time <= self.end]

    def pid(self, stem):
        return int(self.texts[stem + ".pid"])

    @property
    def seconds(self):
        return (self.end - self.begin) / 1e9


class Case:
    def __init__(self, work):
        with open(work + "/report.json") as file:
            self.report = json.load(file)
        with open(work + "/screen.txt") as file:
            self.text = file.read()
        self.words = re.sub(r"\s+", " ", self.text)
        meta = self.report["meta"]
        self.truth = Truth(work + "/truth", int(meta["started_ns"]), int(meta["ended_ns"]))
        self.diff = None  # of those that are solved by a comparison
        if os.path.exists(work + "/diff.json"):
            with open(work + "/diff.json") as file:
                self.diff = json.load(file)
        self.findings = self.report.get("findings", [])
        self.chains = self.report.get("chains", [])
        self.missing = []
        self.has_cause = False

    def note(self, text):
        print("# " + text)

    def need(self, good, why):
        if not good:
            self.missing.append(why)
            self.note("missing: " + why)
        return good

    def queued(self, pid):
        """What a process waited for a CPU, by the ledger, ns"""
        return sum(row["ns"] for process in self.report["processes"] if process["pid"] == pid
                   for row in process["ledger"] if row["state"] in ("runq.woken", "runq.preempted"))

    def find(self, *ids, comm=None, pid=None, said=None):
        """Findings of these ids, of a process; the worst first"""
        rank = {"problem": 0, "notice": 1, "info": 2}
        found = []
        for finding in self.findings:
            subject = finding.get("subject") or {}
            if finding["id"] not in ids:
                continue
            if pid is not None and not self.is_about(subject, pid):
                continue
            if comm is not None and not re.search(comm, subject.get("comm") or subject.get("service") or ""):
                continue
            if said is not None and not re.search(said, flat(finding)):
                continue
            found.append(finding)
        return sorted(found, key=lambda finding: rank.get(finding["severity"], 3))

    def is_about(self, subject, pid):
        """A process, or a service of several processes of its name"""
        if subject.get("pid"):
            return subject["pid"] == pid
        comms = [process["comm"] for process in self.report["processes"] if process["pid"] == pid]
        return subject.get("comm") in comms

    def cause(self, *ids, **of):
        """The finding that names the cause, which has to be one that is shown as a problem"""
        found = self.find(*ids, **of)
        if not self.need(found, f"no finding {' or '.join(ids)} {of or ''}; there are: {self.ids()}"):
            return None
        finding = found[0]
        self.note(f"{finding['id']} ({finding['severity']}): {finding['sentence']}")
        for item in finding["evidence"]:
            self.note(f"   {item['name']}: {item.get('what')} {item.get('value')} {item.get('unit')} of {item.get('base')}")
        self.has_cause = True
        return finding

    def ids(self):
        return ", ".join(sorted({finding["id"] for finding in self.findings})) or "none"

    def culprit(self, finding, pattern, names=None):
        """The culprit is in the finding's evidence (of these names), or in its sentence"""
        if finding is None:
            return False
        texts = [item.get("what") or "" for item in finding["evidence"] if not names or item["name"] in names]
        if not names:
            texts.append(finding["sentence"])
        return self.need(any(re.search(pattern, text) for text in texts),
                         f"{finding['id']} does not name {pattern}: {finding['sentence']}")

    def figure(self, finding, what, truth, unit, names=None, what_is=None, slack=0.0):
        """A figure of the finding is within 10 % of the truth (or within `slack`, what the truth is exact to)"""
        if finding is None:
            return False
        values = [item["value"] for item in finding["evidence"]
                  if item.get("unit") == unit and item.get("value") is not None and
                  (not names or item["name"] in names) and
                  (not what_is or re.search(what_is, item.get("what") or ""))]
        self.note(f"figure {what}: truth {number(truth)} {unit}, reported {', '.join(map(number, values)) or 'nothing'}")
        return self.need(any(abs(value - truth) <= max(TOLERANCE * abs(truth), slack) for value in values),
                         f"{what} is {number(truth)} {unit}; {finding['id']} has "
                         f"{', '.join(map(number, values)) or 'none'}")

    def screen(self, *patterns):
        """The first screen has all of them"""
        for pattern in patterns:
            self.need(re.search(pattern, self.words), f"the first screen does not say {pattern}")

    def chain(self, comm, *links):
        """A chain of a thread whose links match, in order: each pattern in its own link's or a later one's words"""
        for chain in self.chains:
            if not re.search(comm, chain["thread"].get("comm") or ""):
                continue
            rest = iter([json.dumps(link) for link in chain["links"]] + [chain.get("sentence") or ""])
            if all(any(re.search(pattern, text) for text in rest) for pattern in links):
                self.note(f"chain: {chain.get('sentence')}")
                return chain
        self.need(False, f"no chain {comm} <- {' <- '.join(links)}; there are: "
                  f"{[chain.get('sentence') for chain in self.chains][:3]}")
        return None

    def changed(self, table, name, measure):
        """The line of a comparison that names the cause"""
        lines = [line for line in self.diff["lines"] if line["verdict"] == "changed" and
                 (line["table"], line["name"], line["measure"]) == (table, name, measure)]
        names = sorted({line["name"] for line in self.diff["lines"] if line["verdict"] == "changed"})
        if not self.need(lines, f"{table} {name} is not called changed; what is: {', '.join(names) or 'nothing'}"):
            return None
        for sentence in self.diff["verdict"]:
            self.note(sentence)
        self.has_cause = True
        return lines[0]

    def close(self, what, value, truth):
        self.note(f"figure {what}: truth {number(truth)}, reported {number(value)}")
        return self.need(abs(value - truth) <= TOLERANCE * abs(truth), f"{what} is {number(truth)}, reported {number(value)}")

    def verdict(self):
        if not self.missing:
            return "solved", ""
        return ("partly" if self.has_cause else "not"), "; ".join(self.missing)


def flat(finding):
    return json.dumps(finding, ensure_ascii=False)


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main():
    folder, work = sys.argv[1], sys.argv[2]
    case = Case(work)
    spec = importlib.util.spec_from_file_location("check", folder + "/check.py")
    check = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    spec.loader.exec_module(check)
    check.check(case)
    contradictions = work + "/contradictions.txt"
    if os.path.exists(contradictions):
        with open(contradictions) as file:
            for line in file.read().splitlines():
                case.need(False, "false: " + line)
    verdict, why = case.verdict()
    print(f"verdict|{verdict}|{why.replace(chr(124), chr(47))}")


if __name__ == "__main__":
    main()
