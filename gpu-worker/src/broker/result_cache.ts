// Results on disk by job id and device. A damaged or foreign file is as good as none; a full or read-only disk costs
// the cache, never the job.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode, encode } from "@msgpack/msgpack";
import type { JobResult } from "../protocol";

const FORMAT = 1;

export interface CachedResult {
  readonly result: JobResult;
  readonly ageSeconds: number;
}

export class ResultCache {
  constructor(
    private readonly folder: string | null,
    private readonly log: (message: string) => void,
  ) {}

  get(jobId: string, device: string): CachedResult | null {
    if (!this.folder) return null;
    const path = this.path(jobId, device);
    try {
      const stored = decode(readFileSync(path)) as { format?: unknown; result?: JobResult };
      if (stored.format !== FORMAT || !stored.result) return null;
      return { result: stored.result, ageSeconds: Math.max(0, (Date.now() - statSync(path).mtimeMs) / 1000) };
    } catch {
      return null;
    }
  }

  put(jobId: string, device: string, result: JobResult): void {
    if (!this.folder) return;
    const path = this.path(jobId, device);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, encode({ format: FORMAT, result }, { ignoreUndefined: true }));
      renameSync(draft, path);
    } catch (e) {
      this.log(`results are not cached: ${e instanceof Error ? e.message : String(e)}`);
    }
  }

  private path(jobId: string, device: string): string {
    return join(this.folder ?? "", `${jobId}-${device.replace(/[^a-z0-9]/gi, "_")}`);
  }
}
