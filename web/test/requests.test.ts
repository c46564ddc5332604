// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FAMILIES, PART_LOOKS, partLook } from "../src/colours";
import { Requests, type RawRequests } from "../src/data/requests";
import type { Session } from "../src/data/session";
import { emptySelection, type Selection, type Subject } from "../src/selection";

const meanings = (...names: string[]) => names.map((name) => ({ name, meaning: `of ${name}` }));

/** Endpoints: 0 nginx, 1 python3, 2 postgres, 3 its set-up. Requests: 0 → calls 0 and 1 → requests 1 and 3; 1 → call 2. */
const raw = (): RawRequests => ({
	parts: meanings("cpu", "net", "queue"),
	outcomes: meanings("answered", "reset"),
	models: meanings("thread", "loop"),
	grades: meanings("confirmed", "backward"),
	endpoints: {
		name$: [1, 1, 2, 3],
		protocol$: [4, 4, 5, 5],
		service$: [0, 0, 0, 0],
		comm$: [6, 7, 8, 8],
		port: [80, 8000, 0, 0],
		kind: [0, 0, 0, 1],
	},
	endpoint_processes: { "endpoint+": [0, 1, 1], process: [0, 1, -1] },
	budgets: { "endpoint+": [0, 0, 0], slow: [0, 1, 1], part: [0, 0, 1], ns: [5, 6, 70] },
	requests: {
		endpoint: [0, 1, 2, 3],
		process: [0, 1, 2, 2],
		thread: [0, 1, -1, -1],
		begin_ns: [1_000, 1_100, 1_200, 1_900],
		queue_ns: [10, 5, 0, 0],
		window_ns: [990, 600, 100, 40],
		status$: [0, 0, 0, 0],
		outcome: [0, 0, 0, 0],
		model: [0, 0, 0, 0],
	},
	request_parts: { "request+": [0, 0, 1, 1], part: [1, 0, 0, 1], ns: [900, 90, 600, 100] },
	calls: {
		"request+": [0, 0, 1],
		answer: [3, 1, 2],
		peer$: [8, 7, 8],
		name$: [3, 1, 2],
		begin_ns: [1_890, 1_090, 1_190],
		wait_ns: [60, 500, 100],
		window_ns: [60, 620, 120],
		grade: [0, 0, 1],
	},
});
const strings = ["", "GET /cart", "SELECT carts", "startup", "http", "postgresql", "nginx", "python3", "postgres"];
/** Process i is group i. */
const session = {
	text: (index: number) => strings[index],
	contains: (outer: Subject, inner: Subject) => outer.index === inner.index,
} as unknown as Session;
const selected = (change: Partial<Selection>) => ({ ...emptySelection(), ...change });

test("parts of a request are those of its window, and its queue", () => {
	const requests = new Requests(raw());
	assert.deepEqual([...requests.partsOf(0)], [90, 900, 10]);
	assert.equal(
		requests.partsOf(0).reduce((sum, ns) => sum + ns),
		requests.latency(0),
	);
	assert.deepEqual([...requests.budgetOf(0, true)], [6, 70, 0]);
	assert.deepEqual(requests.withBudget(), [0]);
	assert.deepEqual(requests.processesOf(1), [1], "one that the page does not have is left out");
	assert.equal(requests.server(session, 0), "nginx :80");
	assert.equal(requests.server(session, 2), "postgres (Unix socket)");
});

test("a waterfall has calls in the order of time, each with what answered it below it", () => {
	const requests = new Requests(raw());
	const { spans, left } = requests.waterfall(0);
	assert.deepEqual(spans, [
		{ depth: 0, call: -1, request: 0 },
		{ depth: 1, call: 1, request: 1 },
		{ depth: 2, call: 2, request: 2 },
		{ depth: 1, call: 0, request: 3 },
	]);
	assert.equal(left, 0);
	assert.deepEqual(requests.extent(spans), [1_000, 2_000]);
	assert.deepEqual([...requests.caller], [-1, 0, 1, 0]);
});

test("requests are listed once: those that others of the list made are within these", () => {
	const requests = new Requests(raw());
	const listed = (change: Partial<Selection>) => requests.listed(session, selected(change));
	assert.deepEqual(listed({}), [0]);
	assert.deepEqual(listed({ subject: { kind: "process", index: 1 } }), [1]);
	assert.deepEqual(listed({ subject: { kind: "group", index: 2 } }), [2], "and set-up is none");
	assert.deepEqual(listed({ subject: { kind: "thread", index: 1 } }), [1]);
	assert.deepEqual(listed({ search: "select" }), [2]);
	assert.deepEqual(listed({ search: "python3 :8000" }), [1]);
	assert.deepEqual(listed({ search: "nobody" }), []);
	assert.deepEqual(listed({ window: [1_200, 1_250] }), [0], "it was under way then");
	assert.deepEqual(listed({ window: [2_000, 3_000] }), []);
});

test("calls that answer each other, or too many of them, end", () => {
	const circle = raw();
	circle.calls.answer = [0, 1, 0];
	const requests = new Requests(circle);
	assert.deepEqual(
		requests.waterfall(0).spans.map(({ request }) => request),
		[0, 1, -1, -1],
	);
	assert.ok(requests.listed(session, selected({})).length <= 4);
	const many = raw();
	const calls = 1_000;
	for (const key of Object.keys(many.calls)) many.calls[key] = Array<number>(calls).fill(0);
	many.calls.answer = Array<number>(calls).fill(-1);
	const { spans, left } = new Requests(many).waterfall(0);
	assert.equal(spans.length + left, calls + 1);
	assert.ok(spans.length < 300);
});

test("a part has one look, and one that is not known looks like another wait", () => {
	const parts = PART_LOOKS.flatMap((look) => look.parts);
	assert.equal(new Set(parts).size, parts.length);
	for (const { family } of PART_LOOKS) assert.ok(FAMILIES.some(({ id }) => id === family), family);
	const looks = PART_LOOKS.map(({ family, pattern }) => `${family} ${pattern ?? ""}`);
	assert.equal(new Set(looks).size, looks.length);
	assert.equal(partLook("of the future"), partLook("other"));
	assert.equal(PART_LOOKS[partLook("signalled")].family, "lock");
});

test("each part that the recorder has, has a look, and the other way round", () => {
	const text = readFileSync("../signals/requests/kinds.h", "utf8");
	const parts = [...text.matchAll(/^\tPART\([A-Z_]+, ([a-z_]+),/gm)].map((match) => match[1]);
	assert.ok(parts.length > 10, "signals/requests/kinds.h has another form");
	assert.deepEqual(PART_LOOKS.flatMap((look) => look.parts).sort(), ["queue", ...parts].sort());
});
