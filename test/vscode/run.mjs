// npm run test:vscode: the packaged extension in a real VS Code. Screenshots go to .cache/screenshots; the last line says
// how many checks passed.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKS } from "./checks.mjs";
import { ensureVscode } from "./install.mjs";
import { startWorkbench } from "./workbench.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const screenshots = join(root, ".cache", "screenshots");
const only = process.argv[2];

const cell = (...source) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source });
const NOTEBOOK = JSON.stringify({
  cells: [
    cell("import torch"),
    cell("@torch.compile\n", "def f(x):\n", "    return torch.sin(x) + 1"),
    cell('f(torch.randn(64, 64, device="cuda"))'),
  ],
  metadata: { language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
});

let passed = 0;
let failed = 0;
try {
  const programs = ensureVscode(root);
  for (const old of existsSync(screenshots) ? readdirSync(screenshots) : [])
    if (old.startsWith("failed_")) rmSync(join(screenshots, old));
  execFileSync(process.execPath, [join(root, "scripts", "package.mjs"), "linux-x64"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  const vsix = join(root, "dist", "fuselens-linux-x64.vsix");
  const example = readFileSync(join(root, "client", "walkthrough", "first_kernels.py"), "utf8");
  const w = await startWorkbench({
    programs,
    vsix,
    screenshots,
    files: { "model.py": example, "cells.ipynb": NOTEBOOK },
  });
  w.page.setDefaultTimeout(20_000);
  try {
    for (const [name, check] of CHECKS) {
      if (only && !name.includes(only) && !check.needed) continue;
      try {
        const note = await check(w);
        passed++;
        console.log(`ok ${name}${note ? ` (${note})` : ""}`);
      } catch (e) {
        failed++;
        console.log(`not ok ${name}: ${String(e.message).split("\n")[0]}`);
        await w.shot(`failed_${name.replace(/\W+/g, "_").slice(0, 60)}`).catch(() => undefined);
        await w.page.keyboard.press("Escape").catch(() => undefined);
      }
    }
  } finally {
    await w.close();
  }
} catch (e) {
  failed++;
  console.log(`not ok ${e.stack}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
