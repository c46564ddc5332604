// SPDX-License-Identifier: Apache-2.0
//
// The ledger over time: stacked, stepped areas of state families (uPlot), in threads: how many threads on average were in
// such a state. Dragging selects a window; losses, governor steps and gaps are marks on the same axis.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { FAMILIES, familyColour } from "../colours";
import type { Mark } from "../data/head";
import { bucketAt, nearestEdge } from "../data/time_grid";
import { duration, moment, three } from "../format";
import { theme } from "../ui/theme";
import { hideTip, showTip } from "../ui/tooltip";
import { familyFill, FONT, ink, timeStep } from "./canvas";

export interface AreaData {
	/** Nanoseconds by bucket and family: ns[bucket * FAMILIES.length + family]. */
	ns: Float64Array;
	/** Bucket b lies between edges[b] and edges[b + 1]. */
	edges: Float64Array;
	window: [number, number] | null;
	marks: Mark[];
	/** A dashed line, such as the number of CPUs. */
	limit: { value: number; label: string } | null;
}

const MARK_SHAPES: Record<Mark["kind"], { glyph: string; label: string }> = {
	loss: { glyph: "×", label: "loss" },
	step: { glyph: "▲", label: "overhead limit" },
	gap: { glyph: "–", label: "gap" },
};

export class Areas {
	readonly element: HTMLElement;
	private plot: uPlot | null = null;
	private data: AreaData | null = null;
	private sizer: ResizeObserver;

	constructor(
		private readonly height: number,
		private readonly onWindow: (window: [number, number] | null) => void,
	) {
		this.element = document.createElement("div");
		this.element.className = "areas";
		let width = 0;
		this.sizer = new ResizeObserver(() => {
			if (Math.abs(this.element.clientWidth - width) < 2) return;
			width = this.element.clientWidth;
			this.plot?.setSize({ width, height: this.height });
		});
		this.sizer.observe(this.element);
		this.element.addEventListener("pointerleave", hideTip);
	}

	show(data: AreaData): void {
		this.data = data;
		if (this.plot) this.plot.setData(this.stack(data));
		else this.plot = new uPlot(this.options(), this.stack(data), this.element);
	}

	/** Colours are part of a plot: another theme needs another one. */
	redraw(): void {
		this.plot?.destroy();
		this.plot = null;
		if (this.data) this.show(this.data);
	}

	/** Each series is the sum of its family and all below it, so that the upper ones are drawn first. */
	private stack(data: AreaData): uPlot.AlignedData {
		const points = data.edges.length;
		const buckets = points - 1;
		const columns: number[][] = FAMILIES.map(() => new Array<number>(points).fill(0));
		for (let b = 0; b < buckets; b++) {
			const length = data.edges[b + 1] - data.edges[b];
			let sum = 0;
			for (let f = 0; f < FAMILIES.length; f++) {
				sum += Math.max(0, data.ns[b * FAMILIES.length + f]) / length;
				columns[f][b] = sum;
			}
		}
		for (const column of columns) column[points - 1] = column[Math.max(0, points - 2)];
		return [Array.from(data.edges, (ns) => ns / 1e9), ...columns.reverse()];
	}

	private options(): uPlot.Options {
		const colours = ink();
		const order = FAMILIES.map((_, f) => FAMILIES.length - 1 - f);
		const font = `12px ${FONT}`;
		const axis = {
			stroke: colours.soft,
			font,
			ticks: { stroke: colours.line, width: 1, size: 4 },
			grid: { stroke: colours.line, width: 1 },
		};
		return {
			width: this.element.clientWidth || 800,
			height: this.height,
			padding: [14, 26, 0, 0],
			legend: { show: false },
			cursor: {
				drag: { x: true, y: false, setScale: false, dist: 4 },
				points: { show: false },
				y: false,
			},
			scales: {
				x: { time: false },
				y: {
					range: (_plot, _min, max) => [0, Math.max(max, this.data?.limit?.value ?? 0) * 1.06 || 1],
				},
			},
			axes: [
				{
					...axis,
					size: 30,
					grid: { show: false },
					splits: (_plot, _axis, min, max) => splits(min, max, this.element.clientWidth),
					values: (_plot, ticks) => ticks.map((tick) => moment(tick * 1e9, stepOf(ticks))),
				},
				{
					...axis,
					size: 44,
					gap: 4,
					values: (_plot, ticks) =>
						ticks.map((tick) => tick.toLocaleString("en-US", { maximumFractionDigits: 3 })),
				},
			],
			series: [
				{},
				...order.map((f) => ({
					label: FAMILIES[f].label,
					fill: () => familyFill(f) as string,
					stroke: colours.page,
					width: 0.5,
					points: { show: false },
					paths: uPlot.paths.stepped?.({ align: 1 }),
				})),
			],
			hooks: {
				setSelect: [(plot) => this.data && this.selected(plot, this.data)],
				setCursor: [(plot) => this.data && this.pointed(plot, this.data)],
				draw: [(plot) => this.data && this.decorate(plot, this.data)],
			},
		};
	}

