// Runs an ExecutablePlan: buffers in one shared memory, kernels in threads, extern calls by their own code. In: a plan
// with its CPU kernels, addresses of the inputs. Out: views of the outputs. Errors are JobFailures with a code.
import type { ExecutablePlan, PlanArg, PlanSize, PlanStep, PlanTensor, WatKernel } from "@fuselens/compiler/plan";
import type { ErrorCode } from "../protocol";
import { Arena, OutOfMemory } from "./arena";
import { assemble } from "./assemble";
import { accessor, itemSize } from "./dtypes";
import { type ExternContext, type ExternValue, runExtern } from "./externs";
import { FAULT_CODE, FAULT_INDEX, FAULT_LINE, FAULT_SIZE } from "./kernel_abi";
import { forEachElement, numel, type TensorView } from "./rows";
import type { ThreadPool } from "./threads";

export class JobFailure extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly detail?: string,
  ) {
    super(message);
  }
}

/** A tensor with the allocation that holds it; several may share one. */
interface Held {
  readonly view: TensorView;
  readonly base: number;
}

export interface LaunchRecord {
  readonly step: number;
  readonly kernel: string;
  readonly us: number;
}

/** a plan whose kernels are assembled and loaded */
export interface LoadedPlan {
  readonly plan: ExecutablePlan;
  readonly wat: readonly WatKernel[];
  /** kernel number per launch step */
  readonly kernels: readonly number[];
}

export class Machine {
  readonly arena: Arena;
  private readonly loaded = new Map<string, number>();
  private readonly scratch: { size: number; addresses: number[] } = { size: 0, addresses: [] };
  private readonly owners = new Map<number, number>(); // base address -> how many names hold it

  constructor(
    readonly memory: WebAssembly.Memory,
    readonly pool: ThreadPool,
    limit: number,
  ) {
    this.arena = new Arena(limit);
  }

  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  async load(plan: ExecutablePlan, wat: readonly WatKernel[]): Promise<LoadedPlan> {
    const [blocker] = plan.blockers;
    if (blocker) throw new JobFailure("unsupported", blocker);
    const launches = plan.steps.filter(s => s.kind === "launch").length;
    if (launches !== wat.length) throw new JobFailure("invalid-job", `${launches} launches and ${wat.length} kernels`);
    const fresh = [...new Set(wat.map(k => k.text))].filter(text => !this.loaded.has(text));
    const modules = await Promise.all(fresh.map(text => assemble(text)));
    const numbers = modules.length ? await this.pool.load(modules) : [];
    fresh.forEach((text, i) => {
      this.loaded.set(text, numbers[i] ?? -1);
    });
    return { plan, wat, kernels: wat.map(k => this.loaded.get(k.text) ?? -1) };
  }

  /** bytes for a tensor, zeroed or not; throws JobFailure out-of-memory */
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

  /**
   * Runs a loaded plan. `inputs` are tensors (by view and base) or symbol values in the plan's order. The caller keeps
   * its inputs; each output that is not an input is the caller's to release.
   */
  run(
    loaded: LoadedPlan,
    inputs: readonly (Held | number)[],
    onLaunch?: (r: LaunchRecord) => void,
  ): (Held | number | null)[] {
    const { plan } = loaded;
    const named = new Map<string, Held>();
    const tuples = new Map<string, readonly ExternValue[]>();
    plan.inputs.forEach((input, i) => {
      const given = inputs[i];
      if ("symbol" in input) return;
      if (given === undefined || typeof given === "number")
        throw new JobFailure("invalid-job", `input ${input.name} is missing`);
      named.set(input.name, given);
      this.hold(given.base);
    });
    for (const c of plan.constants) {
      const held = this.create(c);
      const element = accessor(this.buffer, c.dtype);
      forEachElement(held.view, (flat, address) => element.set(address, c.values[flat] ?? 0));
      named.set(c.name, held);
    }
    let launch = 0;
    plan.steps.forEach((step, i) => {
      if (step.kind === "launch") {
        const start = onLaunch ? performance.now() : 0;
        this.launch(loaded, launch, named);
        onLaunch?.({ step: i, kernel: plan.kernels[step.kernel]?.name ?? "?", us: (performance.now() - start) * 1000 });
        launch += 1;
      } else
        this.step(
          step,
          named,
          tuples,
          onLaunch
            ? us => onLaunch({ step: i, kernel: step.kind === "extern" ? step.kernel : step.kind, us })
            : undefined,
        );
    });
    const outputs = plan.outputs.map(o => this.output(o, named));
    for (const o of outputs) if (o && typeof o !== "number") this.hold(o.base);
    for (const held of named.values()) this.release(held.base);
    return outputs;
  }

