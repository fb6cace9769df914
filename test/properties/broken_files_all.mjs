// node test/properties/broken_files_all.mjs [--seed N]
//
// Every prefix of the examples through the parser and the bytecode compiler, those that end at a line's end through the
// whole front end, 2,000 random mutations too; every 20th of these through the whole compiler. Two processes share the work;
// one that is not done after 25 minutes hangs. Prints what is wrong, and 'N passed, N failed' last.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(dirname(here));
const SHARES = 2;
const LONGEST_MS = 25 * 60_000;

const out = join(repository, "test", "dist", "properties");
mkdirSync(out, { recursive: true });
const outfile = join(out, "broken_files_share.cjs");
await build({
  absWorkingDir: repository,
  entryPoints: [join(here, "broken_files_share.ts")],
  outfile,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["tree-sitter", "tree-sitter-python", "zeromq", "wabt"],
  logLevel: "warning",
});
const at = process.argv.indexOf("--seed");
const seed = at < 0 ? "1" : (process.argv[at + 1] ?? "1");

const results = await Promise.all(Array.from({ length: SHARES }, (_, i) => share(i)));
const passed = results.reduce((n, r) => n + r.passed, 0);
const failed = results.reduce((n, r) => n + r.failed, 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function share(i) {
  return new Promise(done => {
    const args = ["--stack-size=3900", outfile, join(repository, "examples"), String(i), String(SHARES), seed];
    const child = spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
    child.stdout.on("data", d => {
      text += d;
    });
    child.on("close", code => {
      clearTimeout(timer);
      const lines = text.trimEnd().split("\n");
      const m = /^(\d+) passed, (\d+) failed$/.exec(lines.pop() ?? "");
      for (const l of lines) process.stdout.write(`${l}\n`);
      if (!m) process.stdout.write(`share ${i} ended with ${code} before it was done\n`);
      done(m ? { passed: Number(m[1]), failed: Number(m[2]) } : { passed: 0, failed: 1 });
    });
  });
}
