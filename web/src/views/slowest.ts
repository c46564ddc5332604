// SPDX-License-Identifier: Apache-2.0
//
// The slowest requests of the selection, and the waterfall of the one that is open. Which one that is, is in the page's
// address: `request=N`, or `none`; without it, the slowest is open.
import { drawBudget } from "../charts/spans";
import type { Requests } from "../data/requests";
import type { Session } from "../data/session";
import { count, duration, moment } from "../format";
import type { Selection, SelectionStore } from "../selection";
import { h } from "../ui/dom";
import { byLook, partsTip } from "./parts";
import { WaterfallView } from "./waterfall";

const SHOWN = 10;
const MORE = 40;
const BAR_HEIGHT = 14;
const CLOSED = "none";
const DEPTH_MAX = 32;

interface Entry {
	request: number;
	element: HTMLElement;
	button: HTMLButtonElement;
	canvas: HTMLCanvasElement;
	box: HTMLElement;
}

export class Slowest {
	readonly element = h("section", { class: "table-section slowest" });
	private entries: Entry[] = [];
	private drawn: Entry[] | null = null;
	private listed: number[] = [];
	private shown = SHOWN;
	private key = "";
	private opened: { entry: Entry; view: WaterfallView } | null = null;
	private readonly list = h("ol", { class: "request-list" });
	private readonly note = h("p", { class: "note" });
	private readonly more = h("button", { type: "button", class: "link", onclick: () => this.showMore() });

	constructor(
		private readonly session: Session,
		private readonly requests: Requests,
		private readonly store: SelectionStore,
	) {
		this.element.append(h("h3", {}, "Slowest requests"), this.note, this.list, this.more);
	}

	/** A request that opens or closes leaves the list, and so the focus, as it is. True: the list has to be drawn. */
	show(selection: Selection): boolean {
		const { subject, window, search } = selection;
		const key = JSON.stringify([subject, window, search]);
		if (key !== this.key) {
			this.key = key;
			this.shown = SHOWN;
			this.listed = this.requests.listed(this.session, selection);
			this.build();
		}
		this.open(selection.options.request);
		const isNew = this.entries !== this.drawn;
		if (!isNew) this.opened?.view.draw();
		return isNew;
	}

	/** The list, and what is open. */
	draw(): void {
		this.drawn = this.entries;
		const most = this.listed.length ? this.requests.latency(this.listed[0]) : 0;
		// All are asked for their width before one changes: the page is laid out once.
		const widths = this.entries.map(({ canvas }) => (canvas.parentElement as HTMLElement).clientWidth);
		this.entries.forEach(({ request, canvas }, i) =>
			drawBudget(canvas, widths[i], BAR_HEIGHT, byLook(this.requests, this.requests.partsOf(request)), most),
		);
		this.opened?.view.draw();
	}

	private build(): void {
		this.opened = null;
		const { listed, requests } = this;
		this.note.textContent = listed.length
			? `Of the requests that were kept whole. A click or Enter opens one: its parts, the calls that it made, and what those did at their servers. Requests that another one in this list made are shown within that one.`
			: `None of the ${count(requests.count)} requests that were kept whole is in the selection.`;
		this.entries = listed.slice(0, this.shown).map((request) => this.entry(request));
		this.list.replaceChildren(...this.entries.map(({ element }) => element));
		const left = Math.min(MORE, listed.length - this.entries.length);
		this.more.hidden = left <= 0;
		this.more.textContent = `Show ${count(left)} more of ${count(listed.length)}`;
	}

	private showMore(): void {
		const first = this.shown;
		this.shown += MORE;
		this.build();
		this.open(this.store.current.options.request);
		this.draw();
		this.entries[first]?.button.focus();
	}

	private entry(request: number): Entry {
		const { session, requests } = this;
		const endpoint = requests.request.endpoint[request];
		const name = session.text(requests.endpoint.name[endpoint]);
		const server = requests.server(session, endpoint);
		const status = session.text(requests.request.status[request]);
		const outcome = requests.outcomes[requests.request.outcome[request]]?.name ?? "";
		const end = outcome && outcome !== "answered" && outcome !== "unknown" ? outcome.replace("_", " ") : status;
		const canvas = h("canvas", { "aria-hidden": "true" });
		const box = h("div", { class: "request-detail", id: `request-${request}`, hidden: true });
		const button = h(
			"button",
			{
				type: "button",
				class: "request-head",
				"aria-expanded": "false",
				"aria-controls": box.id,
				onclick: () => this.toggle(request),
			},
			h("span", { class: "request-time" }, duration(requests.latency(request))),
			h("span", { class: "request-name" }, h("b", {}, server), ` ${name}`),
			h("span", { class: "request-end soft" }, [end, `at ${moment(requests.request.begin_ns[request], 1e7)}`].filter(Boolean).join(" · ")),
			h("span", { class: "request-bar" }, canvas),
		);
		partsTip(canvas, requests, `${server} ${name}`, requests.partsOf(request));
		return { request, element: h("li", {}, button, box), button, canvas, box };
	}

	private toggle(request: number): void {
		const isOpen = this.opened?.entry.request === request;
		this.store.change({ options: { request: isOpen ? CLOSED : String(request) } });
	}

	/** What the address names, or the listed one that made it, or else the slowest. */
	private wanted(named: string | undefined): number {
		if (named === CLOSED) return -1;
		const { caller, count: all } = this.requests;
		let request = /^\d{1,9}$/.test(named ?? "") && Number(named) < all ? Number(named) : -1;
		for (let depth = 0; request >= 0 && depth < DEPTH_MAX; depth++) {
			if (this.listed.includes(request)) return request;
			request = caller[request];
		}
		return this.listed[0] ?? -1;
	}

	/** Opens one; if it is further down, the list becomes longer. */
	private open(named: string | undefined): void {
		const request = this.wanted(named);
		const place = this.listed.indexOf(request);
		if (place >= this.shown) {
			this.shown = place + 1;
			this.build();
		}
		const entry = this.entries.find((one) => one.request === request);
		if (this.opened && this.opened.entry === entry) return;
		if (this.opened) {
			this.opened.entry.button.setAttribute("aria-expanded", "false");
			this.opened.entry.box.hidden = true;
			this.opened.entry.box.replaceChildren();
		}
		this.opened = null;
		if (!entry) return;
		const view = new WaterfallView(this.session, this.requests, this.store, request);
		entry.button.setAttribute("aria-expanded", "true");
		entry.box.hidden = false;
		entry.box.replaceChildren(view.element);
		this.opened = { entry, view };
	}
}
