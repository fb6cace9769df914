// npm run bench -- cpu [--only NAME,...] [--seconds N]: the CPU executor's kernels beside plain C++ loops on the same
// threads. Out: one line of JSON per kernel: gbps, cpp_gbps and ratio, of a matrix product gflops, cpp_gflops and ratio,
// on one processor (where taskset is there to choose it) and on all; last the mean of the streaming kernels' ratios.
// The two sides take turns of the same length; of each turn counts the time that a fifth of its runs keep within, of the
// turns the best, so that other work on the machine weighs on both alike.
// `cold`: milliseconds from the start of an executor process to the result of its first kernel, beside those of an empty
// Node process.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { coldStart } from "./cpu_cold.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const MATRIX_BYTES = 16384 * 4096 * 4;
const TURNS = 3;
/** bytes that must move at least, or floating point operations */
const KERNELS = {
  add: { bytes: 3 * MATRIX_BYTES },
  gelu: { bytes: 2 * MATRIX_BYTES },
  softmax: { bytes: 2 * MATRIX_BYTES },
  layer_norm: { bytes: 2 * MATRIX_BYTES },
  column_sum: { bytes: MATRIX_BYTES },
  transposed_copy: { bytes: 2 * MATRIX_BYTES },
  matmul: { flops: 2 * 1024 ** 3 },
};

export async function main(argv) {
  const { values } = parseArgs({
    args: argv,
    options: { only: { type: "string" }, seconds: { type: "string", default: "3" } },
  });
  const names = [...Object.keys(KERNELS), "cold"];
  const wanted = values.only?.split(",") ?? names;
  const unknown = wanted.find(n => !names.includes(n));
  if (unknown !== undefined) {
    console.error(`no kernel ${unknown}; there are ${names.join(", ")}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "fuselens-bench-"));
  try {
    const rival = join(folder, "kernels");
    execFileSync("g++", ["-O3", "-march=native", "-fopenmp", join(here, "cpp", "kernels.cpp"), "-o", rival]);
    const tell = line => process.stdout.write(`${JSON.stringify(line)}\n`);
    const ratios = [];
    for (const name of wanted) {
      if (name === "cold") {
        tell(await coldStart(folder));
        continue;
      }
      if (KERNELS[name].flops && canPin()) tell(compare(name, rival, values.seconds, 1));
      const line = compare(name, rival, values.seconds, availableParallelism());
      tell(line);
      if (KERNELS[name].bytes) ratios.push(line.ratio);
    }
    if (ratios.length > 1) tell({ streaming_kernels: ratios.length, mean_ratio: hundredths(mean(ratios)) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

const hundredths = x => Math.round(100 * x) / 100;
const mean = xs => xs.reduce((a, b) => a + b, 0) / xs.length;

function canPin() {
  try {
    execFileSync("taskset", ["-c", "0", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** `threads`: all that there are, or 1, which pins both sides to the first processor */
function compare(name, rival, seconds, threads) {
  const run = (command, args, options) =>
    threads === availableParallelism()
      ? execFileSync(command, args, { encoding: "utf8", ...options })
      : execFileSync("taskset", ["-c", "0", command, ...args], { encoding: "utf8", ...options });
  let own = Number.POSITIVE_INFINITY;
  let other = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS; turn++) {
    own = Math.min(own, ownSeconds(name, seconds, run));
    const env = { ...process.env, OMP_NUM_THREADS: String(threads) };
    other = Math.min(other, Number(run(rival, [name, seconds], { env })));
  }
  const { bytes, flops } = KERNELS[name];
  const ratio = hundredths(other / own);
  const per = (amount, time) => hundredths(amount / time / 1e9);
  return bytes
    ? { kernel: name, threads, gbps: per(bytes, own), cpp_gbps: per(bytes, other), ratio }
    : { kernel: name, threads, gflops: per(flops, own), cpp_gflops: per(flops, other), ratio };
}

/** the fastest fifth of the runs that the worker made */
function ownSeconds(name, seconds, run) {
  const cli = join(root, "server", "dist", "cli.cjs");
  const args = [cli, "bench", join(here, "cpu_programs", `${name}.py`), "--json", "--fresh", "--seconds", seconds];
  const [graph] = JSON.parse(run(process.execPath, args, { maxBuffer: 2 ** 26 }));
  return graph.result.graph.p20Us / 1e6;
}
