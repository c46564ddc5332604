// SPDX-License-Identifier: Apache-2.0
//
// Colours carry meaning and nothing else. A state belongs to a family, a family has one colour a theme: CPU is warm, the
// run queue red, blocked cool, idle pale, unattributed a black hatch. Any two families differ by at least 0.11
// in OKLab, for normal vision and for protanopia, deuteranopia and tritanopia: web/test/colours.test.ts computes it.
import type { State } from "./data/head";

export type Theme = "light" | "dark";

export interface Family {
	id: string;
	label: string;
	light: string;
	dark: string;
	pattern: Pattern;
	states: string[];
}

export type Pattern = "none" | "rise" | "fall" | "level" | "upright" | "cross" | "dots" | "hatch";

/** In the order in which they are stacked, from the bottom. A state that none names is of its kind's last family. */
export const FAMILIES: readonly Family[] = [
	{
		id: "user",
		label: "CPU, user code",
		light: "#eca837",
		dark: "#ecb160",
		pattern: "none",
		states: ["cpu", "cpu.user"],
	},
	{
		id: "kernel",
		label: "CPU, kernel",
		light: "#8c3d12",
		dark: "#9e5b0b",
		pattern: "rise",
		states: ["cpu.syscall", "cpu.fault"],
	},
	{
		id: "interrupt",
		label: "interrupts",
		light: "#251815",
		dark: "#4c4139",
		pattern: "cross",
		states: ["cpu.irq", "cpu.softirq"],
	},
	{
		id: "runq",
		label: "run queue",
		light: "#e75240",
		dark: "#ef6660",
		pattern: "fall",
		states: ["runq.woken", "runq.preempted", "runq.throttled"],
	},
	{
		id: "lock",
		label: "lock, other threads",
		light: "#5a3178",
		dark: "#84009b",
		pattern: "upright",
		states: ["blocked.lock", "blocked.kernel-lock", "blocked.signalled"],
	},
	{
		id: "disk",
		label: "disk",
		light: "#244ecc",
		dark: "#3d75e5",
		pattern: "level",
		states: ["blocked.disk", "blocked.disk-held", "blocked.pagein", "blocked.memory"],
	},
	{
		id: "network",
		label: "network, IPC, pipe",
		light: "#77c3b0",
		dark: "#2cb3b3",
		pattern: "dots",
		states: ["blocked.net", "blocked.ipc", "blocked.pipe"],
	},
	{
		id: "sleep",
		label: "sleep, other waits",
		light: "#758d9e",
		dark: "#526577",
		pattern: "none",
		states: [
			"blocked.sleep",
			"blocked.poll",
			"blocked.stopped",
			"blocked.child",
			"blocked.fork",
			"blocked.other",
		],
	},
	{
		id: "idle",
		label: "idle",
		light: "#dfe6eb",
		dark: "#232425",
		pattern: "none",
		states: ["blocked.idle"],
	},
	{
		id: "unattributed",
		label: "unattributed",
		light: "#000000",
		dark: "#ffffff",
		pattern: "hatch",
		states: ["unattributed"],
	},
];

/** How parts of a request's budget look: a family's colour, with a pattern where another meaning has that colour too. */
export interface PartLook {
	label: string;
	family: string;
	/** Always there, whether the reader wants patterns or not. */
	pattern?: Pattern;
	parts: string[];
}

/** In the order in which they are drawn, the queue before the window. A part that none names is another wait. */
export const PART_LOOKS: readonly PartLook[] = [
	{ label: "queue", family: "idle", parts: ["queue", "pool_queue"] },
	{ label: "CPU", family: "user", parts: ["cpu"] },
	{ label: "run queue", family: "runq", parts: ["runq", "throttled"] },
	{ label: "lock, other threads", family: "lock", parts: ["lock", "signalled"] },
	{ label: "disk, memory", family: "disk", parts: ["disk", "memory"] },
	{ label: "network, IPC", family: "network", parts: ["net", "ipc"] },
	{ label: "sleep, poll, other waits", family: "sleep", parts: ["sleep", "poll", "other"] },
	{ label: "thread worked, not known for whom", family: "user", pattern: "rise", parts: ["loop_busy"] },
	{ label: "handed over", family: "sleep", pattern: "fall", parts: ["handed_over"] },
	{ label: "unattributed", family: "unattributed", parts: ["unattributed"] },
];

