#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""perfetto.py TRACE SESSION [--kernel] [--windows FIRST LAST]: says where a trace of `dwell export -f perfetto` is wrong
by its own rules, or has other sums than SESSION by SQL; exits 0 if nowhere.

The trace is read twice: by a reader of our own, which has the numbers of fields that it needs from Perfetto's public
schema, and by protoc with tests/perfetto_official.proto, which has them apart from the exporter's own .proto."""
import argparse
import collections
import re
import sqlite3
import subprocess
import sys

from protobuf import double, fields, fixed64, packed

problems = []

# By message: numbers, names, and what is inside: another message, text, a number (the default).
SCHEMA = {
    "packet": {6: ("clock_snapshot", "clock_snapshot"), 8: ("timestamp",), 10: ("trusted_packet_sequence_id",),
               11: ("track_event", "event"), 12: ("interned_data", "interned"), 13: ("sequence_flags",),
               59: ("trace_packet_defaults", "defaults"), 60: ("track_descriptor", "track"),
               135: ("stack_sample", "sample")},
    "clock_snapshot": {1: ("clocks", "clock"), 2: ("primary_trace_clock",)},
    "clock": {1: ("clock_id",), 2: ("timestamp",)},
    "defaults": {58: ("timestamp_clock_id",), 100: ("stack_sample_defaults", "sample_defaults")},
    "sample_defaults": {1: ("source", str)},
    "track": {1: ("uuid",), 2: ("name", str), 3: ("process", "process"), 4: ("thread", "thread"), 5: ("parent_uuid",),
              8: ("counter", "counter"), 14: ("description", str), 15: ("sibling_merge_behavior",)},
    "process": {1: ("pid",), 6: ("process_name", str), 7: ("start_timestamp_ns",), 8: ("process_labels", str)},
    "thread": {1: ("pid",), 2: ("tid",), 5: ("thread_name", str)},
    "counter": {6: ("unit_name", str)},
    "event": {4: ("debug_annotations", "note"), 9: ("type",), 10: ("name_iid",), 11: ("track_uuid",), 23: ("name", str),
              44: ("double_counter_value", double), 47: ("flow_ids", fixed64), 48: ("terminating_flow_ids", fixed64),
              56: ("callstack_iid",)},
    "note": {1: ("name_iid",), 3: ("uint_value",), 6: ("string_value", str), 17: ("string_value_iid",)},
    "interned": {2: ("event_names", "name"), 3: ("debug_annotation_names", "name"), 5: ("function_names", "string"),
                 6: ("frames", "frame"), 7: ("callstacks", "callstack"), 16: ("build_ids", "bytes"),
                 17: ("mapping_paths", "string"), 18: ("source_paths", "string"), 19: ("mappings", "mapping"),
                 29: ("debug_annotation_string_values", "string"), 48: ("stack_sample_task_contexts", "task"),
                 49: ("stack_sample_execution_contexts", "execution"),
                 50: ("stack_sample_counter_descriptors", "sample_counter")},
    "name": {1: ("iid",), 2: ("name", str)},
    "string": {1: ("iid",), 2: ("str", str)},
    "bytes": {1: ("iid",), 2: ("str", bytes)},
    "frame": {1: ("iid",), 2: ("function_name_id",), 3: ("mapping_id",), 4: ("rel_pc",), 5: ("source_path_iid",),
              6: ("line_number",)},
    "callstack": {1: ("iid",), 2: ("frame_ids",)},
    "mapping": {1: ("iid",), 2: ("build_id",), 7: ("path_string_ids",)},
    "task": {1: ("iid",), 2: ("pid",), 3: ("tid",)},
    "execution": {1: ("iid",), 3: ("mode",)},
    "sample_counter": {1: ("iid",), 2: ("name", str), 3: ("unit",), 6: ("description", str)},
    "sample": {2: ("task_context_iid",), 4: ("execution_context_iid",), 6: ("callstack_iid",), 7: ("unwind_error", str),
               10: ("primary_descriptor_iid",), 11: ("primary_weight",), 13: ("follower_descriptor_iids", packed),
               14: ("follower_weights", packed)},
}
ENUMS = {name: number for number, name in enumerate(
    ["TYPE_UNSPECIFIED", "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT", "TYPE_COUNTER", "TYPE_STATE"])}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def expect(what, found, expected):
    if found != expected:
        problems.append(f"{what}: {found!r:.300}, not {expected!r:.300}")


