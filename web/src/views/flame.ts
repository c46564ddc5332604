// SPDX-License-Identifier: Apache-2.0
//
// Flame and icicle graphs of the selection: on-CPU, blocked, both together (wall clock), by state, and against a baseline;
// the functions as a table.
import { Children, Flame, type Box, type FlameLayer } from "../charts/flame";
import { changeColour, familyColour, look } from "../colours";
import {
	addUp,
	changeOf,
	compare,
	matchedWeight,
	matching,
	weigh,
	type Comparison,
	type Weights,
} from "../data/call_tree";
import { isBusyOnly, showsKernel, type Rows, type Session, type Stacks } from "../data/session";
import { count, duration, longDuration, moment, percent, sampleError } from "../format";
import { HOST, type Selection, type Subject } from "../selection";
import { Choice, fill, h } from "../ui/dom";
import { theme } from "../ui/theme";
import { hideTip, showTip } from "../ui/tooltip";
import { limitNote, stepNote } from "./empty";
import { functionTable } from "./functions";
import type { Page, Renderer, View } from "./view";

const KINDS = [
	["cpu", "on CPU", "Samples of threads that ran"],
	["blocked", "blocked", "Stacks of waits, by how long they lasted"],
	["wall", "wall clock", "Both together"],
	["state", "by state", "A tree for each state"],
] as const;

const REMEMBERED = 8;

/** A kind that fits the selected states, unless the reader chose one. */
function kindOf(session: Session, selection: Selection): string {
	const chosen = selection.options.flame;
	if (chosen && KINDS.some(([id]) => id === chosen)) return chosen;
	const kinds = new Set(
		selection.states.map((id) => session.head.states.find((state) => state.id === id)?.kind),
	);
	if (kinds.size && !kinds.has("cpu")) return "blocked";
	return "cpu";
}

