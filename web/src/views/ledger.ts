// SPDX-License-Identifier: Apache-2.0
//
// Where the time went: the ledger over time of the selected subject, and a row for each service, process or thread
// in it. Dragging in the chart selects the window that everything below follows.
import { Areas, markLegend } from "../charts/areas";
import { drawBar, drawSpark } from "../charts/bars";
import { FAMILIES } from "../colours";
import { count, duration, longDuration, moment, roundPercent } from "../format";
import { type Selection, type Subject } from "../selection";
import { Choice, fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { limitNote } from "./empty";
import { faintFamilies, legend } from "./legend";
import type { Page, Renderer } from "./view";

type Level = "group" | "process" | "thread";
const SHORT: Record<string, string> = { user: "cpu", kernel: "cpu", interrupt: "cpu", runq: "run queue", network: "network", sleep: "sleep" };
const ROWS_SHOWN = 10;

export function ledger(root: HTMLElement, page: Page): Renderer {
	const { session, store } = page;
	const areas = new Areas(innerWidth < 600 ? 190 : 250, (window) => store.change({ window }));
	const path = h("nav", { class: "path", "aria-label": "Subject" });
	const level = new Choice("Rows", [["group", "service"], ["process", "process"], ["thread", "thread"]], (value) => store.change({ options: { rows: value } }));
	const busy = new Choice("Time", [["busy", "busy", "Without idle threads: those that wait for work"], ["all", "all", "All threads, idle ones too"]], (value) => store.change({ options: { time: value === "busy" ? null : value } }));
	const legendBox = h("div", {});
	const summary = h("p", { class: "note", id: "ledger-summary" });
	const rowsBox = h("div", { class: "ledger-rows" });
	const dataBox = h("details", { class: "data" }, h("summary", {}, "Table of this chart"));
	areas.element.setAttribute("role", "img");
	areas.element.setAttribute("aria-labelledby", "ledger-summary");
	root.append(
		h("div", { class: "bar" }, h("h2", {}, "Where the time went"), path, h("span", { class: "grow" }), level.element, busy.element),
		areas.element, legendBox, summary, dataBox, rowsBox,
	);
	dataBox.addEventListener("toggle", () => dataBox.open && chartTable());
	let expanded = false;

	function isBusyOnly(selection: Selection): boolean {
		return selection.options.time !== "all";
	}

	function levelOf(selection: Selection): Level {
		const { subject } = selection;
		const levels: Level[] = subject.kind === "host" ? ["group", "process", "thread"] : subject.kind === "group" ? ["process", "thread"] : ["thread"];
		for (const name of ["group", "process"] as const) level.hide(name, !levels.includes(name));
		const wanted = selection.options.rows as Level;
		return levels.includes(wanted) ? wanted : levels[0];
	}

	/** Sums by bucket and family, of the selected subject. */
	function overTime(selection: Selection): { ns: Float64Array; buckets: number; bucketNs: number } {
		const { rows, ns } = session.overTime(selection.subject);
		const key = `families ${selection.subject.kind} ${selection.subject.index} ${isBusyOnly(selection)} ${rows === session.threads}`;
		const sums = session.memo(key, () => {
			const folded = new Float64Array(rows.buckets * FAMILIES.length);
			for (let b = 0; b < rows.buckets; b++)
				for (let s = 0; s < session.states; s++)
					if (!isBusyOnly(selection) || !session.isIdle[s]) folded[b * FAMILIES.length + session.families[s]] += ns[b * session.states + s];
			return folded;
		});
		return { ns: sums, buckets: rows.buckets, bucketNs: rows.bucketNs };
	}

	function drawChart(selection: Selection): void {
		const { subject } = selection;
		areas.show({
			...overTime(selection),
			durationNs: session.durationNs,
			window: selection.window,
			marks: session.head.marks,
			limit: subject.kind === "host" && isBusyOnly(selection) ? { value: session.head.session.cpus, label: `${session.head.session.cpus} CPUs` } : null,
			isFaint: faintFamilies(session, selection),
		});
		const byState = session.byState(selection);
		fill(legendBox, legend(session, store, byState, isBusyOnly(selection)));
		let busySum = 0;
		let all = 0;
		for (let s = 0; s < byState.length; s++) {
			all += byState[s];
			if (!session.isIdle[s]) busySum += byState[s];
		}
		const windowNs = session.windowNs(selection);
		const marks = markLegend(session.head.marks);
		const step = longDuration(overTime(selection).bucketNs);
		summary.textContent =
			`Height: threads on average, in steps of ${step}. ${selection.window ? `Window ${moment(selection.window[0], 1e8)} – ${moment(selection.window[1], 1e8)}, ` : "Whole session, "}` +
			`${longDuration(windowNs)}: ${duration(all)} of thread time, ${duration(busySum)} not idle.${marks ? ` Marks: ${marks}.` : ""} Drag to select a window.`;
	}

	function chartTable(): void {
		const { ns, buckets, bucketNs } = overTime(store.current);
		const used = FAMILIES.map((_, f) => f).filter((f) => {
			for (let b = 0; b < buckets; b++) if (ns[b * FAMILIES.length + f] > 0) return true;
			return false;
		});
		const columns: Column[] = [
			{ title: "from", isNumber: true, value: (b) => b, text: (b) => moment(b * bucketNs, bucketNs) },
			...used.map((f): Column => ({ title: FAMILIES[f].label, isNumber: true, value: (b) => ns[b * FAMILIES.length + f], text: (b) => duration(ns[b * FAMILIES.length + f]) })),
		];
		const table = new Table({ caption: "Thread time by state, over time", columns, rows: buckets, maxHeight: 300 });
		dataBox.replaceChildren(dataBox.firstElementChild as Element, table.element);
	}

	function drawRows(selection: Selection): void {
		const rowLevel = levelOf(selection);
		level.show(rowLevel);
		busy.show(isBusyOnly(selection) ? "busy" : "all");
		const sums = session.byLevel(rowLevel, selection);
		const { states } = session;
		const rows = session.count(rowLevel);
		const shown = new Float64Array(rows);
		const chosen = new Uint8Array(states).fill(selection.states.length ? 0 : 1);
		for (const state of selection.states) if (state < states) chosen[state] = 1;
		for (let row = 0; row < rows; row++)
			for (let s = 0; s < states; s++) if (chosen[s] && (!isBusyOnly(selection) || !session.isIdle[s])) shown[row] += sums[row * states + s];
		const subjectAt = (row: number): Subject => ({ kind: rowLevel, index: row });
		const threads = (row: number) => (rowLevel === "thread" ? 1 : rowLevel === "group" ? session.group.threads[row] : threadsOfProcess(row));
		const families = new Float64Array(FAMILIES.length);
		const familiesOfRow = (row: number): number => {
			families.fill(0);
			let total = 0;
			for (let s = 0; s < states; s++) {
				if (isBusyOnly(selection) && session.isIdle[s]) continue;
				const ns = Math.max(0, sums[row * states + s]);
				families[session.families[s]] += ns;
				total += ns;
			}
			return total;
		};
		const what = (row: number): string => {
			const total = familiesOfRow(row);
			const byName = new Map<string, number>();
			FAMILIES.forEach((family, f) => byName.set(SHORT[family.id] ?? family.label, (byName.get(SHORT[family.id] ?? family.label) ?? 0) + families[f]));
			const parts = [...byName].filter(([, ns]) => ns > 0.03 * total).sort((a, b) => b[1] - a[1]).slice(0, 3);
			return parts.map(([name, ns]) => `${roundPercent(ns / total)} ${name}`).join(" · ");
		};
		const columns: Column[] = [
			{ title: rowLevel === "group" ? "service" : rowLevel, isNumber: false, className: "name", value: (row) => session.name(subjectAt(row)), text: (row) => session.name(subjectAt(row)), select: (row) => () => store.change({ subject: subjectAt(row) }) },
			{ title: "threads", isNumber: true, className: "wide-only", value: threads, text: (row) => count(threads(row)) },
			{ title: isBusyOnly(selection) ? "busy" : "time", isNumber: true, className: "time", tip: isBusyOnly(selection) ? "Time of all its threads in the window that was not idle" : "Time of all its threads in the window", value: (row) => shown[row], text: (row) => duration(shown[row]) },
			{ title: "states", isNumber: false, className: "picture", value: (row) => what(row), text: what, draw: (row) => {
				const canvas = h("canvas", { "aria-hidden": "true" });
				const total = familiesOfRow(row);
				drawBar(canvas, innerWidth < 600 ? 80 : 190, 14, families, total);
				return canvas;
			} },
			{ title: "share of its own time", isNumber: false, className: "what", value: what, text: what },
			{ title: "over time", isNumber: false, className: "picture wide-only", value: (row) => shown[row], text: () => "", draw: (row) => {
				const canvas = h("canvas", { "aria-hidden": "true" });
				const { values, bucketNs } = spark(rowLevel, row, selection);
				drawSpark(canvas, 140, 16, values, ...session.bucketsOf(selection, bucketNs));
				return canvas;
			} },
		];
		const table = new Table({
			caption: "Where the time went, by " + (rowLevel === "group" ? "service" : rowLevel),
			columns, rows, sort: 2, search: selection.search,
			maxHeight: expanded ? 560 : ROWS_SHOWN * 28 + 30,
			include: (row) => shown[row] > 0 && session.contains(selection.subject, subjectAt(row)),
			emptyText: "No time in this selection.",
			quietFoot: true,
		});
		fill(rowsBox, table.element, limitNote(session.head, "ledger", "threads", "subjects"));
		if (table.shown > ROWS_SHOWN && !expanded)
			rowsBox.append(h("button", { type: "button", class: "link more", onclick: () => { expanded = true; drawRows(store.current); } }, `Show more of ${count(table.shown)} rows`));
	}

	function threadsOfProcess(process: number): number {
		const counts = session.memo("threads of processes", () => {
			const sums = new Int32Array(session.count("process"));
			for (const of of session.thread.process) if (of >= 0) sums[of]++;
			return sums;
		});
		return counts[process];
	}

	/** What was busy over time, in one row. */
	function spark(rowLevel: Level, row: number, selection: Selection): { values: Float64Array; bucketNs: number } {
		const rows = rowLevel === "group" ? session.groups : (session.threads ?? session.groups);
		const values = new Float64Array(rows.buckets);
		const add = (key: number) => {
			for (let i = rows.offsets[key]; i < rows.offsets[key + 1]; i++)
				if (!isBusyOnly(selection) || !session.isIdle[rows.state[i]]) values[rows.bucket[i]] += rows.ns[i];
		};
		if (rowLevel !== "process") add(row);
		else for (const thread of threadsIn(row)) add(thread);
		return { values, bucketNs: rows.bucketNs };
	}

	function threadsIn(process: number): Int32Array {
		const index = session.memo("threads by process", () => {
			const order = Int32Array.from(session.thread.process, (_, thread) => thread);
			order.sort((a, b) => session.thread.process[a] - session.thread.process[b] || a - b);
			return order;
		});
		let low = 0;
		let high = index.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (session.thread.process[index[mid]] < process) low = mid + 1;
			else high = mid;
		}
		let end = low;
		while (end < index.length && session.thread.process[index[end]] === process) end++;
		return index.subarray(low, end);
	}

	function drawPath(selection: Selection): void {
		const steps = session.path(selection.subject);
		fill(path, ...steps.flatMap((step, i) => {
			const isLast = i === steps.length - 1;
			const name = session.name(step);
			const item = isLast ? h("b", { "aria-current": "true" }, name) : h("button", { type: "button", class: "link", onclick: () => store.change({ subject: step }) }, name);
			return i ? [h("span", { class: "soft", "aria-hidden": "true" }, " › "), item] : [item];
		}));
	}

	function draw(selection: Selection): void {
		drawPath(selection);
		drawChart(selection);
		drawRows(selection);
		if (dataBox.open) chartTable();
	}

	return {
		update(selection) {
			const needed = session.needsThreads(selection.subject) || levelOf(selection) !== "group";
			if (needed && !session.threads) void session.loadThreads().then(() => draw(store.current));
			else draw(selection);
		},
		redraw() {
			draw(store.current);
		},
	};
}
