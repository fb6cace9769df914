// Self-contained bundles for one platform: no node_modules needed beside them. The three native packages become .node
// files next to the bundle, loaded by plain require; wabt is JavaScript and goes into the worker.
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { builtinsPlugin } from "./builtins_plugin.mjs";
import { BANNER, lazyCrypto, nameBuild, STARTED } from "./code_cache.mjs";
import { nativeFiles, treeSitterFile } from "./native.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");

/** folders of zeromq's prebuilt binaries that run on the oldest supported systems; plain names are ABI numbers */
const ZEROMQ = {
  "linux-x64": "linux/x64/node/glibc-127-Release",
  "linux-arm64": "linux/arm64/node/glibc-127-Release",
  "darwin-arm64": "darwin/arm64/node/115",
  "darwin-x64": "darwin/x64/node/115",
  "win32-x64": "win32/x64/node/msvc-115-Release",
};
export const PLATFORMS = Object.keys(ZEROMQ);

const ENTRIES = {
  cli: "server/src/start/cli.ts",
  "cli.main": "server/src/cli.ts",
  compile_thread: "server/src/start/compile_thread.ts",
  "compile_thread.main": "server/src/compile_thread.ts",
  "services.main": "server/src/services.ts",
  "language_server.main": "server/src/language_server.ts",
  worker: "gpu-worker/src/main.ts",
  executor: "gpu-worker/src/cpu/main.ts",
  thread: "gpu-worker/src/cpu/thread.ts",
};

/**
 * Writes cli.cjs and compile_thread.cjs (which start the bundles NAME.main.cjs), worker.cjs, executor.cjs, thread.cjs, those of `more` and
 * the .node files of `platform` into `folder`. Compiled code comes into the user's cache folder on first use.
 */
export async function bundle(folder, platform, { minify = true, more = {} } = {}) {
  if (!(platform in ZEROMQ)) throw new Error(`no such platform: ${platform} (there are ${PLATFORMS.join(", ")})`);
  mkdirSync(folder, { recursive: true });
  await Promise.all(
    Object.entries({ ...ENTRIES, ...more }).map(([name, entry]) =>
      build({
        absWorkingDir: root,
        entryPoints: [entry],
        outfile: join(folder, `${name}.cjs`),
        bundle: true,
        platform: "node",
        target: "node20",
        format: "cjs",
        minify,
        // comments may hold what is not ASCII
        minifyWhitespace: true,
        keepNames: true,
        legalComments: "none",
        ...(name.endsWith(".main") ? { banner: BANNER } : {}),
        plugins: [nativeFiles(name => `./${name}.node`), builtinsPlugin, lazyCrypto],
        logLevel: "warning",
      }),
    ),
  );
  for (const name of Object.keys(STARTED)) nameBuild(folder, name);
  const from = join(modules, "zeromq", "build", ZEROMQ[platform]);
  const addon = existsSync(from) ? readdirSync(from).find(f => f.endsWith(".node")) : undefined;
  if (!addon) throw new Error(`zeromq has no binary for ${platform}`);
  copyFileSync(join(from, addon), join(folder, "zeromq.node"));
  for (const name of ["tree-sitter", "tree-sitter-python"])
    copyFileSync(treeSitterFile(name, platform), join(folder, `${name}.node`));
  const python = join(root, "gpu-worker", "python");
  if (existsSync(python)) copyTree(python, join(folder, "python"));
}

function copyTree(from, to) {
  mkdirSync(to, { recursive: true });
  for (const e of readdirSync(from, { withFileTypes: true })) {
    if (e.name === "__pycache__") continue;
    if (e.isDirectory()) copyTree(join(from, e.name), join(to, e.name));
    else copyFileSync(join(from, e.name), join(to, e.name));
  }
}
