// Results on disk by job id and device. A damaged, renamed or foreign file is as good as none; a full or read-only disk
// costs the cache, never the job. The oldest files go when there are too many.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode, encode } from "@msgpack/msgpack";
import { z } from "zod";
import type { JobResult } from "../protocol";
import { benchmarkResultSchema } from "./python_messages";

/** what stands in a file; another number is another version's file */
const FORMAT = 2;
/** files kept, and after how many writes they are counted */
const MAX_FILES = 4096;
const COUNT_EVERY = 256;

const stored = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  device: z.string(),
  result: benchmarkResultSchema,
});

export interface CachedResult {
  readonly result: JobResult;
  readonly ageSeconds: number;
}

export class ResultCache {
  private writes = 0;
  private said = "";

  constructor(
    private readonly folder: string | null,
    private readonly log: (message: string) => void,
  ) {}

  get(jobId: string, device: string): CachedResult | null {
    if (!this.folder) return null;
    const path = this.path(jobId, device);
    try {
      const parsed = stored.safeParse(decode(readFileSync(path)));
      if (!parsed.success || parsed.data.id !== jobId || parsed.data.device !== device) return null;
      // a clock that was put back makes no result older than it is
      return { result: parsed.data.result, ageSeconds: Math.max(0, (Date.now() - statSync(path).mtimeMs) / 1000) };
    } catch {
      return null;
    }
  }

  put(jobId: string, device: string, result: JobResult): void {
    if (!this.folder) return;
    const path = this.path(jobId, device);
    const draft = `${path}.${process.pid}.draft`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(draft, encode({ format: FORMAT, id: jobId, device, result }, { ignoreUndefined: true }), {
        mode: 0o600,
      });
      renameSync(draft, path);
      if (this.writes++ % COUNT_EVERY === 0) this.prune(this.folder);
      this.said = "";
    } catch (e) {
      discard(draft);
      const message = e instanceof Error ? e.message : String(e);
      const code = (e as NodeJS.ErrnoException).code ?? message;
      if (this.said !== code)
        this.log(`results are not cached (${message}); free space in ${this.folder}, or name a folder with --cache`);
      this.said = code; // once, not for every job
    }
  }

  private prune(folder: string): void {
    const names = readdirSync(folder).filter(n => /^[0-9a-f]{64}-/.test(n));
    if (names.length <= MAX_FILES) return;
    const dated = names.map(n => ({ path: join(folder, n), at: statSync(join(folder, n)).mtimeMs }));
    dated.sort((x, y) => x.at - y.at);
    for (const f of dated.slice(0, names.length - MAX_FILES)) rmSync(f.path, { force: true });
  }

  private path(jobId: string, device: string): string {
    return join(this.folder ?? "", `${jobId}-${device.replace(/[^a-z0-9]/gi, "_")}`);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // what can't be made can't be removed either
  }
}
