// SPDX-License-Identifier: Apache-2.0
//
// The keys, declared once for the listener and for the help, and what the states mean.
import { shiftWindow, zoomOut } from "../selection";
import { h } from "../ui/dom";
import type { Key } from "../ui/keys";
import { togglePatterns, toggleTheme } from "../ui/theme";
import { VIEWS } from "../views/registry";
import type { Page } from "../views/view";
import type { Tabs } from "./tabs";

export function keysOf(
	{ session, store }: Page,
	tabs: Tabs,
	search: HTMLElement,
	help: HTMLDialogElement,
): Key[] {
	const shift = (by: -1 | 1) => {
		const { window } = store.current;
		if (window) store.change({ window: shiftWindow(window, by, session.span) });
	};
	const out = () => {
		const { window } = store.current;
		if (window) store.change({ window: zoomOut(window, session.span) });
	};
	return [
		{ keys: ["/"], shown: "/", about: "search", act: () => search.focus() },
		{
			keys: VIEWS.map((_, i) => String(i + 1)),
			shown: `1 … ${VIEWS.length}`,
			about: "open a tab",
			act: (key) => tabs.open(VIEWS[Number(key) - 1].id),
		},
		{
			keys: ["[", "]"],
			shown: "[ ]",
			about: "move the window back and forth by its length",
			act: (key) => shift(key === "[" ? -1 : 1),
		},
		{ keys: ["z"], shown: "z", about: "zoom out: a window twice as long", act: out },
		{ keys: ["t"], shown: "t", about: "light or dark", act: toggleTheme },
		{ keys: ["p"], shown: "p", about: "patterns on the colours", act: togglePatterns },
		{
			keys: ["?"],
			shown: "?",
			about: "this help",
			act: () => (help.open ? help.close() : help.showModal()),
		},
	];
}

export function fillHelp(help: HTMLDialogElement, keys: Key[], { session }: Page): void {
	const list = (rows: [Node | string, string][]) =>
		h("dl", {}, ...rows.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
	help.append(
		h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
		h("h2", { id: "help-title" }, "Keys"),
		list(keys.map((key) => [h("kbd", {}, key.shown), key.about])),
		h(
			"p",
			{},
			"Drag in the chart to select a window. Click a finding, a row or a name to select it. Back undoes. ",
			"The address has the selection: a copied link opens the same view.",
		),
		h("h2", {}, "States"),
		list(session.head.states.map((state) => [state.name, state.meaning])),
	);
}