def read(kind, data):
    """A message by the names of its fields: {name: [values]}"""
    message = collections.defaultdict(list)
    for number, values in fields(data).items():
        if number not in SCHEMA[kind]:
            raise ValueError(f"field {number} in {kind}: {fields(data)}")
        name, inside = (SCHEMA[kind][number] + (None,))[:2]
        for value in values:
            if isinstance(inside, str):
                value = read(inside, value)
            elif inside is str:
                value = value.decode()
            elif inside is packed:
                message[name] += packed(value)
                continue
            elif inside not in (None, bytes):
                value = inside(value)
            message[name].append(value)
    return message


ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def unquote(text):
    raw = re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if m[1][:1].isdigit() else
                 ESCAPES.get(m[1].decode(), m[1].decode()).encode(), text.encode())
    return raw.decode(errors="replace")


def read_text(lines):
    """The same of what protoc prints"""
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if line == "}":
            stack.pop()
            continue
        name, _, value = line.partition(" ")
        if value == "{":
            stack.append(collections.defaultdict(list))
            stack[-2][name].append(stack[-1])
        else:
            name = name.rstrip(":")
            if value.startswith('"'):
                value = unquote(value[1:-1])
            elif re.fullmatch(r"-?\d+", value):
                value = int(value)
            elif re.fullmatch(r"[A-Z_]+", value):
                value = ENUMS.get(value, value)
            else:
                value = float(value)
            stack[-1][name].append(value)
        if name[0].isdigit():
            problems.append(f"a field that is not in Perfetto's schema: {line}")
    return stack[0]["packet"]


def one(message, name, default=None):
    return message[name][0] if message[name] else default


class Trace:
    """What a viewer would make of the packets"""

    def __init__(self, packets):
        self.names, self.tracks, self.open = collections.defaultdict(dict), {}, collections.defaultdict(list)
        self.last = collections.Counter()
        self.slices, self.instants, self.counts, self.samples = [], [], [], []
        expect("the first packet begins the sequence", one(packets[0], "sequence_flags"), 1)
        defaults = one(packets[0], "trace_packet_defaults")
        expect("the clock", one(defaults, "timestamp_clock_id"), 3)
        self.clocks = {one(c, "clock_id"): one(c, "timestamp") for c in one(packets[0], "clock_snapshot")["clocks"]}
        for packet in packets:
            expect("the sequence", one(packet, "trusted_packet_sequence_id"), 1)
            self.intern(one(packet, "interned_data", {}))
            if packet["track_descriptor"]:
                track = packet["track_descriptor"][0]
                expect(f"track {one(track, 'uuid')} is told once", one(track, "uuid") in self.tracks, False)
                expect("its parent is known", one(track, "parent_uuid", 0) in [0, *self.tracks], True)
                self.tracks[one(track, "uuid")] = track
            if packet["track_event"]:
                self.event(packet["track_event"][0], one(packet, "timestamp"))
            if packet["stack_sample"]:
                self.sample(packet["stack_sample"][0], one(packet, "timestamp"))
        expect("slices without an end", [s for spans in self.open.values() for s in spans], [])

    def intern(self, data):
        for kind in data:
            for item in data[kind]:
                expect(f"{kind} {one(item, 'iid')} is told once", one(item, "iid") in self.names[kind], False)
                self.names[kind][one(item, "iid")] = item

    def name(self, kind, iid, field="name"):
        if iid not in self.names[kind]:
            problems.append(f"{kind} {iid} is used before it is told")
            return None
        return one(self.names[kind][iid], field)

    def notes(self, event):
        return {self.name("debug_annotation_names", one(note, "name_iid")):
                self.name("debug_annotation_string_values", one(note, "string_value_iid"), "str")
                if note["string_value_iid"] else one(note, "string_value", one(note, "uint_value"))
                for note in event["debug_annotations"]}

    def event(self, event, ts):
        track = one(event, "track_uuid")
        if track not in self.tracks:
            problems.append(f"track {track} is used before it is told")
        kind = one(event, "type")
        name = self.name("event_names", one(event, "name_iid")) if event["name_iid"] else one(event, "name")
        item = {"track": track, "name": name, "begin": ts, "notes": self.notes(event),
                "begins_flows": event["flow_ids"], "ends_flows": event["terminating_flow_ids"],
                "flows": event["flow_ids"] + event["terminating_flow_ids"],
                "stack": self.functions(one(event, "callstack_iid"))}
        if kind in (BEGIN, END):
            # Begins and ends that never go back make slices that are inside of each other, or behind each other.
            expect(f"time goes on along track {track}", ts >= self.last[track], True)
            self.last[track] = ts
            item["above"] = self.open[track][-1] if self.open[track] else None
        if kind == BEGIN:
            self.open[track].append(item)
        elif kind == END:
            begun = self.open[track].pop()
            begun["end"] = ts
            self.slices.append(begun)
        elif kind == INSTANT:
            self.instants.append(item)
        else:
            expect("the kind of an event", kind, COUNTER)
            self.counts.append((track, ts, one(event, "double_counter_value", 0.0)))

    def functions(self, iid):
        """names of functions, the outermost first"""
        if iid is None:
            return []
        if iid not in self.names["callstacks"]:
            problems.append(f"stack {iid} is used before it is told")
            return []
        found = []
        for frame in self.names["callstacks"][iid]["frame_ids"]:
            frame = self.names["frames"][frame]
            found.append(self.name("function_names", one(frame, "function_name_id"), "str"))
            if frame["mapping_id"]:
                self.name("mapping_paths", one(self.names["mappings"][one(frame, "mapping_id")], "path_string_ids"), "str")
        return found

    def sample(self, sample, ts):
        task = self.names["stack_sample_task_contexts"][one(sample, "task_context_iid")]
        counter = self.names["stack_sample_counter_descriptors"][one(sample, "primary_descriptor_iid")]
        follower = self.names["stack_sample_counter_descriptors"][sample["follower_descriptor_iids"][0]]
        expect("what follows a sample", one(follower, "name"), "samples")
        self.samples.append((ts, one(task, "pid"), one(task, "tid"), one(counter, "name"), one(sample, "primary_weight"),
                             sample["follower_weights"][0], self.functions(one(sample, "callstack_iid"))))


