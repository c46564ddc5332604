// SPDX-License-Identifier: Apache-2.0
//
// Threads × time. With a selected thread: that one, those that ended its waits (with lines to them), and the rest of
// its process.
import { familiesShown, Timeline, type WakeLine } from "../charts/timeline";
import { FAMILIES } from "../colours";
import { showsKernel, type Rows, type Session } from "../data/session";
import type { StateRows } from "../data/state_rows";
import { stepOf } from "../data/time_grid";
import { count, longDuration } from "../format";
import type { Selection } from "../selection";
import { Choice, fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { limitNote } from "./empty";
import { swatch } from "./legend";
import type { Page, Renderer, View } from "./view";

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store } = page;
	const all = await session.loadThreads();
	if (!all.ns.length) return null;
	const { busiest } = session;
	const which = new Choice(
		"Threads",
		[
			["busiest", "busiest", "Only the threads that ran most, in shorter steps"],
			["all", "all", "All threads, in longer steps"],
		],
		(value) => store.change({ options: { lanes: value } }),
	);
	which.element.hidden = !busiest;
	const note = h("p", { class: "note" });
	const keys = h("div", { class: "legend" });
	const chart = new Timeline((thread) => store.change({ subject: { kind: "thread", index: thread } }));
	const dataBox = h("details", { class: "data" }, h("summary", {}, "Table of this chart"));
	root.append(h("div", { class: "bar" }, which.element, keys), note, chart.element, dataBox);
	const limits = limitNote(session.head, "threads", "wakes");
	if (limits) root.append(limits);
	let order: Int32Array = new Int32Array(0);
	dataBox.addEventListener("toggle", () => dataBox.open && drawTable());

	function drawTable(): void {
		const sums = session.byLevel("thread", store.current);
		const name = (lane: number) => session.name({ kind: "thread", index: order[lane] });
		const dominant = (lane: number): string => {
			let best = 0;
			for (let s = 0; s < session.states; s++)
				if (sums[order[lane] * session.states + s] > sums[order[lane] * session.states + best])
					best = s;
			return session.stateName(best);
		};
		const columns: Column[] = [
			{
				title: "thread",
				isNumber: false,
				className: "name",
				value: name,
				text: name,
				select: (lane) => () => store.change({ subject: { kind: "thread", index: order[lane] } }),
			},
			{ title: "mostly", isNumber: false, value: dominant, text: dominant },
		];
		const table = new Table({
			caption: "Threads and the state in which each spent most of the window",
			columns,
			rows: order.length,
			maxHeight: 300,
		});
		dataBox.replaceChildren(dataBox.firstElementChild as Element, table.element);
	}

	async function draw(selection: Selection): Promise<void> {
		const chosen = selection.subject.kind === "thread" ? selection.subject.index : -1;
		const wakes = chosen >= 0 ? await session.loadWakes() : undefined;
		if (selection !== store.current) return; // another click came while the wakes were read
		const lines = wakes ? wakeLines(session, wakes, chosen, selection) : [];
		// Who ended the waits of a thread may be none of the busiest: then all have a lane, unless the reader chose.
		const wanted = selection.options.lanes ?? (chosen < 0 ? "busiest" : "all");
		let rows = busiest && wanted === "busiest" ? busiest : all;
		order = lanes(session, selection, lines, rows);
		if (!order.length) order = lanes(session, selection, lines, (rows = all));
		which.show(rows === all ? "all" : "busiest");
		const [from, to] = session.bucketsOf(selection, rows.edges);
		chart.show({
			rows,
			families: session.families,
			isIdle: session.isIdle,
			threads: order,
			name: (thread) => session.name({ kind: "thread", index: thread }),
			stateName: (state) => session.stateName(state),
			from,
			to,
			chosen,
			wakes: lines,
			wakeEdges: wakes?.edges ?? rows.edges,
		});
		const wakers = new Set(lines.map((line) => line.waker)).size;
		note.textContent =
			`${rows === all ? count(order.length) : `The ${count(order.length)} busiest`} threads, most CPU time first. A cell is ${longDuration(stepOf(rows.edges))}: its colour is the state with most time; a bar in it is what a thread did that mostly waited for work. ` +
			(chosen < 0
				? "Click a thread to see who ended its waits."
				: lines.length
					? `Lines lead from the waits of ${session.name(selection.subject)} to the ${wakers === 1 ? "thread" : `${count(wakers)} threads`} that ended them.`
					: "No thread ended its waits here: interrupts and timers have no lane.");
		const shown = familiesShown(session.byState(selection), session.families);
		fill(
			keys,
			...shown.map((family) =>
				h("span", { class: "legend-entry" }, swatch(family), FAMILIES[family].label),
			),
		);
		if (dataBox.open) drawTable();
	}

	return { update: (selection) => void draw(selection), redraw: () => void draw(store.current) };
}

