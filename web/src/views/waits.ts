// SPDX-License-Identifier: Apache-2.0
//
// Waits and chains: chains as boxes, the report's own tables, and who ended the waits of the selection (in the selected
// window).
import { readChains } from "../data/chains";
import { isBusyOnly, showsKernel, type Rows, type Session } from "../data/session";
import { count, duration } from "../format";
import type { Selection } from "../selection";
import { fill, h } from "../ui/dom";
import { Table, type Column } from "../ui/table";
import { chainsPicture } from "./chains";
import { limitNote, stepNote } from "./empty";
import { tableList } from "./tables";
import type { Page, Renderer, View } from "./view";

interface Ends {
	waiter: number[];
	state: number[];
	waker: number[];
	context: number[];
	ns: number[];
	count: number[];
}

/** Who ended which waits, summed over the window. */
function sumWakes(session: Session, wakes: Rows, selection: Selection): Ends {
	const { thread, bucket, state, waker, context, ns, count: times } = wakes.rows;
	const [from, to] = session.bucketsOf(selection, wakes.edges);
	const mask = session.threadMask(selection.subject);
	const wanted = session.shownStates(selection);
	const threads = session.count("thread") + 1;
	const places = new Map<number, number>();
	const ends: Ends = { waiter: [], state: [], waker: [], context: [], ns: [], count: [] };
	for (let i = 0; i < wakes.count; i++) {
		if (
			bucket[i] < from ||
			bucket[i] >= to ||
			(mask && !(mask[thread[i]] || (waker[i] >= 0 && mask[waker[i]])))
		)
			continue;
		if (!wanted[state[i]]) continue;
		if (!mask && session.isKernel({ kind: "thread", index: thread[i] }) && !showsKernel(selection))
			continue;
		const by = context && waker[i] < 0 ? context[i] : 0;
		const key = ((thread[i] * session.states + state[i]) * threads + waker[i] + 1) * 4096 + (by % 4096);
		let at = places.get(key);
		if (at === undefined) {
			at = ends.ns.length;
			places.set(key, at);
			ends.waiter.push(thread[i]);
			ends.state.push(state[i]);
			ends.waker.push(waker[i]);
			ends.context.push(by);
			ends.ns.push(0);
			ends.count.push(0);
		}
		ends.ns[at] += ns[i];
		ends.count[at] += times[i];
	}
	return ends;
}

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store } = page;
	const [wakes, all] = await Promise.all([session.loadWakes(), session.loadTables()]);
	const tables = all.filter((table) => table.tab === "waits");
	const chains = readChains(session, all);
	if (tables.some((table) => table.columns.some((column) => column.unit === "node")))
		await session.loadStacks();
	if (!wakes?.count && !tables.length) return null;

	const opened = new Set<string>();

	function wakeTable(selection: Selection): HTMLElement | null {
		if (!wakes?.count) return null;
		const { subject } = selection;
		const key = `wakes ${selection.window?.join()} ${subject.kind} ${subject.index} ${selection.states.join()} ${showsKernel(selection)} ${isBusyOnly(selection)}`;
		const ends = session.memo(key, () => sumWakes(session, wakes, selection));
		const names = (thread: number) => session.name({ kind: "thread", index: thread });
		const waker = (row: number) =>
			ends.waker[row] >= 0
				? names(ends.waker[row])
				: (session.head.contexts[ends.context[row]] ?? "(not known)");
		const state = (row: number) =>
			session.head.states.find((entry) => entry.id === ends.state[row])?.name ?? "";
		const columns: Column[] = [
			{
				title: "waiter",
				isNumber: false,
				className: "name",
				value: (row) => names(ends.waiter[row]),
				text: (row) => names(ends.waiter[row]),
				select: (row) => () => store.change({ subject: { kind: "thread", index: ends.waiter[row] } }),
			},
			{ title: "waited in", isNumber: false, value: state, text: state },
			{
				title: "ended by",
				isNumber: false,
				className: "name",
				value: waker,
				text: waker,
				select: (row) =>
					ends.waker[row] >= 0
						? () => store.change({ subject: { kind: "thread", index: ends.waker[row] } })
						: null,
			},
			{
				title: "waited",
				isNumber: true,
				value: (row) => ends.ns[row],
				text: (row) => duration(ends.ns[row]),
			},
			{
				title: "waits",
				isNumber: true,
				value: (row) => ends.count[row],
				text: (row) => count(ends.count[row]),
			},
			{
				title: "mean",
				isNumber: true,
				value: (row) => ends.ns[row] / Math.max(1, ends.count[row]),
				text: (row) => (ends.count[row] > 0 ? duration(ends.ns[row] / ends.count[row]) : "–"),
			},
		];
		const table = new Table({
			caption: "Who ended the waits",
			columns,
			rows: ends.ns.length,
			sort: 3,
			search: selection.search,
			maxHeight: 420,
			emptyText: "No wait in this selection that another thread or an interrupt ended.",
		});
		const where =
			subject.kind === "host" ? "" : " Waits of the selected subject, and those that it ended.";
		return h(
			"section",
			{ class: "table-section" },
			h("h3", {}, "Who ended the waits"),
			h(
				"p",
				{ class: "note" },
				`Time by waiting thread, state, and the thread or interrupt that ended the waits, in the selected window${isBusyOnly(selection) && !selection.states.length ? "; without waits for work" : ""}.${where} ${stepNote(selection, wakes.edges, "They")}`,
			),
			table.element,
		);
	}

	const draw = (selection: Selection) =>
		fill(
			root,
			chainsPicture(session, store, chains, selection),
			...tableList(session, store, tables, selection, opened),
			wakeTable(selection),
			limitNote(session.head, "wakes"),
		);
	return { update: draw, redraw: () => draw(store.current) };
}

export const waitsView: View = {
	id: "waits",
	title: "Waits & chains",
	open,
};
