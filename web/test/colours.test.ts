// SPDX-License-Identifier: Apache-2.0
//
// The palette by numbers: families of states must differ for normal vision and for the three common deficiencies
// (matrices of Machado, Oliveira and Fernandes, 2009, severity 1), and text must be readable on each colour.
import assert from "node:assert/strict";
import { test } from "node:test";
import { channels, FAMILIES, familiesOf, LOOKS, luminance, textOn, type Theme } from "../src/colours";

const LEAST_DISTANCE = 0.11; // in OKLab; 0.02 is just noticeable side by side
const LEAST_CONTRAST = 4.5; // WCAG AA

const VISIONS: Record<string, number[][] | null> = {
	normal: null,
	protanopia: [
		[0.152286, 1.052583, -0.204868],
		[0.114503, 0.786281, 0.099216],
		[-0.003882, -0.048116, 1.051998],
	],
	deuteranopia: [
		[0.367322, 0.860646, -0.227968],
		[0.280085, 0.672501, 0.047413],
		[-0.01182, 0.04294, 0.968881],
	],
	tritanopia: [
		[1.255528, -0.076749, -0.178779],
		[-0.078411, 0.930809, 0.147602],
		[0.004733, 0.691367, 0.3039],
	],
};

function linear(colour: string): number[] {
	return channels(colour).map((c) =>
		c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
	);
}

function oklab([r, g, b]: number[]): number[] {
	const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
	const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
	const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
	return [
		0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
		1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
		0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
	];
}

function seen(colour: string, matrix: number[][] | null): number[] {
	const rgb = linear(colour);
	const shown = matrix ? matrix.map((row) => row.reduce((sum, x, i) => sum + x * rgb[i], 0)) : rgb;
	return oklab(shown.map((c) => Math.min(1, Math.max(0, c))));
}

for (const theme of ["light", "dark"] as Theme[])
	for (const [vision, matrix] of Object.entries(VISIONS))
		test(`any two families differ by ${LEAST_DISTANCE} or more: ${theme}, ${vision}`, () => {
			const solid = FAMILIES.filter((family) => family.pattern !== "hatch");
			for (const a of solid)
				for (const b of solid)
					if (a.id < b.id) {
						const distance = Math.hypot(
							...seen(a[theme], matrix).map((x, i) => x - seen(b[theme], matrix)[i]),
						);
						assert.ok(distance >= LEAST_DISTANCE, `${a.id} and ${b.id}: ${distance.toFixed(3)}`);
					}
		});

test(`text on frames and states has a contrast of ${LEAST_CONTRAST} or more`, () => {
	const light = (colour: string) => luminance(...channels(colour));
	for (const theme of ["light", "dark"] as Theme[])
		for (const [name, colours] of [
			...Object.entries(LOOKS),
			...FAMILIES.map((family) => [family.id, family] as const),
		]) {
			const [a, b] = [light(colours[theme]), light(textOn(colours[theme]))];
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			assert.ok(contrast >= LEAST_CONTRAST, `${name}, ${theme}: ${contrast.toFixed(2)}`);
		}
});

test("each state of the contract has a family, and unknown ones that of their kind", () => {
	const families = familiesOf([
		{ id: 0, name: "unattributed", meaning: "", kind: "unattributed" },
		{ id: 1, name: "cpu.user", meaning: "", kind: "cpu" },
		{ id: 2, name: "blocked.sleep", meaning: "", kind: "idle" },
		{ id: 3, name: "blocked.idle", meaning: "", kind: "idle" },
		{ id: 4, name: "cpu.new", meaning: "", kind: "cpu" },
		{ id: 5, name: "blocked.new", meaning: "", kind: "blocked" },
	]);
	assert.deepEqual(
		[...families].map((f) => FAMILIES[f].id),
		["unattributed", "user", "sleep", "idle", "user", "sleep"],
	);
});
