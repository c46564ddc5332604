// SPDX-License-Identifier: Apache-2.0
//
// Column sets (docs/page-data.md): JSON arrays become typed arrays, deltas become values. Names that end in `$` keep
// their string indices: texts are looked up when they are shown.

export type Column = Int32Array | Float64Array;
export type Columns = Record<string, Column>;
export type RawColumns = Record<string, number[]>;

/** Decodes all columns; the suffixes `$` and `+` are not part of the resulting names. */
export function decodeColumns(raw: RawColumns | undefined): Columns {
	const columns: Columns = {};
	for (const [key, values] of Object.entries(raw ?? {})) {
		const isDelta = key.endsWith("+");
		const name = key.replace(/\+$/, "").replace(/\$$/, "");
		columns[name] = decodeColumn(values, isDelta);
	}
	return columns;
}

export function decodeColumn(values: number[], isDelta: boolean): Column {
	const result = new Float64Array(values.length);
	let fits = true;
	let before = 0;
	for (let i = 0; i < values.length; i++) {
		const value = isDelta ? before + values[i] : values[i];
		before = value;
		result[i] = value;
		if (value !== (value | 0)) fits = false;
	}
	return fits ? Int32Array.from(result) : result;
}

/** The rows of each key, for rows that are sorted by it: those of key k are offsets[k] to offsets[k + 1]. */
export function offsetsByKey(keys: Column, count: number): Int32Array {
	const offsets = new Int32Array(count + 1);
	for (let i = 0; i < keys.length; i++) if (keys[i] >= 0 && keys[i] < count) offsets[keys[i] + 1]++;
	for (let k = 0; k < count; k++) offsets[k + 1] += offsets[k];
	return offsets;
}

/** The rows of each key, for rows in any order: those of key k are rows[offsets[k]] to rows[offsets[k + 1] - 1]. */
export function orderByKey(keys: Column, count: number): { offsets: Int32Array; rows: Int32Array } {
	const offsets = offsetsByKey(keys, count);
	const next = offsets.slice();
	const rows = new Int32Array(keys.length);
	for (let i = 0; i < keys.length; i++) if (keys[i] >= 0 && keys[i] < count) rows[next[keys[i]]++] = i;
	return { offsets, rows };
}
