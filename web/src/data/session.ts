// SPDX-License-Identifier: Apache-2.0
//
// A session as the views see it: the parts, decoded once into typed arrays, and the questions that several views ask of them.
// Answers are kept by selection (`memo`), so that a click computes only what changed.
import { familiesOf } from "../colours";
import type { Selection, Subject } from "../selection";
import { decodeColumns, type Column, type Columns, type RawColumns } from "./columns";
import type { Head, TableData } from "./head";
import { hasPart, part } from "./inflate";
import { Requests, type RawRequests } from "./requests";
import { foldKeys, StateRows } from "./state_rows";
import { bucketsIn, TimeGrid } from "./time_grid";

interface RawRows {
	/** Of a bucket; missing: one. */
	windows?: number;
	rows: RawColumns;
}

export interface Rows {
	edges: Float64Array;
	rows: Columns;
	count: number;
}

export interface Stacks {
	functionName: Column;
	functionModule: Column;
	functionLook: Column;
	parent: Column;
	functionOf: Column;
	/** 1 where the call was inlined; missing: nowhere. */
	inlined: Column | undefined;
	nodes: number;
}

export interface Signals {
	series: Columns;
	count: number;
	/** Of the lines with all the series of a measure, and of the series one by one, which may have longer buckets. */
	values: Rows[];
	histograms: Rows[];
	slots: Float64Array;
}

/** Whether time in which threads wait for work is left out: idle, poll, sleep. */
export function isBusyOnly(selection: Selection): boolean {
	return selection.options.time !== "all";
}

/** Whether the reader asked for the kernel's own threads. */
export function showsKernel(selection: Selection): boolean {
	return selection.options.kernel === "shown";
}

const REMEMBERED = 60;

export class Session {
	readonly states: number;
	readonly families: Int32Array;
	/** By state, 1 if a thread in it is not busy. */
	readonly isIdle: Uint8Array;
	readonly isCpu: Uint8Array;
	readonly grid: TimeGrid;
	readonly host: StateRows;
	readonly threadGroup: Int32Array;
	readonly durationNs: number;
	/** What the page is of, in words. */
	readonly whole: "session" | "part";
	/** Where the part of the session that the page has begins and ends. */
	readonly span: readonly [number, number];
	readonly groups: StateRows;
	threads?: StateRows;
	/** Of many threads, those that ran most, in shorter buckets. */
	busiest?: StateRows;
	private readonly answers = new Map<string, unknown>();
	private readonly parts = new Map<string, Promise<unknown>>();

	/** `prefix` is empty, or `baseline.` for the session that this one is compared with. */
	static async open(prefix = ""): Promise<Session> {
		const [head, strings, subjects, ledger] = await Promise.all([
			part<Head>(`${prefix}head`),
			part<{ strings: string[] }>(`${prefix}strings`),
			part<Record<string, RawColumns>>(`${prefix}subjects`),
			part<{ host?: RawRows; groups: RawRows }>(`${prefix}ledger`),
		]);
		if (!head)
			throw new Error(
				"This page has no data: write it with 'dwell report --html PAGE.html SESSION.dwell'.",
			);
		return new Session(head, strings?.strings ?? [""], subjects ?? {}, ledger, prefix);
	}

	readonly group: Columns;
	readonly process: Columns;
	readonly thread: Columns;

	private constructor(
		readonly head: Head,
		readonly strings: string[],
		subjects: Record<string, RawColumns>,
		ledger: { host?: RawRows; groups: RawRows } | undefined,
		private readonly prefix: string,
	) {
		this.group = decodeColumns(subjects.groups);
		this.process = decodeColumns(subjects.processes);
		this.thread = decodeColumns(subjects.threads);
		this.states = Math.max(1, ...head.states.map((state) => state.id + 1));
		this.families = familiesOf(head.states);
		this.isIdle = new Uint8Array(this.states);
		for (const state of head.states) if (state.kind === "idle") this.isIdle[state.id] = 1;
		this.isCpu = new Uint8Array(this.states);
		for (const state of head.states) if (state.kind === "cpu") this.isCpu[state.id] = 1;
		this.durationNs = head.session.duration_ns;
		this.whole = head.session.is_slice ? "part" : "session";
		this.span = [head.session.begin_ns, head.session.begin_ns + this.durationNs];
		this.threadGroup = Int32Array.from(
			this.thread.process ?? [],
			(process) => this.process.group?.[process] ?? -1,
		);
		this.grid = new TimeGrid(decodeColumns(head.windows), this.durationNs, head.window_ns || 1e9);
		this.groups = this.stateRows(ledger?.groups, "group", this.group.service?.length ?? 0);
		this.host = ledger?.host ? this.stateRows(ledger.host, "none", 1) : this.groups;
	}

