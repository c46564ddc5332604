// SPDX-License-Identifier: Apache-2.0
//
// Light and dark: as the system has it, until the reader chooses. Paper is always light. Charts are drawn again when the
// theme or the use of patterns changes.
import type { Theme } from "../colours";

let chosen: Theme | null = null;
let printing = false;
let patterns = false;
const listeners: (() => void)[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
	if (printing) return "light";
	return chosen ?? (system.matches ? "dark" : "light");
}

export function usesPatterns(): boolean {
	return patterns;
}

export function isPrinting(): boolean {
	return printing;
}

function apply(): void {
	document.documentElement.dataset.theme = theme();
	for (const listener of listeners) listener();
}

export function startTheme(): void {
	document.documentElement.dataset.theme = theme();
	system.addEventListener("change", apply);
	addEventListener("beforeprint", () => setPrinting(true));
	addEventListener("afterprint", () => setPrinting(false));
}

function setPrinting(value: boolean): void {
	if (printing === value) return;
	printing = value;
	document.documentElement.toggleAttribute("data-printing", value);
	apply();
}

export function toggleTheme(): void {
	chosen = theme() === "dark" ? "light" : "dark";
	apply();
}

export function togglePatterns(): void {
	patterns = !patterns;
	apply();
}

export function onTheme(listener: () => void): void {
	listeners.push(listener);
}
