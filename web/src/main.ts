// SPDX-License-Identifier: Apache-2.0
//
// The page: head, findings and the ledger first, in the report's order; tabs are made when they open.
import "./style.css";
import { Session } from "./data/session";
import { hasPart } from "./data/inflate";
import {
	changed,
	formatFragment,
	HOST,
	SelectionStore,
	shiftWindow,
	zoomOut,
	type Selection,
} from "./selection";
import { longDuration, moment } from "./format";
import { command, fill, h } from "./ui/dom";
import { listen, type Key } from "./ui/keys";
import { onTheme, startTheme, togglePatterns, toggleTheme } from "./ui/theme";
import { hideTip } from "./ui/tooltip";
import { emptyView } from "./views/empty";
import { findings } from "./views/findings";
import { sessionLine, trustLine } from "./views/head";
import { ledger } from "./views/ledger";
import { VIEWS } from "./views/registry";
import type { Page, Renderer, View } from "./views/view";

interface Tab {
	view: View;
	button: HTMLButtonElement;
	panel: HTMLElement;
	opening: Promise<void> | null;
	renderer: Renderer | null;
	/** The selection that the panel shows. */
	shown: string | null;
}

/** Up to this size of data, all views are prepared once the page is idle. */
const PREPARED_BYTES = 4e6;

const root = document.getElementById("page") as HTMLElement;
startTheme();
start().catch((error: unknown) => {
	fill(
		root,
		h(
			"p",
			{ class: "failure", role: "alert" },
			`The page cannot show this session. ${error instanceof Error ? error.message : String(error)}`,
		),
	);
});

