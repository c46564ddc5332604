// SPDX-License-Identifier: Apache-2.0
//
// The part `requests`: endpoints with their budgets, requests that were kept whole, and the calls that they made. A call
// whose server is on this host knows the request that answered it, and so a waterfall goes on there.
import type { Selection, Subject } from "../selection";
import { decodeColumns, offsetsByKey, type Columns, type RawColumns } from "./columns";
import type { Session } from "./session";

export interface Meaning {
	name: string;
	meaning: string;
}

export interface RawRequests {
	parts: Meaning[];
	outcomes: Meaning[];
	models: Meaning[];
	grades: Meaning[];
	endpoints: RawColumns;
	endpoint_processes: RawColumns;
	budgets: RawColumns;
	called?: RawColumns;
	requests: RawColumns;
	request_parts: RawColumns;
	calls: RawColumns;
}

/** A row of a waterfall: a request, or a call with the request that answered it. -1: there is none. */
export interface Span {
	depth: number;
	call: number;
	request: number;
}

export interface Waterfall {
	spans: Span[];
	/** Calls that are not shown: there are too many. */
	left: number;
}

const SPANS_MAX = 200;
const DEPTH_MAX = 32;
/** The kind of endpoints whose requests are listed; the others are set-up and messages. */
const KIND_REQUEST = 0;

export class Requests {
	readonly parts: Meaning[];
	readonly outcomes: Meaning[];
	readonly models: Meaning[];
	readonly grades: Meaning[];
	readonly endpoint: Columns;
	readonly request: Columns;
	readonly call: Columns;
	/** What an average request of an endpoint called. */
	readonly called: Columns;
	readonly endpoints: number;
	readonly count: number;
	readonly calls: number;
	/** The request that made the call which a request answers, or -1. */
	readonly caller: Int32Array;
	private readonly budgets: Columns;
	private readonly requestParts: Columns;
	private readonly processes: Columns;
	private readonly partOffsets: Int32Array;
	private readonly callOffsets: Int32Array;
	private readonly budgetOffsets: Int32Array;
	private readonly calledOffsets: Int32Array;
	private readonly processOffsets: Int32Array;
	private readonly queue: number;

	constructor(raw: RawRequests) {
		const empty = { request: [] };
		this.parts = raw.parts;
		this.outcomes = raw.outcomes;
		this.models = raw.models;
		this.grades = raw.grades ?? [];
		this.endpoint = decodeColumns(raw.endpoints);
		this.request = decodeColumns(raw.requests);
		this.call = decodeColumns(raw.calls ?? empty);
		this.budgets = decodeColumns(raw.budgets);
		this.called = decodeColumns(raw.called ?? { endpoint: [] });
		this.requestParts = decodeColumns(raw.request_parts);
		this.processes = decodeColumns(raw.endpoint_processes);
		this.endpoints = this.endpoint.name.length;
		this.count = this.request.endpoint.length;
		this.calls = this.call.request.length;
		this.partOffsets = offsetsByKey(this.requestParts.request, this.count);
		this.callOffsets = offsetsByKey(this.call.request, this.count);
		this.budgetOffsets = offsetsByKey(this.budgets.endpoint, this.endpoints);
		this.calledOffsets = offsetsByKey(this.called.endpoint, this.endpoints);
		this.processOffsets = offsetsByKey(this.processes.endpoint, this.endpoints);
		this.queue = this.parts.findIndex(({ name }) => name === "queue");
		this.caller = new Int32Array(this.count).fill(-1);
		for (let call = 0; call < this.calls; call++) {
			const answer = this.call.answer[call];
			if (answer >= 0 && answer < this.count) this.caller[answer] = this.call.request[call];
		}
	}

	latency(request: number): number {
		return this.request.queue_ns[request] + this.request.window_ns[request];
	}

	/** Nanoseconds by part; the queue is one of them. */
	partsOf(request: number): Float64Array {
		const sums = new Float64Array(this.parts.length);
		for (let i = this.partOffsets[request]; i < this.partOffsets[request + 1]; i++)
			sums[this.requestParts.part[i]] += this.requestParts.ns[i];
		if (this.queue >= 0) sums[this.queue] += this.request.queue_ns[request];
		return sums;
	}

	/** What an average request of an endpoint spent its time on. */
	budgetOf(endpoint: number, isSlow: boolean): Float64Array {
		const sums = new Float64Array(this.parts.length);
		for (let i = this.budgetOffsets[endpoint]; i < this.budgetOffsets[endpoint + 1]; i++)
			if (Boolean(this.budgets.slow[i]) === isSlow) sums[this.budgets.part[i]] += this.budgets.ns[i];
		return sums;
	}

