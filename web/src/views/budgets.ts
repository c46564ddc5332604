// SPDX-License-Identifier: Apache-2.0
//
// Budgets of endpoints as bars: what an average typical request spends its time on, and below it an average slow one.
import { drawBudget } from "../charts/spans";
import type { Requests } from "../data/requests";
import type { Session } from "../data/session";
import { count, duration, percent, three } from "../format";
import type { Selection, SelectionStore, Subject } from "../selection";
import { Choice, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { blamedBy, byLook, partsInOrder, partsLegend, partsTip, sum } from "./parts";

const SHOWN = 8;
const BAR_HEIGHT = 16;
const CALLED = 2;
/** Calls that take less of a request are left out. */
const WORTH = 0.01;
const KINDS = ["typical", "slow"];

/** Endpoints of the selection that have a budget. */
function chosen(session: Session, requests: Requests, { subject, search }: Selection): number[] {
	const needle = search.toLowerCase();
	const isOf = (endpoint: number) =>
		requests
			.processesOf(endpoint)
			.some(
				(index) =>
					session.contains(subject, { kind: "process", index }) ||
					session.contains({ kind: "process", index }, subject),
			);
	return requests
		.withBudget()
		.filter(
			(endpoint) =>
				(subject.kind === "host" || isOf(endpoint)) &&
				(!needle || requests.textOf(session, endpoint).includes(needle)),
		);
}

/** Who serves it: the process, or the group where there are several. */
function serverOf(session: Session, requests: Requests, endpoint: number): Subject | undefined {
	const processes = requests.processesOf(endpoint);
	if (processes.length === 1) return { kind: "process", index: processes[0] };
	const group = processes.length ? session.process.group[processes[0]] : -1;
	return group >= 0 ? { kind: "group", index: group } : undefined;
}

/** Fewer are no average. */
const LEAST = 3;

/** "slow ones spend 189 ms more in signalled, at least 150 ms of it held up by exporter (4711)" */
function growth(session: Session, requests: Requests, store: SelectionStore, endpoint: number): HTMLElement | null {
	const { grown, grown_ns: ns, slow_kept: slow, typical_kept: typical } = requests.endpoint;
	const { blamed, blamed_name: blamedName, blamed_ns: blamedNs } = requests.endpoint;
	if (grown[endpoint] < 0 || slow[endpoint] < LEAST || typical[endpoint] < LEAST) return null;
	const { name, meaning } = requests.parts[grown[endpoint]];
	const why =
		blamedNs?.[endpoint] > 0
			? [
					`; at least ${duration(blamedNs[endpoint])} ${name === "disk" ? "for" : "held up by"} `,
					blamedBy(store, blamed[endpoint], session.text(blamedName[endpoint])),
				]
			: [];
	return h(
		"p",
		{ class: "budget-growth" },
		"slow ones spend ",
		h("b", {}, duration(ns[endpoint])),
		" more in ",
		h("b", { title: meaning }, name),
		...why,
	);
}

/** What an average request called: the time in which one of these calls was under way. At least: only linked calls are known. */
function calls(session: Session, requests: Requests, endpoint: number): HTMLElement[] {
	const { peer, name, typical_ns: typical, slow_ns: slow, calls_milli: milli } = requests.called;
	const [usual, late] = [false, true].map((isSlow) => WORTH * sum(requests.budgetOf(endpoint, isSlow)));
	const hasSlow = requests.endpoint.slow_kept[endpoint] > 0;
	return requests
		.calledBy(endpoint)
		.filter((row) => typical[row] > usual || slow[row] > late)
		.slice(0, CALLED)
		.map((row) =>
			h(
				"p",
				{ class: "budget-call soft", title: `At least ${three(milli[row] / 1000)} linked calls per request on average` },
				`linked calls to ${session.text(peer[row])} ${session.text(name[row])}: `,
				`at least ${duration(typical[row])} of a typical request`,
				hasSlow ? `, ${duration(slow[row])} of a slow one` : "",
			),
		);
}

interface Bar {
	canvas: HTMLCanvasElement;
	byPart: Float64Array;
	whole: number;
}

function bar(requests: Requests, label: string, { canvas, byPart }: Bar): HTMLElement {
	partsTip(canvas, requests, label, byPart);
	return h(
		"div",
		{ class: "budget-bar" },
		h("span", { class: "budget-kind" }, label),
		h("div", { class: "budget-canvas" }, canvas),
		h("span", { class: "budget-time" }, duration(sum(byPart))),
	);
}

export class Budgets {
	readonly element = h("section", { class: "table-section budgets" });
	private isWhole = false;
	private bars: Bar[] = [];

	constructor(
		private readonly session: Session,
		private readonly requests: Requests,
		private readonly store: SelectionStore,
	) {}

	show(selection: Selection): void {
		const { session, requests, store } = this;
		const endpoints = chosen(session, requests, selection);
		this.element.hidden = !endpoints.length;
		const shown = this.isWhole ? endpoints : endpoints.slice(0, SHOWN);
		const isSame = selection.options.scale === "same";
		const scale = new Choice(
			"Scale of the bars",
			[
				["own", "scale: each endpoint's own", "The longer bar of each endpoint has the full width"],
				["same", "the same for all", "Bars of different endpoints can be compared"],
			],
			(value) => store.change({ options: { scale: value === "same" ? "same" : null } }),
		);
		scale.show(isSame ? "same" : "own");
		const all = new Float64Array(requests.parts.length);
		let most = 0;
		for (const endpoint of shown)
			for (const isSlow of [false, true]) {
				const byPart = requests.budgetOf(endpoint, isSlow);
				byPart.forEach((ns, part) => (all[part] += ns));
				most = Math.max(most, sum(byPart));
			}
		const left = endpoints.length - shown.length;
		this.bars = [];
		this.element.replaceChildren(
			h("div", { class: "bar" }, h("h3", {}, "Budgets: a typical request beside a slow one"), h("span", { class: "grow" }), scale.element),
			h(
				"p",
				{ class: "note" },
				"What an average request spent its time on, by endpoint: typical is the middle half by latency, slow is the 95th percentile and above. Of requests that were kept whole; the parts sum to the latency.",
				selection.window ? ` Budgets are of the whole ${session.whole}, not of the window.` : "",
			),
			partsLegend(requests, all),
			...shown.map((endpoint) => this.row(endpoint, isSame ? most : 0)),
			left > 0
				? h("button", { type: "button", class: "link", onclick: () => this.showAll(selection) }, `Show ${count(left)} more endpoint${left > 1 ? "s" : ""}`)
				: "",
			this.dataTable(endpoints, selection),
		);
		this.draw();
	}

	private showAll(selection: Selection): void {
		this.isWhole = true;
		this.show(selection);
	}

	/** Once the page has room for them: the width is only known then. */
	private draw(): void {
		const widths = this.bars.map(({ canvas }) => (canvas.parentElement as HTMLElement).clientWidth);
		this.bars.forEach(({ canvas, byPart, whole }, i) =>
			drawBudget(canvas, widths[i], BAR_HEIGHT, byLook(this.requests, byPart), whole),
		);
	}

	private row(endpoint: number, whole: number): HTMLElement {
		const { session, requests, store } = this;
		const { name, requests: counts, typical_kept: typical, slow_kept: slow } = requests.endpoint;
		const text = session.text(name[endpoint]);
		const server = requests.server(session, endpoint);
		const [usual, late] = [false, true].map((isSlow) => requests.budgetOf(endpoint, isSlow));
		const scale = whole || Math.max(sum(usual), sum(late));
		const hasSlow = slow[endpoint] > 0;
		const bars = (hasSlow ? [usual, late] : [usual]).map((byPart) => ({ canvas: h("canvas", { "aria-hidden": "true" }), byPart, whole: scale }));
		this.bars.push(...bars);
		const select = () => store.change({ subject: serverOf(session, requests, endpoint), search: text });
		return h(
			"div",
			{ class: "budget" },
			h(
				"div",
				{ class: "budget-name" },
				h("button", { type: "button", class: "link", title: "Select this endpoint", onclick: select }, text),
				h(
					"p",
					{
						class: "soft",
						title: `Averages of ${count(typical[endpoint])} typical and ${count(slow[endpoint])} slow ones that were kept`,
					},
					`${server} · ${count(counts[endpoint])} requests`,
				),
				growth(session, requests, store, endpoint),
			),
			h(
				"div",
				{ class: "budget-bars" },
				...bars.map((one, i) => bar(requests, KINDS[i], one)),
				hasSlow ? null : h("p", { class: "budget-call soft" }, "no slow one was kept"),
				...calls(session, requests, endpoint),
			),
		);
	}

	/** The same as a table, made when it is opened. */
	private dataTable(endpoints: number[], selection: Selection): HTMLElement {
		const { session, requests } = this;
		const rows = endpoints.flatMap((endpoint) => {
			const [typical, slow] = [false, true].map((isSlow) => requests.budgetOf(endpoint, isSlow));
			const either = typical.map((ns, part) => ns + slow[part]);
			const hasSlow = requests.endpoint.slow_kept[endpoint] > 0;
			return partsInOrder(requests, either).map((part) => ({
				endpoint: session.text(requests.endpoint.name[endpoint]),
				server: requests.server(session, endpoint),
				part: requests.parts[part].name,
				typical: typical[part],
				slow: hasSlow ? slow[part] : null,
				change: hasSlow ? slow[part] - typical[part] : null,
				share: hasSlow ? slow[part] / Math.max(1, sum(slow)) : null,
			}));
		});
		const text = (title: string, key: "endpoint" | "server" | "part"): Column => ({
			title,
			isNumber: false,
			value: (row) => rows[row][key],
			text: (row) => rows[row][key],
		});
		const time = (title: string, value: (row: number) => number | null): Column => ({
			title,
			isNumber: true,
			value,
			text: (row) => (value(row) === null ? "–" : duration(value(row) as number)),
		});
		const columns: Column[] = [
			text("endpoint", "endpoint"),
			text("server", "server"),
			text("part", "part"),
			time("typical request", (row) => rows[row].typical),
			time("slow request", (row) => rows[row].slow),
			time("change", (row) => rows[row].change),
			{
				title: "of the slow one",
				isNumber: true,
				value: (row) => rows[row].share,
				text: (row) => (rows[row].share === null ? "–" : percent(rows[row].share as number)),
			},
		];
		const box = h("details", { class: "data" }, h("summary", {}, "Table of this chart"));
		box.addEventListener("toggle", () => {
			if (box.open && box.childElementCount < 2)
				box.append(
					new Table({
						caption: "Budgets of endpoints, drawn above",
						columns,
						rows: rows.length,
						search: selection.search,
						alsoSearched: (row) => `${rows[row].server} ${rows[row].endpoint}`,
						maxHeight: 320,
					}).element,
				);
		});
		return box;
	}
}
