// SPDX-License-Identifier: Apache-2.0
//
// The top of the page: what was measured, the search field, theme, patterns, help; and how far to trust it.
import type { SelectionStore } from "../selection";
import { h } from "../ui/dom";
import { togglePatterns, toggleTheme } from "../ui/theme";
import { sessionLine, trustLine } from "../views/head";
import type { Page } from "../views/view";

const TYPING_MS = 150;

export function searchField(store: SelectionStore): HTMLInputElement {
	const field = h("input", {
		type: "search",
		placeholder: "Search names",
		"aria-label": "Search names of functions, threads, files",
		autocomplete: "off",
		spellcheck: "false",
	});
	let typing = 0;
	field.addEventListener("input", () => {
		clearTimeout(typing);
		// One entry of the history for a search, however long it is typed.
		const apply = () => store.change({ search: field.value.trim() }, store.current.search !== "");
		typing = window.setTimeout(apply, TYPING_MS);
	});
	return field;
}

export function header({ session }: Page, search: HTMLElement, showHelp: () => void): HTMLElement {
	const tool = (text: string, label: string, key: string, act: () => void) =>
		h(
			"button",
			{ type: "button", class: "plain", title: `${label} (${key})`, "aria-label": label, onclick: act },
			text,
		);
	const tools = h(
		"div",
		{ class: "tools" },
		search,
		tool("◐", "Light or dark", "t", toggleTheme),
		tool("▨", "Patterns on the colours", "p", togglePatterns),
		tool("?", "Help", "?", showHelp),
	);
	const brand = h("div", { class: "brand" }, h("h1", {}, "dwell"), sessionLine(session.head), tools);
	return h("header", {}, brand, trustLine(session.head));
}
