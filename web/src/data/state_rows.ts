// SPDX-License-Identifier: Apache-2.0
//
// Rows of (key, bucket, state, ns), sorted by key: the ledger of the host, of groups or of threads. A row may lie evenly over
// `span` buckets: a thread that waits long has one row. Sums over a window are one pass over typed arrays; nothing is
// allocated per row.
import { offsetsByKey, type Column, type Columns } from "./columns";

const NONE = new Int32Array(0);

export class StateRows {
	readonly offsets: Int32Array;
	readonly buckets: number;
	readonly key: Column;
	readonly bucket: Column;
	readonly state: Column;
	readonly ns: Column;
	/** Missing: each row is of one bucket. */
	readonly span: Column | undefined;

	constructor(
		columns: Columns,
		key: string,
		readonly keys: number,
		readonly states: number,
		readonly edges: Float64Array,
	) {
		this.ns = columns.ns ?? NONE;
		this.key = columns[key] ?? new Int32Array(this.ns.length);
		this.bucket = columns.bucket ?? NONE;
		this.state = columns.state ?? NONE;
		this.span = columns.span;
		this.offsets = offsetsByKey(this.key, keys);
		this.buckets = edges.length - 1;
	}

	has(key: number): boolean {
		return this.offsets[key + 1] > this.offsets[key];
	}

	/** What row i has in buckets [from, to). */
	within(i: number, from: number, to: number): number {
		const begin = this.bucket[i];
		const span = this.span ? this.span[i] : 1;
		if (begin >= from && begin + span <= to) return this.ns[i];
		const shared = Math.min(to, begin + span) - Math.max(from, begin);
		return shared > 0 ? (this.ns[i] * shared) / span : 0;
	}

	/** Nanoseconds by key and state in buckets [from, to): result[key * states + state]. */
	sumByKey(from: number, to: number): Float64Array {
		const sums = new Float64Array(this.keys * this.states);
		const { key, state, states } = this;
		for (let i = 0; i < this.ns.length; i++) sums[key[i] * states + state[i]] += this.within(i, from, to);
		return sums;
	}

	/** Nanoseconds by bucket and state, of the keys that `wanted` marks, or of all: result[bucket * states + state]. */
	sumByBucket(wanted: Uint8Array | null): Float64Array {
		const sums = new Float64Array(this.buckets * this.states);
		for (let k = 0; k < this.keys; k++) if (!wanted || wanted[k]) this.addKey(k, 0, this.buckets, sums);
		return sums;
	}

	/** Adds the rows of one key to sums by bucket (from `from` on) and state. */
	addKey(k: number, from: number, to: number, sums: Float64Array): void {
		const { bucket, state, ns, span, states } = this;
		for (let i = this.offsets[k]; i < this.offsets[k + 1]; i++) {
			const length = span ? span[i] : 1;
			const first = Math.max(from, bucket[i]);
			const last = Math.min(to, bucket[i] + length);
			const each = length > 1 ? ns[i] / length : ns[i];
			for (let b = first; b < last; b++) sums[(b - from) * states + state[i]] += each;
		}
	}
}

/** Adds rows of a finer key up to a coarser one: threads to processes. */
export function foldKeys(
	sums: Float64Array,
	states: number,
	parentOf: Column,
	parents: number,
): Float64Array {
	const folded = new Float64Array(parents * states);
	for (let k = 0; k < parentOf.length; k++) {
		const to = parentOf[k];
		if (to < 0) continue;
		for (let s = 0; s < states; s++) folded[to * states + s] += sums[k * states + s];
	}
	return folded;
}