	private selected(plot: uPlot, data: AreaData): void {
		const { left, width } = plot.select;
		if (width < 3) return;
		const from = plot.posToVal(left, "x") * 1e9;
		const to = plot.posToVal(left + width, "x") * 1e9;
		plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
		const last = data.edges.length - 1;
		const begin = Math.min(last - 1, nearestEdge(data.edges, from));
		const end = Math.max(begin + 1, nearestEdge(data.edges, to));
		this.onWindow(begin === 0 && end === last ? null : [data.edges[begin], data.edges[end]]);
	}

	private pointed(plot: uPlot, data: AreaData): void {
		const { left, top } = plot.cursor;
		if (left === undefined || left < 0 || top === undefined) return hideTip();
		const at = plot.posToVal(left, "x") * 1e9;
		const bucket = bucketAt(data.edges, at);
		const length = data.edges[bucket + 1] - data.edges[bucket];
		const lines: [string, string, string][] = [];
		for (let f = FAMILIES.length - 1; f >= 0; f--) {
			const ns = data.ns[bucket * FAMILIES.length + f];
			if (ns > 0)
				lines.push([
					FAMILIES[f].label,
					`${three(ns / length)} · ${duration(ns)}`,
					familyColour(f, theme()),
				]);
		}
		const near = data.marks.filter((mark) => bucketAt(data.edges, mark.ts_ns) === bucket);
		const box = plot.over.getBoundingClientRect();
		showTip(
			{ clientX: box.left + left, clientY: box.top + top },
			{
				title: `${moment(data.edges[bucket], 1e8)} – ${moment(data.edges[bucket + 1], 1e8)}`,
				lines,
				note:
					near
						.slice(0, 3)
						.map(
							(mark) =>
								`${MARK_SHAPES[mark.kind]?.glyph ?? ""} ${mark.text}${mark.count > 1 ? ` (${mark.count})` : ""}`,
						)
						.join("\n") || "threads on average · time in sum",
			},
		);
	}

	private decorate(plot: uPlot, data: AreaData): void {
		const { ctx, bbox } = plot;
		const colours = ink();
		const pixels = devicePixelRatio || 1;
		const x = (ns: number) => plot.valToPos(ns / 1e9, "x", true);
		ctx.save();
		if (data.window) {
			ctx.fillStyle = theme() === "light" ? "rgba(255,255,255,.72)" : "rgba(20,23,26,.74)";
			const [from, to] = data.window.map(x);
			ctx.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
			ctx.fillRect(to, bbox.top, bbox.left + bbox.width - to, bbox.height);
			ctx.strokeStyle = colours.accent;
			ctx.lineWidth = 2 * pixels;
			ctx.strokeRect(from, bbox.top, to - from, bbox.height);
		}
		if (data.limit) {
			const y = plot.valToPos(data.limit.value, "y", true);
			ctx.setLineDash([5 * pixels, 4 * pixels]);
			ctx.strokeStyle = colours.text;
			ctx.lineWidth = pixels;
			ctx.beginPath();
			ctx.moveTo(bbox.left, y);
			ctx.lineTo(bbox.left + bbox.width, y);
			ctx.stroke();
			ctx.setLineDash([]);
			ctx.font = `${12 * pixels}px ${FONT}`;
			const width = ctx.measureText(data.limit.label).width;
			ctx.fillStyle = colours.page;
			const left = bbox.left + bbox.width - width - 12 * pixels;
			ctx.fillRect(left, y - 18 * pixels, width + 8 * pixels, 15 * pixels);
			ctx.fillStyle = colours.text;
			ctx.textAlign = "left";
			ctx.fillText(data.limit.label, left + 4 * pixels, y - 6 * pixels);
		}
		ctx.font = `bold ${13 * pixels}px ${FONT}`;
		ctx.textAlign = "center";
		for (const mark of data.marks) {
			ctx.fillStyle = mark.kind === "loss" ? "#c4122f" : colours.text;
			ctx.fillText(MARK_SHAPES[mark.kind]?.glyph ?? "•", x(mark.ts_ns), bbox.top + 4 * pixels);
			ctx.fillRect(x(mark.ts_ns) - pixels / 2, bbox.top + 5 * pixels, pixels, bbox.height - 5 * pixels);
		}
		ctx.restore();
	}
}

/** What the marks mean, for the legend. */
export function markLegend(marks: Mark[]): string {
	const kinds = [...new Set(marks.map((mark) => mark.kind))];
	return kinds
		.map((kind) => `${MARK_SHAPES[kind]?.glyph ?? "•"} ${MARK_SHAPES[kind]?.label ?? kind}`)
		.join("  ");
}

function splits(min: number, max: number, width: number): number[] {
	const step = timeStep((max - min) * 1e9, Math.max(2, width / 90)) / 1e9;
	const ticks: number[] = [];
	for (let tick = Math.ceil(min / step); tick * step <= max + step * 1e-6; tick++) ticks.push(tick * step);
	return ticks;
}

function stepOf(ticks: number[]): number {
	return ticks.length > 1 ? (ticks[1] - ticks[0]) * 1e9 : 1e9;
}
