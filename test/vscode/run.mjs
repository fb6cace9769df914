// npm run test:vscode [-- PART OF A CHECK'S NAME]: the packages of all platforms, and the one of this platform in a real
// VS Code. Screenshots go to .cache/screenshots; the last line says how many checks passed.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EDITOR } from "./checks/editor.mjs";
import { PAGES } from "./checks/pages.mjs";
import { TEXTS } from "./checks/texts.mjs";
import { TRUST, untrustedFiles } from "./checks/trust.mjs";
import { WORKERS } from "./checks/workers.mjs";
import { ensureVscode } from "./install.mjs";
import { checkPackage } from "./packages.mjs";
import { closeOthers } from "./steps.mjs";
import { startWorkbench } from "./workbench.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const screenshots = join(root, ".cache", "screenshots");
const only = process.argv[2];
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64"];

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
/** a function that is never called: its shapes are guessed */
const GUESS = `import torch


def scale(x: torch.Tensor, w: torch.Tensor):
    y = x * w
    return torch.softmax(y, dim=-1)
`;

let passed = 0;
let failed = 0;
async function check(name, run, onFailure = () => undefined) {
  try {
    const note = await run();
    passed++;
    console.log(`ok ${name}${note ? ` (${note})` : ""}`);
  } catch (e) {
    failed++;
    console.log(`not ok ${name}: ${String(e.message).split("\n")[0]}`);
    await onFailure();
  }
}

async function inWorkbench(checks, options) {
  const wanted = checks.filter(([name, run]) => !only || name.includes(only) || run.needed);
  if (!wanted.some(([name]) => !only || name.includes(only))) return;
  const w = await startWorkbench(options);
  try {
    for (const [name, run] of wanted) {
      await check(
        name,
        () => run(w),
        async () => {
          await w.shot(`failed_${name.replace(/\W+/g, "_").slice(0, 60)}`).catch(() => undefined);
          // the next check finds what it would have found
          w.restore();
          await closeOthers(w).catch(() => undefined);
        },
      );
    }
  } finally {
    await w.close();
  }
}

try {
  const programs = ensureVscode(root);
  for (const old of existsSync(screenshots) ? readdirSync(screenshots) : [])
    if (old.startsWith("failed_")) rmSync(join(screenshots, old));
  const packed = only && !"the package".includes(only) ? ["linux-x64"] : PLATFORMS;
  execFileSync(process.execPath, [join(root, "scripts", "package.mjs"), ...packed], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  const vsixOf = platform => join(root, "dist", `fuselens-${platform}.vsix`);
  const vsce = join(root, ".cache", "vsce");
  for (const platform of packed)
    await check(`the package for ${platform} holds what it needs`, () =>
      checkPackage({ platform, vsix: vsixOf(platform), vsce, root }),
    );
  const example = readFileSync(join(root, "client", "walkthrough", "first_kernels.py"), "utf8");
  const common = {
    programs,
    vsix: vsixOf("linux-x64"),
    screenshots,
    extensionFolder: join(root, ".cache", "package", "linux-x64"),
  };
  await inWorkbench([...EDITOR, ...TEXTS, ...PAGES, ...WORKERS], {
    ...common,
    files: () => ({ "model.py": example, "cells.ipynb": NOTEBOOK, "guess.py": GUESS }),
  });
  await inWorkbench(TRUST, { ...common, files: home => untrustedFiles(example, home), trusted: false });
} catch (e) {
  failed++;
  console.log(`not ok ${e.stack}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
