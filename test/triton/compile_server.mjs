#!/usr/bin/env node
// `npm run test:compilers`: the executor's compile server and kernel cache with stock Triton (compile_server_test.py), on
// the kernels of a small program. Needs python3 with venv, and once the network or pip's cache; no GPU, no PyTorch.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadCompiler, loadSource } from "../../scripts/sources.mjs";
import { cache, python, read, root, run } from "./tools.mjs";

const { Session, defaultSessionOptions } = await loadCompiler();
const { launchesOf } = await loadSource("gpu-worker/src/broker/launches.ts");
const session = new Session(read, { ...defaultSessionOptions(), preset: "fuselens", target: "h100" });
const [c] = session.run(join(root, "test", "triton", "several.py")).compilations;
const job = join(cache, "compile-server-job.json");
writeFileSync(job, JSON.stringify({ module: c.outputCode.standalone, launches: launchesOf(c.plan) }));
process.exitCode = run(python(), [join(root, "test", "triton", "compile_server_test.py"), job]);
