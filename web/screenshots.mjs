// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a report: node screenshots.mjs [--all] [--of=SELECTOR] PAGE.html[#SELECTION] NAME [FOLDER]
// SELECTION is the fragment of the page's address, such as tab=timeline. Writes NAME-light.png and NAME-dark.png, 1280
// pixels wide, of what a reader sees first; with `--of`, of the element that a CSS selector names; with `--all`, every tab
// at 1280 and at 390 pixels as well. CHROMIUM names the browser (/usr/bin/chromium).
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const all = process.argv.includes("--all");
const of = process.argv.find((argument) => argument.startsWith("--of="))?.slice(5);
const [file, name, folder = "."] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
if (!file || !name) {
	console.error("usage: node screenshots.mjs [--all] PAGE.html[#SELECTION] NAME [FOLDER]");
	process.exit(64);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const colorScheme of ["light", "dark"]) {
	for (const width of all ? [1280, 390] : [1280]) {
		const page = await browser.newPage({
			colorScheme,
			viewport: { width, height: width < 600 ? 844 : 1500 },
			deviceScaleFactor: width < 600 ? 2 : 1,
		});
		const shot = (suffix, fullPage) =>
			page.screenshot({ path: resolve(folder, `${name}${suffix}-${colorScheme}.png`), fullPage });
		page.on("pageerror", (error) => console.error(`${file}: ${error}`));
		page.on(
			"console",
			(message) => message.type() === "error" && console.error(`${file}: ${message.text()}`),
		);
		const [path, selection = ""] = file.split("#");
		await page.goto(`${pathToFileURL(resolve(path)).href}#${selection}`);
		await page.waitForFunction(
			() => document.querySelector(".panel:not([hidden]):not(.waiting)")?.childElementCount,
		);
		await page.waitForTimeout(300);
		if (of)
			await page
				.locator(of)
				.first()
				.screenshot({ path: resolve(folder, `${name}-${colorScheme}.png`) });
		else await shot(all ? `-${width}` : "", all);
		if (!all) continue;
		for (const tab of await page.$$("[role=tab]")) {
			await tab.click();
			await page.waitForTimeout(400);
			const id = (await tab.getAttribute("id")).replace("tab-", "");
			await (
				await page.$(".why")
			).screenshot({ path: resolve(folder, `${name}-${width}-${id}-${colorScheme}.png`) });
		}
		await page.close();
	}
}
await browser.close();