	/** Endpoints that have a budget: most time first. */
	withBudget(): number[] {
		return Array.from({ length: this.endpoints }, (_, i) => i).filter(
			(i) => this.budgetOffsets[i + 1] > this.budgetOffsets[i],
		);
	}

	/** The processes that serve an endpoint; those that the page does not have are left out. */
	processesOf(endpoint: number): number[] {
		const { process } = this.processes;
		return [...process.subarray(this.processOffsets[endpoint], this.processOffsets[endpoint + 1])].filter(
			(index) => index >= 0,
		);
	}

	/** Rows of `called`, most time first. */
	calledBy(endpoint: number): number[] {
		const rows = [];
		for (let i = this.calledOffsets[endpoint]; i < this.calledOffsets[endpoint + 1]; i++) rows.push(i);
		return rows;
	}

	/** Its calls, those that began first before the others. */
	callsOf(request: number): number[] {
		const calls = [];
		for (let i = this.callOffsets[request]; i < this.callOffsets[request + 1]; i++) calls.push(i);
		return calls.sort((a, b) => this.call.begin_ns[a] - this.call.begin_ns[b] || a - b);
	}

	isOf(session: Session, request: number, subject: Subject): boolean {
		if (subject.kind === "host") return true;
		const { process, thread } = this.request;
		if (subject.kind === "thread") return thread[request] === subject.index;
		return process[request] >= 0 && session.contains(subject, { kind: "process", index: process[request] });
	}

	/** Requests of the selection, the slowest first. One that another of them made, even indirectly, is shown within that. */
	listed(session: Session, { subject, window, search }: Selection): number[] {
		const needle = search.toLowerCase();
		const found = Array.from({ length: this.endpoints }, (_, i) => !needle || this.textOf(session, i).includes(needle));
		const isIn = new Uint8Array(this.count);
		for (let i = 0; i < this.count; i++) {
			const begin = this.request.begin_ns[i];
			isIn[i] = Number(
				this.endpoint.kind[this.request.endpoint[i]] === KIND_REQUEST &&
					(!window || (begin < window[1] && begin + this.latency(i) > window[0])) &&
					this.isOf(session, i, subject) &&
					found[this.request.endpoint[i]],
			);
		}
		const topmost: number[] = [];
		for (let i = 0; i < this.count; i++) {
			let above = isIn[i] ? this.caller[i] : -1;
			for (let depth = 0; above >= 0 && !isIn[above] && depth < DEPTH_MAX; depth++)
				above = this.caller[above];
			if (isIn[i] && (above < 0 || !isIn[above] || above === i)) topmost.push(i);
		}
		return topmost;
	}

	/** What a search looks into, in small letters. */
	textOf(session: Session, endpoint: number): string {
		const { name, protocol, service } = this.endpoint;
		const texts = [name, protocol, service].map((column) => session.text(column[endpoint]));
		return `${this.server(session, endpoint)} ${texts.join(" ")}`.toLowerCase();
	}

	/** "nginx :80" */
	server(session: Session, endpoint: number): string {
		const { comm, port } = this.endpoint;
		const name = session.text(comm[endpoint]) || "(unknown process)";
		return port[endpoint] ? `${name} :${port[endpoint]}` : `${name} (Unix socket)`;
	}

	/** A request and below it all that it asked for, directly and indirectly. */
	waterfall(request: number): Waterfall {
		const seen = new Set<number>([request]);
		const waterfall: Waterfall = { spans: [{ depth: 0, call: -1, request }], left: 0 };
		this.addCalls(waterfall, request, 1, seen);
		return waterfall;
	}

	private addCalls(waterfall: Waterfall, request: number, depth: number, seen: Set<number>): void {
		for (const call of this.callsOf(request)) {
			if (waterfall.spans.length >= SPANS_MAX) {
				waterfall.left++;
				continue;
			}
			// A damaged file can have a request that asks for itself.
			const found = this.call.answer[call];
			const answer = found >= 0 && found < this.count && !seen.has(found) ? found : -1;
			waterfall.spans.push({ depth, call, request: answer });
			if (answer < 0) continue;
			seen.add(answer);
			if (depth < DEPTH_MAX) this.addCalls(waterfall, answer, depth + 1, seen);
			else waterfall.left += this.callsOf(answer).length;
		}
	}

	/** When the spans begin and end. */
	extent(spans: readonly Span[]): [number, number] {
		let begin = Number.POSITIVE_INFINITY;
		let end = 0;
		const cover = (from: number, length: number) => {
			begin = Math.min(begin, from);
			end = Math.max(end, from + length);
		};
		for (const { call, request } of spans) {
			if (request >= 0) cover(this.request.begin_ns[request], this.latency(request));
			if (call >= 0) cover(this.call.begin_ns[call], this.call.window_ns[call]);
		}
		return [begin, Math.max(end, begin + 1)];
	}
}
