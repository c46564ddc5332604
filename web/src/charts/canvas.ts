// SPDX-License-Identifier: Apache-2.0
//
// What all canvases share: size in device pixels, the theme's colours for text and lines, fills with patterns.
import { FAMILIES, familyColour, type Pattern, type Theme } from "../colours";
import { theme, usesPatterns } from "../ui/theme";

const SMALL_PIXELS = 20_000;

/** Sets the canvas to a size in CSS pixels, and gives a cleared context that is scaled for the screen. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const scale = Math.max(1, Math.min(3, devicePixelRatio || 1));
	const w = Math.max(1, Math.round(width * scale));
	const h = Math.max(1, Math.round(height * scale));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	// Small pictures are many: they are cheaper without the graphics processor.
	const context = canvas.getContext("2d", {
		willReadFrequently: w * h < SMALL_PIXELS,
	}) as CanvasRenderingContext2D;
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

export interface Ink {
	text: string;
	soft: string;
	line: string;
	page: string;
	accent: string;
}

const INKS: Record<Theme, Ink> = {
	light: { text: "#1b1e23", soft: "#5b6470", line: "#dde1e6", page: "#ffffff", accent: "#0b5cad" },
	dark: { text: "#e6e8eb", soft: "#a0a8b3", line: "#343a42", page: "#14171a", accent: "#7db7f5" },
};

export function ink(): Ink {
	return INKS[theme()];
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

const patternCache = new Map<string, CanvasPattern | string>();

/** The fill of a family: its colour, with a pattern on it if the reader wants them (unattributed always has one). */
export function familyFill(family: number): CanvasPattern | string {
	const { pattern } = FAMILIES[family];
	return usesPatterns() || pattern === "hatch" ? patternFill(family, pattern) : familyColour(family, theme());
}

/** The colour of a family with a pattern on it. */
export function patternFill(family: number, pattern: Pattern): CanvasPattern | string {
	const colour = familyColour(family, theme());
	if (pattern === "none") return colour;
	const key = `${theme()} ${family} ${pattern}`;
	let made = patternCache.get(key);
	if (!made) {
		made = drawPattern(pattern, colour);
		patternCache.set(key, made);
	}
	return made;
}

function drawPattern(pattern: Pattern, colour: string): CanvasPattern | string {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const context = tile.getContext("2d");
	if (!context) return colour;
	const isHatch = pattern === "hatch";
	context.fillStyle = isHatch ? ink().page : colour;
	context.fillRect(0, 0, 8, 8);
	context.strokeStyle = context.fillStyle = isHatch
		? colour
		: theme() === "light"
			? "rgba(255,255,255,.7)"
			: "rgba(0,0,0,.6)";
	context.lineWidth = isHatch ? 2 : 1.2;
	context.beginPath();
	if (pattern === "rise" || pattern === "cross" || isHatch)
		for (const x of [-8, 0, 8]) {
			context.moveTo(x, 8);
			context.lineTo(x + 8, 0);
		}
	if (pattern === "fall" || pattern === "cross")
		for (const x of [-8, 0, 8]) {
			context.moveTo(x, 0);
			context.lineTo(x + 8, 8);
		}
	if (pattern === "level") {
		context.moveTo(0, 4);
		context.lineTo(8, 4);
	}
	if (pattern === "upright") {
		context.moveTo(4, 0);
		context.lineTo(4, 8);
	}
	if (pattern === "dots") context.fillRect(2, 2, 3, 3);
	context.stroke();
	return context.createPattern(tile, "repeat") ?? colour;
}

/** Text cut to a width, with an ellipsis; empty if not even three characters fit. */
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
	let cut = text.length > 400 ? text.slice(0, 400) : text;
	for (let shown = cut; cut.length >= 2; shown = `${cut}…`) {
		const needed = context.measureText(shown).width;
		if (needed <= width) return shown;
		cut = cut.slice(0, Math.min(cut.length - 1, Math.floor((cut.length * width) / needed)));
	}
	return "";
}

/** A name that ends in a number, cut to a width: the number stays. */
export function fitName(context: CanvasRenderingContext2D, name: string, width: number): string {
	if (context.measureText(name).width <= width) return name;
	const at = name.lastIndexOf(" ");
	if (at < 0) return fitText(context, name, width);
	const end = name.slice(at);
	return fitText(context, name.slice(0, at), width - context.measureText(end).width) + end;
}

/** Round steps for an axis of time that leave about `wanted` labels. */
export function timeStep(lengthNs: number, wanted: number): number {
	const steps = [
		1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9,
		5e9, 1e10, 15e9, 3e10, 6e10, 12e10, 3e11, 6e11, 9e11, 18e11, 36e11, 72e11, 144e11, 288e11, 864e11,
	];
	return steps.find((step) => lengthNs / step <= wanted) ?? steps[steps.length - 1];
}
