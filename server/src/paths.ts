// Where the other bundles lie: beside this one in a package, in their workspaces' dist folders in a checkout.
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface ServerPaths {
  readonly compileThread: string;
  readonly worker: string;
}

export function serverPaths(): ServerPaths {
  const here = __dirname;
  const pick = (...candidates: string[]) => candidates.find(existsSync) ?? (candidates[0] as string);
  return {
    compileThread: join(here, "compile_thread.cjs"),
    worker: pick(join(here, "worker.cjs"), join(here, "..", "..", "gpu-worker", "dist", "main.cjs")),
  };
}
