// SPDX-License-Identifier: Apache-2.0
//
// Raw tables: every table of the report by its name, and the ledger of the selection by state.
import type { TableData } from "../data/head";
import type { Session } from "../data/session";
import type { Selection } from "../selection";
import { fill, h } from "../ui/dom";
import { showTable, wholeNote } from "./tables";
import type { Page, Renderer, View } from "./view";

/** The ledger of the selection as a table, exact to the nanosecond. */
function ledgerTable(session: Session, selection: Selection): TableData {
	const sums = session.byState(selection);
	const states = session.head.states
		.filter((state) => sums[state.id] !== 0)
		.sort((a, b) => sums[b.id] - sums[a.id]);
	const all = states.reduce((sum, state) => sum + sums[state.id], 0);
	return {
		id: "ledger",
		tab: "raw",
		title: `Ledger of ${session.name(selection.subject)}`,
		about: "Thread time by state, in the selected window.",
		columns: [
			{ key: "state", title: "state", unit: "text", subject: null },
			{ key: "ns", title: "time", unit: "ns", subject: null },
			{ key: "exact", title: "nanoseconds", unit: "count", subject: null },
			{ key: "share", title: "share", unit: "share", subject: null },
			{ key: "meaning", title: "meaning", unit: "text", subject: null },
		],
		rows: {
			state: states.map((state) => state.name),
			ns: states.map((state) => sums[state.id]),
			exact: states.map((state) => sums[state.id]),
			share: states.map((state) => (all > 0 ? sums[state.id] / all : 0)),
			meaning: states.map((state) => state.meaning),
		},
	};
}

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store } = page;
	const tables = await session.loadTables();
	if (tables.some((table) => table.columns.some((column) => column.unit === "node")))
		await session.loadStacks();
	const pick = h(
		"select",
		{ "aria-label": "Table" },
		h("option", { value: "ledger" }, "Ledger by state"),
		...tables.map((table) => h("option", { value: table.id }, `${table.title} (${table.tab})`)),
	);
	pick.addEventListener("change", () =>
		store.change({ options: { table: pick.value === "ledger" ? null : pick.value } }),
	);
	const box = h("div", {});
	root.append(h("div", { class: "bar" }, h("label", {}, "Table ", pick)), box);
	const draw = (selection: Selection) => {
		const chosen = tables.find((table) => table.id === selection.options.table);
		pick.value = chosen?.id ?? "ledger";
		const data = chosen ?? ledgerTable(session, selection);
		fill(box, chosen ? wholeNote(session, selection) : null, showTable(session, store, data, selection, 600).element);
	};
	return {
		update(selection) {
			if (session.needsThreads(selection.subject) && !session.threads)
				void session.loadThreads().then(() => draw(store.current));
			else draw(selection);
		},
		redraw: () => draw(store.current),
	};
}

export const rawView: View = { id: "raw", title: "Raw tables", open };
