// `npm run fuzz -- [--seconds N] [--seed N] [--only MODE,...] [--case N]`: bundles the fuzzers and runs them.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { stacks } from "./stacks.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const out = join(root, ".cache", "fuzz", process.argv.includes("--planted") ? "build-planted" : "build");
// a bundle with a fault put in on purpose, so that it can be seen that the fuzzers find one (docs/reliability.md)
const planted = process.argv.includes("--planted");

const program = process.argv.includes("--load") ? "load_main.cjs" : "main.cjs";
const plugins = [...(planted ? [(await import("./planted.mjs")).planted] : []), stacks];

await build({
  absWorkingDir: root,
  entryPoints: ["test/fuzz/main.ts", "test/fuzz/load_main.ts", "test/fuzz/python/compile_child.ts"],
  outdir: out,
  outbase: "test/fuzz",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: true,
  keepNames: true,
  external: ["tree-sitter", "tree-sitter-python", "zeromq", "wabt", "@viz-js/viz"],
  logLevel: "warning",
  plugins,
});
await build({
  absWorkingDir: root,
  entryPoints: ["kernel_map", "graph", "benchmarks"].map(name => `client/src/webview/${name}.ts`),
  outdir: join(out, "webview"),
  bundle: true,
  platform: "browser",
  target: "es2022",
  format: "iife",
  logLevel: "warning",
  plugins,
});
// Node 20 has relaxed SIMD behind a flag that later ones do not know
const relaxed = Number(process.versions.node.split(".")[0]) === 20 ? ["--experimental-wasm-relaxed-simd"] : [];
const child = spawn(
  process.execPath,
  ["--enable-source-maps", ...relaxed, join(out, program), root, ...process.argv.slice(2)],
  {
    stdio: "inherit",
  },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.once("exit", code => {
  process.exitCode = code ?? 1;
});
