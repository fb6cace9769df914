// npm run bench -- compile [--layers N,N,...] [--repeats N] [--starts FOLDER]: how long compiles take, without an editor.
// Out: JSON on stdout: a file of about 100 ATen nodes and GPTs of 12, 24, 48 and 96 layers, forward and backward, stage by
// stage; what twice the layers take; memory. Milliseconds are CPU time. With --starts, `fuselens explain` on each .py file
// of the folder, a process each and as many at once as there are processors: wall-clock time of all.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { bundleSource } from "../../scripts/sources.mjs";
import { gptFile, mediumFile } from "./lsp/programs.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(dirname(here));
const run = promisify(execFile);

/** twice the layers may take twice the time, within a fifth */
const MOST_RATIO = 2.4;

export async function main(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      layers: { type: "string", default: "12,24,48,96" },
      repeats: { type: "string", default: "3" },
      starts: { type: "string" },
    },
  });
  const program = await bundle();
  const folder = mkdtempSync(join(tmpdir(), "fuselens-bench-"));
  try {
    const measure = async (name, file) => {
      process.stderr.write(`${name} ...\n`);
      const path = join(folder, `${name}.py`);
      writeFileSync(path, file.text);
      const { stdout } = await run(process.execPath, [program, path, values.repeats], { maxBuffer: 2 ** 24 });
      return JSON.parse(stdout);
    };
    const medium = await measure("medium", mediumFile());
    const gpt = {};
    for (const n of values.layers.split(",").map(Number)) gpt[n] = await measure(`gpt${n}`, gptFile(n));
    const ratio = key => (gpt[96] && gpt[48] ? Number((gpt[96][key] / gpt[48][key]).toFixed(2)) : null);
    const ratios = { warm: ratio("warm_ms"), cold: ratio("cold_ms") };
    const starts = values.starts === undefined ? undefined : await startAll(values.starts);
    const out = {
      node: process.version,
      cpus: availableParallelism(),
      medium,
      gpt,
      ratio_96_48: ratios,
      limit_ratio: MOST_RATIO,
      holds: ratios.warm === null || ratios.warm <= MOST_RATIO,
      ...(starts ? { starts } : {}),
    };
    process.stdout.write(`${JSON.stringify(out, null, 1)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

async function bundle() {
  const out = join(repository, "test", "dist", "bench");
  mkdirSync(out, { recursive: true });
  return bundleSource("test/bench/compile/measure.ts", join(out, "compile.cjs"));
}

/** `explain` on every program of a folder, one process each */
async function startAll(folder) {
  const cli = join(repository, "server", "bin", "fuselens.cjs");
  const files = readdirSync(folder).filter(f => f.endsWith(".py"));
  const waiting = [...files];
  let failed = 0;
  const began = performance.now();
  const worker = async () => {
    for (let f = waiting.shift(); f !== undefined; f = waiting.shift()) {
      const args = [cli, "explain", join(folder, f), "--json"];
      await run(process.execPath, args, { maxBuffer: 2 ** 28 }).catch(() => failed++);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return { programs: files.length, failed, wall_s: Math.round((performance.now() - began) / 100) / 10 };
}
