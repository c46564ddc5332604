// SPDX-License-Identifier: Apache-2.0
//
// Threads as rows of states: per cell the state in which the thread spent most of the bucket. The canvas is as high as
// what is visible; 10,000 rows are scrolled through, not drawn. With a chosen thread, lines lead from its waits to the
// threads that ended them.
import { FAMILIES, familyColour } from "../colours";
import type { StateRows } from "../data/state_rows";
import { bucketAt } from "../data/time_grid";
import { duration, moment, percent } from "../format";
import { theme } from "../ui/theme";
import { hideTip, showTip } from "../ui/tooltip";
import { familyFill, fitName, FONT, ink, prepare, timeStep } from "./canvas";

export const LANE = 18;
const AXIS = 22;
const MAX_HEIGHT = 560;
const PRINTED_LANES = 40;
const MAX_LINES = 400;

export interface WakeLine {
	bucket: number;
	waiter: number;
	waker: number;
	ns: number;
}

export interface TimelineData {
	rows: StateRows;
	families: Int32Array;
	isIdle: Uint8Array;
	/** Threads in the order of their lanes. */
	threads: Int32Array;
	name(thread: number): string;
	stateName(state: number): string;
	from: number;
	to: number;
	chosen: number;
	wakes: WakeLine[];
	/** The edges of the buckets of `wakes`. */
	wakeEdges: Float64Array;
}

export class Timeline {
	readonly element: HTMLElement;
	private readonly scroller = document.createElement("div");
	private readonly sizer = document.createElement("div");
	private readonly canvas = document.createElement("canvas");
	private data: TimelineData | null = null;
	private sums = new Float64Array(0);
	private cells = new Float64Array(0);

	constructor(private readonly onThread: (thread: number) => void) {
		this.element = document.createElement("div");
		this.element.className = "timeline";
		this.scroller.className = "timeline-scroll";
		this.scroller.tabIndex = 0;
		this.scroller.setAttribute("role", "region");
		this.scroller.setAttribute(
			"aria-label",
			"States of threads over time; the table below has the same data",
		);
		this.canvas.className = "timeline-canvas";
		this.canvas.setAttribute("aria-hidden", "true");
		this.sizer.append(this.canvas);
		this.scroller.append(this.sizer);
		this.element.append(this.scroller);
		this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
		this.canvas.addEventListener("pointermove", (event) => this.point(event));
		this.canvas.addEventListener("pointerleave", hideTip);
		this.canvas.addEventListener("click", (event) => {
			const lane = this.laneAt(event.offsetY);
			if (this.data && lane >= 0) this.onThread(this.data.threads[lane]);
		});
	}

	show(data: TimelineData): void {
		this.data = data;
		this.sums = new Float64Array(data.rows.states);
		this.scroller.scrollTop = 0;
		this.draw();
	}

	private get left(): number {
		return this.scroller.clientWidth < 600 ? 110 : 190;
	}

	private x(ns: number): number {
		const [begin, end] = this.ends();
		return (
			this.left +
			((ns - begin) / Math.max(1, end - begin)) * (this.scroller.clientWidth - this.left - 4)
		);
	}

	/** The moments at the left and at the right. */
	private ends(): [number, number] {
		const { rows, from, to } = this.data as TimelineData;
		return [rows.edges[from], rows.edges[to]];
	}

	private laneAt(y: number): number {
		const lane = Math.floor((y - AXIS + this.scroller.scrollTop) / LANE);
		return this.data && y >= AXIS && lane >= 0 && lane < this.data.threads.length ? lane : -1;
	}

