// SPDX-License-Identifier: Apache-2.0
//
// The data's parts: base64 text of zlib streams in script elements that no browser runs (docs/page-data.md).
// A part is inflated when it is first asked for, once.

const inflated = new Map<string, Promise<unknown>>();

/** True if the page has this part at all. */
export function hasPart(name: string): boolean {
	return element(name) !== null;
}

/** The part's JSON; undefined if the page does not have it. */
export function part<T>(name: string): Promise<T | undefined> {
	let promise = inflated.get(name);
	if (!promise) {
		promise = inflate(name);
		inflated.set(name, promise);
	}
	return promise as Promise<T | undefined>;
}

function element(name: string): Element | null {
	return document.querySelector(`script[data-part="${name}"]`);
}

async function inflate(name: string): Promise<unknown> {
	const script = element(name);
	if (!script) return undefined;
	const bytes = decodeBase64((script.textContent ?? "").trim());
	script.remove(); // the text is as large as the data: do not keep it twice
	return JSON.parse(await inflateBytes(bytes));
}

export async function inflateBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Response(stream).text();
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** The size of the parts that are not inflated yet. */
export function waitingBytes(): number {
	let size = 0;
	for (const script of document.querySelectorAll("script[data-part]"))
		size += script.textContent?.length ?? 0;
	return size;
}
