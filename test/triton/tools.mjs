// What the checks of this folder share: where things are, and a Python with stock Triton.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const cache = join(root, ".cache");
/** the Triton that torch 2.11 comes with */
const TRITON = "triton==3.6.0";

export const read = path => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/** exit status */
export function run(command, args) {
  const r = spawnSync(command, args, { stdio: "inherit" });
  if (r.error) throw r.error;
  return r.status ?? 1;
}

/** a Python with Triton and `more` packages, in a virtual environment of the cache folder; no PyTorch */
export function python(venv = "triton-venv", more = {}) {
  const path = join(cache, venv, "bin", "python");
  const imports = `import ${["triton", ...Object.keys(more)].join(", ")}`;
  if (existsSync(path) && spawnSync(path, ["-c", imports]).status === 0) return path;
  const packages = [TRITON, ...Object.entries(more).map(([name, version]) => `${name}==${version}`)];
  if (run("python3", ["-m", "venv", join(cache, venv)]) !== 0) throw new Error("python3 -m venv failed");
  if (run(path, ["-m", "pip", "install", "--quiet", ...packages]) !== 0)
    throw new Error(`pip install ${packages.join(" ")} failed`);
  return path;
}
