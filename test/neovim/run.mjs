// npm run test:neovim: the language server in a headless Neovim (Debian's; installed if it is missing and that is
// possible). The last line says how many checks passed.
import { execFileSync, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

function hasNeovim() {
  return spawnSync("nvim", ["--version"], { stdio: "ignore" }).status === 0;
}

if (!hasNeovim()) {
  const apt = args => spawnSync("apt-get", args, { stdio: ["ignore", 2, 2] }).status === 0;
  const installed =
    apt(["install", "-y", "-qq", "neovim"]) || (apt(["update", "-qq"]) && apt(["install", "-y", "-qq", "neovim"]));
  if (!installed || !hasNeovim()) {
    console.log("nvim is not there and could not be installed\n0 passed, 1 failed");
    process.exit(1);
  }
}
execFileSync(process.execPath, [join(root, "scripts", "build.mjs")], { cwd: root, stdio: ["ignore", 2, 2] });
const run = spawnSync("nvim", ["--headless", "--clean", "-u", join(here, "init.lua")], {
  cwd: root,
  env: { ...process.env, FUSELENS_ROOT: root },
  encoding: "utf8",
  timeout: 120_000,
});
process.stdout.write(run.stdout ?? "");
if (run.stderr) process.stderr.write(run.stderr);
const lines = (run.stdout ?? "").split("\n");
const passed = lines.filter(l => l.startsWith("ok ")).length;
let failed = lines.filter(l => l.startsWith("not ok ")).length;
if (run.status !== 0 && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
