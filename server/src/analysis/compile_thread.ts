// A compile thread as other threads see it: the worker and the number by which it learns that a request was overtaken.
import { Worker } from "node:worker_threads";
import type { ThreadStart } from "./messages";

export interface CompileThread {
  readonly worker: Worker;
  /** one i32, shared: the generation of the newest request; older ones stop */
  readonly generation: Int32Array<SharedArrayBuffer>;
}

/** `file`: compile_thread.cjs. The thread keeps no process alive. */
export function startCompileThread(file: string, generation = new Int32Array(new SharedArrayBuffer(4))): CompileThread {
  const workerData: ThreadStart = { generation: generation.buffer };
  const worker = new Worker(file, { workerData, resourceLimits: { stackSizeMb: 16 } });
  worker.unref();
  return { worker, generation };
}
