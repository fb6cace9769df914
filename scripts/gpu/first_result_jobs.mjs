// `node scripts/gpu/first_result_jobs.mjs FILE...`: what scripts/gpu/first_result.py sends an executor, one JSON file a graph
// (.gpu/inputs/first): the first graph of each file under preset fuselens, as a worker would send it. No GPU needed.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { read, root } from "../../test/triton/tools.mjs";
import { loadCompiler, loadSource } from "../sources.mjs";

const { Session, defaultSessionOptions } = await loadCompiler();
const { benchmarkJob } = await loadSource("server/src/worker/benchmark.ts");
const { toPython } = await loadSource("gpu-worker/src/broker/python_messages.ts");
const out = join(root, ".gpu", "inputs", "first");
mkdirSync(out, { recursive: true });
for (const file of process.argv.slice(2)) {
  const [c] = new Session(read, { ...defaultSessionOptions(), preset: "fuselens", target: "h200" }).run(
    file,
  ).compilations;
  const job = benchmarkJob(c, { seconds: 0.05, minRuns: 5, against: [] });
  const name = basename(file, ".py");
  const message = toPython({ kind: "run", job: { ...job, perKernel: false }, payload: [] });
  writeFileSync(join(out, `${name}.json`), JSON.stringify(message));
  console.log(`${name}: ${message.kernels.length} kernels, ${message.launches.length} launches`);
}
