// SPDX-License-Identifier: Apache-2.0
//
// Tables of the report, as dwell wrote them: one renderer for all.
// Rows whose subjects lie outside the selected one are left out; times are of the whole session, which is stated.
import { cellsOf } from "../data/cells";
import type { TableColumn, TableData } from "../data/head";
import type { Session } from "../data/session";
import { bucketsIn } from "../data/time_grid";
import { count, inUnit, moment } from "../format";
import type { Selection, SelectionStore, Subject } from "../selection";
import { fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { limitNote } from "./empty";
import type { Page, Renderer, View } from "./view";

const NUMBERS = new Set(["ns", "bytes", "count", "percent", "rate", "share", "time"]);
/** Half of a window that a click on a moment selects. */
const AROUND_NS = 2e9;

function columnOf(session: Session, table: TableData, column: TableColumn, store: SelectionStore): Column {
	const values = cellsOf(session, table, column.key);
	if (column.subject) {
		const kind = column.subject;
		const subject = (row: number): Subject | null => {
			const index = values[row];
			return typeof index === "number" && index >= 0 ? { kind, index } : null;
		};
		const text = (row: number) => {
			const found = subject(row);
			return found ? session.name(found) : typeof values[row] === "string" ? String(values[row]) : "–";
		};
		return {
			title: column.title,
			isNumber: false,
			className: "name",
			value: text,
			text,
			select: (row) => {
				const found = subject(row);
				return found && (() => store.change({ subject: found }));
			},
		};
	}
	if (column.unit === "state") {
		const text = (row: number) =>
			session.head.states.find((state) => state.id === values[row])?.name ?? "";
		return { title: column.title, isNumber: false, value: text, text };
	}
	if (column.unit === "time") return timeColumn(session, store, column.title, values);
	if (column.unit === "node") return nodeColumn(session, column.title, values);
	const isNumber = NUMBERS.has(column.unit);
	const text = (row: number): string => {
		const value = values[row];
		if (value === null || value === undefined) return isNumber ? "–" : "";
		if (typeof value === "string") return value;
		return inUnit(value, column.unit);
	};
	return { title: column.title, isNumber, value: (row) => values[row] ?? null, text };
}

/** A moment: a click selects the seconds around it. */
function timeColumn(
	session: Session,
	store: SelectionStore,
	title: string,
	values: (number | string | null)[],
): Column {
	const at = (row: number) => (typeof values[row] === "number" ? (values[row] as number) : null);
	const { edges } = session.groups;
	return {
		title,
		isNumber: true,
		value: at,
		text: (row) => (at(row) === null ? "–" : moment(at(row) as number, 1e6)),
		select: (row) => {
			const ns = at(row);
			if (ns === null) return null;
			const [from, to] = bucketsIn(edges, [Math.max(0, ns - AROUND_NS), ns + AROUND_NS]);
			return () => store.change({ window: [edges[from], edges[to]] });
		},
	};
}

/** A stack: its innermost functions; all of them in the tooltip. */
function nodeColumn(session: Session, title: string, values: (number | string | null)[]): Column {
	let names: ((node: number) => string[]) | null = null;
	void session.loadStacks().then((stacks) => {
		if (!stacks) return;
		names = (node) => {
			const path: string[] = [];
			for (let at = node; at >= 0 && path.length < 64; at = stacks.parent[at])
				path.push(session.text(stacks.functionName[stacks.functionOf[at]]) || "(unknown)");
			return path;
		};
	});
	const text = (row: number) => {
		const node = values[row];
		return typeof node === "number" && node >= 0 && names ? names(node).join(" ← ") : "";
	};
	return { title, isNumber: false, className: "code", value: text, text };
}

/** Shows one table in the selection. */
export function showTable(
	session: Session,
	store: SelectionStore,
	data: TableData,
	selection: Selection,
	maxHeight = 420,
): { element: HTMLElement; table: Table } {
	const subjects = data.columns.filter((column) => column.subject);
	const kinds = subjects.map((column) => ({
		kind: column.subject as Subject["kind"],
		values: cellsOf(session, data, column.key),
	}));
	const rows = data.columns.length ? cellsOf(session, data, data.columns[0].key).length : 0;
	const isFiltered = selection.subject.kind !== "host" && kinds.length > 0;
	const include = isFiltered
		? (row: number) =>
				kinds.some(({ kind, values }) => {
					const index = values[row];
					return (
						typeof index === "number" &&
						index >= 0 &&
						(session.contains(selection.subject, { kind, index }) ||
							session.contains({ kind, index }, selection.subject))
					);
				})
		: undefined;
	const table = new Table({
		caption: data.title,
		columns: data.columns.map((column) => columnOf(session, data, column, store)),
		rows,
		include,
		search: selection.search,
		maxHeight,
	});
	const about = [
		sentence(data.about ?? ""),
		data.left_out ? `${count(data.left_out)} more rows did not fit.` : "",
	]
		.filter(Boolean)
		.join(" ");
	const element = h(
		"section",
		{ class: "table-section" },
		h("h3", {}, data.title),
		about ? h("p", { class: "note" }, about) : null,
		table.element,
	);
	return { element, table };
}

/** A text that begins and ends as a sentence does. */
export function sentence(text: string): string {
	const begun = text.charAt(0).toUpperCase() + text.slice(1);
	return !text || /[.!?:]$/.test(text) ? begun : `${begun}.`;
}

/** Tables do not follow the window, which is said where one is selected. */
export function wholeNote(session: Session, selection: Selection): HTMLElement | null {
	return selection.window
		? h("p", { class: "note" }, `Tables are of the whole ${session.whole}, not of the window.`)
		: null;
}

const OPENED = 4;

/** Tables one below the other. The first ones are open; the others are made when they are opened. */
export function tableList(
	session: Session,
	store: SelectionStore,
	tables: TableData[],
	selection: Selection,
	opened: Set<string>,
): HTMLElement[] {
	const note = tables.length ? wholeNote(session, selection) : null;
	const list = tables.map((data, i) => {
		if (i < OPENED || tables.length <= OPENED + 1)
			return showTable(session, store, data, selection).element;
		const box = h(
			"details",
			{ class: "table-more" },
			h(
				"summary",
				{},
				h("b", {}, data.title),
				h("span", { class: "soft" }, ` ${sentence(data.about ?? "")}`),
			),
		);
		const fillBox = () =>
			box.childElementCount < 2 && box.append(showTable(session, store, data, selection).table.element);
		box.addEventListener("toggle", () => {
			opened[box.open ? "add" : "delete"](data.id);
			if (box.open) fillBox();
		});
		if (opened.has(data.id)) box.open = true;
		return box;
	});
	return note ? [note, ...list] : list;
}

/** A view of all tables of a tab. */
export function tablesView(id: string, title: string): View {
	return {
		id,
		title,
		async open(root: HTMLElement, page: Page): Promise<Renderer | null> {
			const { session, store } = page;
			const tables = (await session.loadTables()).filter((table) => table.tab === id);
			if (tables.some((table) => table.columns.some((column) => column.unit === "node")))
				await session.loadStacks();
			if (!tables.length) return null;
			const opened = new Set<string>();
			const draw = (selection: Selection) =>
				fill(
					root,
					...tableList(session, store, tables, selection, opened),
					limitNote(session.head, "tables"),
				);
			return { update: draw, redraw: () => draw(store.current) };
		},
	};
}
