// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { addUp, weigh } from "../src/data/call_tree";
import { readChains } from "../src/data/chains";
import { decodeColumns, offsetsByKey, orderByKey } from "../src/data/columns";
import { onsets, ownerOf, type Comparison, type Line } from "../src/data/comparison";
import { decodeBase64, inflateBytes } from "../src/data/inflate";
import { percentile, slotError } from "../src/data/percentiles";
import type { Session, Stacks } from "../src/data/session";
import { foldKeys, StateRows } from "../src/data/state_rows";
import { bucketAt, bucketsIn, nearestEdge, TimeGrid } from "../src/data/time_grid";
import { emptySelection, type Selection, type Subject } from "../src/selection";

test("a part is base64 of a zlib stream of UTF-8", async () => {
	const text = JSON.stringify({ strings: ["", "naïve <script>", "日本"] });
	assert.equal(await inflateBytes(decodeBase64(deflateSync(text).toString("base64"))), text);
});

test("columns lose their suffixes, deltas become values, large values keep all digits", () => {
	const columns = decodeColumns({
		name$: [3, 0, 2],
		"begin_ns+": [5_000_000_000, 1, -2],
		"thread$+": [7, -7, 1],
		plain: [-1, 2, 3],
	});
	assert.deepEqual(Object.keys(columns).sort(), ["begin_ns", "name", "plain", "thread"]);
	assert.deepEqual([...columns.begin_ns], [5_000_000_000, 5_000_000_001, 4_999_999_999]);
	assert.deepEqual([...columns.thread], [7, 0, 1]);
	assert.ok(columns.plain instanceof Int32Array);
	assert.ok(columns.begin_ns instanceof Float64Array);
});

test("rows are found by key, sorted or not", () => {
	assert.deepEqual([...offsetsByKey(Int32Array.of(0, 0, 2, 2, 2), 4)], [0, 2, 2, 5, 5]);
	const { offsets, rows } = orderByKey(Int32Array.of(1, 0, 1, -1, 9), 2);
	assert.deepEqual([...offsets], [0, 1, 3]);
	assert.deepEqual([...rows.subarray(0, 3)], [1, 0, 2]);
});

const grid = new TimeGrid(
	decodeColumns({ begin_ns: [0, 1_100, 2_000, 3_000, 4_000], end_ns: [1_100, 2_000, 3_000, 4_000, 4_300] }),
	4_300,
	1_000,
);

test("edges of buckets are those of the windows", () => {
	assert.deepEqual([...grid.edges(1)], [0, 1_100, 2_000, 3_000, 4_000, 4_300]);
	assert.deepEqual([...grid.edges(2)], [0, 2_000, 4_000, 4_300]);
	const edges = grid.edges(1);
	assert.deepEqual(
		[-5, 0, 1_099, 1_100, 4_299, 9_999].map((ns) => bucketAt(edges, ns)),
		[0, 0, 0, 1, 4, 4],
	);
	assert.deepEqual(
		[0, 500, 600, 4_290].map((ns) => nearestEdge(edges, ns)),
		[0, 0, 1, 5],
	);
});

test("a window selects the buckets that it touches, and none by rounding", () => {
	const seconds = Float64Array.from([0, 1e9, 2e9, 3e9]);
	assert.deepEqual(bucketsIn(seconds, null), [0, 3]);
	assert.deepEqual(bucketsIn(seconds, [1e9, 2e9]), [1, 2]);
	assert.deepEqual(bucketsIn(seconds, [1e9 - 1, 2e9 + 1]), [1, 2]);
	assert.deepEqual(bucketsIn(seconds, [1.5e9, 2.5e9]), [1, 3]);
});

test("a row that lies over several buckets is spread evenly, and the sum stays", () => {
	const rows = new StateRows(
		decodeColumns({
			"thread+": [0, 0, 1],
			bucket: [0, 1, 2],
			span: [4, 1, 2],
			state: [1, 0, 1],
			ns: [400, 30, 50],
		}),
		"thread",
		2,
		2,
		grid.edges(1),
	);
	assert.deepEqual([...rows.sumByKey(0, 5)], [30, 400, 0, 50]);
	assert.deepEqual([...rows.sumByKey(1, 3)], [30, 200, 0, 25]);
	const all = rows.sumByBucket(null);
	assert.deepEqual([...all], [0, 100, 30, 100, 0, 125, 0, 125, 0, 0]);
	assert.equal(
		all.reduce((sum, ns) => sum + ns),
		480,
	);
	assert.deepEqual([...rows.sumByBucket(Uint8Array.of(0, 1))], [0, 0, 0, 0, 0, 25, 0, 25, 0, 0]);
	assert.deepEqual([...foldKeys(Float64Array.of(1, 2, 3, 4), 2, Int32Array.of(0, 0), 1)], [4, 6]);
});

test("percentiles lie in their slot, and not above the maximum", () => {
	const slots = Float64Array.from([0, 100, 200, 400, 800]);
	const counts = Float64Array.from([0, 50, 45, 5, 0]);
	assert.ok(Math.abs(percentile(counts, slots, 0.5, 700) - Math.sqrt(100 * 200)) < 1);
	assert.ok(Math.abs(percentile(counts, slots, 0.95, 700) - Math.sqrt(200 * 400)) < 1);
	assert.equal(percentile(counts, slots, 1, 450), 450);
	assert.ok(Number.isNaN(percentile(new Float64Array(5), slots, 0.5, 0)));
	assert.ok(Math.abs(slotError(slots) - (Math.SQRT2 - 1)) < 1e-9);
});

