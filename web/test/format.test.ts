// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	bytes,
	change,
	clock,
	count,
	duration,
	inUnit,
	longDuration,
	moment,
	percent,
	roundPercent,
	sampleError,
	three,
	unbroken,
} from "../src/format";

const plain = (text: string) => text.replaceAll("\u202f", " ");

test("three significant digits, never an exponent", () => {
	const cases: [number, string][] = [
		[0, "0"],
		[1.234, "1.23"],
		[12.34, "12.3"],
		[123.4, "123"],
		[999.4, "999"],
		[1234.5, "1,235"],
		[0.01234, "0.0123"],
		[-1.5, "-1.50"],
		[1e-9, "0"],
		[Number.NaN, "–"],
	];
	for (const [value, text] of cases) assert.equal(three(value), text);
});

test("durations choose their unit, and 999.7 µs is 1.00 ms", () => {
	const cases: [number, string][] = [
		[0, "0 s"],
		[1, "1.00 ns"],
		[1_500, "1.50 µs"],
		[999_700, "1.00 ms"],
		[17_800_000_000, "17.8 s"],
		[894_631e9, "894,631 s"],
	];
	for (const [ns, text] of cases) assert.equal(plain(duration(ns)), text);
	assert.equal(plain(longDuration(3_600e9)), "1.00 h");
	assert.equal(plain(longDuration(90e9)), "1.50 min");
});

test("bytes, counts, percentages", () => {
	assert.equal(plain(bytes(1536)), "1.50 KiB");
	assert.equal(plain(bytes(0)), "0 B");
	assert.equal(count(1234567), "1,234,567");
	assert.equal(plain(percent(0.1234)), "12.3 %");
	assert.equal(plain(percent(0.9999)), "100 %");
	assert.equal(plain(percent(1)), "100 %");
	assert.equal(plain(percent(0.00001)), "< 0.01 %");
	assert.equal(plain(percent(0.0012)), "0.12 %");
	assert.equal(plain(roundPercent(0.746)), "75 %");
	assert.equal(plain(roundPercent(0.001)), "< 1 %");
});

test("moments are as exact as the axis needs", () => {
	assert.equal(plain(moment(5e9)), "5 s");
	assert.equal(plain(moment(5.25e9, 5e7)), "5.25 s");
	assert.equal(moment(65e9), "1:05");
	assert.equal(moment(3_723e9), "1:02:03");
	assert.match(clock("1700000000000000000", 0).date, /^2023-11-1[45]$/);
});

test("the error of a share shrinks with the samples", () => {
	assert.ok(Math.abs(sampleError(0.5, 100) - 0.098) < 1e-3);
	assert.ok(sampleError(0.5, 10_000) < 0.01);
	assert.ok(Number.isNaN(sampleError(0.5, 0)));
});

test("a number that is a name has neither separators nor a unit", () => {
	assert.equal(inUnit(5432, "id"), "5432");
	assert.equal(inUnit(5432, "count"), "5,432");
});

test("a number and its unit stay on one line", () => {
	assert.equal(unbroken("was idle 47 %, 8 ms of 3 threads"), "was idle 47\u00a0%, 8\u00a0ms of 3 threads");
	assert.equal(unbroken("2 sockets, 4 hosts"), "2 sockets, 4 hosts");
});

test("a change has a sign, and no percentage where there was nothing or from tenfold on", () => {
	assert.deepEqual(
		[null, 0.1, -0.1, 0, 2.75, 11.7].map((share) => plain(change(share))),
		["new", "+10.0 %", "-10.0 %", "0 %", "+275 %", "× 12.7"],
	);
});
