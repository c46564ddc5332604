#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Fail the Nth call, for each N: see fail_calls.c, which does it. As root, but for commands that read a session.

  run.py BUILD [--command NAME]... [--calls KIND,...] [--process N] [--every-call] [--sample COUNT] [--jobs J]
         [--frames F] [--session FILE] [--verbose]

Without --command: run and record, or, with --session, all that read one.

First the calls of a good run are counted, by kind and process. Then each chosen N is failed once, with each
errno of its kind. By default the chosen N are the first call of each stack of callers (FRAMES of them count):
what is called 8,000 times in a loop behaves alike. --every-call takes each N. --sample takes COUNT of all
cases (0: all): the same ones each time for the same sources, others when the sources change.

Most cases sleep most of the time, so there are more jobs than CPUs.

Each run is judged:
  - no process crashes or hangs, none is left, no file is left, no verdict on a program is kept
  - status 0: the result is whole, or what it lacks is reported
  - other statuses: 1 (a failure of this run), never 77 (this host cannot do it); and a sentence names the errno
  - no sentence claims a cause that is none
and after each tenth case, and each with a fault, a run without a failure works.
"""
import argparse
import ctypes
import errno
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shared  # noqa: E402

TIMEOUT_S = 20
NEXT_RUN_EACH = 10  # cases; what a run can leave behind is looked at after each
RUN_DIRS = ["/run/dwell", "/var/cache/dwell"]
CRASHES = [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS]
SESSION = "x.dwell"
SOURCES = ["abi", "bpf", "signals", "src", "tests/fail_nth"]

COMMANDS = {
    "run": ["run", "--", "true"],
    "record": ["record", "-a", "-s", "tcp,block", "-d", "2", "-o", SESSION],
    "report": ["report", "../" + SESSION],
    "json": ["report", "--json", "../" + SESSION],
    "stacks": ["report", "--stacks", "../" + SESSION],
    "requests": ["report", "--slowest", "5", "../" + SESSION],
    "html": ["report", "--html", "-", "../" + SESSION],
    "diff": ["diff", "../" + SESSION, "../" + SESSION],
    "diff-json": ["diff", "--json", "../" + SESSION, "../" + SESSION],
    "diff-html": ["diff", "--html", "-", "../" + SESSION, "../" + SESSION],
    "pprof": ["export", "-f", "pprof", "../" + SESSION],
    "svg": ["export", "-f", "svg", "../" + SESSION],
    "speedscope": ["export", "-f", "speedscope", "../" + SESSION],
    "folded": ["export", "-f", "folded", "--kind", "cpu", "../" + SESSION],
    "perfetto": ["export", "-f", "perfetto", "../" + SESSION],
    "openmetrics": ["export", "-f", "openmetrics", "../" + SESSION],
    "jsonl": ["export", "-f", "jsonl", "../" + SESSION],
    "otlp_profiles": ["export", "-f", "otlp_profiles", "../" + SESSION],
    "otlp_metrics": ["export", "-f", "otlp_metrics", "../" + SESSION],
    "otlp_traces": ["export", "-f", "otlp_traces", "../" + SESSION],
    "query": ["query", "../" + SESSION, "SELECT * FROM ledger_by_service"],
    "filter": ["report", "--comm", "*", "--group-by", "exe", "../" + SESSION],
    "fitness": ["doctor", "../" + SESSION],
    "fitness-json": ["doctor", "--json", "../" + SESSION],
}
# Of a session: the same output each time
READERS = ["report", "json", "stacks", "html", "diff", "diff-json", "diff-html", "pprof", "svg", "speedscope", "folded", "perfetto", "openmetrics", "jsonl",
           "otlp_profiles", "otlp_metrics", "query", "filter", "fitness", "fitness-json"]

ERRNOS = {
    "open": ["EMFILE", "ENOMEM", "EIO", "EINTR"],
    "mmap": ["ENOMEM"],
    "malloc": ["ENOMEM"],
    "bpf": ["ENOMEM", "EMFILE"],
    "perf_event_open": ["EMFILE", "ENOMEM"],
    "socketpair": ["EMFILE", "ENOMEM"],
    "fork": ["EAGAIN", "ENOMEM"],
    "write": ["ENOSPC", "EIO", "EINTR"],
    "send": ["ENOMEM", "EINTR"],
    "fsync": ["EIO", "ENOSPC"],
}

# What the session is of that is read.
WORK = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; sleep 0.01; ls / >/dev/null"]

# Causes that no failure of these calls has.
LIES = [
    r"killed\?", r"/proc mounted", r"/proc is not mounted", r"mount /dev", r"verifier", r"as root",
    r"dropping privileges", r"kernel has no", r"kernel lacks", r"newer kernel", r"not supported",
    r"No such file", r"Invalid argument", r"Success", r"damaged", r"file complete", r"ordinary user",
]


class Case:
    """One call that fails."""

    def __init__(self, command, process, kind, nth, error):
        self.command, self.process, self.kind, self.nth, self.error = command, process, kind, nth, error

    def __str__(self):
        name = f"process {self.process}"  # 0: dwell, then its children in the order in which they were forked
        return f"{self.command}: {self.kind} {self.nth} of {name}, {self.error}"

    def environment(self):
        return {
            "FAIL_CALL": self.kind,
            "FAIL_AT": str(self.nth),
            "FAIL_PROCESS": str(self.process),
            "FAIL_ERRNO": str(getattr(errno, self.error)),
        }


class Outcome:
    """What there is after a run. alive: its processes that are still there."""

    def __init__(self, status, stdout, stderr, seen, files, alive):
        self.status, self.stdout, self.stderr = status, stdout, stderr
        self.seen, self.files, self.alive = seen, files, alive
        self.told = [line for line in stderr.splitlines() if line.startswith("dwell: ")]

    def told_error(self):
        return any(re.search(r"cannot|could not|failed|missing|lost|left out|not enough", line) for line in self.told)


# --- one run, in a mount namespace of its own, so that what it keeps is seen and thrown away ---

place = None  # of this process of the pool


class Place:
    """Readers of a session keep nothing, and need no namespace."""

    def __init__(self, build, base, commands):
        self.dwell = os.path.abspath(os.path.join(build, "dwell"))
        self.library = os.path.abspath(os.path.join(build, "tests/fail_calls.so"))
        self.base = base
        self.work = tempfile.mkdtemp(dir=base)
        self.cases = 0
        self.file = self.work + ".shared"
        self.dirs = [] if set(commands) <= set(READERS) else RUN_DIRS
        if self.dirs:
            self.separate()
            for _ in range(2):  # verdicts that this kernel deserves are there from now on
                self.start("run", {})
        self.kept = self.verdicts()
        self.usual = {}

    def good_output(self, command):
        """The file that has it, of the run whose calls were counted: one for all places."""
        return os.path.join(self.base, "good." + command)

    def is_usual(self, command, outcome):
        """It did what it does otherwise, and told nothing. The doctor has a status of 1 for a session that is not fit."""
        if command not in self.usual:
            with open(self.good_output(command) + ".status", encoding="ascii") as file:
                self.usual[command] = int(file.read())
        return outcome.status == self.usual[command] and not outcome.told_error()

    def separate(self):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000):  # CLONE_NEWNS
            raise OSError(ctypes.get_errno(), "unshare: a mount namespace is needed; run as root")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        for path in RUN_DIRS:
            os.makedirs(path, mode=0o700, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0700", "fail_nth", path], check=True)

    def verdicts(self):
        """Those that are believed; what was refused once is asked again."""
        found = set()
        for name in os.listdir(self.dirs[0]) if self.dirs else []:
            with open(os.path.join(RUN_DIRS[0], name), encoding="utf-8", errors="replace") as file:
                found |= {line for line in file if line.split("\t")[2:3] == ["v"]}
        return found

    def start(self, command, environment, timeout=TIMEOUT_S):
        for name in os.listdir(self.work):
            os.unlink(os.path.join(self.work, name))
        if self.dirs:
            shutil.rmtree(os.path.join(self.dirs[1], "unwind"), ignore_errors=True)
        shared.clear(self.file)
        whole = dict(
            os.environ, LD_PRELOAD=self.library, FAIL_FILE=self.file, FAIL_PROGRAM="dwell", **environment
        )
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            child = subprocess.Popen(
                [self.dwell] + COMMANDS[command],
                cwd=self.work, env=whole, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            )
            try:
                status = child.wait(timeout)
            except subprocess.TimeoutExpired:
                status = None
            seen = shared.Shared(self.file)
            alive = [pid for pid in seen.pids[1:] if is_dwell(pid)]
            if status is None:
                for pid in [child.pid] + alive:
                    kill(pid)
                child.wait()
            stdout.seek(0)
            stderr.seek(0)
            said = stderr.read().decode(errors="replace")
            return Outcome(status, stdout.read(), said, seen, os.listdir(self.work), alive)


def kill(pid):
    """Or it has ended by itself just now."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_dwell(pid):
    """What init has not reaped yet has no command line."""
    for _ in range(20):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read()
        except (FileNotFoundError, ProcessLookupError):
            return False
        if b"dwell" not in line:
            return False
        time.sleep(0.05)
    return True


