// SPDX-License-Identifier: Apache-2.0
//
// What the two pictures of requests share: sums by look, the legend, the tooltip of a bar.
import { fillLook } from "../charts/spans";
import { prepare } from "../charts/canvas";
import { familyColour, familyIndex, PART_LOOKS, partLook } from "../colours";
import type { Requests } from "../data/requests";
import { duration, percent } from "../format";
import type { SelectionStore } from "../selection";
import { h } from "../ui/dom";
import { theme } from "../ui/theme";
import { hideTip, showTip } from "../ui/tooltip";

export function byLook(requests: Requests, byPart: ArrayLike<number>): Float64Array {
	const sums = new Float64Array(PART_LOOKS.length);
	requests.parts.forEach(({ name }, part) => (sums[partLook(name)] += byPart[part]));
	return sums;
}

export function sum(values: ArrayLike<number>): number {
	let all = 0;
	for (let i = 0; i < values.length; i++) all += values[i];
	return all;
}

/** The parts that took time, in the order in which they are drawn. */
export function partsInOrder(requests: Requests, byPart: ArrayLike<number>): number[] {
	const order = requests.parts.map(({ name }, part) => [partLook(name), part]);
	return order
		.sort((a, b) => a[0] - b[0] || a[1] - b[1])
		.map(([, part]) => part)
		.filter((part) => byPart[part] > 0);
}

/** What of the looks occurs, with the names of the parts that they are. */
export function partsLegend(requests: Requests, byPart: ArrayLike<number>): HTMLElement {
	const entries = PART_LOOKS.map((look, i) => {
		const parts = requests.parts.filter(({ name }, part) => byPart[part] > 0 && partLook(name) === i);
		if (!parts.length) return null;
		const canvas = h("canvas", { class: "swatch", "aria-hidden": "true" });
		fillLook(prepare(canvas, 12, 12), i, 0, 0, 12, 12);
		const names = parts.map(({ name }) => name).join(", ");
		return h(
			"li",
			{ class: "legend-entry", title: parts.map(({ name, meaning }) => `${name}: ${meaning}`).join("\n") },
			canvas,
			look.label,
			names === look.label.toLowerCase() ? null : h("span", { class: "soft" }, names),
		);
	});
	return h("ul", { class: "legend parts-legend", "aria-label": "Parts of a budget" }, ...entries);
}

/** A bar says what it consists of. */
export function partsTip(
	canvas: HTMLElement,
	requests: Requests,
	title: string,
	byPart: ArrayLike<number>,
	note?: string,
): void {
	const whole = sum(byPart);
	canvas.addEventListener("pointermove", (event) =>
		showTip(event, {
			title,
			lines: partsInOrder(requests, byPart).map((part) => [
				requests.parts[part].name,
				`${duration(byPart[part])} · ${percent(byPart[part] / whole)}`,
				familyColour(familyIndex(PART_LOOKS[partLook(requests.parts[part].name)].family), theme()),
			]),
			note,
		}),
	);
	canvas.addEventListener("pointerleave", hideTip);
}

/** "exporter (4711)": who held it up, which a click selects, or for which file it waited. */
export function blamedBy(store: SelectionStore, thread: number, name: string): Node {
	if (thread < 0) return h("b", {}, name);
	return h(
		"button",
		{
			type: "button",
			class: "link",
			title: "Select this thread: everything on this page follows",
			onclick: () => store.change({ subject: { kind: "thread", index: thread }, search: "" }),
		},
		name,
	);
}
