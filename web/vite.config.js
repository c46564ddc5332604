// SPDX-License-Identifier: Apache-2.0
//
// Builds ONE file, ../build/web/page.html: script and style are inlined, and the Content-Security-Policy names both by
// their hash. Nothing else may run, load or connect. `<!-- dwell-data -->` stays: dwell puts the data there.
// BUILD is the build folder, as the Makefile names it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

/** The script and the style of the bundle, and the policy that names them, put into page.html in place of its markers. */
function oneFile() {
	return {
		name: "one-file",
		enforce: "post",
		generateBundle(_options, bundle) {
			let script = "";
			let style = "";
			for (const [name, part] of Object.entries(bundle)) {
				if (part.type === "chunk") script += part.code;
				else if (name.endsWith(".css")) style += part.source;
				delete bundle[name];
			}
			// A closing tag inside a string of the script would end the element.
			script = script.trim().replaceAll("</script", "<\\/script");
			style = style.trim();
			const policy = [
				"default-src 'none'",
				`script-src ${hash(script)}`,
				`style-src ${hash(style)}`,
				"base-uri 'none'",
				"form-action 'none'",
				"require-trusted-types-for 'script'",
				"trusted-types 'none'",
			].join("; ");
			const page = readFileSync(resolve(import.meta.dirname ?? ".", "page.html"), "utf8")
				.replace(
					"<!-- policy -->",
					() => `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
				)
				.replace("<!-- style -->", () => `<style>${style}</style>`)
				.replace("<!-- script -->", () => `<script>${script}</script>`);
			this.emitFile({ type: "asset", fileName: "page.html", source: page });
		},
	};
}

export default defineConfig({
	logLevel: "warn",
	plugins: [oneFile()],
	build: {
		target: "es2022",
		outDir: resolve(process.env.BUILD ?? "../build", "web"),
		emptyOutDir: true,
		cssCodeSplit: false,
		assetsInlineLimit: 0,
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: { input: "src/main.ts", output: { format: "iife", inlineDynamicImports: true } },
	},
});
