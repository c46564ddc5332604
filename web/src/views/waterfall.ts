// SPDX-License-Identifier: Apache-2.0
//
// The waterfall of a request: a row for it, and one for each call that it made, directly or through others. The bar of a
// row is the request at its server, in its place on the axis of time; the line above the bar is the call as its caller saw it.
import { drawSpan, drawTimeAxis, type SpanPicture, type TimeAxis } from "../charts/spans";
import type { Requests, Span, Waterfall } from "../data/requests";
import type { Session } from "../data/session";
import { count, duration, moment, percent } from "../format";
import type { SelectionStore, Subject } from "../selection";
import { h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { blamedBy, byLook, partsInOrder, partsLegend, partsTip, sum } from "./parts";

const ROW_HEIGHT = 34;
const AXIS_HEIGHT = 22;
const INDENT = 18;
/** Deeper rows are not indented any further. */
const INDENTS = 8;
const CONFIRMED = "confirmed";
/** The application says so itself. */
const PUBLISHED = "published";

/** Only one of the two witnesses supports it. */
const isInDoubt = (grade: string) => grade !== CONFIRMED && grade !== PUBLISHED;

interface Row {
	span: Span;
	server: string;
	name: string;
	protocol: string;
	/** "status 200", "OK", "reset"; empty: not known. */
	status: string;
	/** Why the call is believed to be of its caller; empty for the request itself. */
	link: string;
	grade: string;
	begin: number;
	/** Of the call where there is one, as its caller saw it; else of the request. */
	length: number;
}

function statusOf(requests: Requests, status: string, outcome: number): string {
	const { name } = requests.outcomes[outcome] ?? { name: "" };
	if (name && name !== "answered" && name !== "unknown") return name.replace("_", " ");
	return /^\d+$/.test(status) ? `status ${status}` : status;
}

function rowOf(session: Session, requests: Requests, span: Span): Row {
	const { call, request } = requests;
	const endpoint = span.request >= 0 ? request.endpoint[span.request] : -1;
	const of = (column: string) => session.text(requests.endpoint[column][endpoint]);
	if (span.call < 0)
		return {
			span,
			server: requests.server(session, endpoint),
			name: of("name"),
			protocol: of("protocol"),
			status: statusOf(requests, session.text(request.status[span.request]), request.outcome[span.request]),
			link: "",
			grade: "",
			begin: request.begin_ns[span.request],
			length: requests.latency(span.request),
		};
	const grade = requests.grades[call.grade[span.call]] ?? { name: "unknown", meaning: "" };
	return {
		span,
		server: endpoint >= 0 ? requests.server(session, endpoint) : session.text(call.peer[span.call]),
		name: session.text(call.name[span.call]) || (endpoint >= 0 ? of("name") : "(not recognised)"),
		protocol: session.text(call.protocol[span.call]),
		status: statusOf(requests, session.text(call.status[span.call]), call.outcome[span.call]),
		link: isInDoubt(grade.name) ? `link inferred: ${grade.name}` : `link ${grade.name}`,
		grade: grade.name,
		begin: call.begin_ns[span.call],
		length: call.window_ns[span.call],
	};
}

function pictureOf(requests: Requests, { span, grade }: Row): SpanPicture {
	const { call, request } = requests;
	const at = span.call;
	return {
		call:
			at < 0
				? null
				: {
						begin: call.begin_ns[at],
						first: call.begin_ns[at] + call.wait_ns[at],
						end: call.begin_ns[at] + call.window_ns[at],
						isInferred: isInDoubt(grade),
					},
		request:
			span.request < 0
				? null
				: {
						begin: request.begin_ns[span.request],
						byLook: byLook(requests, requests.partsOf(span.request)),
					},
	};
}

/** What the tooltip of a row says below its parts. */
function noteOf(requests: Requests, { span, link, grade, length }: Row): string {
	const notes = [];
	if (span.call >= 0) {
		const atServer = span.request >= 0 ? `; its request was at the server for ${duration(requests.latency(span.request))}` : "";
		notes.push(`The call took ${duration(length)}${atServer}.`);
		const meaning = requests.grades.find(({ name }) => name === grade)?.meaning;
		notes.push(`${link}${meaning ? `: ${meaning}` : ""}.`);
	}
	if (span.request < 0) notes.push("The server's side of it is not in this page: another host, or it was not kept.");
	else notes.push("Parts are sums, in the order of the legend, not in that of time.");
	return notes.join("\n");
}

/** Who worked on it, which a click selects. */
function threadOf(session: Session, requests: Requests, store: SelectionStore, request: number): HTMLElement {
	const { thread, process, pid, tid } = requests.request;
	const subject: Subject | null =
		thread[request] >= 0
			? { kind: "thread", index: thread[request] }
			: process[request] >= 0
				? { kind: "process", index: process[request] }
				: null;
	const text = subject ? `${subject.kind} ${session.name(subject)}` : `pid ${pid[request]}, tid ${tid[request]}`;
	if (!subject) return h("span", {}, text);
	return h(
		"button",
		{ type: "button", class: "link", title: "Select it: everything on this page follows", onclick: () => store.change({ subject }) },
		text,
	);
}

export class WaterfallView {
	readonly element = h("div", { class: "waterfall" });
	private readonly rows: Row[];
	private readonly waterfall: Waterfall;
	private readonly axis: HTMLCanvasElement;
	private readonly canvases: HTMLCanvasElement[] = [];
	private readonly legend = h("div", {});

	constructor(
		private readonly session: Session,
		private readonly requests: Requests,
		private readonly store: SelectionStore,
		private readonly request: number,
	) {
		this.waterfall = requests.waterfall(request);
		this.rows = this.waterfall.spans.map((span) => rowOf(session, requests, span));
		this.axis = h("canvas", { "aria-hidden": "true" });
		const { begin_ns: begin, queue_ns: queue, window_ns: window, model } = requests.request;
		const about = requests.models[model[request]];
		this.element.append(
			h(
				"p",
				{ class: "waterfall-about" },
				`At ${moment(begin[request], 1e6)}: `,
				`${duration(queue[request])} in the queue, then ${duration(window[request])} until its answer was sent, by `,
				threadOf(session, requests, store, request),
				about ? h("span", { class: "soft", title: about.meaning }, ` (${modelText(about.name)})`) : null,
			),
			this.legend,
			h(
				"div",
				{ class: "span-row span-axis" },
				h("span", {}, "request and the calls below it"),
				h("div", { class: "span-canvas" }, this.axis),
				h("span", { class: "span-time" }, "takes"),
			),
			h("ol", { class: "spans" }, ...this.rows.map((row) => this.rowElement(row))),
			this.notes(),
			this.dataTable(),
		);
	}

	private rowElement(row: Row): HTMLElement {
		const { requests } = this;
		const canvas = h("canvas", { "aria-hidden": "true" });
		this.canvases.push(canvas);
		const byPart = row.span.request >= 0 ? requests.partsOf(row.span.request) : new Float64Array(0);
		partsTip(canvas, requests, `${row.server} ${row.name}`, byPart, noteOf(requests, row));
		const about = [row.protocol, row.status, row.link].filter(Boolean).join(" · ");
		const name = h(
			"div",
			{ class: "span-name" },
			h("p", { title: `${row.server} ${row.name}` }, h("b", {}, row.server), ` ${row.name}`),
			h("p", { class: row.grade && isInDoubt(row.grade) ? "soft inferred" : "soft", title: about }, about),
		);
		name.style.paddingLeft = `${Math.min(row.span.depth, INDENTS) * INDENT}px`;
		const after = row.begin - this.rows[0].begin;
		const time = h(
			"div",
			{ class: "span-time" },
			h("p", {}, duration(row.length)),
			row.span.depth ? h("p", { class: "soft", title: "It began so long after the request at the top" }, `at ${after < 0 ? "" : "+"}${duration(after)}`) : null,
		);
		return h("li", { class: "span-row" }, name, h("div", { class: "span-canvas" }, canvas), time, this.blame(row), this.wait(row));
	}

	/** Who held it up, or which file it waited for. */
	private blame({ span }: Row): HTMLElement | null {
		const { blamed_part: part, blamed, blamed_name: name, blamed_ns: ns } = this.requests.request;
		const at = span.request;
		if (at < 0 || !(part?.[at] >= 0)) return null;
		const { name: what } = this.requests.parts[part[at]];
		return h(
			"p",
			{ class: "span-blame" },
			`${what}: at least ${duration(ns[at])} ${what === "disk" ? "for" : "held up by"} `,
			blamedBy(this.store, blamed[at], this.session.text(name[at])),
		);
	}

	/** Where in the code its thread waited longest, as far as stacks were taken. */
	private wait({ span }: Row): HTMLElement | null {
		const { wait_part: part, wait_name: name, wait_ns: ns } = this.requests.request;
		const at = span.request;
		if (at < 0 || !(part?.[at] >= 0)) return null;
		const text = `${this.requests.parts[part[at]].name}: one wait of ${duration(ns[at])} in ${this.session.text(name[at])}`;
		return h("p", { class: "span-blame span-wait", title: text }, text);
	}

	private notes(): HTMLElement {
		const { rows, waterfall } = this;
		const calls = rows.filter(({ span }) => span.call >= 0);
		const texts = ["A bar shows where a request begins and ends. Its parts are sums, in the order of the legend, not in that of time."];
		if (calls.length)
			texts.push("The line above a bar is the call as its caller saw it: thick until the first byte of the answer.");
		else texts.push("No call of it was linked.");
		if (calls.some(({ grade }) => isInDoubt(grade)))
			texts.push("A broken line is a link that only one of two witnesses supports: the call may be of another request.");
		if (calls.some(({ span }) => span.request < 0))
			texts.push("Without a bar, the server's side is not in this page: another host, or it was not kept.");
		if (waterfall.left) texts.push(`${count(waterfall.left)} more calls are not drawn.`);
		return h("p", { class: "note" }, texts.join(" "));
	}

	/** The page's width, or its colours, changed. */
	draw(): void {
		const { requests } = this;
		const box = this.axis.parentElement as HTMLElement;
		const [begin, end] = requests.extent(this.waterfall.spans);
		const axis: TimeAxis = { begin, end, width: Math.max(60, box.clientWidth) };
		drawTimeAxis(this.axis, axis, AXIS_HEIGHT);
		this.rows.forEach((row, i) => drawSpan(this.canvases[i], axis, ROW_HEIGHT, pictureOf(requests, row)));
		const all = new Float64Array(requests.parts.length);
		for (const { span } of this.rows)
			if (span.request >= 0) requests.partsOf(span.request).forEach((ns, part) => (all[part] += ns));
		this.legend.replaceChildren(partsLegend(requests, all));
	}

	/** All of the picture as a table, a row for each part of each request, made when it is opened. */
	private dataTable(): HTMLElement {
		const { requests } = this;
		const rows = this.rows.flatMap((row) => {
			const byPart = row.span.request >= 0 ? requests.partsOf(row.span.request) : new Float64Array(0);
			const whole = sum(byPart);
			const parts = partsInOrder(requests, byPart);
			return (parts.length ? parts : [-1]).map((part) => ({
				...row,
				part: part < 0 ? "" : requests.parts[part].name,
				ns: part < 0 ? null : byPart[part],
				share: part < 0 ? null : byPart[part] / whole,
			}));
		});
		const text = (title: string, value: (row: number) => string): Column => ({ title, isNumber: false, value, text: value });
		const time = (title: string, value: (row: number) => number | null): Column => ({
			title,
			isNumber: true,
			value,
			text: (row) => (value(row) === null ? "–" : duration(value(row) as number)),
		});
		const columns: Column[] = [
			text("server", (row) => `${"· ".repeat(Math.min(rows[row].span.depth, INDENTS))}${rows[row].server}`),
			text("request", (row) => rows[row].name),
			text("protocol", (row) => rows[row].protocol),
			text("status", (row) => rows[row].status),
			text("link", (row) => rows[row].link),
			time("begins after", (row) => rows[row].begin - this.rows[0].begin),
			time("takes", (row) => rows[row].length),
			text("part", (row) => rows[row].part),
			time("time", (row) => rows[row].ns),
			{
				title: "share",
				isNumber: true,
				value: (row) => rows[row].share,
				text: (row) => (rows[row].share === null ? "–" : percent(rows[row].share as number)),
			},
		];
		const box = h("details", { class: "data" }, h("summary", {}, "Table of this chart"));
		box.addEventListener("toggle", () => {
			if (box.open && box.childElementCount < 2)
				box.append(new Table({ caption: `Request ${this.request} and its calls`, columns, rows: rows.length, maxHeight: 320 }).element);
		});
		return box;
	}
}

function modelText(name: string): string {
	const names: Record<string, string> = { thread: "thread per request", loop: "event loop", pool: "thread pool" };
	return names[name] ?? `model ${name}`;
}
