// node test/properties/broken_files_all.mjs [--seed N] [--stride N] [--shares N] [--state FILE]
//
// Every prefix of the examples through the parser and the bytecode compiler, those that end at a line's end through the
// whole front end, 2,000 random mutations too; every 20th of these through the whole compiler. --stride takes every Nth
// case alone. Two processes share the work; one that is silent for ten minutes hangs. --state keeps how far each came, so
// that the same command goes on where an earlier one was stopped. Prints what is wrong, and 'N passed, N failed' last.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundleSource } from "../../scripts/sources.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(dirname(here));
const SILENT_MS = 10 * 60_000;

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : (process.argv[at + 1] ?? otherwise);
};
const seed = option("seed", "1");
const stride = option("stride", "1");
const shares = Number(option("shares", "2"));
const stateFile = option("state", undefined);

const out = join(repository, "test", "dist", "properties");
mkdirSync(out, { recursive: true });
// named by the process: another run's bundle stays as it is
const outfile = join(out, `broken_files_share_${process.pid}.cjs`);
await bundleSource("test/properties/broken_files_share.ts", outfile);

const key = `seed ${seed}, stride ${stride}, shares ${shares}`;
const fresh = () => ({
  key,
  shares: Array.from({ length: shares }, () => ({ next: 0, passed: 0, failed: 0, wrong: [] })),
});
const kept = stateFile !== undefined && existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, "utf8")) : fresh();
const state = kept.key === key ? kept : fresh();

function keep() {
  if (stateFile === undefined) return;
  writeFileSync(`${stateFile}.part`, `${JSON.stringify(state)}\n`);
  renameSync(`${stateFile}.part`, stateFile);
}

await Promise.all(state.shares.map((s, i) => share(s, i)));
for (const s of state.shares) for (const w of s.wrong) process.stdout.write(`${w}\n`);
const passed = state.shares.reduce((n, s) => n + s.passed, 0);
const failed = state.shares.reduce((n, s) => n + s.failed, 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** runs a share on from where it stands; its process says every so often how far it is */
function share(s, i) {
  return new Promise(done => {
    const args = ["--stack-size=3900", outfile, join(repository, "examples"), String(i), String(shares), seed, stride];
    const child = spawn(process.execPath, [...args, String(s.next)], {
      cwd: repository,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const base = { passed: s.passed, failed: s.failed, wrong: s.wrong };
    let finished = false;
    let timer = setTimeout(() => child.kill("SIGKILL"), SILENT_MS);
    createInterface({ input: child.stdout }).on("line", text => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill("SIGKILL"), SILENT_MS);
      const said = JSON.parse(text);
      s.next = said.next;
      s.passed = base.passed + said.passed;
      s.failed = base.failed + said.failed;
      s.wrong = [...base.wrong, ...said.wrong];
      finished = said.done;
      keep();
    });
    child.on("close", code => {
      clearTimeout(timer);
      if (!finished) {
        s.failed++;
        s.wrong = [...s.wrong, `share ${i} ended with ${code} at case ${s.next} or soon behind it`];
      }
      done();
    });
  });
}