# --- judging ---


def session_faults(path):
    """A session that is said to be complete."""
    import sqlite3

    if not os.path.exists(path):
        return ["status 0, but there is no session"]
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    faults = [] if db.execute("PRAGMA integrity_check").fetchone()[0] == "ok" else ["a damaged session"]
    if not db.execute("SELECT count(*) FROM windows").fetchone()[0]:
        faults.append("status 0, but no window")
    if not db.execute("SELECT count(*) FROM meta WHERE key = 'ended_ns'").fetchone()[0]:
        faults.append("status 0, but the session says nowhere when it ended")
    return faults


def is_same(output, good_file):
    """Or it says itself what was left out: samples without their stack count as damaged in JSON."""
    with open(good_file, "rb") as file:
        good = file.read()
    if output == good or b"are left out" in output:
        return True
    if not output.startswith(b"{\n") or "quality" not in json.loads(good):  # "{\n": one object, not one a line
        return False
    return json.loads(output)["quality"]["stacks"] != json.loads(good)["quality"]["stacks"]


def says(case, told):
    """In the words of libc, of the doctor, of SQLite, or by the errno's name."""
    # pthread_create() says EAGAIN when it has no memory.
    doctor = {
        "ENOMEM": "not enough memory|EAGAIN",
        "EMFILE": "limit of open files",
        "EAGAIN": "not enough memory to start a thread, or too many are running",
    }
    sqlite = {"ENOMEM": "out of memory", "ENOSPC": "full", "EIO": "disk i/o error"}
    words = [os.strerror(getattr(errno, case.error)), case.error, doctor.get(case.error), sqlite.get(case.error)]
    return any(word and re.search(word.lower(), told.lower()) for word in words)