def check_nesting(trace):
    """Slices of one track follow each other; inside of others are calls alone, one deep, inside of requests"""
    by_track = collections.defaultdict(list)
    for span in trace.slices:
        by_track[span["track"]].append((span["begin"], span["end"]))
        if span["above"]:
            above = span["above"]
            expect(f"what has a slice inside of it: {above['name']}",
                   (above["above"], above["begin"] <= span["begin"] <= span["end"] <= above["end"],
                    re.fullmatch(r"requests( \d+)?", one(trace.tracks[span["track"]], "name")) is not None), (None, True, True))
    tops = collections.defaultdict(list)
    for span in trace.slices:
        tops[span["track"], id(span["above"]) if span["above"] else 0].append((span["begin"], span["end"]))
    for (track, _), spans in tops.items():
        expect(f"slices of track {track} that end before they begin", [s for s in spans if s[1] < s[0]], [])
        expect(f"slices of track {track} that overlap", [b for a, b in zip(spans, spans[1:]) if b[0] < a[1]], [])
    return by_track


def check_ledger(trace, db, where):
    spans = [s for s in trace.slices if "order_in_window" in s["notes"]]
    found, by_thread, counts = collections.Counter(), collections.Counter(), 0
    for span in spans:
        track = trace.tracks[span["track"]]
        above = trace.tracks[one(track, "parent_uuid")]
        tid = one(above["thread"][0], "tid") if above["thread"] else "sum"
        found[span["name"]] += span["end"] - span["begin"]
        by_thread[tid, span["name"]] += span["end"] - span["begin"]
        counts += span["notes"]["count"]
        if "not measured" not in span["notes"]["order_in_window"] or "summed" not in one(track, "name") and \
                "not measured" not in one(track, "name"):
            problems.append("a slice of the ledger that does not say that its order is not measured")
    sql = f"""FROM ledger l JOIN threads t ON t.id = l.thread LEFT JOIN state_names n ON n.id = l.state WHERE {where}"""
    expect("time by state", +found, +collections.Counter(dict(db.execute(f"SELECT n.name, sum(ns) {sql} GROUP BY 1"))))
    expected = collections.Counter()
    for tid, name, ns in db.execute(f"""SELECT CASE WHEN t.threads > 1 OR t.begin_ns = 0 THEN 'sum' ELSE t.tid END, n.name,
            sum(ns) {sql} GROUP BY 1, 2"""):
        expected[tid, name] += ns
    expect("time by thread and state", +by_thread, +expected)
    expect("counts", counts, db.execute(f"""SELECT coalesce(sum(c), 0) FROM
        (SELECT sum(l.count) c {sql} GROUP BY window, thread, state HAVING sum(ns) > 0)""").fetchone()[0])
    return {s["track"] for s in spans}


