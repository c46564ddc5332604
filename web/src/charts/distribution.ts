// SPDX-License-Identifier: Apache-2.0
//
// The distribution of a signal's values: a histogram, and a heat map of time × value. Both have a logarithmic axis of
// values, as the slots have.
import { bucketAt } from "../data/time_grid";
import { inUnit, moment } from "../format";
import { theme } from "../ui/theme";
import { hideTip, showTip, type Tip } from "../ui/tooltip";
import { FONT, ink, prepare, timeStep } from "./canvas";

export interface Distribution {
	/** Counts by slot, in the window. */
	counts: Float64Array;
	/** Counts by bucket and slot: heat[bucket * slots + slot]. */
	heat: Float64Array;
	slots: Float64Array;
	/** Bucket b lies between edges[b] and edges[b + 1]. */
	edges: Float64Array;
	unit: string;
	window: [number, number] | null;
	marks: { value: number; label: string }[];
	/** The first and the last slot that has values. */
	range: [number, number];
}

const LEFT = 62;
const BOTTOM = 24;

/** One hue, from pale to dark (or the reverse in the dark): lightness alone tells the amount, so it prints in grey. */
function shade(share: number): string {
	const t = Math.sqrt(share);
	const [from, to] =
		theme() === "light"
			? [
					[226, 236, 247],
					[13, 42, 99],
				]
			: [
					[32, 44, 60],
					[196, 224, 255],
				];
	const mix = (i: number) => Math.round(from[i] + (to[i] - from[i]) * t);
	return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
}

abstract class Chart {
	readonly canvas = document.createElement("canvas");
	protected data: Distribution | null = null;

	constructor(protected readonly height: number) {
		this.canvas.addEventListener("pointermove", (event) =>
			showTip(event, this.tip(event.offsetX, event.offsetY)),
		);
		this.canvas.addEventListener("pointerleave", hideTip);
	}

	show(data: Distribution): void {
		this.data = data;
		this.draw();
	}

	draw(): void {
		if (!this.data) return;
		const width = this.canvas.parentElement?.clientWidth ?? 400;
		const context = prepare(this.canvas, width, this.height);
		context.font = `12px ${FONT}`;
		this.paint(context, this.data, width);
	}

	protected abstract paint(context: CanvasRenderingContext2D, data: Distribution, width: number): void;
	protected abstract tip(x: number, y: number): Tip | null;

	protected slotName(data: Distribution, slot: number): string {
		const upper = data.slots[slot + 1];
		return upper === undefined
			? `from ${inUnit(data.slots[slot], data.unit)}`
			: `${inUnit(data.slots[slot], data.unit)} – ${inUnit(upper, data.unit)}`;
	}
}

export class Histogram extends Chart {
	protected paint(context: CanvasRenderingContext2D, data: Distribution, width: number): void {
		const colours = ink();
		const [low, high] = data.range;
		const slots = high - low + 1;
		const plotWidth = width - LEFT - 8;
		const plotHeight = this.height - BOTTOM - 26;
		let max = 0;
		for (let s = low; s <= high; s++) max = Math.max(max, data.counts[s]);
		const x = (slot: number) => LEFT + ((slot - low) / slots) * plotWidth;
		context.fillStyle = theme() === "light" ? "#35618f" : "#7fa9d6";
		for (let s = low; s <= high; s++) {
			const tall = max > 0 ? (data.counts[s] / max) * plotHeight : 0;
			if (tall > 0)
				context.fillRect(
					x(s),
					26 + plotHeight - Math.max(1, tall),
					Math.max(1, plotWidth / slots - 1),
					Math.max(1, tall),
				);
		}
		context.fillStyle = colours.line;
		context.fillRect(LEFT, 26 + plotHeight, plotWidth, 1);
		context.fillStyle = colours.soft;
		context.textAlign = "center";
		const labels = Math.max(2, Math.floor(plotWidth / 84));
		const every = Math.max(1, Math.ceil(slots / labels));
		for (let s = low; s <= high; s += every)
			context.fillText(
				inUnit(data.slots[s], data.unit),
				Math.min(width - 30, Math.max(LEFT + 12, x(s))),
				this.height - 8,
			);
		context.textAlign = "right";
		context.fillText(Math.round(max).toLocaleString("en-US"), LEFT - 6, 34);
		context.fillText("0", LEFT - 6, 26 + plotHeight + 4);
		let free = LEFT;
		for (const mark of data.marks) {
			let slot = low;
			while (slot < high && data.slots[slot + 1] <= mark.value) slot++;
			const at = x(slot + 0.5);
			context.fillStyle = colours.text;
			context.fillRect(at - 0.5, 18, 1, plotHeight + 8);
			const text = mark.label;
			const w = context.measureText(text).width;
			if (at - w / 2 < free) continue;
			context.textAlign = "center";
			context.fillText(text, Math.min(at, width - w / 2 - 2), 13);
			free = at + w / 2 + 8;
		}
	}

