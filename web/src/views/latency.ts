// SPDX-License-Identifier: Apache-2.0
//
// Latency: the series of the signals with their percentiles in the selected window; a histogram and a heat map of one
// series, or of all series of a measure together.
import { HeatMap, Histogram, type Distribution } from "../charts/distribution";
import { percentile, slotError } from "../data/percentiles";
import type { Session, Signals } from "../data/session";
import { orderByKey } from "../data/columns";
import { count, inUnit, percent, rate } from "../format";
import type { Selection } from "../selection";
import { fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { limitNote, stepNote } from "./empty";
import { tableList } from "./tables";
import type { Page, Renderer, View } from "./view";

const HEAT_ROWS = 48;
const HEAT_COLUMNS = 400;

interface Figures {
	count: Float64Array;
	sum: Float64Array;
	max: Float64Array;
	p50: Float64Array;
	p95: Float64Array;
	p99: Float64Array;
}

/** Count, sum, maximum and percentiles of each series in the window. */
function figuresOf(session: Session, signals: Signals, selection: Selection): Figures {
	const size = signals.count;
	const nothing = () => new Float64Array(size).fill(Number.NaN);
	const figures: Figures = {
		count: new Float64Array(size),
		sum: new Float64Array(size),
		max: new Float64Array(size),
		p50: nothing(),
		p95: nothing(),
		p99: nothing(),
	};
	for (const values of signals.values) {
		const { series, bucket, count: counts, sum, max } = values.rows;
		const [from, to] = session.bucketsOf(selection, values.edges);
		for (let i = 0; i < values.count; i++) {
			if (bucket[i] < from || bucket[i] >= to) continue;
			figures.count[series[i]] += counts[i];
			figures.sum[series[i]] += sum[i];
			figures.max[series[i]] = Math.max(figures.max[series[i]], max[i]);
		}
	}
	const scratch = new Float64Array(signals.slots.length);
	signals.histograms.forEach((histograms, part) => {
		const { series, bucket, slot, count: counts } = histograms.rows;
		const [from, to] = session.bucketsOf(selection, histograms.edges);
		const order = session.memo(`histogram order ${part}`, () => orderByKey(series, size));
		for (let s = 0; s < size; s++) {
			if (order.offsets[s] === order.offsets[s + 1] || !figures.count[s]) continue;
			scratch.fill(0);
			for (let k = order.offsets[s]; k < order.offsets[s + 1]; k++) {
				const i = order.rows[k];
				if (bucket[i] >= from && bucket[i] < to) scratch[slot[i]] += counts[i];
			}
			figures.p50[s] = percentile(scratch, signals.slots, 0.5, figures.max[s]);
			figures.p95[s] = percentile(scratch, signals.slots, 0.95, figures.max[s]);
			figures.p99[s] = percentile(scratch, signals.slots, 0.99, figures.max[s]);
		}
	});
	return figures;
}

/** The distribution of some series together, coarse enough to be seen. */
function distribution(
	session: Session,
	signals: Signals,
	wanted: Uint8Array,
	selection: Selection,
	max: number,
	unit: string,
): Distribution | null {
	const { slots } = signals;
	const histograms = signals.histograms.find(({ rows, count: size }) => {
		for (let i = 0; i < size; i++) if (wanted[rows.series[i]]) return true;
		return false;
	});
	if (!histograms) return null;
	const { series, bucket, slot, count: counts } = histograms.rows;
	const [first, end] = session.bucketsOf(selection, histograms.edges);
	const buckets = histograms.edges.length - 1;
	let low = slots.length;
	let high = -1;
	for (let i = 0; i < histograms.count; i++) {
		if (!wanted[series[i]] || counts[i] <= 0) continue;
		low = Math.min(low, slot[i]);
		high = Math.max(high, slot[i]);
	}
	if (high < low) return null;
	const perRow = Math.ceil((high - low + 1) / HEAT_ROWS);
	const rows = Math.ceil((high - low + 1) / perRow);
	const perColumn = Math.ceil(buckets / HEAT_COLUMNS);
	const columns = Math.ceil(buckets / perColumn);
	const coarse = new Float64Array(rows + 1);
	for (let r = 0; r <= rows; r++) coarse[r] = slots[Math.min(slots.length - 1, low + r * perRow)];
	const edges = Float64Array.from(
		{ length: columns + 1 },
		(_, c) => histograms.edges[Math.min(buckets, c * perColumn)],
	);
	const inWindow = new Float64Array(slots.length);
	const heat = new Float64Array(columns * (rows + 1));
	const sums = new Float64Array(rows + 1);
	for (let i = 0; i < histograms.count; i++) {
		if (!wanted[series[i]]) continue;
		const row = Math.floor((slot[i] - low) / perRow);
		heat[Math.floor(bucket[i] / perColumn) * (rows + 1) + row] += counts[i];
		if (bucket[i] < first || bucket[i] >= end) continue;
		inWindow[slot[i]] += counts[i];
		sums[row] += counts[i];
	}
	const marks = [0.5, 0.95, 0.99]
		.map((share) => ({ share, value: percentile(inWindow, slots, share, max) }))
		.filter(({ value }) => Number.isFinite(value));
	return {
		counts: sums,
		heat,
		slots: coarse,
		edges,
		unit,
		window: selection.window,
		range: [0, rows - 1],
		marks: marks.map(({ share, value }) => ({ value, label: `p${share * 100} ${inUnit(value, unit)}` })),
	};
}

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store } = page;
	const [signals, all] = await Promise.all([session.loadSignals(), session.loadTables()]);
	const tables = all.filter((table) => table.tab === "latency");
	if (tables.some((table) => table.columns.some((column) => column.unit === "node")))
		await session.loadStacks();
	if (!signals?.count && !tables.length) return null;
	const pick = h("select", { "aria-label": "Measure" });
	const title = h("h3", {});
	const note = h("p", { class: "note", id: "latency-summary" });
	const histogram = new Histogram(220);
	const heat = new HeatMap(260);
	for (const chart of [histogram, heat]) {
		chart.canvas.setAttribute("role", "img");
		chart.canvas.setAttribute("aria-labelledby", "latency-summary");
	}
	const charts = h(
		"div",
		{ class: "pair" },
		h("figure", {}, h("figcaption", {}, "Values, in the window"), histogram.canvas),
		h(
			"figure",
			{},
			h("figcaption", {}, "Time × value: the stronger the colour, the more values"),
			heat.canvas,
		),
	);
	const noHistogram = h(
		"p",
		{ class: "note", hidden: true },
		"This measure has no histogram: its sums and maxima are in the table.",
	);
	const seriesBox = h("div", {});
	const tablesBox = h("div", { class: "latency-tables" });
	const opened = new Set<string>();
	if (signals?.count)
		root.append(
			h("div", { class: "bar" }, h("label", {}, "Measure ", pick)),
			title,
			note,
			charts,
			noHistogram,
			seriesBox,
		);
	root.append(tablesBox);

	const measures = signals?.count ? measuresOf(session, signals) : [];
	for (const measure of measures) pick.append(h("option", { value: measure.id }, measure.label));
	pick.addEventListener("change", () => store.change({ options: { measure: pick.value, series: null } }));

	function draw(selection: Selection): void {
		fill(
			tablesBox,
			...tableList(session, store, tables, selection, opened),
			limitNote(session.head, "signals"),
		);
		if (!signals?.count) return;
		const measure = measures.find((entry) => entry.id === selection.options.measure) ?? measures[0];
		pick.value = measure.id;
		const figures = session.memo(`figures ${selection.window?.join()}`, () =>
			figuresOf(session, signals, selection),
		);
		const inMeasure = (s: number) =>
			signals.series.signal[s] === measure.signal && signals.series.kind[s] === measure.kind;
		const isHost = selection.subject.kind === "host";
		/** The line of all series together: shown as such, and never added to the series. */
		const isTotal = (s: number) => signals.series.all[s] === 1;
		const inSubject = (s: number) =>
			selection.subject.kind === "host" ||
			(signals.series.process[s] >= 0 &&
				session.contains(selection.subject, { kind: "process", index: signals.series.process[s] })) ||
			isAbove(session, selection, signals.series.process[s]);
		const chosen = /^\d+$/.test(selection.options.series ?? "") ? Number(selection.options.series) : -1;
		const one = chosen >= 0 && chosen < signals.count && inMeasure(chosen) ? chosen : -1;
		const wanted = new Uint8Array(signals.count);
		let max = 0;
		let values = 0;
		for (let s = 0; s < signals.count; s++) {
			wanted[s] = (
				one >= 0 ? s === one : inMeasure(s) && (isHost ? isTotal(s) : inSubject(s) && !isTotal(s))
			)
				? 1
				: 0;
			if (!wanted[s]) continue;
			max = Math.max(max, figures.max[s]);
			values += figures.count[s];
		}
		const unit = session.text(signals.series.unit[one >= 0 ? one : measure.first]) || "count";
		title.textContent =
			one >= 0
				? `${measure.label}: ${seriesName(session, signals, one)}`
				: `${measure.label}: all series${selection.subject.kind === "host" ? "" : ` of ${session.name(selection.subject)}`}`;
		const data = values > 0 ? distribution(session, signals, wanted, selection, max, unit) : null;
		charts.hidden = !data;
		noHistogram.hidden = Boolean(data);
		noHistogram.textContent =
			values > 0
				? "This measure has no histogram: its sums and maxima are in the table."
				: "No values of this measure in the selection.";
		// All series together have shorter steps than one by one.
		const { edges } = signals.values[isHost && one < 0 ? 0 : signals.values.length - 1];
		note.textContent =
			values > 0
				? `${count(values)} values, ${rate(values / (session.coveredNs(selection, edges) / 1e9))}; maximum ${inUnit(max, unit)}${data ? `; ${data.marks.map((mark) => mark.label).join(", ")}` : ""}. Percentiles are within ${percent(slotError(signals.slots))}; the maximum is exact. ${stepNote(selection, edges, "They")}`
				: "";
		if (data) {
			histogram.show(data);
			heat.show(data);
		}
		drawSeries(
			selection,
			figures,
			(s) => inMeasure(s) && inSubject(s) && figures.count[s] > 0 && !isTotal(s),
			one,
		);
	}

	function drawSeries(
		selection: Selection,
		figures: Figures,
		include: (s: number) => boolean,
		one: number,
	): void {
		const unit = (s: number) => session.text(signals!.series.unit[s]) || "count";
		const name = (s: number) => seriesName(session, signals!, s);
		const process = (s: number) =>
			signals!.series.process[s] >= 0
				? session.name({ kind: "process", index: signals!.series.process[s] })
				: "";
		const figure = (heading: string, values: Float64Array, tip?: string): Column => ({
			title: heading,
			tip,
			isNumber: true,
			value: (s) => values[s],
			text: (s) => (Number.isNaN(values[s]) ? "–" : inUnit(values[s], unit(s))),
		});
		const seconds = session.coveredNs(selection, signals!.values[signals!.values.length - 1].edges) / 1e9;
		const columns: Column[] = [
			{
				title: "series",
				isNumber: false,
				className: "name",
				value: name,
				text: name,
				select: (s) => () => store.change({ options: { series: s === one ? null : String(s) } }),
			},
			{
				title: "process",
				isNumber: false,
				value: process,
				text: process,
				select: (s) =>
					signals!.series.process[s] >= 0
						? () =>
								store.change({
									subject: { kind: "process", index: signals!.series.process[s] },
								})
						: null,
			},
			{
				title: "count",
				isNumber: true,
				value: (s) => figures.count[s],
				text: (s) => count(figures.count[s]),
			},
			{
				title: "rate",
				isNumber: true,
				value: (s) => figures.count[s] / seconds,
				text: (s) => rate(figures.count[s] / seconds),
			},
			figure("total", figures.sum),
			figure("p50", figures.p50),
			figure("p95", figures.p95),
			figure("p99", figures.p99),
			figure("max", figures.max, "Exact"),
		];
		const table = new Table({
			caption: "Series of this measure",
			columns,
			rows: signals!.count,
			sort: 4,
			search: selection.search,
			maxHeight: 420,
			include,
			isChosen: (s) => s === one,
			quietFoot: true,
			emptyText: "No series in this selection.",
		});
		fill(
			seriesBox,
			h(
				"p",
				{ class: "note" },
				one >= 0
					? "Click the marked series again to see all of them."
					: "Click a series to see it alone.",
			),
			table.element,
		);
	}

	return { update: draw, redraw: () => draw(store.current) };
}

