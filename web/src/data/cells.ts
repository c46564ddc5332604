// SPDX-License-Identifier: Apache-2.0
//
// The cells of a table as dwell wrote it.
import type { TableData } from "./head";
import type { Session } from "./session";

export type Cell = number | string | null;

/** A column of a table; texts are indices into the session's strings. */
export function cellsOf(session: Session, table: TableData, key: string): Cell[] {
	const plain = table.rows[key];
	if (plain) return plain;
	const indexed = table.rows[`${key}$`];
	return indexed ? indexed.map((index) => (index === null ? null : session.text(Number(index)))) : [];
}