/** Threads in the order of their lanes: processes by their CPU time, threads within them likewise; then by busy time. */
function lanes(session: Session, selection: Selection, lines: WakeLine[], rows: StateRows): Int32Array {
	const { states } = session;
	const sums = session.byLevel("thread", selection);
	const busy = new Float64Array(session.count("thread"));
	const all = new Float64Array(busy.length);
	const ofProcess = new Float64Array(session.count("process"));
	for (let thread = 0; thread < busy.length; thread++) {
		for (let s = 0; s < states; s++) {
			all[thread] += sums[thread * states + s];
			// A nanosecond on a CPU outweighs any time of waiting: the busy time only orders those without.
			busy[thread] += sums[thread * states + s] * (session.isCpu[s] ? 1 : session.isIdle[s] ? 0 : 1e-9);
		}
		const process = session.thread.process[thread];
		if (process >= 0) ofProcess[process] += busy[thread];
	}
	const needle = selection.search.toLowerCase();
	const isThread = selection.subject.kind === "thread";
	const scope = isThread ? session.path(selection.subject)[2] : selection.subject;
	const mask = session.threadMask(scope ?? selection.subject);
	const kept: number[] = [];
	for (let thread = 0; thread < busy.length; thread++) {
		if ((mask && !mask[thread]) || all[thread] <= 0 || !rows.has(thread)) continue;
		if (!mask && session.isKernel({ kind: "thread", index: thread }) && !showsKernel(selection)) continue;
		if (
			needle &&
			!isThread &&
			!session.name({ kind: "thread", index: thread }).toLowerCase().includes(needle) &&
			!processMatches(session, thread, needle)
		)
			continue;
		kept.push(thread);
	}
	const process = session.thread.process;
	kept.sort((a, b) =>
		process[a] === process[b]
			? busy[b] - busy[a] || a - b
			: ofProcess[process[b]] - ofProcess[process[a]] || process[a] - process[b],
	);
	if (!isThread) return Int32Array.from(kept);
	const wakers = new Map<number, number>();
	for (const line of lines) wakers.set(line.waker, (wakers.get(line.waker) ?? 0) + line.ns);
	const first = [
		selection.subject.index,
		...[...wakers]
			.filter(([thread]) => rows.has(thread))
			.sort((a, b) => b[1] - a[1])
			.map(([thread]) => thread),
	];
	return Int32Array.from([...new Set([...first, ...kept])]);
}

/** A search that finds nothing among threads may still name a process or a service; anything else filters nothing. */
function processMatches(session: Session, thread: number, needle: string): boolean {
	const path = session.path({ kind: "thread", index: thread });
	return path.slice(1, 3).some((step) => session.name(step).toLowerCase().includes(needle));
}

function wakeLines(session: Session, wakes: Rows, chosen: number, selection: Selection): WakeLine[] {
	const [from, to] = session.bucketsOf(selection, wakes.edges);
	const { thread, bucket, waker, ns } = wakes.rows;
	const sums = new Map<string, WakeLine>();
	for (let i = 0; i < wakes.count; i++) {
		if (
			thread[i] !== chosen ||
			waker[i] < 0 ||
			waker[i] === chosen ||
			bucket[i] < from ||
			bucket[i] >= to
		)
			continue;
		const key = `${bucket[i]} ${waker[i]}`;
		const line = sums.get(key);
		if (line) line.ns += ns[i];
		else sums.set(key, { bucket: bucket[i], waiter: chosen, waker: waker[i], ns: ns[i] });
	}
	return [...sums.values()].filter((line) => line.ns > 0).sort((a, b) => b.ns - a.ns);
}

export const timelineView: View = {
	id: "timeline",
	title: "Timeline",
	open,
};
