// SPDX-License-Identifier: Apache-2.0
//
// Where the time went: the ledger over time of the selected subject, and a row for each service, process or thread
// in it. Dragging in the chart selects the window that everything below follows.
import { Areas, markLegend } from "../charts/areas";
import { drawBar, drawSpark } from "../charts/bars";
import { FAMILIES } from "../colours";
import type { State } from "../data/head";
import { count, duration, longDuration, moment, roundPercent } from "../format";
import { isBusyOnly, showsKernel } from "../data/session";
import { stepOf } from "../data/time_grid";
import type { Selection, Subject } from "../selection";
import { Choice, fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { limitNote, stepNote } from "./empty";
import { legend } from "./legend";
import type { Page, Renderer } from "./view";

type Level = "group" | "process" | "thread";

/** A state in a few letters. The parts of CPU time and of the run queue are one each; waits keep their own names. */
function shortName(state: State): string {
	return state.kind === "cpu"
		? "cpu"
		: state.kind === "runq"
			? "run queue"
			: state.name.replace(/^blocked\./, "");
}

const ROWS_SHOWN = 10;

export function ledger(root: HTMLElement, page: Page): Renderer {
	const { session, store } = page;
	const groupBy = session.head.session.group_by;
	const areas = new Areas(innerWidth < 600 ? 190 : 250, (window) => store.change({ window }));
	const path = h("nav", { class: "path", "aria-label": "Subject" });
	const level = new Choice(
		"Rows",
		[
			["group", groupBy],
			["process", "process"],
			["thread", "thread"],
		],
		(value) => store.change({ options: { rows: value } }),
	);
	const busy = new Choice(
		"Time",
		[
			["busy", "busy", "Without time in which threads wait for work: idle, poll, sleep"],
			["all", "all", "All time of all threads"],
		],
		(value) => store.change({ options: { time: value === "busy" ? null : value } }),
	);
	const kernel = h(
		"button",
		{
			type: "button",
			class: "plain",
			title: "Show the kernel's own threads too",
			onclick: () => store.change({ options: { kernel: showsKernel(store.current) ? null : "shown" } }),
		},
		"kernel threads",
	);
	const who = h("p", { class: "note" });
	const legendBox = h("div", {});
	const summary = h("p", { class: "note", id: "ledger-summary" });
	const rowsBox = h("div", { class: "ledger-rows" });
	const dataBox = h("details", { class: "data" }, h("summary", {}, "Table of this chart"));
	areas.element.setAttribute("role", "img");
	areas.element.setAttribute("aria-labelledby", "ledger-summary");
	root.append(
		h(
			"div",
			{ class: "bar" },
			h("h2", {}, "Where the time went"),
			path,
			h("span", { class: "grow" }),
			level.element,
			busy.element,
			kernel,
		),
		who,
		areas.element,
		legendBox,
		summary,
		dataBox,
		rowsBox,
	);
	dataBox.addEventListener("toggle", () => dataBox.open && chartTable());
	let expanded = false;

	function levelOf(selection: Selection): Level {
		const { subject } = selection;
		const levels: Level[] =
			subject.kind === "host"
				? ["group", "process", "thread"]
				: subject.kind === "group"
					? ["process", "thread"]
					: ["thread"];
		for (const name of ["group", "process"] as const) level.hide(name, !levels.includes(name));
		const wanted = selection.options.rows as Level;
		return levels.includes(wanted) ? wanted : levels[0];
	}

	/** Sums by bucket and family, of the selected subject. */
	function overTime(selection: Selection): { ns: Float64Array; edges: Float64Array } {
		const { rows, ns } = session.overTime(selection.subject, showsKernel(selection));
		const key = `families ${selection.subject.kind} ${selection.subject.index} ${isBusyOnly(selection)} ${showsKernel(selection)} ${selection.states.join()} ${rows === session.threads}`;
		const isShown = session.shownStates(selection);
		const sums = session.memo(key, () => {
			const folded = new Float64Array(rows.buckets * FAMILIES.length);
			for (let b = 0; b < rows.buckets; b++)
				for (let s = 0; s < session.states; s++)
					if (isShown[s])
						folded[b * FAMILIES.length + session.families[s]] += ns[b * session.states + s];
			return folded;
		});
		return { ns: sums, edges: rows.edges };
	}

	function drawChart(selection: Selection): void {
		const { subject } = selection;
		areas.show({
			...overTime(selection),
			window: selection.window,
			marks: session.head.marks,
			limit:
				subject.kind === "host" && isBusyOnly(selection)
					? { value: session.head.session.cpus, label: `${session.head.session.cpus} CPUs` }
					: null,
		});
		const byState = session.byState(selection);
		fill(legendBox, legend(session, store, byState, isBusyOnly(selection)));
		let busySum = 0;
		let all = 0;
		for (let s = 0; s < byState.length; s++) {
			all += byState[s];
			if (!session.isIdle[s]) busySum += byState[s];
		}
		const windowNs = session.coveredNs(selection, overTime(selection).edges);
		const marks = markLegend(session.head.marks);
		const step = longDuration(stepOf(overTime(selection).edges));
		summary.textContent =
			`Height: threads on average, in steps of ${step}. ${selection.window ? `Window ${moment(selection.window[0], 1e8)} – ${moment(selection.window[1], 1e8)}, ` : `Whole ${session.whole}, `}` +
			`${longDuration(windowNs)}: ${duration(all)} of thread time, ${duration(busySum)} busy. ${stepNote(selection, overTime(selection).edges, "They")}${marks ? ` Marks: ${marks}.` : ""} Drag to select a window.`;
	}

	function chartTable(): void {
		const { ns, edges } = overTime(store.current);
		const buckets = edges.length - 1;
		const used = FAMILIES.map((_, f) => f).filter((f) => {
			for (let b = 0; b < buckets; b++) if (ns[b * FAMILIES.length + f] > 0) return true;
			return false;
		});
		const columns: Column[] = [
			{
				title: "from",
				isNumber: true,
				value: (b) => b,
				text: (b) => moment(edges[b], 1e8),
				select: (b) => () => store.change({ window: [edges[b], edges[b + 1]] }),
			},
			...used.map((f): Column => ({
				title: FAMILIES[f].label,
				isNumber: true,
				value: (b) => ns[b * FAMILIES.length + f],
				text: (b) => duration(ns[b * FAMILIES.length + f]),
			})),
		];
		const table = new Table({
			caption: "Thread time by state, over time",
			columns,
			rows: buckets,
			maxHeight: 300,
		});
		dataBox.replaceChildren(dataBox.firstElementChild as Element, table.element);
	}

	function drawRows(selection: Selection): void {
		const rowLevel = levelOf(selection);
		level.show(rowLevel);
		busy.show(isBusyOnly(selection) ? "busy" : "all");
		kernel.setAttribute("aria-pressed", String(showsKernel(selection)));
		kernel.hidden = selection.subject.kind !== "host";
		const sums = session.byLevel(rowLevel, selection);
		const { states } = session;
		const rows = session.count(rowLevel);
		const shown = new Float64Array(rows);
		const onCpu = new Float64Array(rows);
		const isShown = session.shownStates(selection);
		for (let row = 0; row < rows; row++)
			for (let s = 0; s < states; s++) {
				if (isShown[s]) shown[row] += sums[row * states + s];
				if (session.isCpu[s]) onCpu[row] += sums[row * states + s];
			}
		const subjectAt = (row: number): Subject => ({ kind: rowLevel, index: row });
		const threads = (row: number) =>
			rowLevel === "thread"
				? 1
				: rowLevel === "group"
					? session.group.threads[row]
					: threadsOfProcess(row);
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
			for (const state of session.head.states)
				if (!isBusyOnly(selection) || !session.isIdle[state.id])
					byName.set(
						shortName(state),
						(byName.get(shortName(state)) ?? 0) + sums[row * states + state.id],
					);
			const parts = [...byName]
				.filter(([, ns]) => ns > 0.03 * total)
				.sort((a, b) => b[1] - a[1])
				.slice(0, 3);
			return parts.map(([name, ns]) => `${roundPercent(ns / total)} ${name}`).join(" · ");
		};
		const columns: Column[] = [
			{
				title: rowLevel === "group" ? groupBy : rowLevel,
				isNumber: false,
				className: "name",
				value: (row) => session.name(subjectAt(row)),
				text: (row) => session.name(subjectAt(row)),
				select: (row) => () => store.change({ subject: subjectAt(row) }),
			},
			{
				title: "threads",
				isNumber: true,
				className: "wide-only",
				value: threads,
				text: (row) => count(threads(row)),
			},
			{
				title: "CPU",
				isNumber: true,
				tip: "Time on a CPU, of all its threads in the window",
				value: (row) => onCpu[row],
				text: (row) => duration(onCpu[row]),
			},
			{
				title: selection.states.length ? "selected states" : isBusyOnly(selection) ? "busy" : "time",
				isNumber: true,
				className: "time",
				tip: selection.states.length
					? "Time of all its threads in the selected states"
					: isBusyOnly(selection)
						? "Time of all its threads in the window, without waits for work"
						: "Time of all its threads in the window",
				value: (row) => shown[row],
				text: (row) => duration(shown[row]),
			},
			{
				title: "states",
				isNumber: false,
				className: "picture",
				value: (row) => what(row),
				text: what,
				draw: (row) => {
					const canvas = h("canvas", { "aria-hidden": "true" });
					const total = familiesOfRow(row);
					drawBar(canvas, innerWidth < 600 ? 80 : 190, 14, families, total);
					return canvas;
				},
			},
			{
				title: "share of its own time",
				isNumber: false,
				className: "what",
				value: what,
				text: what,
				hint: (row) =>
					`of ${duration(familiesOfRow(row))}, the ${isBusyOnly(selection) ? "busy " : ""}time of its threads`,
			},
			{
				title: "over time",
				isNumber: false,
				className: "picture wide-only",
				value: (row) => shown[row],
				text: () => "",
				draw: (row) => {
					const canvas = h("canvas", { "aria-hidden": "true" });
					const { values, edges } = spark(rowLevel, row, selection);
					drawSpark(canvas, 140, 16, values, ...session.bucketsOf(selection, edges));
					return canvas;
				},
			},
		];
		const table = new Table({
			caption: "Where the time went, by " + (rowLevel === "group" ? groupBy : rowLevel),
			columns,
			rows,
			sort: selection.states.length ? 3 : 2,
			search: selection.search,
			alsoSearched: (row) => identity(subjectAt(row)),
			maxHeight: expanded ? 560 : ROWS_SHOWN * 28 + 30,
			include: (row) =>
				shown[row] > 0 &&
				(selection.subject.kind !== "host"
					? session.contains(selection.subject, subjectAt(row))
					: showsKernel(selection) || !session.isKernel(subjectAt(row))),
			emptyText: "No time in this selection.",
			quietFoot: true,
		});
		const rowEdges = (rowLevel === "group" ? session.groups : (session.threads ?? session.groups)).edges;
		const steps = stepNote(selection, rowEdges, "Rows");
		fill(
			rowsBox,
			table.element,
			steps ? h("p", { class: "note" }, steps) : null,
			limitNote(session.head, "ledger", "threads", "subjects"),
		);
		if (table.shown > ROWS_SHOWN && !expanded)
			rowsBox.append(
				h(
					"button",
					{
						type: "button",
						class: "link more",
						onclick: () => {
							expanded = true;
							drawRows(store.current);
						},
					},
					`Show more of ${count(table.shown)} rows`,
				),
			);
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
	function spark(
		rowLevel: Level,
		row: number,
		selection: Selection,
	): { values: Float64Array; edges: Float64Array } {
		const rows = rowLevel === "group" ? session.groups : (session.threads ?? session.groups);
		const values = new Float64Array(rows.buckets);
		const sums = new Float64Array(rows.buckets * session.states);
		for (const key of rowLevel === "process" ? threadsIn(row) : [row])
			rows.addKey(key, 0, rows.buckets, sums);
		for (let b = 0; b < rows.buckets; b++)
			for (let s = 0; s < session.states; s++)
				if (!isBusyOnly(selection) || !session.isIdle[s]) values[b] += sums[b * session.states + s];
		return { values, edges: rows.edges };
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

	/** What the process of a subject is: program, container, pod, cgroup, user; empty for services and the host. */
	function identity(subject: Subject): string {
		const process = session.path(subject).find(({ kind }) => kind === "process");
		if (!process) return "";
		const texts = (["exe", "container", "pod", "cgroup", "user"] as const).map((key) => {
			const text = session.text(session.process[key][process.index]);
			return text && (key === "exe" ? text : `${key} ${text}`);
		});
		return texts.filter(Boolean).join(" · ");
	}

	function drawPath(selection: Selection): void {
		const steps = session.path(selection.subject);
		fill(
			path,
			...steps.flatMap((step, i) => {
				const isLast = i === steps.length - 1;
				const name = session.name(step);
				const item = isLast
					? h("b", { "aria-current": "true" }, name)
					: h(
							"button",
							{ type: "button", class: "link", onclick: () => store.change({ subject: step }) },
							name,
						);
				return i ? [h("span", { class: "soft", "aria-hidden": "true" }, " › "), item] : [item];
			}),
		);
		who.textContent = identity(selection.subject);
		who.hidden = !who.textContent;
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
			areas.redraw();
			draw(store.current);
		},
	};
}
