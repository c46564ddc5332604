#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""session_exports.py FORMAT FILE SESSION: says where an export of all of SESSION, without kernel threads, is wrong by the
rules of its format, or has other sums than SESSION by SQL; exits 0 if nowhere. Formats: csv, jsonl, openmetrics,
otlp_profiles, otlp_metrics, otlp_traces. tests/perfetto.py has that of Perfetto."""
import collections
import csv
import json
import math
import re
import sqlite3
import sys

from protobuf import double, fields, fixed64, packed, signed, zigzag

problems = []
USER = """{0} NOT IN (SELECT pid FROM processes WHERE is_kernel UNION SELECT pid FROM threads WHERE is_kernel)"""
UNITS = {"ns": 0, "bytes": 1, "count": 2}


def expect(what, found, expected):
    if found != expected:
        problems.append(f"{what}: {found!r:.300}, not {expected!r:.300}")


def escaped(text):
    """as dwell shows names that are not its own"""
    return "".join(c if c.isprintable() or c == "�" else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"
                   for c in text)


class Session:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.text_factory = lambda raw: raw.decode(errors="replace")
        with open("abi/states.def") as contract:
            names = dict(enumerate(re.findall(r'^STATE\(\w+, "([^"]+)"', contract.read(), re.M)))
        for number, name in self.db.execute("SELECT id, name FROM states"):
            names.setdefault(number, escaped(name))
        self.states = names
        # A service, or the command of the process: its leader's name, or where that was not seen, of its first thread.
        self.services, commands = {}, {}
        for pid, start, comm, service in self.db.execute("SELECT pid, start_ns, comm, service FROM processes"):
            commands[pid, start] = comm or ""
            self.services[pid, start] = service or ""
        for pid, start, tid, comm in self.db.execute("SELECT pid, process_start_ns, tid, comm FROM threads ORDER BY id"):
            if not commands.get((pid, start)) or (pid == tid and comm):
                commands[pid, start] = comm or ""
        for key, comm in commands.items():
            self.services[key] = self.services.get(key) or comm

    def ledger(self):
        """{(service, state): ns}"""
        sums = collections.Counter()
        for pid, start, state, ns in self.db.execute(f"""SELECT t.pid, t.process_start_ns, l.state, sum(l.ns) FROM ledger l
                JOIN threads t ON t.id = l.thread WHERE {USER.format('t.pid')} GROUP BY 1, 2, 3"""):
            sums[escaped(self.services[pid, start]), self.states[state]] += ns
        return +sums

    def series(self):
        """{(signal, kind): [count, sum, buckets]}, of signals that dwell has"""
        known = {name for name in re.findall(r"^SIGNAL\(\d+, \w+, (\w+)", open("abi/signals.def").read(), re.M)}
        found = {}
        for signal, kind, count, total, buckets in self.db.execute(f"""SELECT s.signal, s.kind, v.count, v.sum, v.buckets
                FROM series_values v JOIN series s ON s.id = v.series WHERE {USER.format('s.pid')}"""):
            if signal not in known or kind == "nokind":
                continue
            item = found.setdefault((signal, kind), [0, 0, collections.Counter()])
            item[0] += count
            item[1] += total
            if re.fullmatch(r"(\d+:\d+ ?)*", buckets):
                for pair in buckets.split():
                    place, value = map(int, pair.split(":"))
                    item[2][place] += value
        return found

    def samples(self):
        """{(service, kind): weight}"""
        sums = collections.Counter()
        for pid, start, kind, weight in self.db.execute(f"""SELECT pid, process_start_ns, kind, sum(weight_ns) FROM samples s
                WHERE {USER.format('s.pid')} GROUP BY 1, 2, 3"""):
            sums[escaped(self.services.get((pid, start), "")), ("cpu", "off_cpu")[kind]] += weight
        return +sums


def check_csv(data, session):
    text = data.decode()
    rows = list(csv.DictReader(text.splitlines(), strict=True))
    expect("lines", text.count("\r\n"), len(rows) + 1)
    expect("control characters", [r for r in rows if any(ord(c) < 32 for v in r.values() for c in v)], [])
    sums = collections.Counter()
    for row in rows:
        sums[row["service"], row["state"]] += int(row["ns"])
    expect("time by service and state", +sums, session.ledger())
    by_window = collections.Counter()
    for row in rows:
        by_window[int(row["window"])] += int(row["ns"])
    expect("time by window", +by_window, +collections.Counter(dict(session.db.execute(f"""SELECT window, sum(ns) FROM ledger l
        JOIN threads t ON t.id = l.thread WHERE {USER.format('t.pid')} GROUP BY 1"""))))


def check_jsonl(data, session):
    lines = [json.loads(line) for line in data.decode().splitlines()]
    kinds = collections.defaultdict(list)
    for line in lines:
        kinds[line["kind"]].append(line)
    expect("kinds", set(kinds) - {"meta", "window", "thread", "ledger", "series", "slow", "sample"}, set())
    threads = {t["id"]: t for t in kinds["thread"]}
    sums = collections.Counter()
    for row in kinds["ledger"]:
        sums[escaped(threads[row["thread"]]["service"]), row["state"]] += row["ns"]
    expect("time by service and state", +sums, session.ledger())
    expect("meta", len(kinds["meta"]), session.db.execute("SELECT count(*) FROM meta").fetchone()[0])
    expect("windows", len(kinds["window"]), session.db.execute("SELECT count(*) FROM windows").fetchone()[0])
    found = {}
    for row in kinds["series"]:
        item = found.setdefault((row["signal"], row["measure"]), [0, 0])
        item[0] += row["count"]
        item[1] += row["sum"]
    expect("series", found, {key: value[:2] for key, value in session.series().items()})
    expect("slow events", sorted((s["begin_ns"], s["ns"]) for s in kinds["slow"]), sorted(session.db.execute(
        f"SELECT ts_ns - ns, ns FROM slow s WHERE {USER.format('s.pid')}")))
    weights = collections.Counter()
    for row in kinds["sample"]:
        weights[row["of"].replace("blocked", "off_cpu")] += row["weight_ns"]
    expected = collections.Counter()
    for (_, kind), weight in session.samples().items():
        expected[kind] += weight
    expect("weights of samples", +weights, +expected)
    expect("samples without functions", [s for s in kinds["sample"] if not s["functions"]], [])


LINE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? ([-+0-9.e]+|NaN|[+-]Inf)')


def check_openmetrics(data, session):
    text = data.decode()
    expect("the end", text.endswith("\n# EOF\n") and text.count("# EOF") == 1, True)
    families, family, seen, samples = {}, None, set(), []
    for line in text.splitlines()[:-1]:
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            if what == "TYPE":
                expect(f"{name} is told once", name in families, False)
                family = name
                families[name] = {"type": rest}
            expect("the family of " + line[:60], name, family)
            families[name][what] = rest
            if what == "UNIT":
                expect(f"the unit of {name}", name.endswith("_" + rest), True)
            continue
        match = LINE.fullmatch(line)
        if not match:
            problems.append(f"no line of OpenMetrics: {line[:200]}")
            continue
        name, labels, value = match[1], dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2] or "")), match[3]
        suffixes = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}
        expect(f"{name} is of {family}", name in [family + s for s in suffixes[families[family]["type"]]], True)
        expect("labels of " + line[:80], set(labels) - {"service", "state", "device", "le"}, set())
        expect(line[:80] + " is told once", (name, match[2]) in seen, False)
        seen.add((name, match[2]))
        samples.append((name, labels, value))
    for name, facts in families.items():
        expect(f"{name} has a help text", bool(facts.get("HELP")), True)

    def unescape(label):
        return re.sub(r'\\([\\"])', r"\1", label)

    def nanoseconds(value):
        whole, _, rest = value.partition(".")
        return int(whole) * 10**9 + int(rest.ljust(9, "0"))

    expect("time by service and state", {(unescape(labels.get("service", "")), unescape(labels["state"])): nanoseconds(value)
                                         for name, labels, value in samples if name == "dwell_ledger_seconds_total"},
           dict(session.ledger()))
    lost = session.db.execute("SELECT coalesce(sum(count), 0) FROM losses").fetchone()[0]
    expect("losses", [v for n, _, v in samples if n == "dwell_lost_records_total"], [str(lost)])
    for (signal, kind), (_, total, buckets) in session.series().items():
        base = re.sub("[^a-z0-9]", "_", f"dwell_{signal}_{kind}")
        for suffix, scale in (("_seconds", 1e-9), ("_bytes", 1), ("", 1)):
            if base + suffix not in families:
                continue
            of = [(n[len(base + suffix):], labels, v) for n, labels, v in samples if n.startswith(base + suffix + "_")]
            expect(f"count of {base}", sum(int(v) for n, _, v in of if n == "_count"), sum(buckets.values()))
            expect(f"sum of {base}", sum(nanoseconds(v) if scale < 1 else int(v) for n, _, v in of if n == "_sum"), total)
            for le in {labels["le"] for n, labels, _ in of if n == "_bucket"}:
                bound = math.inf if le == "+Inf" else float(le) / scale
                # Place p of the array has values up to 2^((p - 1) / 16); 0 those that are 0.
                below = sum(c for p, c in buckets.items() if not p or 2 ** ((p - 1) / 16) <= bound * (1 + 1e-9))
                expect(f"{base} up to {le}", sum(int(v) for n, labels, v in of if labels.get("le") == le), below)
            break
        else:
            problems.append(f"{base} is missing")


def text_of(message, number):
    return message[number][0].decode() if message[number] else ""


def attributes(messages):
    """KeyValue: {key: value}"""
    found = {}
    for pair in map(fields, messages):
        value = fields(pair[2][0])
        expect(f"{text_of(pair, 1)} is told once", text_of(pair, 1) in found, False)
        found[text_of(pair, 1)] = value[1][0].decode() if value[1] else value[3][0]
    return found


def check_tables(tables):
    """The rules for all dictionaries; returns them decoded."""
    zero = {4: bytes([10, 16]) + bytes(16) + bytes([18, 8]) + bytes(8)}
    for number in range(1, 8):
        expect(f"table {number} begins with its zero value", tables[number][:1], [zero.get(number, b"")])
        expect(f"table {number} has everything once", len(set(tables[number])), len(tables[number]))
    return {n: [text.decode() for text in tables[n]] if n == 5 else list(map(fields, tables[n])) for n in range(1, 8)}


def check_otlp_profiles(data, session):
    body = fields(data)
    expect("fields of the request", set(body) - {1, 2}, set())
    expect("dictionaries", len(body[2]), 1)
    tables = check_tables(fields(body[2][0]))
    used = {n: {0} for n in range(1, 8)}

    def use(table, index):
        if not 0 <= index < len(tables[table]):
            problems.append(f"table {table} has no {index}")
            return 0
        used[table].add(index)
        return index

    def list_of(message, number):
        return packed(b"".join(message[number]))

    sums = collections.Counter()
    order = []
    for resource in map(fields, body[1]):
        names = attributes(fields(resource[1][0])[1])
        expect("resource", set(names) - {"service.name", "host.name", "os.type"}, set())
        order.append(0)
        for profile in map(fields, fields(resource[2][0])[2]):
            expect("sample types of a profile", len(profile[1]), 1)
            kind, unit = (tables[5][use(5, fields(profile[1][0])[i][0])] for i in (1, 2))
            expect("unit", unit, "nanoseconds")
            for period in profile[5]:
                use(5, fields(period)[1][0])
            identities = set()
            for sample in map(fields, profile[2]):
                values = list_of(sample, 4)
                expect("values of a sample", len(values), 1)
                keys = [tables[5][use(5, tables[6][use(6, i)][1][0])] for i in list_of(sample, 2)]
                expect("attributes of a sample are told once", len(set(keys)), len(keys))
                identity = (sample[1][0] if sample[1] else 0, frozenset(list_of(sample, 2)))
                expect("samples of one identity are one", identity in identities, False)
                identities.add(identity)
                use(7, identity[0])
                sums[names.get("service.name", ""), kind] += signed(values[0])
                order[-1] += signed(values[0])
    expect("weights by service and kind", +sums, session.samples())
    expect("the largest comes first", order, sorted(order, reverse=True))
    for stack in used[7] - {0}:
        for index in list_of(tables[7][stack], 1):
            use(2, index)
    for index in used[2] - {0}:
        location = tables[2][index]
        use(1, location[1][0] if location[1] else 0)
        for line in map(fields, location[3]):
            use(3, line[1][0])
        for attribute in list_of(location, 4):
            use(5, tables[6][use(6, attribute)][1][0])
    for index in used[3] - {0}:
        function = tables[3][index]
        expect("a function without a name", bool(function[1]), True)
        for number in (1, 3):
            for text in function[number]:
                use(5, text)
    for index in used[1] - {0}:
        mapping = tables[1][index]
        use(5, mapping[4][0])
        for attribute in list_of(mapping, 5):
            use(5, tables[6][use(6, attribute)][1][0])
    for number in range(1, 8):
        expect(f"items of table {number} that nothing refers to", set(range(len(tables[number]))) - used[number], set())


def check_otlp_metrics(data, session):
    body = fields(data)
    expect("fields of the request", set(body) - {1}, set())
    sums, series = collections.Counter(), {}
    for resource in map(fields, body[1]):
        service = attributes(fields(resource[1][0])[1]).get("service.name", "")
        for metric in map(fields, fields(resource[2][0])[2]):
            name, unit = text_of(metric, 1), text_of(metric, 3)
            expect(f"{name} has a unit", unit in ("s", "ns", "By", "1"), True)
            if metric[7]:
                data_of = fields(metric[7][0])
                expect(f"{name} is a delta, and only grows", (data_of[2], data_of[3]), ([1], [1]))
                for point in map(fields, data_of[1]):
                    state = attributes(point[7])["dwell.state"]
                    sums[service, state] += round(double(point[4][0]) * 1e9)
                    expect("begin and end", fixed64(point[2][0]) <= fixed64(point[3][0]), True)
                continue
            data_of = fields(metric[10][0])
            expect(f"{name} is a delta", data_of[2], [1])
            item = series.setdefault(tuple(name.split(".")[1:]), [0, 0, collections.Counter()])
            for point in map(fields, data_of[1]):
                expect("scale", zigzag(point[6][0]), 4)
                expect("attributes", set(attributes(point[1])) - {"system.device"}, set())
                positive = fields(point[8][0])
                counts, offset = packed(b"".join(positive[2])), zigzag(positive[1][0]) if positive[1] else 0
                zero = fixed64(point[7][0])
                expect("count", fixed64(point[4][0]), zero + sum(counts))
                item[0] += fixed64(point[4][0])
                item[1] += int(double(point[5][0]))
                item[2][0] += zero
                for i, count in enumerate(counts):
                    item[2][offset + i + 2] += count
    expect("time by service and state", +sums, session.ledger())
    expect("series", {key: (value[1], +value[2]) for key, value in series.items()},
           {key: (value[1], +value[2]) for key, value in session.series().items()})


def spans_of(data):
    """{span id: (resource, span, attributes)}, by the numbers of opentelemetry/proto/trace/v1/trace.proto"""
    body, found = fields(data), {}
    expect("fields of the request", set(body) - {1}, set())
    for resource_spans in map(fields, body[1]):
        expect("fields of ResourceSpans", set(resource_spans), {1, 2})
        resource = attributes(fields(resource_spans[1][0])[1])
        expect("resource", set(resource) - {"service.name", "host.name", "os.type", "process.pid", "process.executable.path",
                                            "container.id", "k8s.pod.uid"}, set())
        for scope in map(fields, resource_spans[2]):
            expect("scope", text_of(fields(scope[1][0]), 1), "dwell")
            for span in map(fields, scope[2]):
                expect("fields of a span", set(span) - {1, 2, 4, 5, 6, 7, 8, 9, 15}, set())
                expect("lengths of ids", [len(i) for i in span[1] + span[2] + span[4]], [16, 8] + [8] * len(span[4]))
                expect("ids of nothing", [i for i in span[1] + span[2] + span[4] if not any(i)], [])
                expect("a span's id is its own", span[2][0] in found, False)
                expect("begin and end", fixed64(span[7][0]) <= fixed64(span[8][0]), True)
                found[span[2][0]] = resource, span, attributes(span[9])
    return found


def check_otlp_traces(data, session):
    spans = spans_of(data)
    if not session.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'request_calls'").fetchone():
        expect("spans of a session without requests", len(spans), 0)
        return
    facts = dict(session.db.execute("SELECT key, value FROM meta"))
    offset = int(facts["started_real_ns"]) - int(facts["started_ns"]) if "started_real_ns" in facts else 0
    parts = [c[1] for c in session.db.execute("PRAGMA table_info(requests)") if c[0] >= 19 and c[1].endswith("_ns") and c[1] != "wait_ns"]
    found, expected = collections.Counter(), collections.Counter()
    arrived = dict(session.db.execute("SELECT parent, begin_ns FROM requests WHERE parent"))
    owners = dict(session.db.execute("SELECT id, request FROM request_calls WHERE request IN (SELECT id FROM requests)"))
    grades = {call: escaped(grade) for call, grade in session.db.execute("SELECT id, grade FROM request_calls")}
    answers = {request: call for call, request in session.db.execute("SELECT parent, id FROM requests") if call in owners}

    def root(request):
        for _ in range(32):
            if request not in answers:
                break
            request = owners[answers[request]]
        return request

    for (request, pid, start, tid, begin, end, name, status, outcome, model, weight, queue, sent, received, *times) in \
            session.db.execute(f"""SELECT r.id, r.pid, r.start_ns, tid, begin_ns, begin_ns + queue_ns + window_ns,
            coalesce(nullif(e.name, ''), nullif(e.protocol, ''), '(not recognised)'), status, outcome, model, weight, queue_ns,
            sent_bytes, received_bytes, {", ".join(f"coalesce({p}, 0)" for p in parts)} FROM requests r
            LEFT JOIN endpoints e ON e.id = r.endpoint WHERE {USER.format('r.pid')}"""):
        expected[request, pid, session.services.get((pid, start)), begin + offset, end + offset, escaped(name), outcome, model,
                 weight, queue, sent, received, tid, tuple(times), root(request), answers.get(request)] += 1
    for call, request, pid, start, begin, end, name, outcome, grade, wait in session.db.execute(f"""SELECT id, request, pid,
            start_ns, begin_ns, begin_ns + window_ns, coalesce(nullif(name, ''), nullif(protocol, ''), '(not recognised)'), outcome,
            grade, wait_ns FROM request_calls WHERE request IN (SELECT id FROM requests r WHERE {USER.format('r.pid')})"""):
        begin = min(begin, arrived.get(call, begin + 1) - 1)
        expected[call, pid, session.services.get((pid, start)), begin + offset, end + offset, escaped(name), outcome, grade, wait,
                 root(request), request] += 1
    for identity, (resource, span, notes) in spans.items():
        number, parent = (int.from_bytes(i, "big") & ~(1 << 63) if i else None for i in (identity, (span[4] or [None])[0]))
        trace = int.from_bytes(span[1][0][8:], "big")
        head = (number, resource.get("process.pid"), resource.get("service.name"), fixed64(span[7][0]), fixed64(span[8][0]),
                text_of(span, 5), notes["dwell.outcome"])
        if span[6][0] == 3:
            found[head + (notes["dwell.link"], notes["dwell.wait_ns"], trace, parent)] += 1
            expect("who makes a call is a request", spans[span[4][0]][1][6], [2])
            expect("who makes a call is in its trace", spans[span[4][0]][1][1], span[1])
            continue
        expect("kind", span[6][0], 2)
        times = tuple(notes.get(f"dwell.part.{p}", 0) for p in parts)
        expect(f"queue and parts of {text_of(span, 5)}", notes["dwell.queue_ns"] + sum(times), head[4] - head[3])
        expect("the grade of a link is its call's", notes.get("dwell.link"), grades.get(parent))
        found[head + (notes["dwell.model"], notes["dwell.weight"], notes["dwell.queue_ns"], notes["dwell.sent_bytes"],
                      notes["dwell.received_bytes"], notes["thread.id"], times, trace, parent)] += 1
    expect("spans that the session has not", dict(found - expected), {})
    expect("spans that are missing", dict(expected - found), {})
    # Errors are those that the report counts: HTTP from 400 on, gRPC but 0, others by their own word, in TLS or not.
    answered = dict(session.db.execute("""SELECT r.id, coalesce(e.protocol, '') || ' ' || coalesce(status, '') FROM requests r
        LEFT JOIN endpoints e ON e.id = r.endpoint UNION ALL SELECT id, protocol || ' ' || status FROM request_calls"""))
    for identity, (resource, span, notes) in spans.items():
        protocol, word = answered[int.from_bytes(identity, "big") & ~(1 << 63)].replace("+tls", "").split(" ", 1)
        good = r"|[0-3]\d\d|grpc 0" if protocol.startswith("http") else "|OK"
        outcome = notes["dwell.outcome"]
        failed = not re.fullmatch(good, word) if outcome == "answered" else outcome != "open"
        expect(f"{text_of(span, 5)} with {word} is an error", span[15] == [bytes([24, 2])], failed)
        if re.fullmatch(r"\d\d\d", word) and protocol.startswith("http"):
            expect("the status of HTTP", notes.get("http.response.status_code"), int(word))
        if word.startswith("grpc"):
            expect("the status of gRPC", notes.get("rpc.grpc.status_code"), int(word[5:]))
        if not protocol.startswith("http") and word == "42P01":
            expect("the system", notes.get("db.system.name"), protocol)
        expect("error.type", "error.type" in notes, failed)


CHECKS = {"csv": check_csv, "jsonl": check_jsonl, "openmetrics": check_openmetrics, "otlp_profiles": check_otlp_profiles,
          "otlp_metrics": check_otlp_metrics, "otlp_traces": check_otlp_traces}
with open(sys.argv[2], "rb") as file:
    CHECKS[sys.argv[1]](file.read(), Session(sys.argv[3]))
print("\n".join(problems[:20]))
sys.exit(bool(problems))
