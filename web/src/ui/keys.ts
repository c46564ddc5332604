// SPDX-License-Identifier: Apache-2.0
//
// Keys: declared once, used by the listener and by the help.

export interface Key {
	keys: string[];
	shown: string;
	about: string;
	act(key: string): void;
}

export function listen(keys: readonly Key[]): void {
	addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const target = event.target as HTMLElement;
		if (target.matches("input, select, textarea")) {
			if (event.key === "Escape") target.blur();
			return;
		}
		const key = keys.find((entry) => entry.keys.includes(event.key));
		if (!key) return;
		event.preventDefault();
		key.act(event.key);
	});
}