	private stateRows(raw: RawRows | undefined, key: string, keys: number): StateRows {
		return new StateRows(
			decodeColumns(raw?.rows),
			key,
			keys,
			this.states,
			this.grid.edges(raw?.windows ?? 1),
		);
	}

	/** True if the page has this part. */
	has(name: string): boolean {
		return hasPart(this.prefix + name) || this.parts.has(name);
	}

	private once<T>(name: string, decode: () => Promise<T>): Promise<T> {
		let promise = this.parts.get(name);
		if (!promise) {
			promise = decode();
			this.parts.set(name, promise);
		}
		return promise as Promise<T>;
	}

	loadThreads(): Promise<StateRows> {
		return this.once("threads", async () => {
			const raw = await part<RawRows & { busiest?: RawRows }>(`${this.prefix}threads`);
			const keys = this.count("thread");
			if (raw?.busiest) this.busiest = this.stateRows(raw.busiest, "thread", keys);
			this.threads = this.stateRows(raw, "thread", keys);
			return this.threads;
		});
	}

	private async rows(name: string): Promise<Rows | undefined> {
		const raw = await part<RawRows>(this.prefix + name);
		return raw && this.decodeRows(raw);
	}

	loadWakes(): Promise<Rows | undefined> {
		return this.once("wakes", () => this.rows("wakes"));
	}

	/** The part with a subject's samples: by group, complete and in shorter steps, where the page has that; else by thread. */
	samplesPart(subject: Subject): string {
		const isByGroup = !this.needsThreads(subject) && this.has("group_samples");
		return isByGroup ? "group_samples" : "samples";
	}

	loadSamples(subject: Subject): Promise<Rows | undefined> {
		const name = this.samplesPart(subject);
		return this.once(name, () => this.rows(name));
	}

	loadStacks(): Promise<Stacks | undefined> {
		return this.once("stacks", async () => {
			const raw = await part<Record<string, RawColumns>>(`${this.prefix}stacks`);
			if (!raw) return undefined;
			const functions = decodeColumns(raw.functions);
			const nodes = decodeColumns(raw.nodes);
			return {
				functionName: functions.name,
				functionModule: functions.module,
				functionLook: functions.look,
				parent: nodes.parent,
				functionOf: nodes.function,
				inlined: nodes.inlined,
				nodes: nodes.parent.length,
			};
		});
	}

	loadSignals(): Promise<Signals | undefined> {
		return this.once("signals", async () => {
			const raw = await part<{
				series: RawColumns;
				values: RawRows;
				histograms: RawRows;
				series_values?: RawRows;
				series_histograms?: RawRows;
				slots: number[];
			}>(`${this.prefix}signals`);
			if (!raw) return undefined;
			const series = decodeColumns(raw.series);
			return {
				series,
				count: series.signal.length,
				values: this.decodeAll(raw.values, raw.series_values),
				histograms: this.decodeAll(raw.histograms, raw.series_histograms),
				slots: Float64Array.from(raw.slots ?? []),
			};
		});
	}

	loadRequests(): Promise<Requests | undefined> {
		return this.once("requests", async () => {
			const raw = await part<RawRequests>(`${this.prefix}requests`);
			return raw && new Requests(raw);
		});
	}

	loadTables(): Promise<TableData[]> {
		return this.once("tables", async () => {
			const raw = await part<{ tables: TableData[] }>(`${this.prefix}tables`);
			return raw?.tables ?? [];
		});
	}

	private decodeRows(raw: RawRows): Rows {
		const rows = decodeColumns(raw.rows);
		const first = Object.values(rows)[0];
		return { edges: this.grid.edges(raw.windows ?? 1), rows, count: first ? first.length : 0 };
	}

