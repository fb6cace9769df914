// What is inside the .vsix of each platform: its own native files, everything that the extension loads, and nothing of the
// machine that built it. In: paths of packages. Out: checks by name, for run.mjs.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { madeFor } from "../../scripts/native.mjs";

const MAX_BYTES = 6_000_000;
const NATIVE = ["zeromq.node", "tree-sitter.node", "tree-sitter-python.node"];
const NEEDED = [
  "extension/package.json",
  "extension/readme.md",
  "extension/license.txt",
  "extension/media/icon.png",
  "extension/walkthrough/first_kernels.py",
  ...["extension.cjs", "viz_worker.cjs"].map(f => `extension/dist/${f}`),
  ...["kernel_map", "graph", "benchmarks"].map(f => `extension/dist/webview/${f}.js`),
  ...[
    "cli",
    "cli.main",
    "services.main",
    "language_server.main",
    "compile_thread",
    "compile_thread.main",
    "worker",
    "executor",
    "thread",
  ].map(f => `extension/dist/server/${f}.cjs`),
  ...NATIVE.map(f => `extension/dist/server/${f}`),
  "extension/dist/server/python/fuselens_worker/main.py",
];

/** name → content of a package's files; yauzl comes with vsce */
export function contents(vsix, vsce) {
  const yauzl = createRequire(join(vsce, "package.json"))("yauzl");
  return new Promise((resolve, reject) => {
    const found = new Map();
    yauzl.fromBuffer(readFileSync(vsix), { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      zip.on("error", reject);
      zip.on("end", () => resolve(found));
      zip.on("entry", entry => {
        zip.openReadStream(entry, (e, stream) => {
          if (e) return reject(e);
          const parts = [];
          stream.on("data", p => parts.push(p));
          stream.on("error", reject);
          stream.on("end", () => {
            found.set(entry.fileName, Buffer.concat(parts));
            zip.readEntry();
          });
        });
      });
      zip.readEntry();
    });
  });
}

export async function checkPackage({ platform, vsix, vsce, root }) {
  const { size } = statSync(vsix);
  if (size >= MAX_BYTES) throw new Error(`${size} bytes`);
  const files = await contents(vsix, vsce);
  const lower = new Map([...files].map(([name, content]) => [name.toLowerCase(), content]));
  const missing = NEEDED.filter(n => !lower.has(n.toLowerCase()));
  if (missing.length) throw new Error(`without ${missing.join(", ")}`);
  for (const [name, content] of files) {
    if (name.endsWith(".node") && !madeFor(content).includes(platform))
      throw new Error(`${name} is made for ${madeFor(content).join(" and ") || "nothing known"}`);
    if (/\.map$|node_modules/.test(name)) throw new Error(`${name} does not belong there`);
    if (/\.(cjs|js|json|py|md)$/.test(name) && content.includes(root)) throw new Error(`${name} names ${root}`);
  }
  const manifest = lower.get("extension.vsixmanifest").toString("utf8");
  if (!manifest.includes(`TargetPlatform="${platform}"`)) throw new Error("its manifest names another platform");
  return `${(size / 1e6).toFixed(2)} MB, ${files.size} files`;
}
