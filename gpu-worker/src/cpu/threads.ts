// Threads over one shared memory. A launch is cut into slices; each thread, the caller included, takes the next slice
// until none is left. Dispatch is by Atomics on a small control block, so a launch costs microseconds, not messages.
// Threads start with the first launch that is worth sharing, since their start takes the processor that a small job's first
// kernel needs. Nobody waits for one to start: until all are there and have every kernel, the caller runs launches alone.
import { Worker } from "node:worker_threads";

/** i32 slots of the control block */
export const CONTROL = {
  generation: 0,
  next: 1,
  slices: 2,
  running: 3,
  kernel: 4,
  sliceSize: 5,
  total: 6,
  failed: 7,
  /** how many threads run, and modules that each of them has loaded, all added up */
  loaded: 8,
  count: 16,
} as const;
const ARGS_START = 16;
/** kernels of many small items may count on it, see WatKernel.grain */
const SLICE_ALIGN = 64;
export const MAX_ARGS = 2048;

export interface ThreadData {
  readonly memory: WebAssembly.Memory;
  readonly control: SharedArrayBuffer;
  readonly thread: number;
}

export interface Launch {
  readonly kernel: number;
  /** addresses of the buffers; each thread adds its scratch address if `scratch` is given */
  readonly args: readonly number[];
  readonly total: number;
  readonly grain: number;
  /** scratch address per thread, the caller's first */
  readonly scratch: readonly number[] | null;
}

export type KernelFunction = (...args: number[]) => void;

/** a module and the functions of it that are launched */
export interface ThreadModule {
  readonly module: WebAssembly.Module;
  readonly exports: readonly string[];
}

export function functionsOf({ module, exports }: ThreadModule, memory: WebAssembly.Memory): KernelFunction[] {
  const instance = new WebAssembly.Instance(module, { env: { memory } });
  return exports.map(name => {
    const f = instance.exports[name];
    if (typeof f !== "function") throw new Error(`a kernel without ${name}`);
    return f as KernelFunction;
  });
}

export class ThreadPool {
  private readonly workers: Worker[] = [];
  private readonly control = new Int32Array(new SharedArrayBuffer(4 * (ARGS_START + MAX_ARGS)));
  private readonly kernels: KernelFunction[] = [];
  private readonly modules: ThreadModule[] = [];
  private begun = false;
  /** what CONTROL.loaded comes to when every thread runs and has every module */
  private expected = 0;
  private fault: Error | null = null;

  constructor(
    private readonly memory: WebAssembly.Memory,
    /** how many run a launch, the caller included */
    readonly threads: number,
    private readonly threadFile: string,
  ) {}

  private begin(): void {
    if (this.begun) return;
    this.begun = true;
    const { memory, modules } = this;
    for (let thread = 1; thread < this.threads; thread++) {
      const data: ThreadData = { memory, control: this.control.buffer as SharedArrayBuffer, thread };
      const worker = new Worker(this.threadFile, { workerData: data });
      worker.once("error", e => {
        this.fault ??= e;
      });
      worker.unref();
      worker.postMessage(modules);
      this.workers.push(worker);
    }
    this.expected = this.workers.length * (1 + modules.length);
  }

  /** whether every thread runs and has every kernel */
  private get complete(): boolean {
    return Atomics.load(this.control, CONTROL.loaded) === this.expected;
  }

  /** Waits until launches are shared out among all threads. Throws what keeps one from starting. */
  async settled(): Promise<void> {
    this.begin();
    while (!this.complete && !this.fault) await new Promise(resolve => setTimeout(resolve, 1));
    if (this.fault) throw this.fault;
  }

  /** Makes modules' functions callable everywhere; returns the number of each module's first function. */
  load(modules: readonly ThreadModule[]): number[] {
    const numbers = modules.map(m => {
      const first = this.kernels.length;
      this.kernels.push(...functionsOf(m, this.memory));
      return first;
    });
    this.modules.push(...modules);
    for (const w of this.workers) w.postMessage(modules);
    this.expected += this.workers.length * modules.length;
    return numbers;
  }

  /** Runs one launch to its end. Throws what the kernel traps with, or what stopped a thread. */
  run(launch: Launch): void {
    if (this.fault) throw this.fault;
    const kernel = this.kernels[launch.kernel];
    if (!kernel) throw new Error(`no kernel ${launch.kernel}`);
    const { total, grain, scratch } = launch;
    if (total <= 0) return;
    if (launch.args.length + this.threads + 2 > MAX_ARGS)
      throw new Error(`a kernel of ${launch.args.length} arguments`);
    const slices = Math.min(this.threads * 4, Math.max(1, Math.floor(total / Math.max(1, grain))));
    const shared = slices > 1 && this.threads > 1;
    if (shared) this.begin();
    if (!shared || !this.complete) {
      kernel(...launch.args, ...(scratch ? [scratch[0] ?? 0] : []), 0, total);
      return;
    }
    const c = this.control;
    c[CONTROL.kernel] = launch.kernel;
    const size = Math.ceil(total / slices);
    c[CONTROL.sliceSize] = grain >= SLICE_ALIGN ? Math.ceil(size / SLICE_ALIGN) * SLICE_ALIGN : size;
    c[CONTROL.total] = total;
    c[CONTROL.slices] = slices;
    c[CONTROL.failed] = 0;
    c[CONTROL.count] = launch.args.length;
    launch.args.forEach((a, i) => {
      c[ARGS_START + 1 + i] = a;
    });
    const scratchAt = ARGS_START + 1 + launch.args.length;
    c[scratchAt] = scratch ? scratch.length : 0;
    scratch?.forEach((a, i) => {
      c[scratchAt + 1 + i] = a;
    });
    Atomics.store(c, CONTROL.next, 0);
    Atomics.store(c, CONTROL.running, this.workers.length);
    Atomics.add(c, CONTROL.generation, 1);
    Atomics.notify(c, CONTROL.generation);
    let fault: unknown = null;
    try {
      takeSlices(c, kernel, 0);
    } catch (e) {
      fault = e;
      Atomics.store(c, CONTROL.next, slices); // nobody takes another
    }
    for (let left = Atomics.load(c, CONTROL.running); left > 0; left = Atomics.load(c, CONTROL.running))
      Atomics.wait(c, CONTROL.running, left, 1000);
    if (fault) throw fault;
    if (Atomics.load(c, CONTROL.failed)) throw new WebAssembly.RuntimeError("a kernel trapped");
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map(w => w.terminate()));
  }
}

/** one thread's part of the launch that the control block describes */
export function takeSlices(c: Int32Array, kernel: KernelFunction, thread: number): void {
  const count = c[CONTROL.count] ?? 0;
  const args: number[] = [];
  for (let i = 0; i < count; i++) args.push(c[ARGS_START + 1 + i] ?? 0);
  const scratchAt = ARGS_START + 1 + count;
  if (c[scratchAt]) args.push(c[scratchAt + 1 + thread] ?? 0);
  const slices = c[CONTROL.slices] ?? 0;
  const size = c[CONTROL.sliceSize] ?? 0;
  const total = c[CONTROL.total] ?? 0;
  for (let s = Atomics.add(c, CONTROL.next, 1); s < slices; s = Atomics.add(c, CONTROL.next, 1)) {
    const begin = s * size;
    if (begin < total) kernel(...args, begin, Math.min(total, begin + size));
  }
}
