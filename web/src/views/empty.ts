// SPDX-License-Identifier: Apache-2.0
//
// No chart without data: an empty view says why it is empty and which command fills it.
import type { Head } from "../data/head";
import { bucketsIn, stepOf } from "../data/time_grid";
import { count, longDuration, moment } from "../format";
import type { Selection } from "../selection";
import { command, h } from "../ui/dom";

export function emptyView(head: Head, tab: string): HTMLElement {
	const reasons = head.empty.filter((entry) => entry.tab === tab);
	const box = h("div", { class: "empty" });
	for (const { why, command: line } of reasons) {
		box.append(h("p", {}, why));
		if (line) box.append(h("p", {}, "To record it: ", command(line)));
	}
	if (!reasons.length) box.append(h("p", {}, "No data in what is shown."));
	return box;
}

/** Says so where data has longer steps than the selected window: figures are then of more than the window. */
export function stepNote(selection: Selection, edges: Float64Array, what: string): string {
	if (!selection.window) return "";
	const [from, to] = bucketsIn(edges, selection.window);
	const more = edges[to] - edges[from] - (selection.window[1] - selection.window[0]);
	if (more < (selection.window[1] - selection.window[0]) * 0.02) return "";
	const step = longDuration(stepOf(edges));
	return `${what} have steps of ${step}: what is shown is of ${moment(edges[from], 1e8)} – ${moment(edges[to], 1e8)}.`;
}

/** What a part left out, or in which steps its time is: limits are stated where they matter. */
export function limitNote(head: Head, ...parts: string[]): HTMLElement | null {
	const texts = head.limits
		.filter((limit) => parts.includes(limit.part.split(".")[0]) && limit.left_out > 0)
		.map((limit) => `${count(limit.left_out)} ${limit.text}`);
	return texts.length ? h("p", { class: "note" }, `Not in this page: ${texts.join("; ")}.`) : null;
}
