// SPDX-License-Identifier: Apache-2.0
//
// What was measured, and how far it can be trusted: one line each, details on demand.
import type { Head } from "../data/head";
import { clock, count, duration, longDuration, percent } from "../format";
import { h } from "../ui/dom";

export function sessionLine(head: Head): HTMLElement {
	const { session } = head;
	const begin = session.begin_ns;
	const from = clock(session.started_real_ns, begin);
	const to = clock(session.started_real_ns, begin + session.duration_ns);
	const what = [
		session.command && `command ${session.command}`,
		session.filter && session.filter !== "command" && `filter ${session.filter}`,
		session.shown && `shown: ${session.shown}`,
		session.signals && `signals ${session.signals}`,
		`Tier ${session.tier}`,
		session.is_slice && "a part of the session",
		session.is_killed && "its writer was killed",
	]
		.filter(Boolean)
		.join(" · ");
	const labels = Object.entries(session.labels ?? {}).map(([key, value]) => `${key}=${value}`);
	return h(
		"p",
		{ class: "session" },
		h("b", {}, session.host || "host"),
		` · ${from.date} ${from.time}–${to.date === from.date ? "" : `${to.date} `}${to.time} (${longDuration(session.duration_ns)}) · kernel ${session.kernel} ${session.machine} · ${count(session.cpus)} CPUs · ${what}`,
		labels.length ? ` · ${labels.join(" · ")}` : "",
		session.note ? ` · “${session.note}”` : "",
	);
}

/** From there on the line is a warning: incomplete stacks hide callers, dwell's own cost changes what it measures. */
const LEAST_COMPLETE = 0.9;
const MOST_OVERHEAD = 0.05;

export function trustLine(head: Head): HTMLElement {
	const { trust } = head;
	const isExact = trust.parts_minus_wall_ns === 0;
	const warnings = trust.warnings;
	const isGood =
		isExact &&
		!warnings.length &&
		trust.lost === 0 &&
		trust.unattributed_ns === 0 &&
		(trust.stacks_complete ?? 1) >= LEAST_COMPLETE &&
		(trust.overhead ?? 0) <= MOST_OVERHEAD;
	const facts = [
		isExact
			? "parts sum to the wall clock"
			: `parts − wall clock: ${duration(trust.parts_minus_wall_ns)}`,
		`${duration(trust.unattributed_ns)} unattributed`,
		`${count(trust.lost)} lost`,
		trust.stacks_complete === null ? "no stacks" : `stacks ${percent(trust.stacks_complete)} complete`,
		trust.overhead === null ? "overhead not measured" : `overhead ${percent(trust.overhead)}`,
	];
	return h(
		"details",
		{ class: "trust" },
		h(
			"summary",
			{},
			h("span", { class: isGood ? "dot good" : "dot fair", "aria-hidden": "true" }),
			h(
				"b",
				{},
				isGood
					? "trust: good"
					: warnings.length
						? `trust: ${count(warnings.length)} ${warnings.length === 1 ? "warning" : "warnings"}`
						: "trust: see details",
			),
			` · ${facts.join(" · ")}`,
		),
		warnings.length
			? h("ul", { class: "warnings" }, ...warnings.map((warning) => h("li", {}, warning)))
			: null,
		h("ul", {}, ...trust.sentences.map((sentence) => h("li", {}, sentence))),
		marks(head),
		head.limits.length
			? h(
					"ul",
					{},
					...head.limits
						.filter((limit) => limit.left_out > 0)
						.map((limit) =>
							h("li", {}, `not in this page: ${count(limit.left_out)} ${limit.text}`),
						),
				)
			: null,
		h(
			"p",
			{ class: "note" },
			`Written by dwell ${head.dwell} from ${head.session.file}. Colours are the states of threads; every percentage has its base in its tooltip.`,
		),
	);
}

/** Losses and gaps one by one; steps of the overhead limit are among the warnings. */
function marks(head: Head): HTMLElement | null {
	const all = head.marks.filter((mark) => mark.kind !== "step");
	const shown = all.slice(0, 50);
	const left = all.length - shown.length;
	if (!shown.length) return null;
	return h(
		"ul",
		{},
		...shown.map((mark) =>
			h(
				"li",
				{},
				`at ${duration(mark.ts_ns)}: ${mark.text}${mark.count > 1 ? ` (${count(mark.count)})` : ""}`,
			),
		),
		left > 0 ? h("li", {}, `and ${count(left)} more`) : null,
	);
}
