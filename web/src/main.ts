// SPDX-License-Identifier: Apache-2.0
//
// The page: what changed (of a comparison), head, findings and the ledger first, in the report's order; tabs are made when
// they open.
import "./style.css";
import { nameCpu } from "./colours";
import type { Comparison } from "./data/comparison";
import { hasPart, part, waitingBytes } from "./data/inflate";
import { Session } from "./data/session";
import { Chips } from "./page/chips";
import { header, searchField } from "./page/header";
import { fillHelp, keysOf } from "./page/help";
import { Tabs } from "./page/tabs";
import { HOST, SelectionStore, type Selection } from "./selection";
import { command, fill, h } from "./ui/dom";
import { listen } from "./ui/keys";
import { onTheme, startTheme } from "./ui/theme";
import { hideTip } from "./ui/tooltip";
import { comparisonSection } from "./views/comparison";
import { findings } from "./views/findings";
import { ledger } from "./views/ledger";
import type { Page } from "./views/view";

const SCHEMA = "dwell.page/1";
/** Up to this size of data, all views are prepared once the page is idle: a print has them all. */
const PREPARED_BYTES = 4e6;
const RESIZE_MS = 120;
const UNSEEN_MS = 2000;

const root = document.getElementById("page") as HTMLElement;
startTheme();
start().catch((error: unknown) => {
	const why = error instanceof Error ? error.message : String(error);
	fill(root, h("p", { class: "failure", role: "alert" }, `The page cannot show this session. ${why}`));
});

async function start(): Promise<void> {
	if (typeof DecompressionStream === "undefined")
		throw new Error(
			"The browser is too old: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).",
		);
	const [session, comparison] = await Promise.all([Session.open(), part<Comparison>("diff")]);
	const { head } = session;
	if (!head.schema.startsWith(SCHEMA))
		throw new Error(`Its data is ${head.schema}; this page reads ${SCHEMA}.`);
	nameCpu(
		head.session.tier,
		head.marks.some((mark) => mark.text.startsWith("Tier B off")),
	);
	document.title = `dwell${comparison ? " diff" : ""}: ${head.session.host}, ${head.session.file}`;
	const store = new SelectionStore();
	const page: Page = { session, store, baseline: null };

	const search = searchField(store);
	const help = h("dialog", { class: "help", "aria-labelledby": "help-title" });
	const changes = comparison && comparisonSection(comparison, page);
	const found = findings(head, store, comparison ? `Findings in B, ${head.session.file}` : null);
	const ledgerRoot = h("section", { class: "ledger", "aria-label": "Where the time went" });
	const chips = new Chips(page);
	const tabs = new Tabs(page);
	const why = h("section", { class: "why", "aria-label": "Why" }, chips.element, tabs.bar, tabs.panels);
	fill(
		root,
		header(page, search, () => help.showModal()),
		h("main", {}, changes?.element, found.element, ledgerRoot, why),
		runAgain(page),
		help,
	);
	const keys = keysOf(page, tabs, search, help);
	listen(keys);
	fillHelp(help, keys, page);

	const top = ledger(ledgerRoot, page);
	// The first paint does not wait for what the open tab has to read.
	let isPainted = false;
	const show = (): void => {
		// A link may come from another session: what this one does not have is not selected.
		if (!session.exists(store.current.subject)) store.current = { ...store.current, subject: HOST };
		if (document.activeElement !== search) search.value = store.current.search;
		hideTip();
		changes?.update(store.current);
		found.update(store.current);
		top.update(store.current);
		chips.show(store.current);
		if (isPainted) void tabs.show();
	};
	store.listen((selection, before) => {
		if (sameAbove(selection, before)) void tabs.show();
		else show();
	});
	redrawOnChange(() => {
		top.redraw();
		tabs.redraw();
	});

	show();
	await painted("dwell-first-paint");
	isPainted = true;
	await tabs.show();
	await painted("dwell-page");
	if (hasPart("baseline.head")) {
		page.baseline = await Session.open("baseline.").catch(() => null);
		await tabs.reopen();
	}
	if (waitingBytes() < PREPARED_BYTES) setTimeout(() => void tabs.prepareAll(), 0);
}

/** True if nothing above the tabs depends on the difference. */
function sameAbove(a: Selection, b: Selection): boolean {
	const above = ({ window, subject, states, search, options }: Selection) =>
		JSON.stringify([window, subject, states, search, options.rows, options.time, options.kernel, options.lines]);
	return above(a) === above(b);
}

function runAgain({ session }: Page): HTMLElement {
	const { head } = session;
	const note = `Session: ${head.session.file}. dwell ${head.dwell}. This page holds all of its data and loads nothing.`;
	return h(
		"footer",
		{},
		h("h2", {}, "Run again"),
		h("p", {}, command(head.run_again)),
		h("p", { class: "note" }, note),
	);
}

/** Draws again when the theme, the patterns, the paper or the width change. */
function redrawOnChange(redraw: () => void): void {
	onTheme(redraw);
	let width = innerWidth;
	let resizing = 0;
	addEventListener("resize", () => {
		if (innerWidth === width) return;
		width = innerWidth;
		clearTimeout(resizing);
		resizing = window.setTimeout(redraw, RESIZE_MS);
	});
}

/** Resolves after the next frame, or soon in a tab that is not visible; marks the moment for measurements. */
function painted(name: string): Promise<void> {
	return new Promise((done) => {
		const mark = () => {
			if (!performance.getEntriesByName(name).length) performance.mark(name);
			done();
		};
		requestAnimationFrame(() => setTimeout(mark));
		setTimeout(mark, UNSEEN_MS);
	});
}
