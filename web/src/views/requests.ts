// SPDX-License-Identifier: Apache-2.0
//
// Requests: budgets of endpoints as bars, the slowest requests with their waterfalls, and the report's own tables.
import type { Selection } from "../selection";
import { fill, h } from "../ui/dom";
import { Budgets } from "./budgets";
import { limitNote } from "./empty";
import { Slowest } from "./slowest";
import { tableList } from "./tables";
import type { Page, Renderer, View } from "./view";

/** What of a selection the tables and bars follow; which request is open is not in it. */
function keyOf({ subject, window, search, options }: Selection): string {
	return JSON.stringify([subject, window, search, options.scale]);
}

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store } = page;
	const [requests, all] = await Promise.all([session.loadRequests(), session.loadTables()]);
	const tables = all.filter((table) => table.tab === "requests");
	if (!tables.length) return null;

	const opened = new Set<string>();
	const tableBox = h("div", { class: "request-tables" });
	const budgets = requests && new Budgets(session, requests, store);
	const slowest = requests && new Slowest(session, requests, store);
	fill(root, budgets?.element, slowest?.element, tableBox, limitNote(session.head, "requests", "tables"));
	let shown = "";
	const draw = (selection: Selection) => {
		budgets?.show(selection);
		slowest?.draw();
	};
	const update = (selection: Selection) => {
		const isNew = slowest?.show(selection);
		if (keyOf(selection) !== shown) {
			shown = keyOf(selection);
			fill(tableBox, ...tableList(session, store, tables, selection, opened));
			budgets?.show(selection);
		}
		if (isNew) slowest?.draw();
	};
	return { update, redraw: () => draw(store.current) };
}

export const requestsView: View = {
	id: "requests",
	title: "Requests",
	open,
};
