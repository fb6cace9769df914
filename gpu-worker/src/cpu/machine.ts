// What a job runs on: one shared memory, threads, kernels that are loaded, tensors that are held. In: plans with their
// CPU kernels. Out: tensors. Errors are JobFailures with a code.
import type { ExecutablePlan, WatKernel } from "@fuselens/compiler/plan";
import { Arena, OutOfMemory } from "./arena";
import { assemble } from "./assemble";
import { BASE_BUILTINS, EXTERN_BUILTINS, loadBuiltins } from "./builtins/index";
import { itemSize } from "./dtypes";
import { type Held, JobFailure, storageBytes } from "./tensors";
import type { ThreadPool } from "./threads";

/** a plan whose kernels are assembled and loaded */
export interface LoadedPlan {
  readonly plan: ExecutablePlan;
  readonly wat: readonly WatKernel[];
  /** number of the first function, per launch step */
  readonly kernels: readonly number[];
}

export class Machine {
  readonly arena: Arena;
  private readonly loaded = new Map<string, number>();
  private readonly builtins = new Map<string, number>();
  private readonly builtinModules = new Set<string>();
  private readonly scratch: { size: number; addresses: number[] } = { size: 0, addresses: [] };
  private readonly owners = new Map<number, number>(); // base address -> how many names hold it

  private constructor(
    readonly memory: WebAssembly.Memory,
    readonly pool: ThreadPool,
    limit: number,
  ) {
    this.arena = new Arena(Math.min(limit, memory.buffer.byteLength));
  }

  static async start(memory: WebAssembly.Memory, pool: ThreadPool, limit: number): Promise<Machine> {
    const machine = new Machine(memory, pool, limit);
    await machine.loadBuiltins(BASE_BUILTINS);
    return machine;
  }

  /** Makes the executor's own kernels of these modules callable. */
  async loadBuiltins(names: readonly string[]): Promise<void> {
    const wanted = names.filter(n => !this.builtinModules.has(n));
    if (!wanted.length) return;
    const modules = await loadBuiltins(wanted);
    const numbers = this.pool.load(modules);
    modules.forEach((m, i) => {
      m.exports.forEach((name, j) => {
        this.builtins.set(name, (numbers[i] ?? 0) + j);
      });
    });
    for (const n of wanted) this.builtinModules.add(n);
  }

  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  async load(plan: ExecutablePlan, wat: readonly WatKernel[]): Promise<LoadedPlan> {
    const [blocker] = plan.blockers;
    if (blocker) throw new JobFailure("unsupported", blocker);
    if (plan.steps.some(s => s.kind === "extern" || (s.kind === "launch" && s.products)))
      await this.loadBuiltins(EXTERN_BUILTINS);
    const launches = plan.steps.reduce((n, s) => n + (s.kind === "launch" ? (s.before?.length ?? 0) + 1 : 0), 0);
    if (launches !== wat.length) throw new JobFailure("invalid-job", `${launches} launches and ${wat.length} kernels`);
    const fresh = [...new Map(wat.map(k => [k.text, k] as const)).values()].filter(k => !this.loaded.has(k.text));
    const modules = await Promise.all(
      fresh.map(async k => ({
        module: await assemble(k.text),
        exports: ["run", ...(k.later ?? []).map((_, i) => `run_${i + 1}`)],
      })),
    );
    const numbers = modules.length ? this.pool.load(modules) : [];
    fresh.forEach((k, i) => {
      this.loaded.set(k.text, numbers[i] ?? -1);
    });
    return { plan, wat, kernels: wat.map(k => this.loaded.get(k.text) ?? -1) };
  }

  /** whether the executor has a kernel of its own by this name */
  has(builtin: string): boolean {
    return this.builtins.has(builtin);
  }

  /** Runs one of the executor's own kernels over [0, total). */
  builtin(name: string, args: readonly number[], total: number, grain: number, scratchBytes = 0): void {
    const kernel = this.builtins.get(name);
    if (kernel === undefined) throw new JobFailure("internal", `no built-in kernel ${name}`);
    this.pool.run({ kernel, args, total, grain, scratch: scratchBytes ? this.scratchFor(scratchBytes) : null });
  }

  /** bytes for a tensor, not cleared; throws JobFailure out-of-memory */
  allocate(bytes: number): number {
    try {
      const address = this.arena.allocate(bytes);
      this.owners.set(address, 1);
      return address;
    } catch (e) {
      if (e instanceof OutOfMemory) throw new JobFailure("out-of-memory", e.message);
      throw e;
    }
  }

  hold(base: number): void {
    this.owners.set(base, (this.owners.get(base) ?? 0) + 1);
  }

  release(base: number): void {
    const left = (this.owners.get(base) ?? 1) - 1;
    if (left > 0) this.owners.set(base, left);
    else {
      this.owners.delete(base);
      this.arena.release(base);
    }
  }

  /** runs `f` with so many bytes that are given back after */
  borrow<T>(bytes: number, f: (address: number) => T): T {
    const address = this.allocate(bytes);
    try {
      return f(address);
    } finally {
      this.release(address);
    }
  }

  create(size: readonly number[], stride: readonly number[], dtype: string): Held {
    const base = this.allocate(storageBytes(size, stride, 0, dtype));
    return { base, view: { size, stride, address: base, dtype, itemSize: itemSize(dtype) } };
  }

  /** scratch of at least so many bytes for each thread */
  scratchFor(bytes: number): readonly number[] {
    if (this.scratch.size < bytes) {
      for (const a of this.scratch.addresses) this.release(a);
      this.scratch.addresses = Array.from({ length: this.pool.threads }, () => this.allocate(bytes));
      this.scratch.size = bytes;
    }
    return this.scratch.addresses;
  }
}
