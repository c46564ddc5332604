// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them: three significant digits with a unit. Narrow no-break spaces keep number and unit
// together.

const SPACE = "\u202f";

/** Three significant digits, never in exponent form: 0.0123, 1.23, 12.3, 123, 1,234. */
export function three(value: number): string {
	if (!Number.isFinite(value)) return "–";
	if (value === 0) return "0";
	const size = Math.abs(value);
	if (size >= 999.5) return Math.round(value).toLocaleString("en-US");
	const rounded = Number(size.toPrecision(3));
	const digits = Math.max(0, 2 - Math.floor(Math.log10(rounded) + 1e-9));
	const text = value.toFixed(Math.min(digits, 6));
	return Number(text) === 0 ? "0" : text;
}

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
	const size = Math.abs(value);
	for (const [factor, unit] of steps) {
		// 999.7 µs is 1.00 ms, not 1,000 µs
		if (size >= factor * 0.9995) return three(value / factor) + SPACE + unit;
	}
	const [factor, unit] = steps[steps.length - 1];
	return three(value / factor) + SPACE + unit;
}

const DURATIONS = [
	[86_400e9, "d"],
	[3_600e9, "h"],
	[60e9, "min"],
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"],
] as const;
const SECONDS = DURATIONS.slice(3);

/** A length of time that a thread spent: never more than seconds, as people compare them. */
export function duration(ns: number): string {
	return ns === 0 ? `0${SPACE}s` : scaled(ns, SECONDS);
}

/** A length of time in prose: hours and days too. */
export function longDuration(ns: number): string {
	return ns === 0 ? `0${SPACE}s` : scaled(ns, DURATIONS);
}

const BYTES = [
	[2 ** 40, "TiB"],
	[2 ** 30, "GiB"],
	[2 ** 20, "MiB"],
	[2 ** 10, "KiB"],
	[1, "B"],
] as const;

export function bytes(value: number): string {
	return value === 0 ? `0${SPACE}B` : scaled(value, BYTES);
}

export function count(value: number): string {
	return Number.isInteger(value) ? value.toLocaleString("en-US") : three(value);
}

/** A share of 0 to 1 as a percentage. */
export function percent(share: number): string {
	if (!Number.isFinite(share)) return "–";
	if (share !== 0 && Math.abs(share) < 0.000_05) return `<${SPACE}0.01${SPACE}%`;
	const value = share * 100;
	if (Math.abs(value) >= 99.95 && Math.abs(value) < 1000) return Math.round(value) + SPACE + "%";
	return (Math.abs(value) < 1 && value !== 0 ? value.toFixed(2) : three(value)) + SPACE + "%";
}

/** A change as a share of what was before: +10.0 %, × 12.7 from tenfold on, "new" where there was nothing (null). */
export function change(share: number | null): string {
	if (share === null) return "new";
	if (share >= 9.995) return `×${SPACE}${three(share + 1)}`;
	const text = percent(share);
	return share > 0 && !text.startsWith("<") ? `+${text}` : text;
}

/** A share in a sentence, without decimals: 75 %. */
export function roundPercent(share: number): string {
	const value = share * 100;
	if (value > 0 && value < 0.5) return `<${SPACE}1${SPACE}%`;
	return Math.round(value) + SPACE + "%";
}

export function rate(perSecond: number): string {
	return three(perSecond) + "/s";
}

/** A value in a unit of the data. */
export function inUnit(value: number, unit: string): string {
	switch (unit) {
		case "ns":
			return duration(value);
		case "bytes":
			return bytes(value);
		case "percent":
			return percent(value / 100);
		case "share":
			return percent(value);
		case "rate":
			return rate(value);
		case "count":
			return count(value);
		case "id":
			return String(value);
		default:
			return unit && unit !== "text" ? three(value) + SPACE + unit : count(value);
	}
}

/** A moment since the session's start: 12.3 s, 4:05, 1:02:03. */
export function moment(ns: number, stepNs = 1e9): string {
	const seconds = ns / 1e9;
	if (seconds < 60) {
		const digits = stepNs >= 1e9 ? 0 : Math.min(9, Math.ceil(-Math.log10(stepNs / 1e9) - 1e-9));
		return seconds.toFixed(digits) + SPACE + "s";
	}
	const whole = Math.floor(seconds + 1e-9);
	const two = (n: number) => String(n).padStart(2, "0");
	const hours = Math.floor(whole / 3600);
	const minutes = Math.floor((whole % 3600) / 60);
	return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Date and time of day of a moment of the session, in the reader's time zone. */
export function clock(startedRealNs: string, ns: number): { date: string; time: string } {
	const ms = Number(BigInt(startedRealNs || "0") / 1_000_000n) + ns / 1e6;
	const date = new Date(ms);
	const two = (n: number) => String(n).padStart(2, "0");
	return {
		date: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
		time: `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
	};
}

/** Half the width of the 95 % interval of a share that was estimated from so many samples. */
export function sampleError(share: number, samples: number): number {
	return samples > 0 ? 1.96 * Math.sqrt(Math.max(0, share * (1 - share)) / samples) : Number.NaN;
}

/** A sentence in which no line breaks between a number and its unit. */
export function unbroken(sentence: string): string {
	return sentence.replace(/(\d) (?=(?:%|ns|us|ms|s|m|h|B|KB|MB|GB|x)(?![a-z0-9]))/g, "$1\u00a0");
}
