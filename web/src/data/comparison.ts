// SPDX-License-Identifier: Apache-2.0
//
// The part `diff`: what `dwell diff --json` prints. docs/diff.schema.json declares it; here is what the page reads of it.

export type Verdict = "changed" | "inconclusive" | "unchanged";

export interface Run {
	side: "A" | "B";
	name: string;
	/** Of the part that is compared, since the session's start. */
	begin_ns: number;
	seconds: number;
}

export interface Line {
	table: string;
	label: string;
	measure: string;
	unit: string;
	name: string | null;
	signal: string | null;
	service: string | null;
	process: string | null;
	module: string | null;
	/** Of samples. */
	kind: "cpu" | "blocked" | null;
	a: number;
	b: number;
	effect: number;
	relative: number | null;
	relative_low: number | null;
	relative_high: number | null;
	mde: number | null;
	relative_mde: number | null;
	verdict: Verdict;
	reason: string;
	onset_s: number | null;
	/** Of threads, of A and B. */
	wait: [number, number] | null;
	cpu: [number, number] | null;
}

export interface Comparison {
	per: string;
	runs: Run[];
	warnings: { is_refusal: boolean; text: string }[];
	verdict: string[];
	method: { whole_runs: boolean; floor: number; bound: number; tested: number };
	summary: Record<Verdict, number>;
	lines: Line[];
}

export interface Onset {
	seconds: number;
	/** Lines that began in the same window, in the order of their cost. */
	lines: Line[];
}

/** Which lines changed first. A stack changes with the state and the function that it is of, so it is left out. */
export function onsets({ lines }: Comparison): Onset[] {
	const found = new Map<number, Line[]>();
	for (const line of lines)
		if (line.onset_s !== null && line.table !== "stack")
			found.set(line.onset_s, [...(found.get(line.onset_s) ?? []), line]);
	return [...found].sort(([a], [b]) => a - b).map(([seconds, together]) => ({ seconds, lines: together }));
}

/** Whose line it is: "server (web.service)", a function's module, a series' signal. */
export function ownerOf({ process, service, module, signal }: Line): string {
	const outer = module ?? signal ?? service ?? "";
	if (!process) return outer;
	return outer && outer !== process ? `${process} (${outer})` : process;
}
