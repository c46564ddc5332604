// SPDX-License-Identifier: Apache-2.0
//
// npm test: bundles each *.test.ts (esbuild comes with Vite) and gives it to node's own test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const outdir = mkdtempSync(join(tmpdir(), "dwell-page-"));
const names = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
	entryPoints: names.map((name) => join(here, name)),
	bundle: true,
	platform: "node",
	format: "esm",
	outdir,
	outExtension: { ".js": ".mjs" },
	logLevel: "warning",
});
const files = names.map((name) => join(outdir, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(outdir, { recursive: true });
process.exit(status ?? 1);
