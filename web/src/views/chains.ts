// SPDX-License-Identifier: Apache-2.0
//
// Chains of waits as boxes, from the thread that waited to the last one that is known to be behind it. A box has the time
// and a bar of what its thread did meanwhile. The table of chains says the same in sentences.
import { drawBar } from "../charts/bars";
import { FAMILIES } from "../colours";
import type { Chain, Link, Part } from "../data/chains";
import type { Session } from "../data/session";
import { count, duration, percent } from "../format";
import type { Selection, SelectionStore, Subject } from "../selection";
import { h } from "../ui/dom";
import { swatch } from "./legend";

const DRAWN = 5;
const PARTS_NAMED = 4;
const BAR_WIDTH = 188;
const BAR_HEIGHT = 8;
const UNKNOWN = FAMILIES.findIndex(({ id }) => id === "unattributed");

function isOf(session: Session, { thread, links }: Chain, subject: Subject): boolean {
	return [thread, ...links.map((link) => link.thread)].some(
		(index) => index >= 0 && session.contains(subject, { kind: "thread", index }),
	);
}

/** A thread's name, which selects it where the page has the thread. */
function threadName(session: Session, store: SelectionStore, thread: number, name: string): HTMLElement {
	const subject: Subject = { kind: "thread", index: thread };
	if (thread < 0 || !session.exists(subject)) return h("b", {}, name || "a thread");
	return h(
		"button",
		{ type: "button", class: "link", title: "Select this thread", onclick: () => store.change({ subject }) },
		session.name(subject),
	);
}

function familyOf(session: Session, state: number | null): number {
	return state === null ? UNKNOWN : (session.families[state] ?? UNKNOWN);
}

function partLine(session: Session, { what, state, ns, isFollowed }: Part, all: number): HTMLElement {
	const time = h("span", { class: "chain-time" }, duration(ns));
	return h(
		"li",
		{ class: isFollowed ? "followed" : null, title: `${percent(ns / all)} of ${duration(all)}` },
		swatch(familyOf(session, state)),
		h("span", { class: "chain-what" }, what),
		time,
	);
}

function linkBox(session: Session, store: SelectionStore, link: Link): HTMLElement {
	const sums = new Float64Array(FAMILIES.length);
	for (const { state, ns } of link.parts) sums[familyOf(session, state)] += ns;
	const bar = h("canvas", { "aria-hidden": "true" });
	drawBar(bar, BAR_WIDTH, BAR_HEIGHT, sums, link.ns);
	const named = link.parts.filter((part, i) => i < PARTS_NAMED || part.isFollowed);
	const rest = link.parts.filter((part) => !named.includes(part)).reduce((sum, { ns }) => sum + ns, 0);
	return h(
		"li",
		{ class: "chain-box" },
		h("p", {}, threadName(session, store, link.thread, link.name), h("span", { class: "chain-time" }, duration(link.ns))),
		bar,
		h(
			"ul",
			{},
			...named.map((part) => partLine(session, part, link.ns)),
			rest > 0 ? h("li", {}, h("span", { class: "chain-what" }, "other"), h("span", { class: "chain-time" }, duration(rest))) : null,
		),
	);
}

function chainRow(session: Session, store: SelectionStore, chain: Chain): HTMLElement {
	const alike = chain.alike
		? `${count(chain.alike)} more thread${chain.alike > 1 ? "s" : ""} alike: ${duration(chain.alikeNs)}`
		: "";
	const waiter = h(
		"li",
		{ class: "chain-box waiter" },
		h("p", {}, threadName(session, store, chain.thread, ""), h("span", { class: "chain-time" }, duration(chain.ns))),
		h("ul", {}, h("li", { class: "followed" }, swatch(familyOf(session, chain.state)), h("span", { class: "chain-what" }, `waited for ${chain.what}`))),
		alike ? h("p", { class: "soft" }, alike) : null,
	);
	return h("ol", { class: "chain" }, waiter, ...chain.links.map((link) => linkBox(session, store, link)));
}

/** The longest chains that the selected subject is in; null where there are none. */
export function chainsPicture(
	session: Session,
	store: SelectionStore,
	chains: readonly Chain[],
	selection: Selection,
): HTMLElement | null {
	const all = chains.filter((chain) => isOf(session, chain, selection.subject));
	if (!all.length) return null;
	const left = all.length - DRAWN;
	return h(
		"section",
		{ class: "table-section chains" },
		h("h3", {}, "Chains, drawn"),
		h(
			"p",
			{ class: "note" },
			"The first thread waited; each next box is the thread that held up the one before it, and what it did meanwhile. The line in bold is what the next box explains.",
			left > 0 ? ` ${count(left)} more in the table below.` : "",
		),
		...all.slice(0, DRAWN).map((chain) => chainRow(session, store, chain)),
	);
}
