// How long a cold executor takes for its first kernel. In: a folder to write to. Out: the least and the median of some
// starts, in ms, and what Node alone takes. The executor is started as the worker starts it.
import { execFileSync, fork } from "node:child_process";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const STARTS = 9;

/** a job of one small kernel, compiled from source: once as it is and once more, as a job that verifies has it */
async function smallJob(folder) {
  const entry = `
    import { defaultSessionOptions, Session } from "@fuselens/compiler";
    export { executorFlags } from "./gpu-worker/src/cpu/relaxed_simd";
    const text = "import torch\\n@torch.compile\\ndef f(a, b):\\n    return a + b\\nx = torch.randn(64, 64, device='cuda')\\nf(x, x + 1)\\n";
    export const job = () => {
      const read = p => (p === "/m.py" ? text : undefined);
      const [c] = new Session(read, { ...defaultSessionOptions(), wat: true }).run("/m.py").compilations;
      const graph = { plan: c.plan, wat: [...c.wat], standalone: "" };
      return { kind: "verify", pairs: [{ fused: graph, unfused: graph }] };
    };`;
  const outfile = join(folder, "job.cjs");
  await build({
    stdin: { contents: entry, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile,
    external: ["tree-sitter", "tree-sitter-python"],
    nodePaths: [join(root, "node_modules")],
  });
  // the bundle's folder has no packages of its own
  process.env.NODE_PATH = join(root, "node_modules");
  Module._initPaths();
  const { job, executorFlags } = createRequire(import.meta.url)(outfile);
  return { job: job(), flags: executorFlags() };
}

function start(job, flags) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = fork(join(root, "gpu-worker", "dist", "executor.cjs"), ["--executor=cpu"], {
      execArgv: flags,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("error", reject);
    child.on("message", m => {
      if (m.kind === "failed") reject(new Error(m.message));
      if (m.kind === "result") {
        resolve(performance.now() - begin);
        child.kill();
      }
    });
    child.send({ kind: "run", job });
  });
}

export async function coldStart(folder) {
  const { job, flags } = await smallJob(folder);
  const times = [];
  const empty = [];
  for (let i = 0; i < STARTS; i++) {
    times.push(await start(job, flags));
    const begin = performance.now();
    execFileSync(process.execPath, ["-e", "0"]);
    empty.push(performance.now() - begin);
  }
  const sorted = xs => xs.sort((a, b) => a - b).map(x => Math.round(x));
  const [cold, node] = [sorted(times), sorted(empty)];
  return {
    kernel: "cold",
    cold_ms: cold[0],
    median_ms: cold[STARTS >> 1],
    node_ms: node[0],
    node_median_ms: node[STARTS >> 1],
  };
}
