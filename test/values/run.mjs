// node test/values/run.mjs [--only NAME,...] [--presets NAME,...]: every program on the CPU executor. Its values against
// what eager PyTorch computed (test/recorded/values.json), and under each preset its fused kernels against the unfused
// ones (`--verify`, of the heaviest programs with fewer rows). Tells each program's seconds; last line: N passed, N failed.
// Built server and worker needed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadSource } from "../../scripts/sources.mjs";
import { smaller, smallerPrograms } from "./smaller.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const PRESETS = ["torch-2.11", "nightly-2026-11", "fuselens"];

/** programs whose record cannot be met, and why */
const APART = {
  index_put_advanced: "its indices are torch.randperm's on the GPU, whose generator no fill replaces",
  train_conv_bn_small:
    "the record's first convolution is coarser than ours: in float64 the gradients are 4e-6 off the record's and 3e-9 off ours",
};

/** programs that verification cannot judge, and why */
const NOT_VERIFIED = {
  index_put_advanced: "where all writes go to one place it is not defined which of them stays",
};

const { agrees, Programs } = await loadSource("test/values/programs.ts", { keepNames: true });
const { faults } = await loadSource("test/values/rows.ts");

const told = e => (e instanceof Error ? `${e.message}${e.code ? ` [${e.code}]` : ""}` : String(e));

async function values(path, want) {
  const got = await all.values(path, "torch-2.11").catch(e => told(e));
  return typeof got === "string" ? [got] : faults(got, want);
}

/** by preset: what is wrong */
async function verify(name, path, under) {
  const source = readFileSync(path, "utf8");
  const text = smaller(name, source);
  let file = path;
  if (text !== source) {
    file = join(root, ".cache", "values", `${name}.py`);
    writeFileSync(file, text);
  }
  const got = await all.verify(file, under).catch(e => told(e));
  // one by one, so that a failure is told of its own preset
  if (typeof got === "string" && under.length > 1)
    return (await Promise.all(under.map(preset => verify(name, path, [preset])))).flat();
  if (typeof got === "string") return [[got]];
  return got.map(graphs => graphs.flatMap(g => g.outputs.flatMap((o, i) => outputFault(g, o, i))));
}

function outputFault(graph, o, i) {
  if (agrees(o)) return [];
  return [`${graph.name} ${graph.kind}, output ${i} (${o.dtype}): off by ${o.maxAbs}, ${o.maxRel} of the mean`];
}

const { values: options } = parseArgs({ options: { only: { type: "string" }, presets: { type: "string" } } });
const recorded = JSON.parse(readFileSync(join(root, "test", "recorded", "values.json"), "utf8"));
const presets = options.presets?.split(",") ?? PRESETS;
const names = readdirSync(join(root, "test", "programs"))
  .filter(f => f.endsWith(".py"))
  .map(f => basename(f, ".py"))
  .sort();
const unknown = [...smallerPrograms, ...(options.only?.split(",") ?? [])].find(n => !names.includes(n));
if (unknown !== undefined) throw new Error(`no program ${unknown}`);
const wanted = options.only?.split(",") ?? names;
mkdirSync(join(root, ".cache", "values"), { recursive: true });
// the compiler and one worker for all programs: a process each would take most of the time
const all = new Programs(join(root, "gpu-worker", "dist", "main.cjs"));
let [passed, failed] = [0, 0];
const tell = (what, wrong) => {
  if (wrong.length) failed += 1;
  else passed += 1;
  if (wrong.length) console.log(`${what}: ${wrong.slice(0, 3).join("; ")}`);
};
const start = performance.now();
const since = t => `${((performance.now() - t) / 1000).toFixed(1)} s`;

async function check(name) {
  const path = join(root, "test", "programs", `${name}.py`);
  const begun = performance.now();
  const want = recorded[name];
  if (want && !("error" in want) && !("unfilled" in want)) {
    const wrong = await values(path, want);
    // one that agrees after all must leave the list
    if (name in APART) tell(`${name} is listed apart`, wrong.length ? [] : ["it agrees with the record"]);
    else tell(name, wrong);
  }
  const valued = since(begun);
  if (!(name in NOT_VERIFIED))
    (await verify(name, path, presets)).forEach((wrong, i) => {
      tell(`${name} under ${presets[i]}`, wrong);
    });
  console.log(`${name}: values ${valued}, all ${since(begun)}`);
}

// two at a time: one compiles while the executor computes the other's
const left = [...wanted];
const worker = async () => {
  for (let name = left.shift(); name !== undefined; name = left.shift()) await check(name);
};
await Promise.all([worker(), worker()]);
await all.dispose();
console.log(`${wanted.length} programs in ${since(start)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
