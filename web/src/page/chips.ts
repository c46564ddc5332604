// SPDX-License-Identifier: Apache-2.0
//
// What is selected, above the tabs: a chip for each part of the selection, which removes it.
import { longDuration, moment } from "../format";
import { HOST, type Selection } from "../selection";
import { fill, h } from "../ui/dom";
import type { Page } from "../views/view";

const NAMED_STATES = 3;

export class Chips {
	readonly element = h("div", { class: "chips", role: "status", "aria-label": "Selection" });

	constructor(private readonly page: Page) {}

	show(selection: Selection): void {
		const chips = this.chips(selection);
		const hint = `All of the ${this.page.session.whole}. Select by dragging in the chart, or by clicking a finding, a row or a name.`;
		if (chips.length > 1) {
			const clear = () =>
				this.page.store.change({ window: null, subject: HOST, states: [], search: "" });
			chips.push(h("button", { type: "button", class: "link", onclick: clear }, "clear all"));
		}
		fill(this.element, h("span", { class: "soft" }, chips.length ? "Selected: " : hint), ...chips);
	}

	private chips({ window, subject, states, search }: Selection): HTMLElement[] {
		const { session, store } = this.page;
		const list: HTMLElement[] = [];
		if (window) {
			const [from, to] = window.map((ns) => moment(ns, 1e8));
			const text = `${from} – ${to} (${longDuration(window[1] - window[0])})`;
			list.push(chip(text, () => store.change({ window: null })));
		}
		if (subject.kind !== "host") {
			const kind = subject.kind === "group" ? session.head.session.group_by : subject.kind;
			list.push(chip(`${kind} ${session.name(subject)}`, () => store.change({ subject: HOST })));
		}
		if (states.length) {
			const names = states.map((id) => session.stateName(id));
			const more = names.length > NAMED_STATES ? ` and ${names.length - NAMED_STATES + 1} more` : "";
			const shown = more ? names.slice(0, NAMED_STATES - 1) : names;
			list.push(chip(shown.join(", ") + more, () => store.change({ states: [] })));
		}
		if (search) list.push(chip(`“${search}”`, () => store.change({ search: "" })));
		return list;
	}
}

function chip(text: string, clear: () => void): HTMLElement {
	const cross = h("span", { "aria-hidden": "true" }, " ✕");
	return h(
		"button",
		{ type: "button", class: "chip", title: "Remove from the selection", onclick: clear },
		text,
		cross,
	);
}
