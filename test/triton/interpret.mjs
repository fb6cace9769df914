#!/usr/bin/env node
// `npm run test:templates`: templates' kernels in Triton's interpreter against NumPy (interpret.py), under every form. Needs
// python3 with venv, and once the network or pip's cache; no GPU, no PyTorch.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCompiler } from "../../scripts/sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cache = join(root, ".cache");
const venv = join(cache, "triton-interpreter-venv");
const PACKAGES = ["triton==3.6.0", "numpy==2.2.6"];

function run(command, args) {
  const r = spawnSync(command, args, { stdio: "inherit" });
  if (r.error) throw r.error;
  return r.status ?? 1;
}

function python() {
  const path = join(venv, "bin", "python");
  if (existsSync(path) && spawnSync(path, ["-c", "import triton, numpy"]).status === 0) return path;
  if (run("python3", ["-m", "venv", venv]) !== 0) throw new Error("python3 -m venv failed");
  if (run(path, ["-m", "pip", "install", "--quiet", ...PACKAGES]) !== 0) throw new Error("pip install failed");
  return path;
}

const { Session, defaultSessionOptions } = await loadCompiler();
const read = path => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
const folder = join(cache, "triton-templates");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const seen = new Set();
for (const form of ["flattened", "persistent", "pointers"]) {
  for (const stores of [true, false]) {
    const config = new Map([
      ["max_autotune", true],
      ["triton.template_form", form],
      ["triton.template_tile_stores", stores],
    ]);
    const session = new Session(read, { ...defaultSessionOptions(), preset: "fuselens", config });
    for (const c of session.run(join(root, "test", "triton", "templates.py")).compilations) {
      const code = c.outputCode.standalone;
      if (seen.has(code)) continue;
      seen.add(code);
      writeFileSync(join(folder, `${c.graph.name}__${form}${stores ? "_stores" : ""}.py`), code);
    }
  }
}
process.exitCode = run(python(), [join(root, "test", "triton", "interpret.py"), folder]);
