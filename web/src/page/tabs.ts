// SPDX-License-Identifier: Apache-2.0
//
// The tabs: a view is opened when its tab is, once; after that it follows the selection while it is visible.
import { changed, formatFragment } from "../selection";
import { fill, h } from "../ui/dom";
import { isPrinting } from "../ui/theme";
import { emptyView } from "../views/empty";
import { VIEWS } from "../views/registry";
import type { Page, Renderer, View } from "../views/view";

interface Tab {
	view: View;
	button: HTMLButtonElement;
	panel: HTMLElement;
	opening: Promise<void> | null;
	renderer: Renderer | null;
	/** The selection that the panel shows, as a fragment. */
	shown: string | null;
}

export class Tabs {
	readonly bar = h("div", { class: "tabs", role: "tablist", "aria-label": "Why" });
	readonly panels = h("div", { class: "panels" });
	private readonly tabs: Tab[];

	constructor(private readonly page: Page) {
		this.tabs = VIEWS.map((view, i) => this.add(view, i));
		this.bar.addEventListener("keydown", (event) => {
			const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
			if (!by) return;
			const next =
				this.tabs[(this.tabs.indexOf(this.current) + by + this.tabs.length) % this.tabs.length];
			this.open(next.view.id);
			next.button.focus();
		});
	}

	private add(view: View, number: number): Tab {
		const { id, title } = view;
		const panel = h("div", {
			class: "panel",
			role: "tabpanel",
			id: `panel-${id}`,
			"aria-labelledby": `tab-${id}`,
			hidden: true,
		});
		const attributes = {
			type: "button",
			role: "tab",
			id: `tab-${id}`,
			"aria-controls": panel.id,
			"aria-selected": "false",
			title: number < 9 ? `Key ${number + 1}` : null,
			onclick: () => this.open(id),
		};
		const button = h("button", attributes, title);
		this.bar.append(button);
		this.panels.append(h("h2", { class: "print-only" }, title), panel);
		return { view, button, panel, opening: null, renderer: null, shown: null };
	}

	private get current(): Tab {
		return this.tabs.find((tab) => tab.view.id === this.page.store.current.tab) ?? this.tabs[0];
	}

	open(id: string): void {
		this.page.store.change({ tab: id === this.tabs[0].view.id ? "" : id });
	}

	private prepare(tab: Tab): Promise<void> {
		tab.opening ??= tab.view.open(tab.panel, this.page).then(
			(renderer) => {
				tab.renderer = renderer;
				tab.button.classList.toggle("no-data", !renderer);
				if (!renderer) tab.panel.append(emptyView(this.page.session.head, tab.view.id));
			},
			(error: unknown) => {
				console.error(error);
				const why = error instanceof Error ? error.message : String(error);
				fill(tab.panel, h("p", { class: "failure" }, `This view cannot be shown: ${why}`));
			},
		);
		return tab.opening;
	}

	/** Shows the open tab with the current selection. */
	async show(): Promise<void> {
		const tab = this.current;
		for (const other of this.tabs) {
			const isOpen = other === tab;
			other.button.setAttribute("aria-selected", String(isOpen));
			other.button.tabIndex = isOpen ? 0 : -1;
			other.panel.hidden = !isOpen;
		}
		if (!tab.opening) tab.panel.classList.add("waiting");
		await this.prepare(tab);
		tab.panel.classList.remove("waiting");
		// Which rows the ledger has is nothing to a tab.
		const wanted = formatFragment(changed(this.page.store.current, { options: { rows: null } }));
		if (tab !== this.current || tab.shown === wanted) return;
		tab.shown = wanted;
		tab.renderer?.update(this.page.store.current);
	}

	/** Draws again what is visible; on paper that is all. */
	redraw(): void {
		for (const tab of this.tabs) {
			if (tab.panel.hidden && !isPrinting()) tab.shown = null;
			else if (tab.shown) tab.renderer?.redraw();
			else tab.renderer?.update(this.page.store.current);
		}
	}

	/** Opens the open tab's view anew: there is more data now. */
	async reopen(): Promise<void> {
		for (const tab of this.tabs) {
			if (!tab.opening) continue;
			await tab.opening;
			tab.opening = tab.shown = tab.renderer = null;
			tab.panel.replaceChildren();
		}
		await this.show();
	}

	async prepareAll(): Promise<void> {
		for (const tab of this.tabs) await this.prepare(tab);
	}
}