	draw(): void {
		const { data } = this;
		if (!data) return;
		const printing = document.documentElement.hasAttribute("data-printing");
		const lanes = printing ? Math.min(PRINTED_LANES, data.threads.length) : data.threads.length;
		const all = lanes * LANE + AXIS;
		const height = printing ? all : Math.min(MAX_HEIGHT, all);
		this.scroller.style.height = `${height}px`;
		this.sizer.style.height = `${all}px`;
		const width = this.scroller.clientWidth;
		const context = prepare(this.canvas, width, height);
		const colours = ink();
		const first = Math.floor(this.scroller.scrollTop / LANE);
		const last = Math.min(lanes, first + Math.ceil(height / LANE) + 1);
		context.font = `12px ${FONT}`;
		context.textBaseline = "middle";
		for (let lane = first; lane < last; lane++) this.drawLane(context, lane, this.laneY(lane));
		this.drawLines(context);
		context.fillStyle = colours.page;
		context.fillRect(0, 0, width, AXIS);
		this.drawAxis(context, width);
	}

	private laneY(lane: number): number {
		return AXIS + lane * LANE - this.scroller.scrollTop;
	}

	private drawLane(context: CanvasRenderingContext2D, lane: number, y: number): void {
		const data = this.data as TimelineData;
		const { rows } = data;
		const thread = data.threads[lane];
		const colours = ink();
		const isChosen = thread === data.chosen;
		if (isChosen) {
			context.fillStyle = colours.line;
			context.fillRect(0, y, this.left, LANE);
		}
		context.font = isChosen ? `600 12px ${FONT}` : `12px ${FONT}`;
		context.fillStyle = colours.text;
		context.textAlign = "left";
		context.fillText(fitName(context, data.name(thread), this.left - 10), 4, y + LANE / 2);
		const { from, to } = data;
		const cells = (to - from) * rows.states;
		if (this.cells.length < cells) this.cells = new Float64Array(cells);
		this.cells.fill(0, 0, cells);
		rows.addKey(thread, from, to, this.cells);
		let run = 0;
		let begin = from;
		for (let bucket = from; bucket <= to; bucket++) {
			const cell = bucket < to ? this.cell(bucket - from) : -1;
			if (cell === run) continue;
			if (run > 0) this.drawRun(context, run, this.x(rows.edges[begin]), this.x(rows.edges[bucket]), y);
			run = cell;
			begin = bucket;
		}
	}

	/** Cells alike are drawn at once. Where a thread mostly waited for work, what it did besides is a bar from the bottom. */
	private drawRun(
		context: CanvasRenderingContext2D,
		cell: number,
		left: number,
		right: number,
		y: number,
	): void {
		const width = Math.max(0.6, right - left - 0.5);
		context.fillStyle = familyFill((cell & 31) - 1);
		context.fillRect(left, y + 2, width, LANE - 3);
		const tall = cell >> 10;
		if (!tall) return;
		context.fillStyle = familyFill(((cell >> 5) & 31) - 1);
		context.fillRect(left, y + LANE - 1 - tall, width, tall);
	}

	/** A cell as one number: 1 + the family with most time, 1 + the busy family with most, and the height of its bar. 0: none. */
	private cell(bucket: number): number {
		const { rows, families, isIdle } = this.data as TimelineData;
		let best = -1;
		let busiest = -1;
		let sum = 0;
		let busy = 0;
		const at = bucket * rows.states;
		for (let s = 0; s < rows.states; s++) {
			const ns = this.cells[at + s];
			if (ns <= 0) continue;
			sum += ns;
			if (best < 0 || ns > this.cells[at + best]) best = s;
			if (isIdle[s]) continue;
			busy += ns;
			if (busiest < 0 || ns > this.cells[at + busiest]) busiest = s;
		}
		if (best < 0) return 0;
		if (!isIdle[best] || busiest < 0) return families[best] + 1;
		const tall = Math.max(1, Math.round((busy / sum) * (LANE - 3)));
		return (families[best] + 1) | ((families[busiest] + 1) << 5) | (tall << 10);
	}