async function start(): Promise<void> {
	if (typeof DecompressionStream === "undefined")
		throw new Error(
			"The browser is too old: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).",
		);
	const session = await Session.open();
	const { head } = session;
	if (!head.schema.startsWith("dwell.page/1"))
		throw new Error(`Its data is ${head.schema}; this page reads dwell.page/1.`);
	const store = new SelectionStore();
	if (!session.exists(store.current.subject)) store.current = { ...store.current, subject: HOST };
	const page: Page = { session, store, baseline: null };
	document.title = `dwell: ${head.session.host}, ${head.session.file}`;

	const search = h("input", {
		type: "search",
		placeholder: "Search names",
		"aria-label": "Search names of functions, threads, files",
		autocomplete: "off",
		spellcheck: "false",
	});
	const help = h("dialog", { class: "help", "aria-labelledby": "help-title" });
	const header = h(
		"header",
		{},
		h(
			"div",
			{ class: "brand" },
			h("h1", {}, "dwell"),
			sessionLine(head),
			h(
				"div",
				{ class: "tools" },
				search,
				h(
					"button",
					{
						type: "button",
						class: "plain",
						title: "Light or dark (t)",
						"aria-label": "Switch between light and dark",
						onclick: toggleTheme,
					},
					"◐",
				),
				h(
					"button",
					{
						type: "button",
						class: "plain",
						title: "Patterns on the colours (p)",
						"aria-label": "Patterns on the colours",
						onclick: togglePatterns,
					},
					"▨",
				),
				h(
					"button",
					{
						type: "button",
						class: "plain",
						title: "Keys and colours (?)",
						"aria-label": "Help",
						onclick: () => help.showModal(),
					},
					"?",
				),
			),
		),
		trustLine(head),
	);
	const found = findings(head, store);
	const ledgerRoot = h("section", { class: "ledger", "aria-label": "Where the time went" });
	const chips = h("div", { class: "chips", role: "status", "aria-label": "Selection" });
	const tabBar = h("div", { class: "tabs", role: "tablist", "aria-label": "Why" });
	const panels = h("div", { class: "panels" });
	const again = h(
		"footer",
		{},
		h("h2", {}, "Run again"),
		h("p", {}, command(head.run_again)),
		h(
			"p",
			{ class: "note" },
			`Session: ${head.session.file}. dwell ${head.dwell}. This page holds all of its data and loads nothing.`,
		),
	);
	fill(
		root,
		header,
		h(
			"main",
			{},
			found.element,
			ledgerRoot,
			h("section", { class: "why", "aria-label": "Why" }, chips, tabBar, panels),
		),
		again,
		help,
	);

	const tabs: Tab[] = VIEWS.map((view, i) => {
		const panel = h("div", {
			class: "panel",
			role: "tabpanel",
			id: `panel-${view.id}`,
			"aria-labelledby": `tab-${view.id}`,
			hidden: true,
		});
		const button = h(
			"button",
			{
				type: "button",
				role: "tab",
				id: `tab-${view.id}`,
				"aria-controls": panel.id,
				"aria-selected": "false",
				title: i < 9 ? `Key ${i + 1}` : null,
				onclick: () => openTab(view.id),
			},
			view.title,
		);
		tabBar.append(button);
		panels.append(h("h2", { class: "print-only" }, view.title), panel);
		return { view, button, panel, opening: null, renderer: null, shown: null };
	});
	tabBar.addEventListener("keydown", (event) => {
		const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!by) return;
		const at = tabs.findIndex((tab) => tab === current());
		const next = tabs[(at + by + tabs.length) % tabs.length];
		openTab(next.view.id);
		next.button.focus();
	});

	function current(): Tab {
		return tabs.find((tab) => tab.view.id === store.current.tab) ?? tabs[0];
	}

	function openTab(id: string): void {
		store.change({ tab: id === tabs[0].view.id ? "" : id });
	}

	/** Opens the view once; after that it only follows the selection. */
	function prepareTab(tab: Tab): Promise<void> {
		tab.opening ??= tab.view.open(tab.panel, page).then(
			(renderer) => {
				tab.renderer = renderer;
				tab.button.classList.toggle("no-data", !renderer);
				if (!renderer) tab.panel.append(emptyView(head, tab.view.id, tab.view.emptyText));
			},
			(error: unknown) => {
				console.error(error);
				fill(
					tab.panel,
					h(
						"p",
						{ class: "failure" },
						`This view cannot be shown: ${error instanceof Error ? error.message : String(error)}`,
					),
				);
			},
		);
		return tab.opening;
	}

	async function showTab(): Promise<void> {
		const tab = current();
		for (const other of tabs) {
			const isOpen = other === tab;
			other.button.setAttribute("aria-selected", String(isOpen));
			other.button.tabIndex = isOpen ? 0 : -1;
			other.panel.hidden = !isOpen;
		}
		if (!tab.opening) tab.panel.classList.add("waiting");
		await prepareTab(tab);
		tab.panel.classList.remove("waiting");
		// Which rows the ledger has is nothing to a tab.
		const wanted = formatFragment(changed(store.current, { options: { rows: null } }));
		if (tab !== current() || tab.shown === wanted) return;
		tab.shown = wanted;
		tab.renderer?.update(store.current);
	}

	function showChips(selection: Selection): void {
		const chip = (text: string, clear: () => void) =>
			h(
				"button",
				{ type: "button", class: "chip", title: "Remove from the selection", onclick: clear },
				text,
				h("span", { "aria-hidden": "true" }, " ✕"),
			);
		const list: HTMLElement[] = [];
		if (selection.window)
			list.push(
				chip(
					`${moment(selection.window[0], 1e8)} – ${moment(selection.window[1], 1e8)} (${longDuration(selection.window[1] - selection.window[0])})`,
					() => store.change({ window: null }),
				),
			);
		if (selection.subject.kind !== "host")
			list.push(
				chip(
					`${selection.subject.kind === "group" ? "service" : selection.subject.kind} ${session.name(selection.subject)}`,
					() => store.change({ subject: HOST }),
				),
			);
		if (selection.states.length) {
			const names = selection.states.map(
				(id) => head.states.find((state) => state.id === id)?.name ?? String(id),
			);
			list.push(
				chip(
					names.length > 3
						? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`
						: names.join(", "),
					() => store.change({ states: [] }),
				),
			);
		}
		if (selection.search) list.push(chip(`“${selection.search}”`, () => store.change({ search: "" })));
		if (list.length > 1)
			list.push(
				h(
					"button",
					{
						type: "button",
						class: "link",
						onclick: () => store.change({ window: null, subject: HOST, states: [], search: "" }),
					},
					"clear all",
				),
			);
		fill(
			chips,
			list.length
				? h("span", { class: "soft" }, "Selected: ")
				: h(
						"span",
						{ class: "soft" },
						"All of the session. Select by dragging in the chart, or by clicking a finding, a row or a name.",
					),
			...list,
		);
	}

	const top = ledger(ledgerRoot, page);
	function show(selection: Selection): void {
		if (!session.exists(selection.subject)) selection = store.current = { ...selection, subject: HOST };
		if (document.activeElement !== search) search.value = selection.search;
		hideTip();
		found.update(selection);
		top.update(selection);
		showChips(selection);
		void showTab();
	}
	store.listen((selection, before) => {
		const onlyTab =
			selection.window?.join() === before.window?.join() &&
			selection.subject.kind === before.subject.kind &&
			selection.subject.index === before.subject.index &&
			selection.states.join() === before.states.join() &&
			selection.search === before.search &&
			selection.options.rows === before.options.rows &&
			selection.options.time === before.options.time &&
			selection.options.kernel === before.options.kernel;
		if (onlyTab) void showTab();
		else show(selection);
	});

	let typing = 0;
	search.addEventListener("input", () => {
		clearTimeout(typing);
		// One entry of the history for a search, however long it is typed.
		typing = window.setTimeout(
			() => store.change({ search: search.value.trim() }, store.current.search !== ""),
			150,
		);
	});

	const keys: Key[] = [
		{ keys: ["/"], shown: "/", about: "search", act: () => search.focus() },
		{
			keys: VIEWS.map((_, i) => String(i + 1)),
			shown: `1 … ${VIEWS.length}`,
			about: "open a tab",
			act: (key) => openTab(VIEWS[Number(key) - 1].id),
		},
		{
			keys: ["[", "]"],
			shown: "[ ]",
			about: "move the window back and forth by its length",
			act: (key) =>
				store.current.window &&
				store.change({
					window: shiftWindow(store.current.window, key === "[" ? -1 : 1, session.durationNs),
				}),
		},
		{
			keys: ["z"],
			shown: "z",
			about: "zoom out: a window twice as long",
			act: () =>
				store.current.window &&
				store.change({ window: zoomOut(store.current.window, session.durationNs) }),
		},
		{ keys: ["t"], shown: "t", about: "light or dark", act: toggleTheme },
		{ keys: ["p"], shown: "p", about: "patterns on the colours", act: togglePatterns },
		{
			keys: ["?"],
			shown: "?",
			about: "this help",
			act: () => (help.open ? help.close() : help.showModal()),
		},
	];
	listen(keys);
	fillHelp(help, keys, page);

	const redraw = () => {
		top.redraw();
		for (const tab of tabs)
			if (
				tab.renderer &&
				(!tab.panel.hidden || document.documentElement.hasAttribute("data-printing"))
			) {
				if (tab.shown) tab.renderer.redraw();
				else tab.renderer.update(store.current);
			}
		for (const tab of tabs) if (tab.panel.hidden) tab.shown = null;
	};
	onTheme(redraw);
	let width = innerWidth;
	let resizing = 0;
	addEventListener("resize", () => {
		if (innerWidth === width) return;
		width = innerWidth;
		clearTimeout(resizing);
		resizing = window.setTimeout(redraw, 120);
	});

	show(store.current);
	requestAnimationFrame(() => setTimeout(() => performance.mark("dwell-first-paint")));
	await prepareTab(current());
	requestAnimationFrame(() => setTimeout(() => performance.mark("dwell-page")));
	if (hasPart("baseline.head")) {
		page.baseline = await Session.open("baseline.").catch(() => null);
		tabs[0].opening = null;
		tabs[0].shown = null;
		tabs[0].panel.replaceChildren();
		await showTab();
	}
	// What is printed must be there when the print begins: small sessions prepare all of their views.
	if (dataSize() < PREPARED_BYTES)
		requestIdleCallback(() => void prepareAll(tabs, prepareTab), { timeout: 3000 });
}

async function prepareAll(tabs: Tab[], prepareTab: (tab: Tab) => Promise<void>): Promise<void> {
	for (const tab of tabs) await prepareTab(tab);
}

/** The size of the parts that are not inflated yet. */
function dataSize(): number {
	let size = 0;
	for (const script of document.querySelectorAll("script[data-part]"))
		size += script.textContent?.length ?? 0;
	return size;
}

function fillHelp(help: HTMLDialogElement, keys: Key[], page: Page): void {
	help.append(
		h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
		h("h2", { id: "help-title" }, "Keys"),
		h("dl", {}, ...keys.flatMap((key) => [h("dt", {}, h("kbd", {}, key.shown)), h("dd", {}, key.about)])),
		h(
			"p",
			{},
			"Drag in the chart to select a window. Click a finding, a row or a name to select it. Back undoes. The address has the selection: a copied link opens the same view.",
		),
		h("h2", {}, "States"),
		h(
			"dl",
			{},
			...page.session.head.states.flatMap((state) => [
				h("dt", {}, state.name),
				h("dd", {}, state.meaning),
			]),
		),
	);
}
