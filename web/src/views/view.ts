// SPDX-License-Identifier: Apache-2.0
//
// What a view is: data that the page has, and a renderer. The registry (registry.ts) has one row a view.
import type { Session } from "../data/session";
import type { Selection, SelectionStore } from "../selection";

export interface Page {
	session: Session;
	baseline: Session | null;
	store: SelectionStore;
}

export interface Renderer {
	/** Shows the selection. It is called when the view opens and whenever the selection changes. */
	update(selection: Selection): void;
	/** Draws again: the theme, the patterns or the width changed. */
	redraw(): void;
}

export interface View {
	/** As tables and `head.empty` name it. */
	id: string;
	title: string;
	/** Loads what the view needs and builds it below `root`; null if there is no data: `head.empty` says why. */
	open(root: HTMLElement, page: Page): Promise<Renderer | null>;
}
