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