	private decodeAll(...raw: (RawRows | undefined)[]): Rows[] {
		return raw.filter((rows) => rows !== undefined).map((rows) => this.decodeRows(rows));
	}

	/** Remembers the last answers by key; `compute` must depend on nothing else. */
	memo<T>(key: string, compute: () => T): T {
		if (this.answers.has(key)) return this.answers.get(key) as T;
		if (this.answers.size >= REMEMBERED) this.answers.delete(this.answers.keys().next().value as string);
		const answer = compute();
		this.answers.set(key, answer);
		return answer;
	}

	stateName(id: number): string {
		return this.head.states.find((state) => state.id === id)?.name ?? `state ${id}`;
	}

	text(index: number | undefined): string {
		return this.strings[index ?? 0] ?? "";
	}

	// --- subjects -------------------------------------------------------------------------

	count(kind: Subject["kind"]): number {
		if (kind === "group") return this.group.service?.length ?? 0;
		if (kind === "process") return this.process.pid?.length ?? 0;
		return kind === "thread" ? (this.thread.tid?.length ?? 0) : 1;
	}

	exists(subject: Subject): boolean {
		return subject.index < this.count(subject.kind);
	}

	name(subject: Subject): string {
		const { kind, index } = subject;
		if (kind === "host") return this.head.session.host || "host";
		if (kind === "group") {
			const service = this.text(this.group.service[index]);
			const comm = this.text(this.group.comm[index]);
			return !service
				? comm || "(no name)"
				: comm && comm !== service
					? `${service} · ${comm}`
					: service;
		}
		if (kind === "process")
			return `${this.text(this.process.comm[index]) || "process"} ${this.process.pid[index]}`;
		const tid = this.thread.tid[index];
		return `${this.text(this.thread.comm[index]) || "thread"} ${tid || "(several)"}`;
	}

	/** From the host down to the subject. */
	path(subject: Subject): Subject[] {
		const path: Subject[] = [{ kind: "host", index: 0 }];
		if (subject.kind === "host" || !this.exists(subject)) return path;
		const process =
			subject.kind === "thread"
				? this.thread.process[subject.index]
				: subject.kind === "process"
					? subject.index
					: -1;
		const group =
			subject.kind === "group" ? subject.index : process >= 0 ? this.process.group[process] : -1;
		if (group >= 0) path.push({ kind: "group", index: group });
		if (process >= 0) path.push({ kind: "process", index: process });
		if (subject.kind === "thread") path.push(subject);
		return path;
	}

	/** Which threads belong to the subject; null is all. */
	threadMask(subject: Subject): Uint8Array | null {
		if (subject.kind === "host") return null;
		return this.memo(`threads ${subject.kind} ${subject.index}`, () => {
			const mask = new Uint8Array(this.count("thread"));
			const parent = subject.kind === "group" ? this.threadGroup : this.thread.process;
			if (subject.kind === "thread") mask[subject.index] = 1;
			else for (let t = 0; t < mask.length; t++) mask[t] = parent[t] === subject.index ? 1 : 0;
			return mask;
		});
	}

	/** Which groups are the subject, of a group or the host; null is all. */
	groupMask(subject: Subject): Uint8Array | null {
		if (subject.kind === "host") return null;
		const mask = new Uint8Array(this.count("group"));
		if (subject.kind === "group") mask[subject.index] = 1;
		return mask;
	}

	/** True for the kernel's own threads, and groups of them. */
	isKernel(subject: Subject): boolean {
		if (subject.kind === "thread") return Boolean(this.thread.kernel?.[subject.index]);
		if (subject.kind === "host") return false;
		const group = subject.kind === "group" ? subject.index : this.process.group[subject.index];
		return Boolean(this.group.kernel?.[group]);
	}

	/** True if `inner` is `outer` or lies in it. */
	contains(outer: Subject, inner: Subject): boolean {
		if (outer.kind === "host") return true;
		if (inner.kind === outer.kind) return inner.index === outer.index;
		if (inner.kind === "thread")
			return (
				outer.index ===
				(outer.kind === "process" ? this.thread.process[inner.index] : this.threadGroup[inner.index])
			);
		return (
			inner.kind === "process" &&
			outer.kind === "group" &&
			this.process.group[inner.index] === outer.index
		);
	}