async function open(root: HTMLElement, page: Page): Promise<Renderer | null> {
	const { session, store, baseline } = page;
	const firstPart = session.samplesPart(store.current.subject);
	const [stacks, firstSamples] = await Promise.all([
		session.loadStacks(),
		session.loadSamples(store.current.subject),
	]);
	if (!stacks || !firstSamples || !stacks.nodes) return null;
	let samples: Rows = firstSamples;
	const loaded = new Map<string, Rows>([[firstPart, samples]]);
	const [baseStacks, baseSamples] = baseline
		? await Promise.all([baseline.loadStacks(), baseline.loadSamples(HOST)])
		: [undefined, undefined];
	const hasBaseline = Boolean(baseline && baseStacks && baseSamples);

	const kind = new Choice("Kind", KINDS, (value) =>
		store.change({ options: { flame: value, zoom: null } }),
	);
	const against = new Choice(
		"Baseline",
		[
			[
				"baseline",
				"against baseline",
				"Red: more time for each second than in the baseline; blue: less",
			],
			["alone", "alone"],
		],
		(value) => store.change({ options: { compare: value === "baseline" ? null : value } }),
	);
	against.element.hidden = !hasBaseline;
	const direction = new Choice(
		"Direction",
		[
			["icicle", "icicle", "Callers at the top"],
			["flame", "flame", "Callers at the bottom"],
		],
		(value) => store.change({ options: { direction: value === "icicle" ? null : value } }),
	);
	const reset = h(
		"button",
		{ type: "button", class: "plain", onclick: () => store.change({ options: { zoom: null } }) },
		"zoom out",
	);
	const summary = h("p", { class: "note", id: "flame-summary" });
	const looks = h("div", { class: "legend" });
	const flame = new Flame(
		{
			parent: stacks.parent,
			nodes: stacks.nodes,
			label: (node) => functionName(session, stacks, node),
			look: (node) =>
				stacks.inlined?.[node]
					? "inlined"
					: (session.head.looks[stacks.functionLook[stacks.functionOf[node]]] ?? ""),
		},
		new Children(stacks),
	);
	flame.canvas.setAttribute("role", "img");
	flame.canvas.setAttribute("aria-labelledby", "flame-summary");
	const functionsBox = h("div", {});
	root.append(
		h(
			"div",
			{ class: "bar" },
			kind.element,
			direction.element,
			against.element,
			reset,
			h("span", { class: "grow" }),
			looks,
		),
		summary,
		h(
			"div",
			{
				class: "flame-box",
				tabindex: 0,
				role: "region",
				"aria-label": "Flame graph; the table of functions below has the same data",
			},
			flame.canvas,
		),
		h("h3", {}, "Functions"),
		functionsBox,
	);
	let layers: FlameLayer[] = [];
	let weights: Weights[] = [];
	let comparison: Comparison | null = null;

	const cpuKind = Math.max(0, session.head.kinds.indexOf("cpu"));
	const wants = (mode: string) => (sampleKind: number) =>
		mode === "cpu" ? sampleKind === cpuKind : mode === "blocked" ? sampleKind !== cpuKind : true;

	/** Whom of the baseline the selected subject is compared with; null: nobody. */
	function twin(selection: Selection): Subject | null {
		return baseline && hasBaseline ? session.twin(baseline, selection.subject) : null;
	}

	/** A tree for each state has no baseline: its trees would be compared with those of other states. */
	function isCompared(selection: Selection, mode: string): boolean {
		return twin(selection) !== null && mode !== "state" && selection.options.compare !== "alone";
	}

	/** The trees of the last selections: going back to one is as fast as drawing it. */
	const computed = new Map<string, { layers: FlameLayer[]; weights: Weights[] }>();

	function compute(selection: Selection, mode: string): void {
		comparison = null;
		const { subject } = selection;
		const key = [
			mode,
			selection.window?.join(),
			subject.kind,
			subject.index,
			selection.states.join(),
			showsKernel(selection),
			isBusyOnly(selection),
			theme(),
		].join(" ");
		const known = computed.get(key);
		if (known) ({ layers, weights } = known);
		else {
			weighAll(selection, mode);
			if (computed.size >= REMEMBERED) computed.delete(computed.keys().next().value as string);
			computed.set(key, { layers, weights });
		}
		if (isCompared(selection, mode)) compareAll(selection, mode);
	}

	function weighAll(selection: Selection, mode: string): void {
		if (mode === "state") {
			const states = session.head.states.filter(
				(state) => hasState(samples.rows.state, state.id),
			);
			const made = states.map((state) => ({
				state,
				weight: weigh(
					session,
					stacks as Stacks,
					samples,
					selection,
					(_, id) => id === state.id,
				),
			}));
			const kept = made
				.filter(({ weight }) => weight.sum > 0)
				.sort((a, b) => b.weight.sum - a.weight.sum);
			weights = kept.map(({ weight }) => weight);
			layers = kept.map(({ state, weight }) => ({
				title: `${state.name} ${duration(weight.sum)}`,
				colour: familyColour(session.families[state.id], theme()),
				total: addUp(stacks!.parent, weight.self),
				sum: weight.sum,
			}));
			return;
		}
		const weight = weigh(session, stacks!, samples, selection, wants(mode));
		const title = KINDS.find(([id]) => id === mode)?.[1] ?? mode;
		weights = [weight];
		layers = [
			{
				title: `${title} ${duration(weight.sum)}`,
				colour: theme() === "light" ? "#e7e9ec" : "#30353b",
				total: addUp(stacks!.parent, weight.self),
				sum: weight.sum,
			},
		];
	}

	function compareAll(selection: Selection, mode: string): void {
		const subject = twin(selection);
		if (!baseline || !baseStacks || !baseSamples || !subject) return;
		comparison = session.memo(
			`baseline ${mode} ${subject.kind} ${subject.index} ${selection.states.join()} ${showsKernel(selection)} ${isBusyOnly(selection)}`,
			() => {
				const base = weigh(
					baseline,
					baseStacks,
					baseSamples,
					{ ...selection, window: null, subject },
					wants(mode),
				);
				return compare(
					session,
					stacks!,
					baseline,
					baseStacks,
					addUp(baseStacks.parent, base.self),
					base,
				);
			},
		);
	}

	/** What the colours compare with, or why they do not. */
	function baselineText(selection: Selection): string | null {
		const subject = twin(selection);
		if (!baseline || !hasBaseline || kindOf(session, selection) === "state") return null;
		if (!subject) return "not compared: the baseline has no subject that is certain to be the same";
		if (!comparison) return null;
		const { file, begin_ns: begin, duration_ns: length, shown } = baseline.head.session;
		const from = begin ? ` from ${moment(begin, 1e8)} on` : "";
		const who = subject.kind === "host" ? "" : `${baseline.name(subject)} in `;
		const differs =
			shown === session.head.session.shown
				? ""
				: `, of which ${shown || "all processes"} ${shown ? "is" : "are"} compared`;
		return `against ${who}the baseline, ${file} (${longDuration(length)}${from}${differs}), for each second; ${duration(comparison.onlyBase)} for each second of the baseline is in stacks that are not here`;
	}

	function change(selection: Selection): Float64Array | null {
		if (!comparison) return null;
		const seconds = session.coveredNs(selection, samples.edges) / 1e9;
		const perSample = weights[0].sum / seconds / Math.max(1, weights[0].samples);
		return Float64Array.from(layers[0].total, (ns, node) =>
			changeOf(ns / seconds, perSample, comparison!.base[node], comparison!.perSample),
		);
	}

	function zoomOf(selection: Selection): Box | null {
		const match = /^(\d+)\.(-?\d+)$/.exec(selection.options.zoom ?? "");
		const box = match && { layer: Number(match[1]), node: Number(match[2]) };
		return box && box.node < stacks!.nodes && box.node >= -1 ? box : null;
	}

	function describe(selection: Selection, matches: Uint8Array | null): void {
		const sum = sumOf(layers);
		const taken = weights.reduce((all, weight) => all + weight.samples, 0);
		const parts = [`${duration(sum)} in ${count(taken)} samples`];
		const without = weights.reduce((all, weight) => all + weight.withoutStack, 0);
		if (without > 0) parts.push(`${percent(without / sum)} without a stack`);
		const incomplete = weights.reduce((all, weight) => all + weight.incomplete, 0);
		if (incomplete > 0) parts.push(`${percent(incomplete / taken)} of stacks incomplete`);
		if (matches) {
			const matched = weights.reduce(
				(all, weight) => all + matchedWeight(stacks!, weight.self, matches),
				0,
			);
			const share = sum > 0 ? matched / sum : 0;
			parts.push(
				`“${selection.search}” is in ${percent(share)} ± ${percent(sampleError(share, taken))} (${duration(matched)})`,
			);
		}
		const compared = baselineText(selection);
		if (compared) parts.push(compared);
		if (isBusyOnly(selection) && !selection.states.length && kindOf(session, selection) !== "cpu")
			parts.push("without waits for work (“all” shows them)");
		if (selection.subject.kind === "host" && !showsKernel(selection))
			parts.push("without the kernel's own threads");
		if (flame.hidden) parts.push(`${count(flame.hidden)} boxes are not drawn`);
		summary.textContent =
			sum > 0
				? `${parts.join(" · ")}. ${stepNote(selection, samples.edges, "Samples")} Click a box to zoom.`
				: "No samples of this kind in the selection.";
	}

	function drawFunctions(selection: Selection): void {
		const self = sumUp(
			weights.map((weight) => weight.self),
			stacks!.nodes,
		);
		const total = sumUp(
			layers.map((layer) => layer.total),
			stacks!.nodes,
		);
		const table = functionTable(page, stacks!, self, total, sumOf(layers), selection);
		fill(functionsBox, table, limitNote(session.head, "stacks", session.samplesPart(selection.subject)));
	}

	function draw(selection: Selection): void {
		const mode = kindOf(session, selection);
		kind.show(mode);
		against.show(isCompared(selection, mode) ? "baseline" : "alone");
		direction.show(selection.options.direction === "flame" ? "flame" : "icicle");
		compute(selection, mode);
		const matches = matching(session, stacks!, selection.search);
		flame.show(
			layers,
			{ isIcicle: selection.options.direction !== "flame", matches, change: change(selection) },
			zoomOf(selection),
		);
		reset.hidden = !flame.zoomed;
		describe(selection, matches);
		drawLooks();
		drawFunctions(selection);
	}

	function drawLooks(): void {
		if (comparison)
			return fill(
				looks,
				colourKey("#d64030", "more"),
				colourKey("#2462cc", "less"),
				colourKey(changeColour(0, theme()), "within the error of sampling"),
			);
		const used = [...new Set<number>(stacks!.functionLook as Iterable<number>)]
			.sort((a, b) => a - b)
			.map((id) => look(session.head.looks[id] ?? ""));
		if (stacks!.inlined?.some((flag) => flag === 1)) used.push(look("inlined"));
		fill(looks, ...used.map((entry) => colourKey(entry[theme()], entry.label)));
	}

	function tip(box: Box): Parameters<typeof showTip>[1] {
		const layer = layers[box.layer];
		const weight = weights[box.layer];
		if (box.node < 0) return { title: layer.title, lines: [["samples", count(weight.samples)]] };
		const all = sumOf(layers);
		const total = layer.total[box.node];
		const own = weight.self[box.node];
		const taken = weights.reduce((sum, { samples: more }) => sum + more, 0);
		const lines: [string, string][] = [
			[
				"with callees",
				`${duration(total)} · ${percent(total / all)} ± ${percent(sampleError(total / all, taken))}`,
			],
			["self", `${duration(own)} · ${percent(own / all)}`],
		];
		if (comparison) {
			const seconds = session.coveredNs(store.current, samples.edges) / 1e9;
			lines.push(
				["for each second", duration(total / seconds)],
				["in the baseline", duration(comparison.base[box.node])],
			);
		}
		const f = stacks!.functionOf[box.node];
		const module = session.text(stacks!.functionModule[f]);
		return {
			title: functionName(session, stacks!, box.node),
			lines,
			note: `${module ? `${module} · ` : ""}percentages are of ${duration(all)}`,
		};
	}

	flame.canvas.addEventListener("pointermove", (event) => {
		const box = flame.at(event.offsetX, event.offsetY);
		flame.canvas.style.cursor = box ? "pointer" : "default";
		showTip(event, box && tip(box));
	});
	flame.canvas.addEventListener("pointerleave", hideTip);
	flame.canvas.addEventListener("click", (event) => {
		const box = flame.at(event.offsetX, event.offsetY);
		hideTip();
		if (box)
			store.change({
				options: { zoom: box.node < 0 && layers.length < 2 ? null : `${box.layer}.${box.node}` },
			});
	});

	/** Samples by thread are read when a process or a thread is selected. */
	function update(selection: Selection): void {
		const part = session.samplesPart(selection.subject);
		const rows = loaded.get(part);
		if (rows) {
			samples = rows;
			draw(selection);
			return;
		}
		summary.textContent = "Reading the samples of threads …";
		void session.loadSamples(selection.subject).then((found) => {
			if (!found) return;
			loaded.set(part, found);
			update(store.current);
		});
	}

	return { update, redraw: () => update(store.current) };
}

function functionName(session: Session, stacks: Stacks, node: number): string {
	return session.text(stacks.functionName[stacks.functionOf[node]]) || "(unknown)";
}

function hasState(states: ArrayLike<number>, wanted: number): boolean {
	for (let i = 0; i < states.length; i++) if (states[i] === wanted) return true;
	return false;
}

function sumOf(layers: FlameLayer[]): number {
	return layers.reduce((sum, layer) => sum + layer.sum, 0);
}

function sumUp(arrays: Float64Array[], size: number): Float64Array {
	if (arrays.length === 1) return arrays[0];
	const sums = new Float64Array(size);
	for (const array of arrays) for (let i = 0; i < size; i++) sums[i] += array[i];
	return sums;
}

function colourKey(colour: string, label: string): HTMLElement {
	const box = h("i", { class: "swatch" });
	box.style.background = colour;
	return h("span", { class: "legend-entry" }, box, label);
}

export const flameView: View = {
	id: "flame",
	title: "Flame graph",
	open,
};