def judge_words(case, outcome):
    faults = [f"a cause that is none: {lie}" for lie in LIES if any(re.search(lie, line) for line in outcome.told)]
    told = " ".join(outcome.told)
    if outcome.status and not place.is_usual(case.command, outcome) and not says(case, told):
        faults.append(f"no sentence says {case.error}")
    if case.error == "EMFILE" and "ulimit -u" in told:
        faults.append("EMFILE has nothing to do with ulimit -u")
    return faults


def judge(case, outcome, where):
    faults = []
    if outcome.status is None:
        return [f"still running after {TIMEOUT_S} s, and again after {3 * TIMEOUT_S} s"]
    if outcome.status < 0:
        faults.append(f"dwell was ended by signal {-outcome.status}")
    faults += [
        f"process {i} crashed, signal {by}" for i, by in enumerate(outcome.seen.ended_by) if by in CRASHES
    ]
    faults += [f"process {pid} is left" for pid in outcome.alive]
    # A limit of open files is something that somebody has set.
    if outcome.status == 77 and case.error != "EMFILE":
        faults.append("status 77 says that this host cannot run dwell")
    elif outcome.status not in (0, 1, 77):
        faults.append(f"status {outcome.status}")
    whole = where.is_usual(case.command, outcome)
    allowed = {SESSION} if case.command == "record" else set()
    if outcome.status and outcome.told:
        allowed |= {SESSION + "-wal"} if SESSION in outcome.files else set()
    faults += [f"{name} is left" for name in outcome.files if name not in allowed]
    if where.verdicts() - where.kept:
        faults.append(f"a verdict is kept: {where.verdicts() - where.kept}")
        for name in os.listdir(RUN_DIRS[0]):
            os.unlink(os.path.join(RUN_DIRS[0], name))
    cache = os.path.join(RUN_DIRS[1], "unwind")
    if where.dirs and os.path.isdir(cache):
        faults += [f"{name} is left in the cache" for name in os.listdir(cache) if not name.endswith(".rows")]
    if case.command == "run" and whole and "QUALITY" not in outcome.stderr:
        faults.append("status 0, but no report, and no reason")
    if case.command in READERS and whole and not is_same(outcome.stdout, where.good_output(case.command)):
        faults.append("status 0, but the output is not what it is otherwise, and nothing says so")
    if case.command == "record" and outcome.status == 0:
        faults += session_faults(os.path.join(where.work, SESSION))
    return faults + judge_words(case, outcome)


def run_case(case):
    outcome = place.start(case.command, case.environment())
    if outcome.status is None:  # a host that is busy with something else is not a hang
        outcome = place.start(case.command, case.environment(), 3 * TIMEOUT_S)
    faults = judge(case, outcome, place)
    place.cases += 1
    if faults or place.cases % NEXT_RUN_EACH == 0:
        faults += next_run_faults(case.command)
    return case, outcome, faults


