// `npm run bench -- gemm [OUT]`: prepares what scripts/gpu/bench_gemm.py times on a GPU (docs/gemm.md): the programs of
// test/bench/gemm_programs, each compiled for every way to compute its matrix products or attention.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function main(argv) {
  execFileSync(process.execPath, [join(root, "scripts", "gpu", "gemm_jobs.mjs"), ...argv], { stdio: "inherit" });
  console.log("on a GPU machine: python3 scripts/gpu/bench_gemm.py .gpu/inputs/gemm gemm.jsonl");
  return 0;
}
