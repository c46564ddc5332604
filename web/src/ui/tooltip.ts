// SPDX-License-Identifier: Apache-2.0
//
// One tooltip for all charts: a title and lines of name and value. It follows the pointer and stays in the viewport.
import { h } from "./dom";

export interface Tip {
	title: string;
	lines: readonly (readonly [string, string, string?])[];
	note?: string;
}

const box = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });

export function showTip(event: { clientX: number; clientY: number }, tip: Tip | null): void {
	if (!tip) {
		hideTip();
		return;
	}
	if (!box.isConnected) document.body.append(box);
	const lines = tip.lines.map(([name, value, colour]) => {
		const swatch = h("i", {});
		if (colour) swatch.style.background = colour;
		return h(
			"div",
			{ class: "tip-line" },
			colour ? swatch : null,
			h("span", {}, name),
			h("b", {}, value),
		);
	});
	box.replaceChildren(h("strong", {}, tip.title), ...lines);
	if (tip.note) box.append(h("p", {}, tip.note));
	box.hidden = false;
	const { width, height } = box.getBoundingClientRect();
	const x = event.clientX + 14 + width > innerWidth ? event.clientX - width - 10 : event.clientX + 14;
	const y = event.clientY + 14 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 14;
	box.style.left = `${Math.max(4, x)}px`;
	box.style.top = `${Math.max(4, y)}px`;
}

export function hideTip(): void {
	box.hidden = true;
}
