// SPDX-License-Identifier: Apache-2.0
//
// What changed from A to B, as `dwell diff` found it: its sentences, what makes the comparison unfair, which line changed
// first, and all lines that were tested. A click on a name selects it in B: everything below follows.
import { onsets, ownerOf, type Comparison, type Line, type Run, type Verdict } from "../data/comparison";
import { change, count, duration, inUnit, moment, percent, roundPercent, unbroken } from "../format";
import type { Change, Selection, Subject } from "../selection";
import { Choice, fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { sentence } from "./tables";
import type { Page } from "./view";

const VERDICTS: readonly [Verdict, string, string][] = [
	["changed", "✱", "More than noise, and more than runs of the same program are allowed to differ"],
	["inconclusive", "?", "Neither changed nor unchanged can be concluded"],
	["unchanged", "=", "The 95 % interval is within the allowed difference"],
];
const WORK: Record<string, string> = { s: "second of wall time", "CPU s": "second of CPU time" };
const ONSETS_SHOWN = 6;
const TENTH_NS = 1e8;

export interface Section {
	element: HTMLElement;
	update(selection: Selection): void;
}

function runText({ name, begin_ns: begin, seconds }: Run): string {
	const length = duration(seconds * 1e9);
	return `${name} (${begin > 0 ? `${length} from ${moment(begin, TENTH_NS)} on` : length})`;
}

function sideText(runs: Run[], side: string): string {
	const own = runs.filter((run) => run.side === side);
	const more = own.length > 1 ? ` and ${count(own.length - 1)} more run${own.length > 2 ? "s" : ""}` : "";
	return `${own[0] ? runText(own[0]) : ""}${more}`;
}

/** What the rest of the page is of: one session of each side. */
function scopeText(runs: Run[]): string {
	const first = (side: string) => runs.find((run) => run.side === side)?.name ?? side;
	const which = runs.length > 2 ? "the first run of " : "";
	return `Everything below this section is of ${which}B, ${first("B")}. Its flame graphs are against ${which}A, ${first("A")}, for each second of wall time.`;
}

function methodText({ method, runs }: Comparison): string {
	const limit = (share: number) => (share < 0.01 ? percent(share) : roundPercent(share));
	const beyond = method.whole_runs ? "" : ` by more than ${limit(method.floor)}`;
	const runsText = method.whole_runs
		? "Runs were exchanged between the sides."
		: runs.length > 2
			? ""
			: "One run a side: how runs differ by themselves was not measured.";
	return `Changed${beyond}; unchanged: within ${limit(method.bound)}; MDE: the change that is found in 4 of 5 cases. ${runsText}`;
}

/** The one group of B that has the line's names; null if there are none, or several. */
function groupOf({ session }: Page, line: Line): Subject | null {
	const isOfAll = line.table === "service";
	const found = Array.from({ length: session.count("group") }, (_, index) => index).filter(
		(index) =>
			session.text(session.group.service[index]) === (line.service ?? "") &&
			(isOfAll || session.text(session.group.comm[index]) === (line.process ?? "")),
	);
	return found.length === 1 ? { kind: "group", index: found[0] } : null;
}

/** What a click on a line's name selects: a state, a service, or a function in the flame graph of its kind. */
function selectionOf(page: Page, line: Line): Change | null {
	const state = page.session.head.states.find((entry) => entry.name === line.name);
	const states = state && line.table !== "thread" ? [state.id] : [];
	switch (line.table) {
		case "ledger":
			return { states };
		case "service":
		case "process":
		case "thread": {
			const subject = groupOf(page, line);
			return subject && { subject, states };
		}
		case "function":
		case "stack": {
			// Of a stack, whose functions have " < " between them, the innermost one.
			const search = line.name?.split(" < ")[0];
			return search ? { search, tab: "", options: { flame: line.kind, zoom: null } } : null;
		}
		default:
			return null;
	}
}

function lineColumns(page: Page, lines: Line[]): Column[] {
	const text = (title: string, of: (line: Line) => string, more: Partial<Column> = {}): Column => ({
		title,
		isNumber: false,
		value: (row) => of(lines[row]),
		text: (row) => of(lines[row]),
		...more,
	});
	const number = (
		title: string,
		of: (line: Line) => number | null,
		show: (value: number, line: Line) => string,
		more: Partial<Column> = {},
	): Column => ({
		title,
		isNumber: true,
		value: (row) => of(lines[row]),
		text: (row) => {
			const value = of(lines[row]);
			return value === null ? "–" : show(value, lines[row]);
		},
		...more,
	});
	const inLine = (value: number, line: Line) => inUnit(value, line.unit);
	return [
		text("verdict", ({ verdict }) => `${VERDICTS.find(([id]) => id === verdict)?.[1] ?? ""}\u00a0${verdict}`, {
			hint: (row) => reasonText(lines[row]),
		}),
		text("table", (line) => line.table),
		text("name", (line) => line.name ?? "(no name)", {
			className: "name",
			select: (row) => {
				const chosen = selectionOf(page, lines[row]);
				return chosen && (() => page.store.change(chosen));
			},
		}),
		text("of", ownerOf),
		text("measure", (line) => line.measure),
		number("A", (line) => line.a, inLine),
		number("B", (line) => line.b, inLine),
		number("effect", (line) => line.effect, (value, line) => (value > 0 ? "+" : "") + inLine(value, line)),
		{
			title: "change",
			isNumber: true,
			value: (row) => lines[row].relative ?? Number.POSITIVE_INFINITY,
			text: (row) => change(lines[row].relative),
			hint: (row) => intervalText(lines[row]),
		},
		{
			title: "MDE",
			isNumber: true,
			tip: "Minimum detectable effect: found in 4 of 5 cases",
			value: (row) => lines[row].relative_mde,
			text: (row) => detectableText(lines[row]),
		},
	];
}

function reasonText({ verdict, reason }: Line): string {
	return reason === "test" ? `${verdict}, by its test and interval` : `${verdict}: ${reason}`;
}

function intervalText({ relative_low: low, relative_high: high }: Line): string {
	return low === null || high === null ? "" : `95 % interval ${change(low)} to ${change(high)}`;
}

function detectableText(line: Line): string {
	if (line.mde === null) return "none";
	if (line.relative_mde === null) return inUnit(line.mde, line.unit);
	return line.relative_mde >= 9.995 ? "> 999 %" : percent(line.relative_mde);
}

function onsetList(comparison: Comparison): HTMLElement | null {
	const found = onsets(comparison);
	if (!found.length) return null;
	const entries = found.slice(0, ONSETS_SHOWN).map(({ seconds, lines }) => {
		const more = lines.length > 1 ? `, and ${count(lines.length - 1)} more in the same window` : "";
		return h("li", {}, h("b", {}, moment(seconds * 1e9, TENTH_NS)), ` ${lines[0].label}${more}`);
	});
	const left = found.length - entries.length;
	return h(
		"section",
		{ class: "onsets" },
		h("h3", {}, "Order of onset"),
		h("p", { class: "note" }, "The first window in which a line has its new value, since the session's start."),
		h("ol", {}, ...entries),
		left > 0 ? h("p", { class: "note" }, `${count(left)} later windows are not listed.`) : null,
	);
}

function threadTable({ lines }: Comparison): HTMLElement | null {
	const threads = lines.filter((line) => line.wait && line.cpu);
	if (!threads.length) return null;
	const ns = (title: string, of: (line: Line) => number): Column => ({
		title,
		isNumber: true,
		value: (row) => of(threads[row]),
		text: (row) => duration(of(threads[row])),
	});
	const text = (title: string, of: (line: Line) => string): Column => ({
		title,
		isNumber: false,
		value: (row) => of(threads[row]),
		text: (row) => of(threads[row]),
	});
	const table = new Table({
		caption: "Threads by change of waits less change of CPU time",
		columns: [
			text("thread", (line) => line.name ?? "(no name)"),
			text("of", ownerOf),
			ns("waits A", (line) => line.wait?.[0] ?? 0),
			ns("waits B", (line) => line.wait?.[1] ?? 0),
			ns("CPU A", (line) => line.cpu?.[0] ?? 0),
			ns("CPU B", (line) => line.cpu?.[1] ?? 0),
			ns("Δ waits − Δ CPU", (line) => line.effect),
			text("verdict", (line) => line.verdict),
		],
		rows: threads.length,
		sort: 6,
		maxHeight: 300,
	});
	return h(
		"details",
		{ class: "table-more" },
		h(
			"summary",
			{},
			h("b", {}, "Threads"),
			h("span", { class: "soft" }, " Change of waits less change of CPU time, the largest first."),
		),
		table.element,
	);
}

/** The section above all others, and a function that follows the filter and the search. */
export function comparisonSection(comparison: Comparison, page: Page): Section {
	const { runs, summary, warnings, lines } = comparison;
	const filter = new Choice(
		"Lines",
		[
			...VERDICTS.map(
				([id, , about]) => [id, `${id} ${count(summary[id])}`, about] as [string, string, string],
			),
			["all", `all ${count(lines.length)}`, "Every line that was tested"],
		],
		(value) => page.store.change({ options: { lines: value } }),
	);
	// Where nothing changed, the largest lines are of interest.
	const usual = summary.changed ? "changed" : "all";
	const box = h("div", {});
	const columns = lineColumns(page, lines);
	const element = h(
		"section",
		{ class: "comparison", "aria-labelledby": "comparison" },
		h("h2", { id: "comparison" }, "What changed"),
		h(
			"p",
			{ class: "note" },
			`A: ${sideText(runs, "A")}. B: ${sideText(runs, "B")}. Per ${WORK[comparison.per] ?? comparison.per}.`,
		),
		h("div", { class: "verdict" }, ...comparison.verdict.map((sentence) => h("p", {}, unbroken(sentence)))),
		warnings.length
			? h(
					"ul",
					{ class: "warnings" },
					...warnings.map(({ is_refusal: isRefusal, text }) =>
						h("li", {}, unbroken(sentence((isRefusal ? "not fair, compared with --force: " : "") + text))),
					),
				)
			: null,
		onsetList(comparison),
		h("h3", {}, "Lines"),
		h("div", { class: "bar" }, filter.element),
		h("p", { class: "note" }, methodText(comparison)),
		box,
		threadTable(comparison),
		h("p", { class: "note" }, scopeText(runs)),
	);
	let shown = "";
	return {
		element,
		update(selection) {
			const chosen = selection.options.lines ?? usual;
			const key = `${chosen} ${selection.search}`;
			if (key === shown) return;
			shown = key;
			filter.show(chosen);
			const table = new Table({
				caption: "Lines that were compared",
				columns,
				rows: lines.length,
				include: (row) => chosen === "all" || lines[row].verdict === chosen,
				search: selection.search,
				maxHeight: 420,
				quietFoot: !selection.search,
				emptyText: selection.search ? "No line of these has this name." : `No line is ${chosen}.`,
			});
			fill(box, table.element);
		},
	};
}
