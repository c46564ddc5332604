# SPDX-License-Identifier: Apache-2.0
# english.py FILE...: prints each word of the glossary's "not" column in the text of pages (*.md, *.txt) and in
# the string literals of C files; status 1 if there are any.
import re
import sys

# Pattern, and what to say instead
GLOSSARY = [
    (r"(?<!futex )\bwords?\b", "event, record, sample"),
    (r"\bnews\b|\bwhat came\b", "event, record, sample"),
    (r"\bplaces?\b", "slot, entry, capacity; position"),
    (r"\broom\b", "slot, entry, capacity"),
    (r"\b(told|said|spoken|unspoken)\b", "reported, printed, counted"),
    (r"\b(dear|dearer|dearest|prices?)\b", "expensive, cheap, cost"),
    (r"\bmend(s|ed|ing)?\b", "fix"),
    (r"\bbrakes?\b|\bhands of the governor\b", "overhead limit"),
    (r"\bgone\b|\bg[ia]ven? up\b(?! to\b)", "dropped, lost, evicted"),
    (r"\bwalk(s|ed|er|ers|ing)?\b", "unwinder, unwind, unwind table"),
    (r"\bforeign\b|\bfollowed\b(?! by\b)", "target process"),
    (r"\blate probes?\b", "deferred probe"),
    (r"\bapart\b", "unprivileged child; distinguished"),
    (r"\b(with|by) commas\b", "comma-separated list"),
    (r"\bso (long|many|much)\b", "at least TIME, up to N"),
    (r"\b(beginning|begin|start) and (the )?end of (a|the|each) call\b", "entry and return"),
    (r"\bha(s|ve|d|ving) (no |a |their )?names?\b", "symbol name, symbolize"),
    (r"\bplain files?\b", "regular file"),
]

# Text that may stay, and why
ALLOWED = [
    r"^# News$|\[NEWS\.md\]\(NEWS\.md\)",  # the name of the file
    r"\bin place of\b",                     # instead of
]

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)
SQL = re.compile(r"^\s*(SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|PRAGMA|FROM|JOIN|WHERE|ORDER|GROUP)\b|\bINTEGER\b"
                 r"|^\w+(, \w+)+$")


def blank_comment(match):
    text = match.group()
    return text if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)


def literals(text):
    """(line, text) of each string literal; adjacent ones are one."""
    text = COMMENT.sub(blank_comment, text)
    line, joined, at, end = 0, "", 0, None
    for match in STRING.finditer(text):
        if end is not None and re.fullmatch(r"[\s\\]*(PRI\w+[\s\\]*)?", text[end:match.start()]):
            joined += match.group(1)
        else:
            if joined:
                yield line, joined
            line, joined = text.count("\n", 0, match.start()) + 1, match.group(1)
        end = match.end()
    if joined:
        yield line, joined


def is_prose(text):
    """A name (of a column, an event, a file) is one word, and not prose."""
    return " " in text.strip() and not SQL.search(text)


def pages(text):
    """(line, text) of each line, without code spans; a phrase may go over the end of a line."""
    lines = [re.sub(r"`[^`]*`", "``", line) for line in text.split("\n")]
    for number, line in enumerate(lines, 1):
        yield number, line


def find(path, number, text):
    found = 0
    for allowed in ALLOWED:
        text = re.sub(allowed, "", text, flags=re.I)
    for pattern, instead in GLOSSARY:
        for match in re.finditer(pattern, text, re.I):
            around = text[max(0, match.start() - 40):match.end() + 30].replace("\n", " ")
            print(f"{path}:{number}: '{match.group()}' ({instead}): {around}")
            found += 1
    return found


def main():
    found = 0
    for path in sys.argv[1:]:
        text = open(path, encoding="utf-8").read()
        if path.endswith((".c", ".h", ".def")):
            for number, literal in literals(text):
                if is_prose(literal):
                    found += find(path, number, literal.replace("\\n", " "))
        else:
            for number, line in pages(text):
                found += find(path, number, line)
    return found > 0


sys.exit(main())
