// SPDX-License-Identifier: Apache-2.0
//
// Samples on the tree of calls: weights of a selection, shares of a search, functions, and the change against a baseline.
import { showsKernel, type Rows, type Session, type Stacks } from "./session";
import type { Selection } from "../selection";

export interface Weights {
	/** By node: nanoseconds that its samples stand for, without what it called. */
	self: Float64Array;
	sum: number;
	samples: number;
	/** Of the sum, what has no stack. */
	withoutStack: number;
	/** Samples whose stack is not complete. */
	incomplete: number;
}

/**
 * Weights by node of the selection, for samples of the kinds and states that `wanted` accepts; by thread, or by group
 * (Session.loadSamples() knows which).
 */
export function weigh(
	session: Session,
	stacks: Stacks,
	samples: Rows,
	selection: Selection,
	wanted: (kind: number, state: number) => boolean,
): Weights {
	const self = new Float64Array(stacks.nodes);
	const { group, thread, bucket, kind, state, node, count, weight_ns: weight, stop } = samples.rows;
	const owner = group ?? thread;
	const mask = group ? session.groupMask(selection.subject) : session.threadMask(selection.subject);
	const [from, to] = session.bucketsOf(selection, samples.edges);
	const states = session.shownStates(selection);
	const withKernel = showsKernel(selection);
	const kernel = group ? session.group.kernel : session.thread.kernel;
	// By kind and state, 1 if wanted: asked once each, not once a row.
	const kinds = session.head.kinds.length + 1;
	const accepted = Uint8Array.from({ length: kinds * session.states }, (_, i) =>
		Number(states[i % session.states] && wanted(Math.floor(i / session.states), i % session.states)),
	);
	const result: Weights = { self, sum: 0, samples: 0, withoutStack: 0, incomplete: 0 };
	for (let i = 0; i < samples.count; i++) {
		if (bucket[i] < from || bucket[i] >= to || !accepted[kind[i] * session.states + state[i]]) continue;
		if (mask ? owner[i] < 0 || !mask[owner[i]] : !withKernel && owner[i] >= 0 && kernel?.[owner[i]])
			continue;
		result.sum += weight[i];
		result.samples += count[i];
		if (stop && !session.head.stops[stop[i]]?.complete) result.incomplete += count[i];
		if (node[i] >= 0) self[node[i]] += weight[i];
		else result.withoutStack += weight[i];
	}
	return result;
}

/** By node, 1 if the name of its function or module has the text. */
export function matching(session: Session, stacks: Stacks, search: string): Uint8Array | null {
	const needle = search.trim().toLowerCase();
	if (!needle) return null;
	return session.memo(`matches ${needle}`, () => {
		const functions = new Uint8Array(stacks.functionName.length);
		for (let f = 0; f < functions.length; f++)
			functions[f] =
				session.text(stacks.functionName[f]).toLowerCase().includes(needle) ||
				session.text(stacks.functionModule[f]).toLowerCase().includes(needle)
					? 1
					: 0;
		const nodes = new Uint8Array(stacks.nodes);
		for (let node = 0; node < nodes.length; node++) nodes[node] = functions[stacks.functionOf[node]];
		return nodes;
	});
}

/** How much of the weight has a matching node in its stack. */
export function matchedWeight(stacks: Stacks, self: Float64Array, matches: Uint8Array): number {
	const below = new Uint8Array(stacks.nodes);
	let sum = 0;
	for (let node = 0; node < stacks.nodes; node++) {
		const parent = stacks.parent[node];
		below[node] = matches[node] || (parent >= 0 && below[parent]) ? 1 : 0;
		if (below[node]) sum += self[node];
	}
	return sum;
}

/** By function: its own time, and that of stacks in which it is, each counted once however often it recurs. */
export function byFunction(
	session: Session,
	stacks: Stacks,
	self: Float64Array,
	total: Float64Array,
): { self: Float64Array; total: Float64Array } {
	const outermost = session.memo("outermost", () => {
		const mark = new Uint8Array(stacks.nodes);
		for (let node = 0; node < stacks.nodes; node++) {
			let up = stacks.parent[node];
			while (up >= 0 && stacks.functionOf[up] !== stacks.functionOf[node]) up = stacks.parent[up];
			mark[node] = up < 0 ? 1 : 0;
		}
		return mark;
	});
	const functions = stacks.functionName.length;
	const result = { self: new Float64Array(functions), total: new Float64Array(functions) };
	for (let node = 0; node < stacks.nodes; node++) {
		result.self[stacks.functionOf[node]] += self[node];
		if (outermost[node]) result.total[stacks.functionOf[node]] += total[node];
	}
	return result;
}

export interface Comparison {
	/** What one sample of the baseline stands for, in nanoseconds for each second. */
	perSample: number;
	/** By node of this session: what the baseline has there, in nanoseconds for each second of its time. */
	base: Float64Array;
	/** Of the baseline's rate, what is in stacks that this session does not have. */
	onlyBase: number;
}

/** Puts the baseline's weights on this session's tree, by the names on the way from the root. */
export function compare(
	session: Session,
	stacks: Stacks,
	other: Session,
	otherStacks: Stacks,
	otherTotal: Float64Array,
	weights: Weights,
): Comparison {
	const ids = new Map<string, number>();
	const idOf = (from: Session, tree: Stacks, f: number): number => {
		const key = `${from.text(tree.functionName[f])}\0${from.text(tree.functionModule[f])}`;
		let id = ids.get(key);
		if (id === undefined) ids.set(key, (id = ids.size));
		return id;
	};
	const own = Int32Array.from({ length: stacks.functionName.length }, (_, f) => idOf(session, stacks, f));
	const theirs = Int32Array.from({ length: otherStacks.functionName.length }, (_, f) =>
		idOf(other, otherStacks, f),
	);
	const places = new Map<number, number>();
	const place = (parent: number, id: number) => (parent + 1) * ids.size + id;
	for (let node = 0; node < stacks.nodes; node++)
		places.set(place(stacks.parent[node], own[stacks.functionOf[node]]), node);
	const seconds = Math.max(1e-9, other.durationNs / 1e9);
	const base = new Float64Array(stacks.nodes);
	const same = new Int32Array(otherStacks.nodes).fill(-1);
	let onlyBase = 0;
	for (let node = 0; node < otherStacks.nodes; node++) {
		const parent = otherStacks.parent[node];
		const above = parent < 0 ? -1 : same[parent];
		if (parent < 0 || above >= 0)
			same[node] = places.get(place(above, theirs[otherStacks.functionOf[node]])) ?? -1;
		if (same[node] >= 0) base[same[node]] += otherTotal[node] / seconds;
		else onlyBase += weights.self[node] / seconds;
	}
	return { base, onlyBase, perSample: weights.sum / seconds / Math.max(1, weights.samples) };
}

/** Adds what each node has itself to all its callers. */
export function addUp(parent: ArrayLike<number>, self: Float64Array): Float64Array {
	const total = Float64Array.from(self);
	for (let node = total.length - 1; node >= 0; node--)
		if (parent[node] >= 0) total[parent[node]] += total[node];
	return total;
}

const DEVIATIONS = 2;

/** A change of a rate from -1 to 1; 0 where it is within the error of sampling. */
export function changeOf(now: number, nowPerSample: number, before: number, beforePerSample: number): number {
	// A rate of n samples of weight w has the variance n·w² = rate·w.
	const error = Math.sqrt(now * nowPerSample + before * beforePerSample);
	const difference = now - before;
	return Math.abs(difference) <= DEVIATIONS * error ? 0 : difference / Math.max(now, before);
}