  create(t: PlanTensor): Held {
    const dtype = t.dtype;
    const size = t.size.map(valueOf);
    const stride = t.stride.map(valueOf);
    const base = this.allocate(storageBytes(size, stride, 0, dtype));
    return { base, view: { size, stride, address: base, dtype, itemSize: itemSize(dtype) } };
  }

  private step(
    step: Exclude<PlanStep, { kind: "launch" }>,
    named: Map<string, Held>,
    tuples: Map<string, readonly ExternValue[]>,
    onTime?: (us: number) => void,
  ): void {
    const start = onTime ? performance.now() : 0;
    switch (step.kind) {
      case "assert": {
        const held = this.find(named, step.name);
        const wrong = step.size.some((s, d) => valueOf(s) !== held.view.size[d]);
        if (wrong) throw new JobFailure("invalid-job", `${step.name} has size [${held.view.size.join(", ")}]`);
        return;
      }
      case "allocate":
        named.set(step.tensor.name, this.place(step, named));
        return;
      case "free": {
        const held = named.get(step.name);
        if (held) {
          named.delete(step.name);
          this.release(held.base);
        }
        return;
      }
      case "extern": {
        const outs = runExtern(step, this.externContext(named));
        if (step.call === "out") return;
        if (step.results.length > 1) {
          tuples.set(step.output, outs);
          return;
        }
        const [first] = outs;
        if (first) named.set(step.output, first);
        onTime?.((performance.now() - start) * 1000);
        return;
      }
      case "getitem": {
        const item = tuples.get(step.of)?.[step.index];
        if (!item) throw new JobFailure("invalid-job", `${step.of} has no result ${step.index}`);
        this.hold(item.base);
        named.set(step.output.name, item);
        return;
      }
      case "finish_partials": {
        this.finishPartials(step, named);
        return;
      }
      default: {
        const never: never = step;
        throw new JobFailure("invalid-job", `a step of kind ${JSON.stringify(never)}`);
      }
    }
  }

  private externContext(named: Map<string, Held>): ExternContext {
    return {
      buffer: this.buffer,
      tensor: arg => this.argument(arg, named).view,
      create: t => this.create(t),
      named: name => this.find(named, name).view,
      fail: (code, message) => {
        throw new JobFailure(code, message);
      },
    };
  }

  private place(step: Extract<PlanStep, { kind: "allocate" }>, named: Map<string, Held>): Held {
    const { tensor, from } = step;
    if (from.kind === "new") return this.create(tensor);
    const other = this.find(named, from.kind === "reuse" ? from.buffer : from.base);
    const size = tensor.size.map(valueOf);
    const stride = tensor.stride.map(valueOf);
    const width = itemSize(tensor.dtype);
    const address = from.kind === "alias" ? other.view.address + valueOf(tensor.offset) * width : other.base;
    if (from.kind === "reuse")
      named.delete(from.buffer); // the storage changes hands
    else this.hold(other.base);
    return { base: other.base, view: { size, stride, address, dtype: tensor.dtype, itemSize: width } };
  }

