// Installs the locked dependencies when a fresh clone is first started or tested, and again when the lock file changed.
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules", ".fuselens-lock");
const want = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== want) {
  execSync("npm ci --no-audit --no-fund --loglevel=error", { cwd: root, stdio: ["ignore", 2, 2] });
  writeFileSync(stamp, want);
}
