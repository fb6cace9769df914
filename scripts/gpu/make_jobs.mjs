// `node scripts/gpu/make_jobs.mjs PRESET FILE...`: puts jobs into .gpu/inputs/jobs for scripts/gpu/run_jobs.py.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleSource } from "../sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const outfile = join(root, "server", "dist", "gpu_jobs.cjs");
await bundleSource("scripts/gpu/jobs_entry.ts", outfile);
const [preset, ...files] = process.argv.slice(2);
execFileSync(process.execPath, [outfile, preset, join(root, ".gpu", "inputs", "jobs"), ...files], {
  stdio: "inherit",
});