def open_place(build, base, commands):
    global place
    place = Place(build, base, commands)


def next_run_faults(command):
    """Without a failure: it works."""
    outcome = place.start(command, {}, 3 * TIMEOUT_S)
    if place.is_usual(command, outcome):
        return []
    return [f"the next run does not work: status {outcome.status}: {outcome.told[:2]}"]


def count_calls(arguments):
    command, frames = arguments
    outcome = place.start(command, {"FAIL_FRAMES": str(frames)}, 3 * TIMEOUT_S)
    with open(place.good_output(command), "wb") as file:
        file.write(outcome.stdout)
    with open(place.good_output(command) + ".status", "w", encoding="ascii") as file:
        file.write("1" if outcome.status == 1 and not outcome.told_error() else "0")
    return outcome.seen


# --- the matrix ---


def list_cases(command, seen, kinds, every_call):
    cases, calls = [], 0
    for (process, kind), count in sorted(seen.counts.items()):
        if not count or kind not in kinds:
            continue
        chosen = range(1, count + 1) if every_call else sorted(seen.sites.get((process, kind), []))
        calls += count
        print(f"# {command}: {kind} of process {process}: {count} calls, {len(chosen)} chosen")
        cases += [Case(command, process, kind, nth, error) for nth in chosen for error in ERRNOS[kind]]
    print(f"# {command}: {calls} calls, {len(cases)} cases")
    return cases


def show(case, outcome, faults, verbose):
    if faults or verbose:
        print(f"# {case}: {outcome.seen.what or 'not called'}: status {outcome.status}")
        for line in faults:
            print(f"#   FAULT {line}")
        for line in outcome.told[:6]:
            print(f"#   {line}")
    if faults:
        print(f"#   at {outcome.seen.trace}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--command", choices=COMMANDS, action="append")
    parser.add_argument("--calls", default=",".join(shared.KINDS))
    parser.add_argument("--process", type=int)
    parser.add_argument("--session")
    parser.add_argument("--every-call", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--jobs", type=int, default=4 * os.cpu_count())
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not os.access(os.path.join(options.build, "tests/fail_calls.so"), os.R_OK):
        sys.exit("run.py: there is no BUILD/tests/fail_calls.so: make all tests")
    commands = options.command or (READERS if options.session else ["run", "record"])
    page = os.path.join(options.build, "gen/page_file.inc")
    pages = [command for command in commands if "--html" in COMMANDS[command]]
    if pages and not (os.path.exists(page) and os.path.getsize(page)):
        print(f"# SKIP {', '.join(pages)}: this dwell is built without the page")
        commands = [command for command in commands if command not in pages]

    with tempfile.TemporaryDirectory(prefix="fail_nth.") as base:
        session = os.path.join(base, SESSION)
        if options.session:
            shutil.copy(options.session, session)
        elif set(commands) & set(READERS):
            dwell = os.path.join(options.build, "dwell")
            subprocess.run([dwell, "run", "-q", "-o", session, "--"] + WORK, check=True)
        return run_all(options, commands, base)


def hash_sources():
    """Of what the sample is for."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(name for name in names if name.endswith((".c", ".h", ".def", ".py"))):
                with open(os.path.join(path, name), "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()


def in_order(cases, seed):
    """One that mixes all kinds, and in which each case has its own place, whatever others there are."""
    return sorted(cases, key=lambda case: hashlib.sha256(f"{seed} {case}".encode()).digest())


def run_all(options, commands, base):
    failures, done, silent = 0, 0, 0
    with multiprocessing.Pool(options.jobs, open_place, (options.build, base, commands)) as pool:
        cases = []
        # Commands that measure do it alone.
        at_once = options.jobs if set(commands) <= set(READERS) else 1
        for some in (commands[i : i + at_once] for i in range(0, len(commands), at_once)):
            for command, seen in zip(some, pool.map(count_calls, [(command, options.frames) for command in some], 1)):
                cases += list_cases(command, seen, options.calls.split(","), options.every_call)
        if options.process is not None:
            cases = [case for case in cases if case.process == options.process]
        total = len(cases)
        cases = in_order(cases, hash_sources())[: options.sample or total]
        for case, outcome, faults in pool.imap_unordered(run_case, cases):
            done += 1
            silent += not outcome.seen.has_failed
            failures += bool(faults)
            show(case, outcome, faults, options.verbose)
            if done % 100 == 0:
                print(f"# {done} of {len(cases)}", file=sys.stderr)
    print(f"# the matrix has {total} cases; {done} were run, {silent} of them without the call, {failures} with a fault")
    print(("not ok" if failures else "ok") + f" - {done} failed calls: right status, true sentence, nothing left")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
