#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data of an HTML report, read by the words of docs/page-data.md alone: parts(file) gives JSON, decoded column
sets as lists. As a program it prints one part: page_parts.py FILE [PART]."""
import base64
import json
import re
import sys
import zlib


def decode(value, strings):
    """Column names without their suffixes, deltas added up, names as text."""
    if isinstance(value, list):
        return [decode(item, strings) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, item in value.items():
        name = key
        if name.endswith("+"):
            name = name[:-1]
            total, added = 0, []
            for step in item:
                total += step
                added.append(total)
            item = added
        if name.endswith("$"):
            name = name[:-1]
            item = [strings[number] for number in item]
        result[name] = decode(item, strings)
    return result


def raw_parts(path):
    text = open(path, encoding="utf-8").read()
    found = re.findall(r'<script type="text/plain" data-part="([a-z._]+)">([A-Za-z0-9+/=]*)</script>', text)
    return {name: json.loads(zlib.decompress(base64.b64decode(data)).decode("utf-8")) for name, data in found}


def parts(path, prefix=""):
    raw = {name[len(prefix):]: value for name, value in raw_parts(path).items() if name.startswith(prefix)}
    strings = raw["strings"]["strings"]
    return {name: decode(value, strings) for name, value in raw.items() if name != "strings"}


if __name__ == "__main__":
    found = parts(sys.argv[1])
    json.dump(found[sys.argv[2]] if len(sys.argv) > 2 else sorted(found), sys.stdout, indent=1)
    print()
