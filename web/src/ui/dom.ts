// SPDX-License-Identifier: Apache-2.0
//
// Elements are made here: names in the data are foreign, so text becomes text nodes and nothing is parsed as markup.
// The page's policy forbids innerHTML and the like as well.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element: attributes as given, `on…` functions as listeners, children as nodes or text. */
export function h<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) continue;
		if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
		else element.setAttribute(name, value === true ? "" : String(value));
	}
	append(element, children);
	return element;
}

export function append(parent: Node, children: Child[]): void {
	for (const child of children) {
		if (child === null || child === undefined || child === false) continue;
		parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
	}
}

export function fill(parent: Element, ...children: Child[]): void {
	parent.replaceChildren();
	append(parent, children);
}

/** A row of choices, of which one is pressed. */
export class Choice {
	readonly element: HTMLElement;
	private readonly buttons = new Map<string, HTMLButtonElement>();

	constructor(
		label: string,
		choices: readonly (readonly [string, string, string?])[],
		choose: (value: string) => void,
	) {
		this.element = h("div", { class: "choice", role: "group", "aria-label": label });
		for (const [value, text, title] of choices) {
			const button = h(
				"button",
				{ type: "button", "aria-pressed": "false", title, onclick: () => choose(value) },
				text,
			);
			this.buttons.set(value, button);
			this.element.append(button);
		}
	}

	show(value: string): void {
		for (const [name, button] of this.buttons)
			button.setAttribute("aria-pressed", String(name === value));
	}

	hide(value: string, hidden: boolean): void {
		this.buttons.get(value)?.toggleAttribute("hidden", hidden);
	}
}

/** A command line with a button that copies it. */
export function command(text: string): HTMLElement {
	const button = h("button", { type: "button", class: "copy", "aria-label": "Copy the command" }, "copy");
	button.addEventListener("click", () => {
		void copy(text).then((done) => {
			button.textContent = done ? "copied" : "select and copy";
			setTimeout(() => (button.textContent = "copy"), 1500);
		});
	});
	return h("span", { class: "command" }, h("code", {}, text), button);
}

async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		// A page from disk may have no clipboard: the older way still works there.
		const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		return done;
	}
}
