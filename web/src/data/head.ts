// SPDX-License-Identifier: Apache-2.0
//
// The types of the part `head`, as docs/page-data.md declares them.
import type { RawColumns } from "./columns";

export type StateKind = "cpu" | "runq" | "blocked" | "idle" | "unattributed";

export interface State {
	id: number;
	name: string;
	meaning: string;
	kind: StateKind;
}

export interface SubjectReference {
	group?: number;
	process?: number;
	thread?: number;
}

export interface Finding {
	id: string;
	severity: "problem" | "notice" | "info";
	sentence: string;
	action?: string | null;
	subject: SubjectReference | null;
	states: number[];
	/** Another finding's sentence has it. */
	is_told: boolean;
}

export interface Mark {
	ts_ns: number;
	kind: "loss" | "step" | "gap";
	text: string;
	count: number;
}

export interface Head {
	schema: string;
	dwell: string;
	session: {
		file: string;
		host: string;
		kernel: string;
		machine: string;
		cpus: number;
		begin_ns: number;
		kind: string;
		signals: string | null;
		is_slice: boolean;
		is_killed: boolean;
		started_real_ns: string;
		duration_ns: number;
		tier: string;
		command: string | null;
		filter: string | null;
		shown: string;
		group_by: string;
		note: string | null;
		labels: Record<string, string> | null;
	};
	window_ns: number;
	windows: RawColumns;
	states: State[];
	kinds: string[];
	looks: string[];
	contexts: string[];
	stops: { name: string; complete: boolean; meaning: string }[];
	trust: {
		sentences: string[];
		warnings: string[];
		parts_minus_wall_ns: number;
		unattributed_ns: number;
		lost: number;
		stacks_complete: number | null;
		overhead: number | null;
	};
	verdict: string[];
	findings: Finding[];
	marks: Mark[];
	limits: { part: string; rows: number; limit: number; left_out: number; text: string }[];
	empty: { tab: string; why: string; command: string | null }[];
	run_again: string;
}

export interface TableColumn {
	key: string;
	title: string;
	unit: string;
	subject: "thread" | "process" | "group" | null;
}

export interface TableData {
	id: string;
	tab: string;
	title: string;
	about: string;
	left_out?: number;
	columns: TableColumn[];
	rows: Record<string, (number | string | null)[]>;
}
