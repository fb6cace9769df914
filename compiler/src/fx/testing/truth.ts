// Test helper: finds the recorded logs, if this machine has them. FUSELENS_TRUTH names the folder; else ../shared/truth
// beside the repository. Tests that need them are skipped where they are absent.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

export const truthFolder: string | undefined = [process.env.FUSELENS_TRUTH, resolve(root, "../shared/truth")].find(
  p => p !== undefined && existsSync(resolve(p, "recorded/logs")),
);

export function logNames(): string[] {
  if (truthFolder === undefined) return [];
  return readdirSync(resolve(truthFolder, "recorded/logs"))
    .filter(f => f.endsWith(".log"))
    .map(f => f.slice(0, -4))
    .sort();
}

export function readLog(name: string): string {
  if (truthFolder === undefined) throw new Error("no recorded logs");
  return readFileSync(resolve(truthFolder, "recorded/logs", `${name}.log`), "utf8");
}