/** The look of a part, as an index. */
export function partLook(name: string): number {
	const found = PART_LOOKS.findIndex(({ parts }) => parts.includes(name));
	return found >= 0 ? found : PART_LOOKS.findIndex(({ parts }) => parts.includes("other"));
}

const REST: Record<string, string> = {
	cpu: "user",
	runq: "runq",
	blocked: "sleep",
	idle: "idle",
	unattributed: "unattributed",
};

/** Time on a CPU is split into user code and kernel in Tier B only, and there not while that was switched off. */
export function nameCpu(tier: string, wasOff: boolean): void {
	const cpu = FAMILIES[familyIndex("user")];
	cpu.label = tier === "A" ? "CPU" : wasOff ? "CPU, user code or not split" : "CPU, user code";
}

export const familyIndex = (id: string) => FAMILIES.findIndex((family) => family.id === id);

/** The family of each state, by the state's id. */
export function familiesOf(states: readonly State[]): Int32Array {
	const families = new Int32Array(Math.max(0, ...states.map((state) => state.id + 1))).fill(
		familyIndex("sleep"),
	);
	for (const state of states) {
		const named = FAMILIES.findIndex((family) => family.states.includes(state.name));
		families[state.id] = named >= 0 ? named : familyIndex(REST[state.kind] ?? "sleep");
	}
	return families;
}

export function familyColour(family: number, theme: Theme): string {
	return FAMILIES[family][theme];
}

/** Frames of a flame graph by what kind of code they are: pale enough for dark text, and the reverse in the dark. */
export const LOOKS: Record<string, { label: string; light: string; dark: string }> = {
	user: { label: "user code", light: "#f6cf8b", dark: "#7d5a1c" },
	kernel: { label: "kernel", light: "#d9b79f", dark: "#5f4230" },
	inlined: { label: "inlined", light: "#fbe7c4", dark: "#5c4a2a" },
	runtime: { label: "language runtime", light: "#c9d8f0", dark: "#34496b" },
	jit: { label: "JIT code", light: "#cfe6c4", dark: "#3d5a33" },
	process: { label: "process", light: "#d5dae1", dark: "#3a4048" },
	unnamed: { label: "no symbol", light: "#e6e6e2", dark: "#45453f" },
	mark: { label: "incomplete stack", light: "#f2d3da", dark: "#5c3540" },
};
const OTHER_LOOK = { label: "other code", light: "#dcd7e8", dark: "#4a4458" };

export function look(name: string): { label: string; light: string; dark: string } {
	return LOOKS[name] ?? { ...OTHER_LOOK, label: name || OTHER_LOOK.label };
}

/** A change against the baseline, -1 to 1: blue is less, red is more, both with the same lightness. */
export function changeColour(change: number, theme: Theme): string {
	const size = Math.min(1, Math.abs(change));
	const [r, g, b] = change >= 0 ? [214, 64, 48] : [36, 98, 204];
	const base = theme === "light" ? 238 : 58;
	const mix = (c: number) => Math.round(base + (c - base) * size);
	return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

/** Text that can be read on a colour: black or white, whichever has more contrast. */
export function textOn(colour: string): string {
	const [r, g, b] = channels(colour);
	// The luminance at which both have the same contrast.
	return luminance(r, g, b) > 0.183 ? "#060708" : "#ffffff";
}

export function channels(colour: string): [number, number, number] {
	const hex = /^#([0-9a-f]{6})$/i.exec(colour);
	if (hex) {
		const value = Number.parseInt(hex[1], 16);
		return [value >> 16, (value >> 8) & 255, value & 255];
	}
	const parts = colour.match(/\d+/g) ?? ["0", "0", "0"];
	return [Number(parts[0]), Number(parts[1]), Number(parts[2])];
}

export function luminance(r: number, g: number, b: number): number {
	const linear = (c: number) => {
		const x = c / 255;
		return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
