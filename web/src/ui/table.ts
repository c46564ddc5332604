// SPDX-License-Identifier: Apache-2.0
//
// The one table: sorted by a click on a header, filtered by the search string, rendered only where it is visible
// (rows have one height). It shows typed arrays or plain ones through an accessor, so that no row object is made.
import { count } from "../format";
import { h } from "./dom";

export interface Column {
	title: string;
	/** What the values are: numbers are right-aligned and sorted largest first. */
	isNumber: boolean;
	/** The value to sort by. */
	value(row: number): number | string | null;
	/** The text of a cell. */
	text(row: number): string;
	tip?: string;
	/** What a cell's tooltip says, such as the base of a percentage. */
	hint?(row: number): string;
	/** Makes the cell a button, if there is something to select. */
	select?(row: number): (() => void) | null;
	/** A picture in place of the text. */
	draw?(row: number): Node;
	className?: string;
}

export interface TableOptions {
	caption: string;
	columns: Column[];
	rows: number;
	/** Whether a row is in the selection; missing: all are. */
	include?: (row: number) => boolean;
	search?: string;
	/** What a search finds besides the texts of the cells. */
	alsoSearched?: (row: number) => string;
	/** The column that the rows are sorted by at first; none keeps the order of the data. */
	sort?: number;
	maxHeight?: number;
	onRow?: (row: number) => void;
	isChosen?: (row: number) => boolean;
	emptyText?: string;
	/** Says nothing of rows that were left out. */
	quietFoot?: boolean;
}

export const ROW_HEIGHT = 28;
const PRINTED_ROWS = 20;
const OVERSCAN = 6;
const OVERSCAN_PICTURES = 2;
/** A table of up to so many rows is rendered whole, and its texts are wrapped; a longer one has rows of one height. */
const WRAPPED_ROWS = 60;
/** Characters from which on a text needs room to wrap. */
const LONG_TEXT = 60;

export class Table {
	readonly element: HTMLElement;
	private readonly scroller: HTMLElement;
	private readonly table: HTMLTableElement;
	private readonly body: HTMLTableSectionElement;
	private readonly foot: HTMLElement;
	private readonly headers: HTMLTableCellElement[] = [];
	private order: Int32Array = new Int32Array(0);
	private sortColumn: number;
	private descending = true;
	private first = -1;
	private last = -1;

	constructor(private readonly options: TableOptions) {
		this.sortColumn = options.sort ?? -1;
		const row = h("tr", {});
		options.columns.forEach((column, i) => {
			const button = h(
				"button",
				{ type: "button", title: column.tip ?? null, onclick: () => this.sortBy(i) },
				column.title,
			);
			const cell = h("th", { scope: "col", class: classOf(column) }, button);
			this.headers.push(cell);
			row.append(cell);
		});
		this.body = h("tbody", {});
		this.table = h(
			"table",
			{ class: this.isWrapped ? "wrapped" : null },
			h("caption", { class: "unseen" }, options.caption),
			h("thead", {}, row),
			this.body,
		);
		this.scroller = h(
			"div",
			{ class: "table-scroll", tabindex: 0, role: "region", "aria-label": options.caption },
			this.table,
		);
		this.scroller.style.maxHeight = `${options.maxHeight ?? 480}px`;
		this.scroller.addEventListener("scroll", () => this.renderVisible(), { passive: true });
		this.foot = h("p", { class: "table-foot" });
		this.element = h("div", { class: "table" }, this.scroller, this.foot);
		this.arrange();
	}

	private get isWrapped(): boolean {
		return this.options.rows <= WRAPPED_ROWS && !this.options.columns.some((column) => column.draw);
	}

	/** How many rows passed the filters. */
	get shown(): number {
		return this.order.length;
	}

	search(text: string): void {
		if (text === this.options.search) return;
		this.options.search = text;
		this.arrange();
	}

	/** Draws the visible rows again: the theme or the chosen row changed. */
	refresh(): void {
		this.first = -1;
		this.renderVisible();
	}

	private sortBy(column: number): void {
		if (this.sortColumn === column) this.descending = !this.descending;
		else {
			this.sortColumn = column;
			this.descending = this.options.columns[column].isNumber;
		}
		this.arrange();
		this.scroller.scrollTop = 0;
	}