	/** By state, 1 if its time is part of the selection: the chosen states, or all that are busy. */
	shownStates(selection: Selection): Uint8Array {
		const chosen = new Set(selection.states);
		const busyOnly = isBusyOnly(selection);
		return Uint8Array.from({ length: this.states }, (_, s) =>
			Number(chosen.size ? chosen.has(s) : !busyOnly || !this.isIdle[s]),
		);
	}

	/** Who has the same names in another session; null: nobody, or it is not certain who of several. */
	twin(other: Session, subject: Subject): Subject | null {
		if (subject.kind === "host") return subject;
		if (subject.kind === "thread") return null;
		const group = subject.kind === "group" ? subject.index : this.process.group[subject.index];
		const same = (name: "service" | "comm", index: number) =>
			other.text(other.group[name][index]) === this.text(this.group[name][group]);
		for (let index = 0; index < other.count("group"); index++) {
			if (!same("service", index) || !same("comm", index)) continue;
			const isOne = this.group.processes[group] === 1 && other.group.processes[index] === 1;
			return subject.kind === "group" || isOne ? { kind: "group", index } : null;
		}
		return null;
	}

	// --- time -----------------------------------------------------------------------------

	/** The buckets [from, to) of the selected window. */
	bucketsOf(selection: Selection, edges: Float64Array): [number, number] {
		return bucketsIn(edges, selection.window);
	}

	/** The time that the buckets of a window cover: longer than the window where buckets are. */
	coveredNs(selection: Selection, edges: Float64Array): number {
		const [from, to] = bucketsIn(edges, selection.window);
		return selection.window ? edges[to] - edges[from] : this.durationNs;
	}

	// --- the ledger -----------------------------------------------------------------------

	/** True if the rows of threads are needed to answer for this subject or level. */
	needsThreads(subject: Subject): boolean {
		return subject.kind === "process" || subject.kind === "thread";
	}

	/** Nanoseconds by bucket and state of a subject. The host is without the kernel's own threads unless asked for them. */
	overTime(subject: Subject, withKernel: boolean): { rows: StateRows; ns: Float64Array } {
		const rows =
			subject.kind === "host" && withKernel
				? this.host
				: this.needsThreads(subject) && this.threads
					? this.threads
					: this.groups;
		const ns = this.memo(
			`over time ${subject.kind} ${subject.index} ${withKernel} ${rows === this.threads}`,
			() => {
				if (rows === this.host) return rows.sumByBucket(null);
				if (rows === this.threads) return rows.sumByBucket(this.threadMask(subject));
				const mask = Uint8Array.from({ length: rows.keys }, (_, g) =>
					subject.kind === "host"
						? Number(!this.isKernel({ kind: "group", index: g }))
						: Number(g === subject.index),
				);
				return rows.sumByBucket(mask);
			},
		);
		return { rows, ns };
	}

	/** Nanoseconds by subject of a level and state, in the selected window. */
	byLevel(level: "group" | "process" | "thread", selection: Selection): Float64Array {
		const rows = level === "group" ? this.groups : (this.threads ?? this.groups);
		const [from, to] = this.bucketsOf(selection, rows.edges);
		const sums = this.memo(`by key ${rows === this.threads} ${from} ${to}`, () =>
			rows.sumByKey(from, to),
		);
		if (level !== "process" || rows === this.groups) return sums;
		return this.memo(`by process ${from} ${to}`, () =>
			foldKeys(sums, this.states, this.thread.process, this.count("process")),
		);
	}

	/** Nanoseconds by state of the selected subject in the selected window. */
	byState(selection: Selection): Float64Array {
		const { rows, ns } = this.overTime(selection.subject, showsKernel(selection));
		const [from, to] = this.bucketsOf(selection, rows.edges);
		const sums = new Float64Array(this.states);
		for (let b = Math.max(0, from); b < Math.min(to, rows.buckets); b++)
			for (let s = 0; s < this.states; s++) sums[s] += ns[b * this.states + s];
		return sums;
	}
}
