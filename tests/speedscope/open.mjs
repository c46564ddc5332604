// SPDX-License-Identifier: Apache-2.0
//
// open.mjs CHROMIUM FILE [PNG]: opens a file in speedscope's own app in a headless browser, and prints as JSON what its
// table of functions shows of the first profile: {title, count, rows: [[total, self, name], ...]}. Exits 1 on any error of
// the page. Everything is on loopback.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, png] = process.argv.slice(2);
const app = fileURLToPath(new URL("node_modules/speedscope/dist/release", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

const server = createServer(async (request, response) => {
	const path = normalize(new URL(request.url, "http://localhost").pathname);
	try {
		const body = await readFile(path === "/profile.json" ? file : join(app, path));
		response.writeHead(200, { "Content-Type": types[extname(path)] ?? "application/octet-stream" });
		response.end(body);
	} catch {
		response.writeHead(404);
		response.end();
	}
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;

const errors = [];
const browser = await chromium.launch({
	executablePath,
	args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
try {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	page.on("pageerror", (error) => errors.push(String(error)));
	page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
	await page.goto(`${base}/index.html#profileURL=${encodeURIComponent(`${base}/profile.json`)}`);
	// Its tabs come with a profile; the third one is a table.
	await page.getByText("Sandwich").first().click({ timeout: 20000 });
	// The list of profiles has such rows, too, and is there first.
	const { profiles } = JSON.parse(await readFile(file, "utf8"));
	await page.waitForFunction((count) => document.querySelectorAll("tr td:nth-child(3)").length > count, profiles.length, {
		timeout: 20000,
	});
	const rows = await page.$$eval("table tr", (all) =>
		all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())).filter((cells) => cells.length),
	);
	if (png) await page.screenshot({ path: png });
	console.log(JSON.stringify({ title: await page.title(), rows, errors }));
} catch (error) {
	errors.push(String(error));
} finally {
	await browser.close();
	server.close();
}
if (errors.length) console.error(errors.join("\n"));
process.exit(errors.length ? 1 : 0);
