#!/usr/bin/env node
// Compiles every kernel that the sample programs become, with stock Triton for an H100. Needs python3 with venv, and
// once the network or pip's cache; no GPU, no PyTorch.
//
//   npm run test:triton -- [--preset torch-2.11] [--only NAME] [--all-configs] [--jobs 2]
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { loadCompiler } from "../../scripts/sources.mjs";
import { cache, python, read, root, run } from "./tools.mjs";

const option = name => {
  const i = process.argv.indexOf(name);
  return i < 0 ? undefined : process.argv[i + 1];
};

const { Session, defaultSessionOptions, presetNames } = await loadCompiler();
const presets = option("--preset")?.split(",") ?? presetNames();
const folder = join(cache, "triton-programs");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** graphs that differ only in comments are checked once */
const seen = new Set();
let crashed = 0;
/** templates in every form, under the preset that has them all */
const FORMS = [
  ...["flattened", "flattened_stores", "persistent", "persistent_stores", "pointers", "split_4", "split_8"],
  ...["pointers_prologue", "split_4_prologue"],
];
/** and with operands that lie otherwise, where they may */
FORMS.push(...["padded", "viewed"].flatMap(l => ["library", "flattened_stores", "pointers"].map(f => `${f}_${l}`)));
const FORMED = "bench/gemm_programs";
/** under the preset whose kernels differ from torch's; theirs are compared with torch's as texts */
const OURS = new Set([FORMED, "stages", "texts", "unseen"]);
for (const source of ["programs", "counts", ...OURS]) {
  for (const file of readdirSync(join(root, "test", source)).sort()) {
    const name = basename(file, ".py");
    if (!file.endsWith(".py") || (option("--only") ?? name) !== name) continue;
    const forms = source === FORMED ? FORMS : [null];
    const pairs = OURS.has(source) ? [presets[presets.length - 1]] : presets;
    for (const [preset, form] of pairs.flatMap(p => forms.map(f => [p, f]))) {
      const config = new Map(form === null ? [] : [["triton.template_form", form]]);
      const session = new Session(read, { ...defaultSessionOptions(), preset, config });
      let compilations = [];
      try {
        ({ compilations } = session.run(join(root, "test", source, file)));
      } catch (error) {
        console.log(`${name} under ${preset}: ${error.stack}`);
        crashed++;
      }
      for (const [i, c] of compilations.entries()) {
        const code = c.outputCode.standalone.replace(/^\s*#.*\n/gm, "");
        if (seen.has(code)) continue;
        seen.add(code);
        writeFileSync(join(folder, `${name}_${preset}_${form ?? ""}${i}.py`), code);
      }
    }
  }
}
const flags = process.argv.includes("--all-configs") ? ["--all-configs"] : [];
const jobs = option("--jobs") ?? "2";
const check = join(root, "test", "triton", "compile_check.py");
process.exitCode = run(python(), [check, folder, "--jobs", jobs, ...flags]) || Number(crashed > 0);