  private launch(loaded: LoadedPlan, launch: number, named: Map<string, Held>): void {
    const kernel = loaded.wat[launch];
    const number = loaded.kernels[launch];
    if (!kernel || number === undefined) throw new JobFailure("invalid-job", `launch ${launch} has no kernel`);
    const args = kernel.buffers.map(name => this.find(named, name).view.address);
    for (const name of kernel.zeroed) {
      const { view, base } = this.find(named, name);
      new Uint8Array(this.buffer, base, storageBytes(view.size, view.stride, 0, view.dtype)).fill(0);
    }
    const scratch = kernel.scratchBytes ? this.scratchFor(kernel.scratchBytes) : null;
    const faults = new DataView(this.buffer);
    faults.setInt32(FAULT_CODE, 0, true);
    try {
      this.pool.run({ kernel: number, args, total: kernel.parallelSize, grain: kernel.grain, scratch });
    } catch (e) {
      if (faults.getInt32(FAULT_CODE, true) === 1) {
        const line = faults.getInt32(FAULT_LINE, true);
        const at = kernel.lines[line - 1]?.at ?? [];
        throw new JobFailure(
          "index-out-of-bounds",
          `index ${faults.getBigInt64(FAULT_INDEX, true)} is out of bounds for a dimension of size ${faults.getBigInt64(FAULT_SIZE, true)}${at.length ? ` (line ${at.join(", ")})` : ""}`,
        );
      }
      throw new JobFailure("kernel-fault", `${kernel.name}: ${e instanceof Error ? e.message : String(e)}`);
    }
  }

  private scratchFor(bytes: number): number[] {
    if (this.scratch.size < bytes) {
      for (const a of this.scratch.addresses) this.release(a);
      this.scratch.addresses = Array.from({ length: this.pool.threads }, () => this.allocate(bytes));
      this.scratch.size = bytes;
    }
    return this.scratch.addresses;
  }

  private finishPartials(step: Extract<PlanStep, { kind: "finish_partials" }>, named: Map<string, Held>): void {
    const workspace = this.find(named, step.workspace).view;
    const output = named.get(step.output.name) ?? this.create(step.output);
    named.set(step.output.name, output);
    const splits = valueOf(step.splits);
    const columns = valueOf(step.columns);
    const from = new Float32Array(this.buffer, workspace.address, (step.slot + 1) * splits * columns).subarray(
      step.slot * splits * columns,
    );
    const element = accessor(this.buffer, output.view.dtype);
    forEachElement(output.view, (flat, address) => {
      let total = step.reduction === "sum" ? 0 : 1;
      for (let s = 0; s < splits; s++) {
        const v = from[s * columns + flat] ?? 0;
        total = step.reduction === "sum" ? total + v : total * v;
      }
      element.set(address, total);
    });
  }

  private output(arg: PlanArg, named: Map<string, Held>): Held | number | null {
    if (arg.kind === "none") return null;
    if (arg.kind === "size") return valueOf(arg.value);
    if (arg.kind === "number") return arg.value;
    return this.argument(arg, named);
  }

  private argument(arg: PlanArg, named: Map<string, Held>): Held {
    if (arg.kind === "buffer") return this.find(named, arg.name);
    if (arg.kind !== "view") throw new JobFailure("invalid-job", `a ${arg.kind} stands where a tensor should`);
    const held = this.find(named, arg.buffer);
    const width = itemSize(arg.dtype);
    const view: TensorView = {
      size: arg.size.map(valueOf),
      stride: arg.stride.map(valueOf),
      address: held.view.address + valueOf(arg.offset) * width,
      dtype: arg.dtype,
      itemSize: width,
    };
    return { base: held.base, view };
  }

  private find(named: Map<string, Held>, name: string): Held {
    const held = named.get(name);
    if (!held) throw new JobFailure("invalid-job", `no buffer ${name} at this step`);
    return held;
  }
}

export type { Held };

export function valueOf(size: PlanSize): number {
  return typeof size === "number" ? size : size.value;
}

/** bytes from element 0 to the end of the last element that the strides reach */
export function storageBytes(
  size: readonly number[],
  stride: readonly number[],
  offset: number,
  dtype: string,
): number {
  if (numel(size) === 0) return 0;
  const last = size.reduce((n, s, d) => n + (s - 1) * (stride[d] ?? 0), offset);
  return (last + 1) * itemSize(dtype);
}
