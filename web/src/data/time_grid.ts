// SPDX-License-Identifier: Apache-2.0
//
// Where buckets begin and end. A bucket is so many whole windows (docs/page-data.md), and windows are not exactly of one
// length: edges are taken from the windows themselves, so that marks and selections fall where they belong.
import type { Columns } from "./columns";

const TOLERANCE_NS = 1000;

export class TimeGrid {
	private readonly made = new Map<number, Float64Array>();

	constructor(
		private readonly windows: Columns,
		private readonly durationNs: number,
		private readonly windowNs: number,
	) {}

	/** The edges of buckets of so many windows: bucket b lies between edges[b] and edges[b + 1]. */
	edges(windowsEach: number): Float64Array {
		const each = Math.max(1, Math.round(windowsEach));
		let edges = this.made.get(each);
		if (!edges) {
			edges = this.build(each);
			this.made.set(each, edges);
		}
		return edges;
	}

	private build(each: number): Float64Array {
		const { begin_ns: begins, end_ns: ends } = this.windows;
		const count = begins?.length ?? 0;
		if (!count) {
			const buckets = Math.max(1, Math.ceil(this.durationNs / (this.windowNs * each) - 0.05));
			return Float64Array.from({ length: buckets + 1 }, (_, b) =>
				Math.min(b * this.windowNs * each, Math.max(1, this.durationNs)),
			);
		}
		const buckets = Math.ceil(count / each);
		const edges = new Float64Array(buckets + 1);
		for (let b = 0; b < buckets; b++) edges[b] = begins[b * each];
		edges[buckets] = Math.max(ends[count - 1], edges[buckets - 1] + 1);
		return edges;
	}
}

/** The bucket that a moment lies in; the first or the last one for a moment outside. */
export function bucketAt(edges: Float64Array, ns: number): number {
	let low = 0;
	let high = edges.length - 2;
	while (low < high) {
		const mid = (low + high + 1) >> 1;
		if (edges[mid] <= ns) low = mid;
		else high = mid - 1;
	}
	return low;
}

/** The edge that is nearest to a moment, by its number. */
export function nearestEdge(edges: Float64Array, ns: number): number {
	const bucket = bucketAt(edges, ns);
	return ns - edges[bucket] > edges[bucket + 1] - ns ? bucket + 1 : bucket;
}

/** The buckets [from, to) that a window touches. */
export function bucketsIn(edges: Float64Array, window: readonly [number, number] | null): [number, number] {
	if (!window) return [0, edges.length - 1];
	const from = bucketAt(edges, window[0] + TOLERANCE_NS);
	return [from, Math.max(from, bucketAt(edges, window[1] - TOLERANCE_NS)) + 1];
}

/** The usual length of a bucket: that of the first one. */
export function stepOf(edges: Float64Array): number {
	return edges[1] - edges[0];
}
