// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of a histogram. Slots are narrow (2.2 %), so a value is the middle of its slot, and never above the maximum.

/** The value below which `share` of all values lie. `counts` begin at `offset`. */
export function percentile(counts: Float64Array, slots: Float64Array, share: number, max: number, offset = 0): number {
	let total = 0;
	for (let s = 0; s < slots.length; s++) total += counts[offset + s];
	if (total <= 0) return Number.NaN;
	const wanted = Math.max(1, Math.ceil(share * total));
	let seen = 0;
	for (let s = 0; s < slots.length; s++) {
		seen += counts[offset + s];
		if (seen >= wanted) return Math.min(max, middle(slots, s));
	}
	return max;
}

export function middle(slots: Float64Array, slot: number): number {
	const low = slots[slot];
	const high = slots[slot + 1];
	if (high === undefined || high <= low) return low;
	return low > 0 ? Math.sqrt(low * high) : high > 2 ? high / 2 : low;
}
