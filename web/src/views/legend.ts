// SPDX-License-Identifier: Apache-2.0
//
// The legend of state families: a click keeps one family, a second click lifts the filter.
import { FAMILIES } from "../colours";
import { familyFill, prepare } from "../charts/canvas";
import type { Session } from "../data/session";
import { duration, percent } from "../format";
import type { Selection, SelectionStore } from "../selection";
import { h } from "../ui/dom";

/** The states of a family, of those that the session has. */
export function statesOf(session: Session, family: number): number[] {
	return session.head.states
		.filter((state) => session.families[state.id] === family)
		.map((state) => state.id);
}

/** Which families the selected states leave out. */
export function faintFamilies(session: Session, selection: Selection): Uint8Array {
	const faint = new Uint8Array(FAMILIES.length);
	if (!selection.states.length) return faint;
	faint.fill(1);
	for (const state of selection.states) if (state < session.states) faint[session.families[state]] = 0;
	return faint;
}

export function swatch(family: number): HTMLCanvasElement {
	const canvas = h("canvas", { class: "swatch", "aria-hidden": "true" });
	const context = prepare(canvas, 12, 12);
	context.fillStyle = familyFill(family);
	context.fillRect(0, 0, 12, 12);
	return canvas;
}

export function legend(
	session: Session,
	store: SelectionStore,
	byState: Float64Array,
	hideIdle: boolean,
): HTMLElement {
	const sums = new Float64Array(FAMILIES.length);
	let total = 0;
	for (let state = 0; state < byState.length; state++) {
		if (hideIdle && session.isIdle[state]) continue;
		sums[session.families[state]] += byState[state];
		total += byState[state];
	}
	const faint = faintFamilies(session, store.current);
	const buttons = FAMILIES.map((family, f) => {
		if (sums[f] <= 0) return null;
		const states = statesOf(session, f);
		const isOnly = store.current.states.length > 0 && !faint[f];
		const parts = states.filter((id) => byState[id] > 0).sort((a, b) => byState[b] - byState[a]);
		const names = parts.map(
			(id) =>
				`${session.head.states.find((state) => state.id === id)?.name}: ${duration(byState[id])}, ${percent(byState[id] / total)}`,
		);
		return h(
			"button",
			{
				type: "button",
				class: "legend-entry",
				"aria-pressed": String(isOnly),
				title: `${names.join("\n")}\nof ${duration(total)} in sum. Click to keep only these.`,
				onclick: () => store.change({ states: isOnly ? [] : states }),
			},
			swatch(f),
			family.label,
			h("span", { class: "soft" }, percent(sums[f] / total)),
		);
	});
	return h("div", { class: "legend", role: "group", "aria-label": "States" }, ...buttons);
}