function isAbove(session: Session, selection: Selection, process: number): boolean {
	return process >= 0 && session.contains({ kind: "process", index: process }, selection.subject);
}

function seriesName(session: Session, signals: Signals, series: number): string {
	return (
		session.text(signals.series.name[series]) ||
		(signals.series.process[series] >= 0
			? session.name({ kind: "process", index: signals.series.process[series] })
			: "all")
	);
}

interface Measure {
	id: string;
	label: string;
	signal: number;
	kind: number;
	first: number;
	sum: number;
	isTime: boolean;
}

/** The measures of the signals; times first, then by their sum. */
function measuresOf(session: Session, signals: Signals): Measure[] {
	const measures = new Map<string, Measure>();
	for (let s = 0; s < signals.count; s++) {
		const label = `${session.text(signals.series.signal[s])} · ${session.text(signals.series.kind[s])}`;
		if (!measures.has(label))
			measures.set(label, {
				id: label,
				label,
				signal: signals.series.signal[s],
				kind: signals.series.kind[s],
				first: s,
				sum: 0,
				isTime: session.text(signals.series.unit[s]) === "ns",
			});
	}
	for (const values of signals.values) {
		const { series, sum } = values.rows;
		for (let i = 0; i < values.count; i++) {
			const measure = measures.get(
				`${session.text(signals.series.signal[series[i]])} · ${session.text(signals.series.kind[series[i]])}`,
			);
			if (measure) measure.sum += sum[i];
		}
	}
	return [...measures.values()].sort((a, b) => Number(b.isTime) - Number(a.isTime) || b.sum - a.sum);
}

export const latencyView: View = {
	id: "latency",
	title: "Latency",
	open,
};
