// SPDX-License-Identifier: Apache-2.0
//
// One selection rules all views: a window of time, a subject, states, a search string, and what is open. It is the
// URL's fragment, so Back undoes and a link can be sent. Views read it and change it here, nowhere else.

export type SubjectKind = "host" | "group" | "process" | "thread";

export interface Subject {
	kind: SubjectKind;
	index: number;
}

export const HOST: Subject = { kind: "host", index: 0 };

export interface Selection {
	/** Nanoseconds since the session's start; null is the whole session. */
	window: [number, number] | null;
	subject: Subject;
	/** Ids of states; empty is all. */
	states: number[];
	search: string;
	/** The open tab's id; empty is the first. */
	tab: string;
	/** Choices within views, such as `flame=blocked`; a missing one is the view's default. */
	options: Record<string, string>;
}

export function emptySelection(): Selection {
	return { window: null, subject: HOST, states: [], search: "", tab: "", options: {} };
}

const OPTION = /^[a-z][a-z-]{0,20}$/;
const KINDS: readonly SubjectKind[] = ["host", "group", "process", "thread"];

/** Reads a fragment. Whatever it does not understand is left out: links come from anywhere. */
export function parseFragment(fragment: string): Selection {
	const selection = emptySelection();
	for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
		if (key === "window") {
			const match = /^(\d{1,18})-(\d{1,18})$/.exec(value);
			if (match && Number(match[1]) < Number(match[2]))
				selection.window = [Number(match[1]), Number(match[2])];
		} else if (key === "of") {
			const match = /^([a-z]+)-(\d{1,9})$/.exec(value);
			const kind = KINDS.find((name) => name === match?.[1]);
			if (match && kind) selection.subject = { kind, index: Number(match[2]) };
		} else if (key === "states") {
			selection.states = value
				.split(",")
				.filter((id) => /^\d{1,4}$/.test(id))
				.map(Number);
		} else if (key === "search") {
			selection.search = value.slice(0, 200);
		} else if (key === "tab") {
			if (OPTION.test(value)) selection.tab = value;
		} else if (OPTION.test(key) && Object.keys(selection.options).length < 30) {
			selection.options[key] = value.slice(0, 100);
		}
	}
	return selection;
}

export function formatFragment(selection: Selection): string {
	const parameters = new URLSearchParams();
	if (selection.window) parameters.set("window", selection.window.map(Math.round).join("-"));
	if (selection.subject.kind !== "host")
		parameters.set("of", `${selection.subject.kind}-${selection.subject.index}`);
	if (selection.states.length) parameters.set("states", selection.states.join(","));
	if (selection.search) parameters.set("search", selection.search);
	if (selection.tab) parameters.set("tab", selection.tab);
	for (const key of Object.keys(selection.options).sort()) parameters.set(key, selection.options[key]);
	return parameters.toString();
}

type Span = readonly [number, number];

/** A length of time that begins there, or as near to it as it fits into the span. */
function fitted(begin: number, length: number, span: Span): [number, number] {
	const at = Math.max(span[0], Math.min(begin, span[1] - length));
	return [at, at + length];
}

/** The window moved by its own length, within what the page has of the session. */
export function shiftWindow(window: Span, by: -1 | 1, span: Span): [number, number] {
	const length = window[1] - window[0];
	return fitted(window[0] + by * length, length, span);
}

/** The window doubled around its middle; null once it covers all that the page has. */
export function zoomOut(window: Span, span: Span): [number, number] | null {
	const length = (window[1] - window[0]) * 2;
	if (length >= (span[1] - span[0]) * 0.98) return null;
	return fitted((window[0] + window[1] - length) / 2, length, span);
}

export type Change = Partial<Omit<Selection, "options">> & { options?: Record<string, string | null> };

/** The selection with a change applied; an option that is null goes back to its default. */
export function changed(selection: Selection, change: Change): Selection {
	const options = { ...selection.options };
	for (const [key, value] of Object.entries(change.options ?? {})) {
		if (value === null) delete options[key];
		else options[key] = value;
	}
	return { ...selection, ...change, options };
}

/** Keeps the selection in the URL's fragment and calls listeners when it changes, from here or by Back. */
export class SelectionStore {
	current: Selection;
	private readonly listeners: ((selection: Selection, before: Selection) => void)[] = [];

	constructor() {
		this.current = parseFragment(location.hash);
		addEventListener("hashchange", () => this.read());
	}

	listen(listener: (selection: Selection, before: Selection) => void): void {
		this.listeners.push(listener);
	}

	/** Applies a change as a new entry of the history, or in place of the last one (while a person types). */
	change(change: Change, replace = false): void {
		const fragment = formatFragment(changed(this.current, change));
		if (fragment === formatFragment(this.current)) return;
		if (replace) history.replaceState(null, "", `#${fragment}`);
		else history.pushState(null, "", `#${fragment}`);
		this.read();
	}

	private read(): void {
		const before = this.current;
		this.current = parseFragment(location.hash);
		for (const listener of this.listeners) listener(this.current, before);
	}
}
