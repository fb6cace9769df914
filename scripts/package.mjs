// npm run package [-- PLATFORM...]: one .vsix per platform in dist/, self-contained, each under 6 MB. vsce is installed
// into .cache, outside the workspaces.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundle } from "./bundle.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DEFAULT_PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64"];
const VSCE = "3.9.2";
const MAX_BYTES = 6_000_000;

/** vsce's program, installed on first use */
export function ensureVsce() {
  const folder = join(root, ".cache", "vsce");
  const program = join(folder, "node_modules", "@vscode", "vsce", "vsce");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const args = ["install", "-E", `@vscode/vsce@${VSCE}`, "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  return program;
}

/** Writes dist/fuselens-PLATFORM.vsix; its path. */
export async function packageFor(platform) {
  const client = join(root, "client");
  const stage = join(root, ".cache", "package", platform);
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  await bundle(join(stage, "dist", "server"), platform);
  const common = { absWorkingDir: root, bundle: true, minify: true, legalComments: "none", logLevel: "warning" };
  const node = { ...common, platform: "node", target: "node20", format: "cjs", external: ["vscode"] };
  await build({ ...node, entryPoints: ["client/src/extension.ts"], outfile: join(stage, "dist", "extension.cjs") });
  await build({ ...node, entryPoints: ["client/src/viz_worker.ts"], outfile: join(stage, "dist", "viz_worker.cjs") });
  for (const page of ["kernel_map", "graph", "benchmarks"]) {
    const outfile = join(stage, "dist", "webview", `${page}.js`);
    const entryPoints = [`client/src/webview/${page}.ts`];
    await build({ ...common, platform: "browser", target: "es2022", format: "iife", entryPoints, outfile });
  }
  for (const folder of ["media", "walkthrough"]) cpSync(join(client, folder), join(stage, folder), { recursive: true });
  copyFileSync(join(client, "README.md"), join(stage, "README.md"));
  for (const file of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(root, file), join(stage, file));
  // what is bundled is no dependency any more
  const manifest = JSON.parse(readFileSync(join(client, "package.json"), "utf8"));
  const { dependencies: _, devDependencies: __, private: ___, ...published } = manifest;
  writeFileSync(join(stage, "package.json"), `${JSON.stringify({ ...published, name: "fuselens" }, null, 2)}\n`);
  writeFileSync(join(stage, ".vscodeignore"), "**/*.map\nmedia/icon.svg\n");
  const out = join(root, "dist", `fuselens-${platform}.vsix`);
  mkdirSync(dirname(out), { recursive: true });
  const args = [
    ensureVsce(),
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    "--skip-license",
    "--target",
    platform,
    "-o",
    out,
  ];
  const run = spawnSync(process.execPath, args, { cwd: stage, encoding: "utf8" });
  if (run.status !== 0) throw new Error(`vsce: ${run.stdout}${run.stderr}`);
  const { size } = statSync(out);
  if (size > MAX_BYTES) throw new Error(`${out} has ${size} bytes, more than ${MAX_BYTES}`);
  return { out, size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const platforms = process.argv.slice(2);
  for (const platform of platforms.length ? platforms : DEFAULT_PLATFORMS) {
    const { out, size } = await packageFor(platform);
    console.log(`${out.slice(root.length + 1)}  ${(size / 1e6).toFixed(2)} MB`);
  }
}
