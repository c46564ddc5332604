// SPDX-License-Identifier: Apache-2.0
//
// The two small pictures of a row: a bar of its states, and how much of it was busy over time.
import { FAMILIES } from "../colours";
import { familyFill, ink, prepare } from "./canvas";

/** A bar of families, of which `total` is the full width. */
export function drawBar(
	canvas: HTMLCanvasElement,
	width: number,
	height: number,
	byFamily: ArrayLike<number>,
	total: number,
): void {
	const context = prepare(canvas, width, height);
	let x = 0;
	context.fillStyle = ink().line;
	context.fillRect(0, height - 1, width, 1);
	for (let f = 0; f < FAMILIES.length; f++) {
		const w = total > 0 ? (Math.max(0, byFamily[f]) / total) * width : 0;
		if (w <= 0.1) continue;
		context.fillStyle = familyFill(f);
		context.fillRect(x, 0, w, height);
		if (w > 2) {
			context.fillStyle = ink().page;
			context.fillRect(x + w - 0.5, 0, 0.5, height);
		}
		x += w;
	}
}

/** A row of columns, one a bucket, scaled to the largest. The window is drawn darker. */
export function drawSpark(
	canvas: HTMLCanvasElement,
	width: number,
	height: number,
	values: ArrayLike<number>,
	from: number,
	to: number,
): void {
	const context = prepare(canvas, width, height);
	let max = 0;
	for (let i = 0; i < values.length; i++) if (values[i] > max) max = values[i];
	const colours = ink();
	context.fillStyle = colours.line;
	context.fillRect(0, height - 1, width, 1);
	if (max <= 0) return;
	const columns = Math.min(values.length, Math.floor(width));
	for (let c = 0; c < columns; c++) {
		const begin = Math.floor((c * values.length) / columns);
		const end = Math.max(begin + 1, Math.floor(((c + 1) * values.length) / columns));
		let top = 0;
		for (let i = begin; i < end; i++) if (values[i] > top) top = values[i];
		const tall = (top / max) * (height - 1);
		context.fillStyle = end > from && begin < to ? colours.soft : colours.line;
		context.fillRect((c * width) / columns, height - tall, Math.max(0.75, width / columns - 0.25), tall);
	}
}
