// SPDX-License-Identifier: Apache-2.0
//
// Chains of waits, put together from the two tables that have them: a wait, and for each thread behind it what that one did.
import { cellsOf } from "./cells";
import type { TableData } from "./head";
import type { Session } from "./session";

export interface Part {
	what: string;
	/** An id; null: not known what it did. */
	state: number | null;
	ns: number;
	/** The next link explains it. */
	isFollowed: boolean;
}

export interface Link {
	/** An index; -1: not one of the page's threads. */
	thread: number;
	name: string;
	/** The wait that this link explains: the sum of its parts. */
	ns: number;
	/** Longest first, what is followed last. */
	parts: Part[];
}

export interface Chain {
	thread: number;
	state: number;
	what: string;
	ns: number;
	/** How many other threads waited likewise, and how long in sum. */
	alike: number;
	alikeNs: number;
	links: Link[];
}

/** Parts that read alike are one: "on a CPU" has several states. */
function addPart(link: Link, part: Part): void {
	const same = link.parts.find(({ what, isFollowed }) => what === part.what && isFollowed === part.isFollowed);
	if (same) same.ns += part.ns;
	else link.parts.push(part);
}

export function readChains(session: Session, tables: TableData[]): Chain[] {
	const waits = tables.find(({ id }) => id === "chains");
	const links = tables.find(({ id }) => id === "chain_links");
	if (!waits || !links) return [];
	const wait = (key: string) => cellsOf(session, waits, key);
	const [thread, state, what, ns, alike, alikeNs] = ["thread", "state", "what", "ns", "alike", "alike_ns"].map(wait);
	const chains = ns.map((length, row): Chain => ({
		thread: Number(thread[row]),
		state: Number(state[row]),
		what: String(what[row]),
		ns: Number(length),
		alike: Number(alike[row]),
		alikeNs: Number(alikeNs[row]),
		links: [],
	}));
	const cell = (key: string) => cellsOf(session, links, key);
	const [chain, number, who, name, whole] = ["chain", "link", "thread", "name", "wait_ns"].map(cell);
	const [did, meanwhile, length, followed] = ["what", "state", "ns", "followed"].map(cell);
	for (let row = 0; row < chain.length; row++) {
		const found = chains[Number(chain[row])]?.links;
		if (!found || Number(number[row]) > found.length) continue;
		found[Number(number[row])] ??= {
			thread: Number(who[row]),
			name: String(name[row]),
			ns: Number(whole[row]),
			parts: [],
		};
		const kind = meanwhile[row];
		addPart(found[Number(number[row])], {
			what: String(did[row]),
			state: kind === null ? null : Number(kind),
			ns: Number(length[row]),
			isFollowed: Number(followed[row]) > 0,
		});
	}
	for (const { links: all } of chains)
		for (const { parts } of all)
			parts.sort((a, b) => Number(a.isFollowed) - Number(b.isFollowed) || b.ns - a.ns);
	return chains.filter((entry) => entry.links.length);
}
