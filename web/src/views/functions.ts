// SPDX-License-Identifier: Apache-2.0
//
// The functions of a flame graph as a table: what each took itself, and with what it called.
import { byFunction } from "../data/call_tree";
import type { Stacks } from "../data/session";
import { duration, percent } from "../format";
import type { Selection } from "../selection";
import { Table, type Column } from "../ui/table";
import type { Page } from "./view";

/** Times by node, of which `sum` is all; a click on a name searches it. */
export function functionTable(
	{ session, store }: Page,
	stacks: Stacks,
	self: Float64Array,
	total: Float64Array,
	sum: number,
	selection: Selection,
): HTMLElement {
	const functions = byFunction(session, stacks, self, total);
	const name = (f: number) => session.text(stacks.functionName[f]) || "(unknown)";
	const module = (f: number) => session.text(stacks.functionModule[f]);
	const time = (title: string, values: Float64Array): Column[] => [
		{ title, isNumber: true, value: (f) => values[f], text: (f) => duration(values[f]) },
		{
			title: `${title} %`,
			isNumber: true,
			tip: `of ${duration(sum)}`,
			value: (f) => values[f],
			text: (f) => percent(values[f] / sum),
		},
	];
	const columns: Column[] = [
		{
			title: "function",
			isNumber: false,
			className: "name code",
			value: name,
			text: name,
			select: (f) => () => store.change({ search: name(f) }),
		},
		...time("self", functions.self),
		...time("with callees", functions.total),
		{ title: "module", isNumber: false, className: "code", value: module, text: module },
	];
	return new Table({
		caption: "Functions in the selection",
		columns,
		rows: stacks.functionName.length,
		sort: 1,
		search: selection.search,
		maxHeight: 310,
		include: (f) => functions.total[f] > 0,
		quietFoot: true,
		emptyText: "No function in this selection.",
	}).element;
}