def check_extent(trace, db, tracks, by_track):
    """A thread's slices cover it from its begin to its end without a gap: of a session that is whole"""
    known = {}
    for tid, begin, end in db.execute("SELECT tid, begin_ns, end_ns FROM threads WHERE threads = 1 AND begin_ns > 0"):
        known.setdefault(tid, []).append((begin, end))
    for track in tracks:
        above = trace.tracks[one(trace.tracks[track], "parent_uuid")]
        if not above["thread"]:
            continue
        spans = by_track[track]
        expect(f"gaps in track {track}", [b for a, b in zip(spans, spans[1:]) if b[0] != a[1]], [])
        expect(f"begin and end of thread {one(above['thread'][0], 'tid')}",
               (spans[0][0], spans[-1][1]) in known[one(above["thread"][0], "tid")], True)


def check_slow(trace, db, where):
    found = collections.Counter((s["begin"], s["end"], s["name"]) for s in trace.slices
                                if one(trace.tracks[s["track"]], "name").startswith("slow"))
    expected = collections.Counter(db.execute(f"""SELECT ts_ns - ns, ts_ns, signal || ' ' || kind FROM slow s
        WHERE {where}"""))
    expect("slow events that the session has not", dict(found - expected), {})
    expect("slow events that the trace has not", dict(expected - found), {})


def check_samples(trace, db, where):
    frames = {i: name for i, name in db.execute("SELECT id, name FROM frames")}
    stacks = {i: (parent, frame) for i, parent, frame in db.execute("SELECT id, parent, frame FROM stacks")}
    kinds = {0: "cpu", 1: "blocked"}

    def names(stack):
        found = []
        while stack in stacks and len(found) < 1000:
            found.insert(0, frames.get(stacks[stack][1]))
            stack = stacks[stack][0]
        return found

    rows = list(db.execute(f"""SELECT w.begin_ns, s.pid, s.tid, s.kind, s.weight_ns, s.count, s.stack FROM samples s
        JOIN windows w ON w.id = s.window LEFT JOIN processes p ON p.pid = s.pid AND p.start_ns = s.process_start_ns
        WHERE {where}"""))
    expected = sorted(((row[:3] + (kinds[row[3]],) + row[4:6], names(row[6])) for row in rows), key=lambda item: item[0])
    found = sorted(((sample[:6], sample[6]) for sample in trace.samples), key=lambda item: item[0])
    expect("samples", [f[0] for f in found], [e[0] for e in expected])

    # What was inlined comes between; names that are hostile are escaped, and those that are not known are made up.
    def fits(name, shown):
        return name is None or name == shown or not name.isprintable()

    def is_in(expected_names, shown_names):
        at = iter(shown_names)
        return all(any(fits(name, shown) for shown in at) for name in expected_names)

    left = collections.defaultdict(list)
    for key, shown in found:
        left[key].append(shown)
    expect("stacks that are not in the trace",
           [(key, stack) for key, stack in expected if not any(is_in(stack, shown) for shown in left[key])], [])


