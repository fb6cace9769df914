// `node scripts/gpu/bench_jobs.mjs [OUT [PROGRAM.py ...]]`: what scripts/gpu/bench_fuselens.py times, one JSON file a graph.
// In: programs, or those of test/bench/programs, the memory-bound ones of test/programs and its training steps. Out (.gpu/inputs/bench by
// default): per graph standalone code under presets fuselens and torch-2.11 with the predicted times of its kernels, the
// same graph in eager PyTorch, and the bytes that one read of every input and one write of every output would move; per
// training step the forward and the backward graph's code, and how many results the one keeps for the other; and each again
// with `deterministic`. No GPU needed.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCompiler } from "../sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const out = process.argv[2] ?? join(root, ".gpu", "inputs", "bench");

/** pointwise, reduction, norm, sharing, layout, mutation and index programs; the recorded bound keeps those of 20 us or more */
const MEMORY_BOUND = /^(pointwise|reduce|norm|share|layout|mutate|index)_/;
const SMALLEST_BYTES = 0.02e-3 * 4.25e12;
/** gathers do not read their inputs whole */
const GATHERS = new Set(["index_embedding_scale_pos"]);
const PRESETS = ["fuselens", "torch-2.11"];

const { Session, defaultSessionOptions } = await loadCompiler();

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const compile = (path, preset, config = {}) =>
  new Session(read, {
    ...defaultSessionOptions(),
    preset,
    target: "h200",
    config: new Map(Object.entries(config)),
  }).run(path);
/** what repeats are checked with */
const repeatable = path => compile(path, "fuselens", { deterministic: true }).compilations;

const ITEM = { float64: 8, int64: 8, complex64: 8, float32: 4, int32: 4, float16: 2, bfloat16: 2, int16: 2 };
const bytesOf = t => t.size.reduce((n, s) => n * (typeof s === "number" ? s : s.value), 1) * (ITEM[t.dtype] ?? 1);

/** every input once, every output once */
function boundBytes(plan) {
  const tensors = new Map();
  for (const i of plan.inputs) if ("dtype" in i) tensors.set(i.name, i);
  const inputs = [...tensors.values()].reduce((n, t) => n + bytesOf(t), 0);
  for (const s of plan.steps) {
    if (s.kind === "allocate") tensors.set(s.tensor.name, s.tensor);
    else if (s.kind === "finish_partials" || s.kind === "getitem") tensors.set(s.output.name, s.output);
    else if (s.kind === "extern") for (const r of s.results) if (r) tensors.set(r.name, r);
  }
  const written = new Set(plan.mutatedInputs);
  for (const o of plan.outputs) if (o.kind === "buffer") written.add(o.name);
  const views = plan.outputs.filter(o => o.kind === "view").reduce((n, o) => n + bytesOf(o), 0);
  return [...written].reduce((n, name) => n + (tensors.has(name) ? bytesOf(tensors.get(name)) : 0), inputs + views);
}

const launches = plan =>
  plan.steps.filter(s => s.kind === "launch" || s.kind === "extern" || s.kind === "finish_partials").length;

const side = x => ({
  code: x.outputCode.standalone,
  bytes: x.graph.bytes,
  launches: launches(x.plan),
  kernels: x.plan.kernels.map(k => ({ name: k.name, bytes: k.bytes, estimateUs: k.estimateUs })),
});

const unfit = c => c.plan.blockers.length > 0 || c.plan.symbols.length > 0;

function jobs(path, family) {
  const [ours, theirs] = PRESETS.map(p => compile(path, p));
  const same = repeatable(path);
  return ours.compilations.flatMap((c, i) => {
    const other = theirs.compilations[i];
    const bound = boundBytes(c.plan);
    if (!other || c.outputCode.eager === null || c.graph.kind !== "inference" || unfit(c)) return [];
    if (family === "times" && bound < SMALLEST_BYTES) return [];
    const name = ours.compilations.length === 1 ? basename(path, ".py") : `${basename(path, ".py")}.${i}`;
    return [
      {
        name,
        family,
        bound_bytes: bound,
        eager: c.outputCode.eager,
        fuselens: side(c),
        "torch-2.11": side(other),
        deterministic: side(same[i]),
      },
    ];
  });
}

/** a forward graph and the backward graph after it */
function steps(path) {
  const all = PRESETS.map(p => compile(path, p).compilations);
  const [ours, theirs] = all;
  const same = repeatable(path);
  return ours.flatMap((f, i) => {
    const pairs = [ours, theirs].map(list => [list[i], list[i + 1]]);
    const fit = pairs.every(
      ([x, y]) => x?.graph.kind === "forward" && y?.graph.kind === "backward" && !unfit(x) && !unfit(y),
    );
    if (!fit || f.outputCode.eager === null) return [];
    const [mine, other, twice] = [...pairs, [same[i], same[i + 1]]].map(([x, y]) => ({
      forward: side(x),
      backward: side(y),
      saved: y.graph.inputs.filter(t => t.saved).length,
    }));
    const name = ours.length === 2 ? basename(path, ".py") : `${basename(path, ".py")}.${i}`;
    const sides = { fuselens: mine, "torch-2.11": other, deterministic: twice };
    return [{ name, family: "train", bound_bytes: 0, eager: f.outputCode.eager, ...sides }];
  });
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const counts = {};

function keep(jobs) {
  for (const job of jobs) {
    writeFileSync(join(out, `${job.family}.${job.name}.json`), JSON.stringify(job));
    counts[job.family] = (counts[job.family] ?? 0) + 1;
  }
}

const given = process.argv.slice(3);
for (const path of given) keep([...jobs(path, "issue"), ...steps(path)]);
if (given.length === 0) keepOwn();
console.log(`${out}: ${JSON.stringify(counts)}`);

function keepOwn() {
  for (const [folder, wanted, familyOf] of [
    [join(root, "test", "bench", "programs"), () => true, n => (n.startsWith("headline") ? "headline" : "issue")],
    [join(root, "test", "programs"), n => MEMORY_BOUND.test(n) && !GATHERS.has(n), () => "times"],
    [join(root, "test", "programs"), () => true, () => "train"],
  ]) {
    for (const file of readdirSync(folder)
      .filter(f => f.endsWith(".py"))
      .sort()) {
      const name = basename(file, ".py");
      if (!wanted(name)) continue;
      const family = familyOf(name);
      keep(family === "train" ? steps(join(folder, file)) : jobs(join(folder, file), family));
    }
  }
}