test("a call has the time of all that it called", () => {
	assert.deepEqual([...addUp([-1, 0, 1, 0, -1], Float64Array.of(1, 2, 4, 8, 16))], [15, 6, 4, 8, 16]);
});

test("samples weigh by thread or by group, in a window and without the kernel's own", () => {
	const session = {
		states: 2,
		head: { kinds: ["cpu", "blocked"], stops: [{ complete: true }] },
		thread: { kernel: Int32Array.of(0, 0, 1) },
		group: { kernel: Int32Array.of(0, 1) },
		threadMask: ({ kind, index }: Subject) =>
			kind === "host" ? null : Uint8Array.from([0, 1, 2], (t) => Number(t === index)),
		groupMask: ({ kind, index }: Subject) =>
			kind === "host" ? null : Uint8Array.from([0, 1], (g) => Number(g === index)),
		bucketsOf: (selection: Selection, edges: Float64Array) => bucketsIn(edges, selection.window),
		shownStates: () => Uint8Array.of(1, 1),
	} as unknown as Session;
	const stacks = { nodes: 2 } as Stacks;
	const values = { kind: [0, 0, 0], state: [0, 1, 0], stop: [0, 0, 0], count: [1, 2, 4], weight_ns: [10, 20, 40] };
	const rows = (owner: string, edges: number[], bucket: number[], of: number[]) => ({
		edges: Float64Array.from(edges),
		rows: decodeColumns({ "node+": [0, 1, 0], bucket, [owner]: of, ...values }),
		count: 3,
	});
	const byThread = rows("thread", [0, 2_000], [0, 0, 0], [0, 1, 2]);
	const byGroup = rows("group", [0, 1_000, 2_000], [0, 1, 1], [0, 0, 1]);
	const sum = (samples: typeof byThread, change: Partial<Selection>) =>
		weigh(session, stacks, samples, { ...emptySelection(), ...change }, () => true);
	const late: [number, number] = [1_000, 2_000];
	assert.deepEqual([...sum(byGroup, {}).self], [10, 20]);
	assert.deepEqual([...sum(byThread, {}).self], [10, 20]);
	assert.equal(sum(byGroup, { options: { kernel: "shown" } }).sum, 70);
	assert.deepEqual([...sum(byGroup, { window: late }).self], [0, 20]);
	assert.equal(sum(byGroup, { window: late, subject: { kind: "group", index: 1 } }).samples, 4);
	assert.equal(sum(byThread, { subject: { kind: "thread", index: 1 } }).sum, 20);
});

test("a chain has its links in order, parts that read alike as one, and what is followed last", () => {
	const strings = ["", "lock m", "disk", "on a CPU", "holder"];
	const session = { text: (index: number) => strings[index] } as Session;
	const table = (id: string, rows: Record<string, (number | null)[]>) => ({ id, tab: "", title: "", about: "", columns: [], rows });
	const waits = table("chains", { thread: [7, 8], state: [4, 4], what$: [1, 1], ns: [100, 50], alike: [2, 0], alike_ns: [9, 0] });
	const links = table("chain_links", {
		chain: [0, 0, 0, 0, 9],
		link: [0, 0, 0, 1, 0],
		thread: [3, 3, 3, -1, 0],
		name$: [4, 4, 4, 4, 4],
		wait_ns: [100, 100, 100, 60, 1],
		state: [5, 0, 1, null, 0],
		what$: [2, 3, 3, 0, 0],
		ns: [60, 30, 10, 60, 1],
		followed: [1, 0, 0, 0, 0],
	});
	const chains = readChains(session, [waits, links]);
	assert.deepEqual(
		chains.map(({ thread, what, ns, alike }) => [thread, what, ns, alike]),
		[[7, "lock m", 100, 2]],
	);
	assert.deepEqual(
		chains[0].links.map(({ thread, ns, parts }) => [thread, ns, parts.map((part) => [part.what, part.ns, part.isFollowed])]),
		[
			[3, 100, [["on a CPU", 40, false], ["disk", 60, true]]],
			[-1, 60, [["", 60, false]]],
		],
	);
	assert.deepEqual(readChains(session, [waits]), []);
});

test("a line's owner, and which lines changed first", () => {
	const line = (fields: Partial<Line>) =>
		({ process: null, service: null, module: null, signal: null, onset_s: null, table: "process", ...fields }) as Line;
	assert.equal(ownerOf(line({ process: "server", service: "web.service" })), "server (web.service)");
	assert.equal(ownerOf(line({ process: "server", service: "server" })), "server");
	assert.equal(ownerOf(line({ module: "libc.so.6" })), "libc.so.6");
	const lines = [
		line({ label: "b", onset_s: 30 }),
		line({ label: "none" }),
		line({ label: "a", onset_s: 12 }),
		line({ label: "c", onset_s: 30 }),
		line({ label: "s", onset_s: 3, table: "stack" }),
	];
	assert.deepEqual(
		onsets({ lines } as Comparison).map((onset) => [onset.seconds, onset.lines.map(({ label }) => label).join("")]),
		[
			[12, "a"],
			[30, "bc"],
		],
	);
});
