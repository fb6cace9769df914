// Bundles the command line (with the language server in it), the worker and the VS Code extension.
// Native packages stay outside the development bundles; `npm run package` makes self-contained ones.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";
import { builtinsPlugin } from "./builtins_plugin.mjs";
import { BANNER, lazyCrypto, nameBuild, STARTED, warmUp } from "./code_cache.mjs";
import { nativeFiles } from "./native.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const external = ["zeromq", "wabt", "vscode"];
/** the parser's prebuilt files where they are, as the packages' own search for them takes time at every start */
const parser = nativeFiles(name => {
  const file = join("node_modules", name, "prebuilds", `${process.platform}-${process.arch}`, `${name}.node`);
  return name !== "zeromq" && existsSync(join(root, file)) ? `../../${file.replaceAll("\\", "/")}` : undefined;
});
const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: true,
  minifyWhitespace: true,
  minifySyntax: true,
  external,
  plugins: [parser],
  logLevel: "warning",
};
const targets = [
  ...Object.keys(STARTED).map(name => ({
    entryPoints: [`server/src/${name}.ts`],
    outfile: `server/dist/${name}.main.cjs`,
    banner: BANNER,
    plugins: [parser, lazyCrypto],
  })),
  ...[...new Set(Object.values(STARTED))].map(name => ({
    entryPoints: [`server/src/start/${name}.ts`],
    outfile: `server/dist/${name}.cjs`,
  })),
  { entryPoints: ["gpu-worker/src/main.ts"], outfile: "gpu-worker/dist/main.cjs", plugins: [builtinsPlugin, parser] },
  { entryPoints: ["gpu-worker/src/cpu/main.ts"], outfile: "gpu-worker/dist/executor.cjs", plugins: [builtinsPlugin] },
  { entryPoints: ["gpu-worker/src/cpu/thread.ts"], outfile: "gpu-worker/dist/thread.cjs" },
  { entryPoints: ["client/src/extension.ts"], outfile: "client/dist/extension.cjs" },
  { entryPoints: ["client/src/viz_worker.ts"], outfile: "client/dist/viz_worker.cjs" },
  ...["kernel_map", "graph", "benchmarks"].map(name => ({
    entryPoints: [`client/src/webview/${name}.ts`],
    outfile: `client/dist/webview/${name}.js`,
    platform: "browser",
    format: "iife",
    target: "es2022",
  })),
]
  .filter(t => t.entryPoints.every(e => existsSync(join(root, e))))
  .map(t => ({ ...common, absWorkingDir: root, ...t }));

if (process.argv.includes("--watch")) {
  for (const t of targets) await (await context(t)).watch();
} else {
  await Promise.all(targets.map(t => build(t)));
  const dist = join(root, "server", "dist");
  await warmUp(
    dist,
    Object.keys(STARTED).map(name => nameBuild(dist, name)),
  );
}
