#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page's own parts without a browser, by node's test runner: data, formats, selection, colours (web/test).
. tests/lib.sh

if ! command -v node >/dev/null || [ ! -d web/node_modules/esbuild ]; then
	skip "the page's data, formats, selection and colours" "no node, or no web/node_modules: cd web && npm ci"
	exit 0
fi
check "the page's data, formats, selection and colours" sh -c 'cd web && timeout 60 node test/run.mjs'
check "the lock file names no registry" sh -c '! grep -q "\"resolved\"" web/package-lock.json'
check "no view makes elements out of text" sh -c '! grep -rnE "\.(inner|outer)HTML|insertAdjacentHTML|document\.write" web/src'
finish
