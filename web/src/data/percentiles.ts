// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of a histogram: a value is the (geometric) middle of its slot, and never above the maximum.

/** The value below which `share` of all values lie. `counts` begin at `offset`. */
export function percentile(
	counts: Float64Array,
	slots: Float64Array,
	share: number,
	max: number,
	offset = 0,
): number {
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

/** How far the middle of a slot can be from its values: half of the width of a slot. */
export function slotError(slots: Float64Array): number {
	let widest = 1;
	for (let s = 0; s + 1 < slots.length; s++)
		if (slots[s] > 100 && slots[s] < 1e15) widest = Math.max(widest, slots[s + 1] / slots[s]);
	return Math.sqrt(widest) - 1;
}
