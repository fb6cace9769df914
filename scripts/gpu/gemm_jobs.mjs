// `node scripts/gpu/gemm_jobs.mjs [OUT]`: what scripts/gpu/bench_gemm.py times, one JSON file a program of
// test/bench/gemm_programs. In a file: the graph in eager PyTorch, and standalone code under preset fuselens for every way to
// compute its matrix products that the editor has measured, and as it is compiled without max-autotune. The runner measures them all and keeps the fastest, as a worker
// does for the editor. Runs without a GPU.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCompiler } from "../sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const out = process.argv[2] ?? join(root, ".gpu", "inputs", "gemm");
const programs = join(root, "test", "bench", "gemm_programs");

const { Session, defaultSessionOptions } = await loadCompiler();

const read = path => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

/** the program as it would be without max-autotune */
const readUntuned = path => read(path)?.replace(/\(mode="max-autotune[\w-]*"\)/, "");

function compile(path, config, reader = read) {
  const options = { ...defaultSessionOptions(), preset: "fuselens", target: "h200" };
  options.config = new Map(Object.entries(config));
  const { compilations } = new Session(reader, options).run(path);
  if (compilations.length !== 1) throw new Error(`${path} has ${compilations.length} graphs`);
  return compilations[0];
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const file of readdirSync(programs)
  .filter(f => f.endsWith(".py"))
  .sort()) {
  const path = join(programs, file);
  const ways = {};
  const seen = new Set();
  const graph = compile(path, {});
  for (const name of graph.graph.choice?.ways ?? ["library"]) {
    const c = compile(path, { "triton.template_form": name });
    const code = c.outputCode.standalone;
    if (c.plan.blockers.length > 0) throw new Error(`${file} ${name}: ${c.plan.blockers[0]}`);
    if (seen.has(code)) continue;
    seen.add(code);
    ways[name] = { code, kernels: c.graph.kernels.map(k => k.name) };
  }
  const untuned = compile(path, {}, readUntuned).outputCode.standalone;
  const job = { name: basename(file, ".py"), eager: graph.outputCode.eager, ways, untuned };
  writeFileSync(join(out, `${job.name}.json`), JSON.stringify(job));
  console.log(`${job.name}: ${Object.keys(ways).join(", ")}`);
}
