// SPDX-License-Identifier: Apache-2.0
//
// Pictures of requests: a bar of what its time was spent on, and a bar in its place on the axis of time, below the line of
// the call that it answers.
import { familyIndex, PART_LOOKS } from "../colours";
import { moment } from "../format";
import { familyFill, FONT, ink, patternFill, prepare, timeStep } from "./canvas";

const LINE_Y = 5;
const TICK = 3;
const AXIS_LABEL = 84;

/** How long a look took: in the order of PART_LOOKS. */
export type ByLook = ArrayLike<number>;

export function lookFill(look: number): CanvasPattern | string {
	const { family, pattern } = PART_LOOKS[look];
	return pattern ? patternFill(familyIndex(family), pattern) : familyFill(familyIndex(family));
}

/** A rectangle of a look. A pale one has an outline: it is on the page's own colour. */
export function fillLook(
	context: CanvasRenderingContext2D,
	look: number,
	x: number,
	y: number,
	width: number,
	height: number,
): void {
	context.fillStyle = lookFill(look);
	context.fillRect(x, y, width, height);
	if (PART_LOOKS[look].family !== "idle" || width < 2) return;
	context.strokeStyle = ink().soft;
	context.lineWidth = 1;
	context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}

/** What a time was spent on, from `x` on, `scale` pixels a nanosecond; the end of it. */
export function drawParts(
	context: CanvasRenderingContext2D,
	byLook: ByLook,
	x: number,
	y: number,
	height: number,
	scale: number,
): number {
	const colours = ink();
	for (let look = 0; look < PART_LOOKS.length; look++) {
		const width = Math.max(0, byLook[look]) * scale;
		if (width > 0.1) {
			fillLook(context, look, x, y, width, height);
			if (width > 2) {
				context.fillStyle = colours.page;
				context.fillRect(x + width - 0.5, y, 0.5, height);
			}
		}
		x += width;
	}
	return x;
}

/** A bar of a budget, of which `whole` is the full width. */
export function drawBudget(
	canvas: HTMLCanvasElement,
	width: number,
	height: number,
	byLook: ByLook,
	whole: number,
): void {
	const context = prepare(canvas, width, height);
	drawParts(context, byLook, 0, 0, height, whole > 0 ? width / whole : 0);
}

export interface TimeAxis {
	begin: number;
	end: number;
	width: number;
}

export interface SpanPicture {
	/** The call, as its caller saw it. */
	call: { begin: number; first: number; end: number; isInferred: boolean } | null;
	/** The request, from data ready on. */
	request: { begin: number; byLook: ByLook } | null;
}

function ticks({ begin, end, width }: TimeAxis): { at: number; x: number; step: number }[] {
	const step = timeStep(end - begin, Math.max(2, width / AXIS_LABEL));
	const found = [];
	for (let at = 0; begin + at <= end; at += step)
		found.push({ at, x: (at / (end - begin)) * width, step });
	return found;
}

/** Time since the first of the spans began. */
export function drawTimeAxis(canvas: HTMLCanvasElement, axis: TimeAxis, height: number): void {
	const context = prepare(canvas, axis.width, height);
	const colours = ink();
	context.font = `12px ${FONT}`;
	context.textBaseline = "middle";
	context.fillStyle = colours.soft;
	for (const { at, x, step } of ticks(axis)) {
		context.fillRect(Math.min(axis.width - 1, x), height - 5, 1, 5);
		context.textAlign = at === 0 ? "left" : "center";
		const label = tickLabel(at, step);
		const half = context.measureText(label).width / 2;
		if (at === 0 || x + half <= axis.width) context.fillText(label, x, height / 2 - 2);
	}
	context.fillRect(0, height - 1, axis.width, 1);
}

/** 0, 20 ms, 1.5 s: with as few digits as the step needs, in the unit that latencies of that size have. */
function tickLabel(at: number, step: number): string {
	if (at === 0) return "0";
	if (step >= 5e8) return moment(at, step);
	const [unit, name] = step >= 1e5 ? [1e6, "ms"] : [1e3, "µs"];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
	return `${(at / unit).toFixed(digits)}\u202f${name}`;
}

export function drawSpan(
	canvas: HTMLCanvasElement,
	axis: TimeAxis,
	height: number,
	{ call, request }: SpanPicture,
): void {
	const context = prepare(canvas, axis.width, height);
	const colours = ink();
	const scale = axis.width / (axis.end - axis.begin);
	const x = (ns: number) => (ns - axis.begin) * scale;
	context.fillStyle = colours.line;
	for (const tick of ticks(axis)) context.fillRect(Math.min(axis.width - 1, tick.x), 0, 1, height);
	const top = call && request ? LINE_Y + TICK + 2 : 4;
	if (request) drawRequest(context, x(request.begin), top, height - top - 4, scale, request.byLook);
	if (!call) return;
	const y = request ? LINE_Y : height / 2;
	drawCall(context, x(call.begin), x(call.first), x(call.end), y, call.isInferred);
}

/** However short: a request is seen. */
function drawRequest(
	context: CanvasRenderingContext2D,
	x: number,
	y: number,
	height: number,
	scale: number,
	byLook: ByLook,
): void {
	const end = drawParts(context, byLook, x, y, height, scale);
	if (end - x >= 1.5) return;
	context.fillStyle = ink().text;
	context.fillRect(x, y, 1.5, height);
}

/** A line with ends; it is broken where the link is inferred, and thin once the answer comes. */
function drawCall(
	context: CanvasRenderingContext2D,
	begin: number,
	first: number,
	end: number,
	y: number,
	isInferred: boolean,
): void {
	const colours = ink();
	const right = Math.max(end, begin + 2);
	context.strokeStyle = context.fillStyle = colours.text;
	context.lineWidth = 1.5;
	context.setLineDash(isInferred ? [4, 3] : []);
	context.beginPath();
	context.moveTo(begin, y);
	context.lineTo(Math.max(begin + 1, Math.min(first, right)), y);
	context.stroke();
	context.lineWidth = 0.75;
	context.beginPath();
	context.moveTo(Math.min(first, right), y);
	context.lineTo(right, y);
	context.stroke();
	context.setLineDash([]);
	for (const at of [begin, right]) context.fillRect(at - 0.75, y - TICK, 1.5, 2 * TICK);
}