def check_host(trace, db, window):
    losses = collections.Counter()
    for item in trace.instants:
        if one(trace.tracks[item["track"]], "name") == "losses":
            losses[item["name"]] += item["notes"]["count"]
    expect("losses", dict(losses), dict(db.execute(f"SELECT cause, sum(count) FROM losses l WHERE {window} GROUP BY 1")))
    steps = sorted(item["begin"] for item in trace.instants
                   if one(trace.tracks[item["track"]], "name") == "overhead governor")
    expect("steps of the governor", steps, sorted(ts for ts, in db.execute(f"""SELECT ts_ns FROM steps WHERE ts_ns BETWEEN
        (SELECT min(begin_ns) FROM windows l WHERE {window.replace('window', 'id')}) AND
        (SELECT max(end_ns) FROM windows l WHERE {window.replace('window', 'id')})""")))
    found = sorted((one(trace.tracks[track], "name"), ts, round(value, 6)) for track, ts, value in trace.counts)
    busy = sorted((f"CPU {cpu} busy", ts, round(value, 6)) for cpu, ts, value in db.execute(f"""SELECT cpu, w.begin_ns,
        100.0 * sum(CASE WHEN use IN (0, 1) THEN 0 ELSE ns END) / sum(ns) FROM cpus l JOIN windows w ON w.id = l.window
        WHERE {window} GROUP BY l.window, cpu"""))
    queue = sorted(("runnable threads", ts, round(value, 6)) for ts, value in db.execute(f"""SELECT w.begin_ns,
        1.0 * sum(queue_ns) / (w.end_ns - w.begin_ns) FROM cpu_queues l JOIN windows w ON w.id = l.window WHERE {window}
        GROUP BY l.window"""))
    expect("counters", found, sorted(busy + queue))


def check_flows(trace):
    """A flow has the two ends of one connection, or one where the other is on another host"""
    ends = collections.defaultdict(set)
    for span in trace.slices:
        for flow in span["flows"] if "local" in span["notes"] else ():
            ends[flow].add(frozenset((span["notes"]["local"], span["notes"]["peer"])))
    expect("flows between different connections", [f for f, pairs in ends.items() if len(pairs) > 1], [])


def shown(text):
    return "".join(c if c.isprintable() or c == "\ufffd" else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"
                   for c in text)


def track_name(trace, span):
    return one(trace.tracks[span["track"]], "name")


def check_requests(trace, db, where):
    """Each kept request and call is there once, with its parts; calls are inside of their request, or joined with it"""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'request_calls'").fetchone():
        return
    parts = [c[1] for c in db.execute("PRAGMA table_info(requests)") if c[0] >= 19 and c[1].endswith("_ns") and c[1] != "wait_ns"]
    spans = [s for s in trace.slices if re.fullmatch(r"requests( \d+)?", track_name(trace, s)) and not s["above"]]
    calls = [s for s in trace.slices if "calls beside" in track_name(trace, s) or s["above"]]
    found = collections.Counter()
    for span in spans:
        notes = span["notes"]
        times = {part: notes[part] for part in parts if part in notes}
        expect(f"parts of {span['name']} that are 0", [p for p in times if not times[p]], [])
        expect(f"queue and parts of {span['name']}", notes["queue_ns"] + sum(times.values()), span["end"] - span["begin"])
        found[span["begin"], span["end"], span["name"], notes.get("status", ""), notes["outcome"], notes["model"],
              notes["weight"], notes["queue_ns"], notes["sent_bytes"], notes["received_bytes"], notes["tid"],
              tuple(times.get(part, 0) for part in parts), notes.get("link", "")] += 1
    linked = "(SELECT grade FROM request_calls WHERE id = r.parent AND request IN (SELECT id FROM requests))"
    expected, by_id = collections.Counter(), {}
    for row in db.execute(f"""SELECT r.id, r.parent, r.begin_ns, r.begin_ns + r.queue_ns + r.window_ns,
            coalesce(nullif(e.name, ''), nullif(e.protocol, ''), '(not recognised)'), r.status, r.outcome, r.model, r.weight,
            r.queue_ns, r.sent_bytes, r.received_bytes, r.tid, coalesce({linked}, ''),
            {", ".join(f"coalesce(r.{p}, 0)" for p in parts)}
            FROM requests r LEFT JOIN endpoints e ON e.id = r.endpoint WHERE {where}"""):
        by_id[row[0]] = row
        expected[row[2:4] + (shown(row[4]), shown(row[5])) + row[6:13] + (row[14:], row[13])] += 1
    expect("requests that the session has not", dict(found - expected), {})
    expect("requests that the trace has not", dict(expected - found), {})

    found, inner = collections.Counter(), 0
    expected, owners = collections.Counter(), collections.defaultdict(list)
    arrived = {row[1]: row[2] for row in by_id.values() if row[1]}
    arrived.update(db.execute("SELECT parent, begin_ns FROM requests WHERE parent"))
    for call, request, grade, name, status, begin, wait, end in db.execute("""SELECT id, request, grade, coalesce(nullif(name,
            ''), nullif(protocol, ''), '(not recognised)'), status, begin_ns, wait_ns, begin_ns + window_ns FROM request_calls"""):
        if request in by_id:
            key = (call, min(begin, arrived.get(call, begin + 1) - 1), end, shown(name), shown(status), shown(grade), wait)
            expected[key] += 1
            owners[call].append(by_id[request])
    for span in calls:
        notes = span["notes"]
        call = span["flows"][0]
        found[call, span["begin"], span["end"], span["name"], notes.get("status", ""), notes.get("link", ""),
              notes["wait_ns"]] += 1
        if span["above"]:
            inner += 1
            above = span["above"]
            expect(f"the request that {span['name']} is inside of",
                   [r for r in owners[call] if (r[2], r[3], shown(r[4])) == (above["begin"], above["end"], above["name"])] != [], True)
    expect("calls that the session has not", dict(found - expected), {})
    expect("calls that the trace has not", dict(expected - found), {})
    begins = {flow: span["begin"] for span in calls for flow in span["flows"]}
    beside = {span["flows"][0] for span in calls if not span["above"]}
    for span in spans:
        expect(f"flows into {span['name']} come from a call, before it", [f for f in span["ends_flows"] if
               f in begins and begins[f] >= span["begin"]], [])
        beside -= set(span["begins_flows"])
    expect("calls beside their request that no flow joins with it", beside, set())
    print(f"# {len(spans)} requests, {inner} calls inside of them, {len(calls) - inner} beside them, "
          f"{sum(f in begins for s in spans for f in s['ends_flows'])} answer a call")


