// SPDX-License-Identifier: Apache-2.0
//
// The verdict and the findings, as sentences. A click on a finding selects its subject and its states: everything below
// follows.
import type { Finding, Head, SubjectReference } from "../data/head";
import { unbroken } from "../format";
import { HOST, type Selection, type SelectionStore, type Subject } from "../selection";
import { h } from "../ui/dom";

const SHOWN = 5;
const PRINTED = 12;

export function subjectOf(reference: SubjectReference | null): Subject {
	if (reference?.thread !== undefined && reference.thread >= 0)
		return { kind: "thread", index: reference.thread };
	if (reference?.process !== undefined && reference.process >= 0)
		return { kind: "process", index: reference.process };
	if (reference?.group !== undefined && reference.group >= 0)
		return { kind: "group", index: reference.group };
	return HOST;
}

/** The section, and a function that marks the finding that is selected. Without a title it needs none to be seen. */
export function findings(
	head: Head,
	store: SelectionStore,
	title: string | null,
): { element: HTMLElement; update(selection: Selection): void } {
	const listed = head.findings.filter((finding) => !finding.is_told);
	const section = h("section", { class: "findings", "aria-labelledby": "findings" });
	section.append(h("h2", { id: "findings", class: title ? null : "unseen" }, title ?? "Findings"));
	// A sentence that a finding below has as well is read there, where it can be clicked.
	const lead = head.verdict.filter((sentence) => !listed.some((finding) => finding.sentence === sentence));
	if (lead.length)
		section.append(h("div", { class: "verdict" }, ...lead.map((sentence) => h("p", {}, unbroken(sentence)))));
	const list = h("ol", { class: "finding-list" }, ...listed.map((finding, i) => entry(finding, i, store)));
	if (listed.length) section.append(list);
	if (listed.length > SHOWN) {
		const more = h(
			"button",
			{ type: "button", class: "link more" },
			`${listed.length - SHOWN} more findings`,
		);
		list.classList.add("cut");
		more.addEventListener("click", () => {
			list.classList.remove("cut");
			more.remove();
		});
		section.append(more);
	}
	if (listed.length > PRINTED)
		section.append(
			h("p", { class: "print-only" }, `${listed.length - PRINTED} more findings are in the page.`),
		);
	if (!listed.length && !head.verdict.length)
		section.append(
			h(
				"p",
				{ class: "soft" },
				"No finding: no state stands out. The ledger below has all of the time.",
			),
		);
	const entries = [...list.children];
	return {
		element: section,
		update(selection) {
			const of = (subject: Subject, states: number[]) =>
				`${subject.kind} ${subject.index} ${states.join()}`;
			const chosen = of(selection.subject, selection.states);
			const isAny = selection.subject.kind !== "host" || selection.states.length > 0;
			listed.forEach((finding, i) =>
				entries[i].classList.toggle(
					"chosen",
					isAny && chosen === of(subjectOf(finding.subject), finding.states ?? []),
				),
			);
		},
	};
}

function entry(finding: Finding, number: number, store: SelectionStore): HTMLElement {
	const subject = subjectOf(finding.subject);
	const filters = subject.kind !== "host" || finding.states?.length > 0;
	const select = () => store.change({ subject, states: finding.states ?? [] });
	const sentence = filters
		? h(
				"button",
				{
					type: "button",
					class: "sentence",
					title: "Select what this finding is about",
					onclick: select,
				},
				unbroken(finding.sentence),
			)
		: h("span", { class: "sentence" }, unbroken(finding.sentence));
	return h(
		"li",
		{
			class: `finding ${finding.severity}${number >= SHOWN ? " late" : ""}${number >= PRINTED ? " unprinted" : ""}`,
		},
		sentence,
		finding.action ? h("p", { class: "action" }, finding.action) : null,
	);
}
