// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	changed,
	emptySelection,
	formatFragment,
	parseFragment,
	shiftWindow,
	zoomOut,
} from "../src/selection";

test("a selection survives its link", () => {
	const selection = changed(emptySelection(), {
		window: [1_000_000_000, 7_000_000_000],
		subject: { kind: "thread", index: 17 },
		states: [3, 10],
		search: "a&b=c <ü>",
		tab: "timeline",
		options: { flame: "blocked" },
	});
	assert.deepEqual(parseFragment(`#${formatFragment(selection)}`), selection);
	assert.equal(formatFragment(emptySelection()), "");
});

test("what a link has wrong is left out", () => {
	for (const bad of [
		"window=9-3",
		"window=-5-3",
		"of=thread--1",
		"of=planet-1",
		"of=thread-99999999999",
		"tab=%3Cscript%3E",
		"states=a,,-1",
		"%%%",
		"=x",
		"__proto__=1",
	]) {
		const { window, subject, states, tab, options } = parseFragment(`#${bad}`);
		assert.deepEqual(
			[window, subject.kind, states, tab, Object.keys(options)],
			[null, "host", [], "", []],
			bad,
		);
	}
	assert.equal(parseFragment(`#search=${"x".repeat(1000)}`).search.length, 200);
});

test("an option that is null goes back to its default", () => {
	const shown = changed(emptySelection(), { options: { kernel: "shown", rows: "thread" } });
	assert.deepEqual(changed(shown, { options: { kernel: null } }).options, { rows: "thread" });
	assert.deepEqual(shown.options, { kernel: "shown", rows: "thread" });
});

test("the window moves by its length and stays in the session, or in the part that the page has", () => {
	assert.deepEqual(shiftWindow([2, 4], 1, [0, 10]), [4, 6]);
	assert.deepEqual(shiftWindow([7, 9], 1, [0, 10]), [8, 10]);
	assert.deepEqual(shiftWindow([1, 3], -1, [0, 10]), [0, 2]);
	assert.deepEqual(shiftWindow([40, 50], 1, [28, 60]), [50, 60]);
	assert.deepEqual(shiftWindow([30, 40], -1, [28, 60]), [28, 38]);
	assert.deepEqual(zoomOut([4, 6], [0, 10]), [3, 7]);
	assert.deepEqual(zoomOut([0, 2], [0, 10]), [0, 4]);
	assert.deepEqual(zoomOut([50, 60], [28, 60]), [40, 60]);
	assert.equal(zoomOut([2, 8], [0, 10]), null);
});
