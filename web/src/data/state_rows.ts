// SPDX-License-Identifier: Apache-2.0
//
// Rows of (key, bucket, state, ns), sorted by key: the ledger of groups or of threads. Sums over a window are one pass
// over typed arrays; nothing is allocated per row.
import { offsetsByKey, type Column } from "./columns";

export class StateRows {
	readonly offsets: Int32Array;
	readonly buckets: number;

	constructor(
		readonly key: Column,
		readonly bucket: Column,
		readonly state: Column,
		readonly ns: Column,
		readonly bucketNs: number,
		readonly keys: number,
		readonly states: number,
		durationNs: number,
	) {
		this.offsets = offsetsByKey(key, keys);
		let last = Math.max(0, Math.ceil(durationNs / bucketNs - 0.05) - 1);
		for (let i = 0; i < bucket.length; i++) if (bucket[i] > last) last = bucket[i];
		this.buckets = last + 1;
	}

	/** Nanoseconds by key and state in buckets [from, to): result[key * states + state]. */
	sumByKey(from: number, to: number): Float64Array {
		const sums = new Float64Array(this.keys * this.states);
		const { key, bucket, state, ns, states } = this;
		for (let i = 0; i < ns.length; i++) {
			const b = bucket[i];
			if (b >= from && b < to) sums[key[i] * states + state[i]] += ns[i];
		}
		return sums;
	}

	/** Nanoseconds by bucket and state, of the keys that `wanted` marks, or of all: result[bucket * states + state]. */
	sumByBucket(wanted: Uint8Array | null): Float64Array {
		const sums = new Float64Array(this.buckets * this.states);
		const { bucket, state, ns, states, offsets } = this;
		for (let k = 0; k < this.keys; k++) {
			if (wanted && !wanted[k]) continue;
			for (let i = offsets[k]; i < offsets[k + 1]; i++) sums[bucket[i] * states + state[i]] += ns[i];
		}
		return sums;
	}
}

/** Adds rows of a finer key up to a coarser one: threads to processes, processes to groups. */
export function foldKeys(sums: Float64Array, states: number, parentOf: Column, parents: number): Float64Array {
	const folded = new Float64Array(parents * states);
	for (let k = 0; k < parentOf.length; k++) {
		const to = parentOf[k];
		if (to < 0) continue;
		for (let s = 0; s < states; s++) folded[to * states + s] += sums[k * states + s];
	}
	return folded;
}
