// For scripts, slow suites and benches that call the TypeScript sources: an entry bundled for this Node. Packages with native
// files stay outside, so a bundle lies somewhere below the root, whose node_modules it then finds.
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bundles `entry` (below the root) as `outfile`, and returns that; `more` are further options of esbuild. */
export async function bundleSource(entry, outfile, more = {}) {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["tree-sitter", "tree-sitter-python", "zeromq", "wabt"],
    logLevel: "warning",
    ...more,
  });
  return outfile;
}

let loaded = 0;

/** What `entry` exports. The bundle is named by the process and does not outlive the call. */
export async function loadSource(entry, more = {}) {
  const folder = join(root, ".cache", `sources-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    return createRequire(import.meta.url)(await bundleSource(entry, join(folder, `source${loaded++}.cjs`), more));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** what the compiler's package exports */
export const loadCompiler = () => loadSource("compiler/src/index.ts");
