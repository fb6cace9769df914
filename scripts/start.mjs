// `npm start`: compiles an example, prints its kernels and the reasons that keep others apart, then benchmarks it on the
// embedded CPU worker over ZeroMQ.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const fuselens = join(root, "server", "bin", "fuselens.cjs");
const example = process.argv[2] ?? join("examples", "transpose_sum.py");

for (const args of [
  ["explain", example],
  ["bench", example],
]) {
  console.log(`\n$ npx fuselens ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [fuselens, ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const platform = `${process.platform}-${process.arch}`;
console.log(`
Next:
  npx fuselens explain path/to/model.py     a file of yours
  npm run package -- ${platform.padEnd(22)} the VS Code extension, into dist/fuselens-${platform}.vsix
  docs/editors.md                           Neovim, Helix, Emacs, Sublime Text, Zed`);
