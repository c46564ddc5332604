#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py SCHEMA FILE: says where FILE breaks SCHEMA; exits 0 if nowhere.

The published schema lets fields be added; here one that it does not name is an error."""
import json
import sys

import jsonschema


def strict(node):
    if isinstance(node, dict):
        if "properties" in node:
            node.setdefault("additionalProperties", False)
        for child in node.values():
            strict(child)
    return node


with open(sys.argv[1]) as schema, open(sys.argv[2]) as document:
    checker = jsonschema.Draft7Validator(strict(json.load(schema)))
    errors = list(checker.iter_errors(json.load(document)))
for error in errors:
    print("/".join(map(str, error.path)), error.message)
sys.exit(bool(errors))