	private arrange(): void {
		const { columns, rows, include, search, alsoSearched } = this.options;
		const needle = (search ?? "").toLowerCase();
		const finds = (text: string | undefined) => Boolean(text?.toLowerCase().includes(needle));
		const kept = new Int32Array(rows);
		let size = 0;
		for (let row = 0; row < rows; row++) {
			if (include && !include(row)) continue;
			if (
				needle &&
				!columns.some((column) => !column.isNumber && finds(column.text(row))) &&
				!finds(alsoSearched?.(row))
			)
				continue;
			kept[size++] = row;
		}
		this.order = kept.subarray(0, size);
		this.table.setAttribute("aria-rowcount", String(size + 1));
		if (this.sortColumn >= 0) this.sortRows(columns[this.sortColumn]);
		this.headers.forEach((header, i) => {
			const isSorted = i === this.sortColumn;
			header.setAttribute(
				"aria-sort",
				!isSorted ? "none" : this.descending ? "descending" : "ascending",
			);
		});
		const left = rows - size;
		this.foot.textContent =
			size === 0
				? (this.options.emptyText ?? "No row matches.")
				: this.options.quietFoot
					? ""
					: left > 0
						? `${count(size)} of ${count(rows)} rows: the others are outside the selection or do not match the search.`
						: size > 12
							? `${count(size)} rows.`
							: "";
		this.foot.hidden = !this.foot.textContent;
		this.first = -1;
		this.renderVisible();
	}

	private sortRows(column: Column): void {
		const sign = this.descending ? -1 : 1;
		if (column.isNumber) {
			const keys = new Float64Array(this.options.rows).fill(Number.NaN);
			for (const row of this.order) {
				const value = column.value(row);
				keys[row] = value === null ? Number.NEGATIVE_INFINITY : Number(value);
			}
			this.order.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
		} else {
			const keys = new Map<number, string>();
			for (const row of this.order) keys.set(row, String(column.value(row) ?? ""));
			const collator = new Intl.Collator("en", { numeric: true });
			this.order.sort((a, b) => sign * collator.compare(keys.get(a) ?? "", keys.get(b) ?? "") || a - b);
		}
	}

	private renderVisible(): void {
		const printing = document.documentElement.hasAttribute("data-printing");
		const height = this.options.maxHeight ?? 480;
		const overscan = this.options.columns.some((column) => column.draw) ? OVERSCAN_PICTURES : OVERSCAN;
		const first =
			printing || this.isWrapped
				? 0
				: Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - overscan);
		const visible = printing
			? PRINTED_ROWS
			: this.isWrapped
				? WRAPPED_ROWS
				: Math.ceil(height / ROW_HEIGHT) + 2 * overscan;
		const last = Math.min(this.order.length, first + visible);
		if (first === this.first && last === this.last) return;
		this.first = first;
		this.last = last;
		const rows: Node[] = [];
		if (first > 0) rows.push(this.spacer(first));
		for (let i = first; i < last; i++) rows.push(this.row(this.order[i], i));
		if (last < this.order.length && !printing) rows.push(this.spacer(this.order.length - last));
		this.body.replaceChildren(...rows);
	}

	private spacer(rows: number): HTMLElement {
		const cell = h("td", { colspan: this.options.columns.length });
		cell.style.height = `${rows * ROW_HEIGHT}px`;
		return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
	}

	private row(row: number, position: number): HTMLElement {
		const { onRow, isChosen } = this.options;
		const element = h("tr", { "aria-rowindex": position + 2, class: isChosen?.(row) ? "chosen" : null });
		for (const column of this.options.columns) {
			const cell = h("td", { class: classOf(column) });
			const select = column.select?.(row);
			const text = column.draw ? "" : column.text(row);
			if (column.draw) cell.append(column.draw(row));
			else if (select)
				cell.append(h("button", { type: "button", class: "link", onclick: select }, text));
			else cell.append(text);
			if (column.hint) cell.title = column.hint(row);
			else if (!column.isNumber && text.length > 24) cell.title = text;
			if (text.length > LONG_TEXT) cell.classList.add("long");
			element.append(cell);
		}
		if (onRow) {
			element.classList.add("clickable");
			element.addEventListener("click", (event) => {
				if (!(event.target as Element).closest("button")) onRow(row);
			});
		}
		return element;
	}
}

function classOf(column: Column): string | null {
	return [column.isNumber ? "number" : "", column.className ?? ""].filter(Boolean).join(" ") || null;
}
