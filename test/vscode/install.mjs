// A real VS Code to test in: code-server, Debian's Chromium and playwright-core, each in a folder of its own under
// .cache. In: nothing. Out: paths of the programs. Throws with one line that says what is missing.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CODE_SERVER = "4.100.3"; // the newest for Node 20
const PLAYWRIGHT = "1.65.1";
const DEBIAN = ["chromium", "ripgrep", "libkrb5-dev", "fonts-dejavu-core"];

export function ensureVscode(root) {
  const chromium = ensureChromium();
  const cache = join(root, ".cache");
  const codeServer = join(cache, "code-server", "node_modules", "code-server", "out", "node", "entry.js");
  if (!existsSync(codeServer)) installCodeServer(join(cache, "code-server"));
  const playwright = join(cache, "playwright", "node_modules", "playwright-core");
  if (!existsSync(playwright)) npm(join(cache, "playwright"), `playwright-core@${PLAYWRIGHT}`);
  for (const path of [codeServer, playwright]) if (!existsSync(path)) throw new Error(`${path} could not be installed`);
  return { chromium, codeServer, playwright };
}

function ensureChromium() {
  const found = () => ["chromium", "chromium-browser", "google-chrome"].find(p => spawnSync("which", [p]).status === 0);
  if (!found()) apt();
  const program = found();
  if (!program) throw new Error("chromium is not there and could not be installed");
  return execFileSync("which", [program], { encoding: "utf8" }).trim();
}

function apt() {
  const run = args => spawnSync("apt-get", args, { stdio: ["ignore", 2, 2] }).status === 0;
  const install = ["install", "-y", "-qq", "--no-install-recommends", ...DEBIAN];
  if (!run(install) && run(["update", "-qq"])) run(install);
}

function installCodeServer(folder) {
  apt(); // headers for kerberos, ripgrep for the archive below
  // @vscode/ripgrep's postinstall downloads unless its archive is in the temporary folder already
  const archive = join(tmpdir(), "vscode-ripgrep-cache-1.15.11");
  mkdirSync(archive, { recursive: true });
  const name = "ripgrep-v13.0.0-10-x86_64-unknown-linux-musl.tar.gz";
  execFileSync("tar", ["czf", join(archive, name), "-C", "/usr/bin", "rg"]);
  npm(folder, `code-server@${CODE_SERVER}`);
}

function npm(folder, what) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  execFileSync("npm", ["install", "-E", what, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, npm_config_yes: "true", npm_config_unsafe_perm: "true" },
  });
}