	protected tip(x: number): Tip | null {
		const { data } = this;
		if (!data) return null;
		const [low, high] = data.range;
		const slot =
			low +
			Math.floor(((x - LEFT) / Math.max(1, this.canvas.clientWidth - LEFT - 8)) * (high - low + 1));
		if (slot < low || slot > high) return null;
		return {
			title: this.slotName(data, slot),
			lines: [["values", Math.round(data.counts[slot]).toLocaleString("en-US")]],
		};
	}
}

export class HeatMap extends Chart {
	private most = 0;

	protected paint(context: CanvasRenderingContext2D, data: Distribution, width: number): void {
		const colours = ink();
		const [low, high] = data.range;
		const rows = high - low + 1;
		const slots = data.slots.length;
		const plotWidth = width - LEFT - 8;
		const plotHeight = this.height - BOTTOM - 8;
		this.most = 0;
		const buckets = data.edges.length - 1;
		const [begin, end] = [data.edges[0], data.edges[buckets]];
		for (let b = 0; b < buckets; b++)
			for (let s = low; s <= high; s++) this.most = Math.max(this.most, data.heat[b * slots + s]);
		const x = (ns: number) => LEFT + ((ns - begin) / (end - begin)) * plotWidth;
		const y = (slot: number) => 8 + plotHeight - ((slot - low) / rows) * plotHeight;
		for (let b = 0; b < buckets; b++)
			for (let s = low; s <= high; s++) {
				const amount = data.heat[b * slots + s];
				if (amount <= 0) continue;
				context.fillStyle = shade(amount / this.most);
				const left = x(data.edges[b]);
				context.fillRect(
					left,
					y(s + 1),
					Math.max(1, x(data.edges[b + 1]) - left - (buckets < 200 ? 1 : 0)),
					Math.max(1, plotHeight / rows - (rows < 60 ? 1 : 0)),
				);
			}
		context.fillStyle = colours.line;
		context.fillRect(LEFT, 8 + plotHeight, plotWidth, 1);
		context.fillRect(LEFT - 1, 8, 1, plotHeight);
		context.fillStyle = colours.soft;
		context.textAlign = "right";
		const every = Math.max(1, Math.ceil(rows / Math.max(2, Math.floor(plotHeight / 28))));
		for (let s = low; s <= high; s += every)
			context.fillText(inUnit(data.slots[s], data.unit), LEFT - 6, y(s) + 1);
		context.textAlign = "center";
		const step = timeStep(end - begin, Math.max(2, plotWidth / 90));
		for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
			const left = x(at);
			if (left > width - 14) break;
			context.fillText(moment(at, step), Math.max(LEFT + 8, left), this.height - 8);
		}
		if (data.window) {
			context.strokeStyle = colours.accent;
			context.lineWidth = 2;
			const from = x(data.window[0]);
			context.strokeRect(from, 8, Math.max(2, x(data.window[1]) - from), plotHeight);
		}
	}

	protected tip(x: number, y: number): Tip | null {
		const { data } = this;
		if (!data) return null;
		const [low, high] = data.range;
		const plotHeight = this.height - BOTTOM - 8;
		const buckets = data.edges.length - 1;
		const share = (x - LEFT) / Math.max(1, this.canvas.clientWidth - LEFT - 8);
		const bucket =
			share < 0 || share > 1
				? -1
				: bucketAt(data.edges, data.edges[0] + share * (data.edges[buckets] - data.edges[0]));
		const slot = low + Math.floor(((8 + plotHeight - y) / plotHeight) * (high - low + 1));
		if (bucket < 0 || slot < low || slot > high) return null;
		const amount = data.heat[bucket * data.slots.length + slot];
		return {
			title: `${moment(data.edges[bucket], 1e8)} · ${this.slotName(data, slot)}`,
			lines: [
				["values", Math.round(amount).toLocaleString("en-US")],
				["strongest cell", Math.round(this.most).toLocaleString("en-US")],
			],
		};
	}
}