	private drawLines(context: CanvasRenderingContext2D): void {
		const data = this.data as TimelineData;
		if (!data.wakes.length) return;
		const laneOf = new Map<number, number>();
		data.threads.forEach((thread, lane) => laneOf.set(thread, lane));
		const colours = ink();
		context.save();
		context.strokeStyle = context.fillStyle = colours.text;
		const largest = data.wakes.reduce((max, wake) => Math.max(max, wake.ns), 1);
		for (const wake of data.wakes.slice(0, MAX_LINES)) {
			const from = laneOf.get(wake.waiter);
			const to = laneOf.get(wake.waker);
			if (from === undefined || to === undefined) continue;
			const x = this.x((data.wakeEdges[wake.bucket] + data.wakeEdges[wake.bucket + 1]) / 2);
			const y0 = this.laneY(from) + LANE / 2;
			const y1 = this.laneY(to) + LANE / 2;
			context.globalAlpha = 0.35 + 0.65 * (wake.ns / largest);
			context.lineWidth = 1 + 1.5 * (wake.ns / largest);
			const down = y1 > y0 ? 1 : -1;
			context.beginPath();
			context.moveTo(x, y0);
			context.lineTo(x, y1 - down * 5);
			context.stroke();
			context.beginPath();
			context.moveTo(x, y1);
			context.lineTo(x - 4, y1 - down * 7);
			context.lineTo(x + 4, y1 - down * 7);
			context.fill();
			context.beginPath();
			context.arc(x, y0, 2.5, 0, 7);
			context.fill();
		}
		context.restore();
	}

	private drawAxis(context: CanvasRenderingContext2D, width: number): void {
		const colours = ink();
		const [begin, end] = this.ends();
		const length = end - begin;
		const step = timeStep(length, Math.max(2, (width - this.left) / 90));
		context.font = `12px ${FONT}`;
		context.fillStyle = colours.soft;
		context.textAlign = "center";
		for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
			const x = this.x(at);
			if (x < this.left + 8 || x > width - 16) continue;
			context.fillText(moment(at, step), x, AXIS / 2 - 1);
			context.fillRect(x - 0.5, AXIS - 5, 1, 4);
		}
		context.fillRect(this.left, AXIS - 1, width - this.left - 4, 1);
	}

	private point(event: PointerEvent): void {
		const { data } = this;
		const lane = this.laneAt(event.offsetY);
		if (!data || lane < 0) return hideTip();
		const thread = data.threads[lane];
		const share = (event.offsetX - this.left) / Math.max(1, this.scroller.clientWidth - this.left - 4);
		const [begin, end] = this.ends();
		const { edges } = data.rows;
		const bucket = bucketAt(edges, begin + share * (end - begin));
		if (share < 0)
			return showTip(event, {
				title: data.name(thread),
				lines: [],
				note: "Click to select this thread.",
			});
		this.sums.fill(0);
		let sum = 0;
		data.rows.addKey(thread, bucket, bucket + 1, this.sums);
		for (const ns of this.sums) sum += ns;
		const order = [...this.sums.keys()]
			.filter((state) => this.sums[state] > 0)
			.sort((a, b) => this.sums[b] - this.sums[a]);
		const wakes = data.wakes.filter(
			(wake) => wake.waiter === thread && bucketAt(data.wakeEdges, edges[bucket]) === wake.bucket,
		);
		showTip(event, {
			title: `${data.name(thread)} · ${moment(edges[bucket], 1e8)}`,
			lines: order
				.slice(0, 8)
				.map((state) => [
					data.stateName(state),
					`${duration(this.sums[state])} · ${percent(this.sums[state] / sum)}`,
					familyColour(data.families[state], theme()),
				]),
			note: wakes.length
				? `woken by ${wakes
						.slice(0, 3)
						.map((wake) => `${data.name(wake.waker)} (${duration(wake.ns)})`)
						.join(", ")}`
				: order.length
					? undefined
					: "no time of this thread was measured here",
		});
	}
}

/** The families that a legend has to name. */
export function familiesShown(sums: Float64Array, families: Int32Array): number[] {
	const shown = new Set<number>();
	for (let state = 0; state < sums.length; state++) if (sums[state] > 0) shown.add(families[state]);
	return FAMILIES.map((_, f) => f).filter((f) => shown.has(f));
}
