// `npm run gpu:pack [-- FILE...]`: puts all that a GPU machine without Node needs into .gpu/ (git-ignored): this Node's
// own binary (xz), self-contained bundles, the files whose compiles are timed, and the given files. scripts/gpu/*.sh run there.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gptFile, mediumFile } from "../../test/bench/lsp/programs.mjs";
import { bundle } from "../bundle.mjs";
import { nativeFiles } from "../native.mjs";
import { bundleSource } from "../sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const out = join(root, ".gpu");
const node = join(out, "node.xz");
mkdirSync(out, { recursive: true });
if (!existsSync(node))
  writeFileSync(node, execFileSync("xz", ["-6", "-k", "-c", process.execPath], { maxBuffer: 1 << 28 }));
rmSync(join(out, "app"), { recursive: true, force: true });
await bundle(join(out, "app"), "linux-x64", { minify: false, more: { faults: "scripts/gpu/faults_entry.ts" } });
await bundleSource("test/bench/compile/measure.ts", join(out, "app", "measure.cjs"), {
  external: [],
  plugins: [nativeFiles(name => `./${name}.node`)],
});
const compiled = join(out, "inputs", "compile");
mkdirSync(compiled, { recursive: true });
const EDITS = Array.from({ length: 16 }, (_, i) => i);
/** the text after each edit, which writes over one character */
function typed(text, edits) {
  const lines = text.split("\n");
  return edits.map(({ line, character, text: written }) => {
    lines[line] = lines[line].slice(0, character) + written + lines[line].slice(character + 1);
    return lines.join("\n");
  });
}
for (const [name, { text, edit, operator }] of Object.entries({ medium: mediumFile(), gpt12: gptFile(12) })) {
  writeFileSync(join(compiled, `${name}.py`), text);
  const edits = { number: typed(text, EDITS.map(edit)), operator: typed(text, EDITS.map(operator)) };
  writeFileSync(join(compiled, `${name}.edits.json`), JSON.stringify(edits));
}
for (const file of process.argv.slice(2)) cpSync(file, join(out, "inputs", basename(file)), { recursive: true });
const size = Number(execFileSync("du", ["-sb", out], { encoding: "utf8" }).split("\t")[0]);
console.log(`${out}: ${(size / 1e6).toFixed(1)} MB, node ${(statSync(node).size / 1e6).toFixed(1)} MB`);