parser = argparse.ArgumentParser()
parser.add_argument("trace")
parser.add_argument("session")
parser.add_argument("--kernel", action="store_true")
parser.add_argument("--windows", nargs=2, type=int)
arguments = parser.parse_args()
with open(arguments.trace, "rb") as file:
    bytes_of_it = file.read()
db = sqlite3.connect(f"file:{arguments.session}?mode=ro", uri=True)
db.text_factory = lambda raw: raw.decode(errors="replace")
# The contract's names, which a made-up session does not repeat; its own come on top.
db.execute("ATTACH ':memory:' AS names")
db.execute("CREATE TABLE names.state_names (id INTEGER PRIMARY KEY, name TEXT)")
with open("abi/states.def") as contract:
    for number, name in enumerate(re.findall(r'^STATE\(\w+, "([^"]+)"', contract.read(), re.M)):
        db.execute("INSERT INTO state_names VALUES (?, ?)", (number, name))
db.execute("INSERT OR IGNORE INTO state_names SELECT id, name FROM states")

window = "l.window BETWEEN {} AND {}".format(*arguments.windows) if arguments.windows else "1"
kernel = "1" if arguments.kernel else "{} NOT IN (SELECT pid FROM processes WHERE is_kernel UNION SELECT pid FROM threads WHERE is_kernel)"
decoded = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", "-Itests", "tests/perfetto_official.proto"],
                         input=bytes_of_it, stdout=subprocess.PIPE, check=True).stdout.decode()
for reader, packets in (("own reader", [read("packet", p) for p in fields(bytes_of_it)[1]]),
                        ("protoc", read_text(decoded.splitlines()))):
    before = len(problems)
    trace = Trace(packets)
    by_track = check_nesting(trace)
    ledger = check_ledger(trace, db, f"{window} AND {kernel.format('t.pid')}")
    if not arguments.windows:
        check_extent(trace, db, ledger, by_track)
    check_slow(trace, db, f"{window.replace('l.', 's.')} AND {kernel.format('s.pid')}")
    check_samples(trace, db, f"{window.replace('l.', 's.')} AND {kernel.format('s.pid')}")
    check_host(trace, db, window)
    check_flows(trace)
    check_requests(trace, db, f"{window.replace('l.', 'r.')} AND {kernel.format('r.pid')}")
    for i in range(before, len(problems)):
        problems[i] = f"{reader}: {problems[i]}"
    print(f"# {reader}: {len(packets)} packets, {len(trace.slices)} slices, {len(trace.samples)} samples, "
          f"{len(trace.counts)} counts, {sum(bool(s['flows']) for s in trace.slices)} ends of flows")
print("\n".join(problems[:20]))
sys.exit(bool(problems))
