#!/usr/bin/env node
// `npm run test:templates`: templates' kernels in Triton's interpreter against NumPy (interpret.py), under every form. Needs
// python3 with venv, and once the network or pip's cache; no GPU, no PyTorch.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadCompiler } from "../../scripts/sources.mjs";
import { cache, python, read, root, run } from "./tools.mjs";

const { Session, defaultSessionOptions } = await loadCompiler();
const folder = join(cache, "triton-templates");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const seen = new Set();
const WAYS = [
  ...["flattened", "flattened_stores", "persistent", "persistent_stores", "pointers", "split_8"],
  ...["pointers_prologue", "split_8_prologue"],
  ...["flattened", "flattened_stores", "persistent_stores", "pointers"].flatMap(f => [`${f}_viewed`, `${f}_padded`]),
];
for (const way of WAYS) {
  const config = new Map([
    ["max_autotune", true],
    ["triton.template_form", way],
  ]);
  const session = new Session(read, { ...defaultSessionOptions(), preset: "fuselens", config });
  for (const c of session.run(join(root, "test", "triton", "templates.py")).compilations) {
    const code = c.outputCode.standalone;
    // a way that a product does not have may leave it to the library
    if (seen.has(code) || /extern_kernels\.\w+\(/.test(code)) continue;
    seen.add(code);
    writeFileSync(join(folder, `${c.graph.name}__${way}.py`), code);
  }
}
process.exitCode = run(python("triton-interpreter-venv", { numpy: "2.2.6" }), [
  join(root, "test", "triton", "interpret.py"),
  folder,
]);
