// One run of an ExecutablePlan: its steps in order over named buffers. In: a loaded plan, its inputs. Out: its outputs.
// A plan's sizes are worked out for the sizes of this call. Promises: whatever happens, what the run holds is released.
import type { PlanArg, PlanStep, PlanTensor } from "@fuselens/compiler/plan";
import { accessor, itemSize } from "./dtypes";
import { runExtern } from "./externs/index";
import type { ExternContext, ExternValue } from "./externs/types";
import { FAULT_CODE, FAULT_INDEX, FAULT_LINE, FAULT_SIZE } from "./kernel_abi";
import type { LoadedPlan, Machine } from "./machine";
import { requireMemory } from "./peak";
import { SizeTextError } from "./size_text";
import { forEachElement, type Held, JobFailure, shapeOf, sizeValue, storageBytes, type TensorView } from "./tensors";

export interface LaunchRecord {
  readonly step: number;
  readonly kernel: string;
  readonly us: number;
}

/**
 * Runs a loaded plan. `inputs` are tensors (by view and base) or symbol values in the plan's order. The caller keeps its
 * inputs; each output is the caller's to release.
 */
export function runPlan(
  machine: Machine,
  loaded: LoadedPlan,
  inputs: readonly (Held | number)[],
  onLaunch?: (r: LaunchRecord) => void,
): (Held | number | null)[] {
  return new PlanRun(machine, loaded, inputs).run(onLaunch);
}

class PlanRun {
  private readonly named = new Map<string, Held>();
  /** buffers whose storage a result took over: still read by the kernel that writes the result */
  private readonly replaced = new Map<string, Held>();
  private readonly tuples = new Map<string, readonly ExternValue[]>();
  private readonly symbols = new Map<string, number>();
  private readonly outputs = new Set<string>();
  private launches = 0;

  constructor(
    private readonly machine: Machine,
    private readonly loaded: LoadedPlan,
    private readonly inputs: readonly (Held | number)[],
  ) {
    for (const o of loaded.plan.outputs) {
      if (o.kind === "buffer") this.outputs.add(o.name);
      else if (o.kind === "view") this.outputs.add(o.buffer);
    }
  }

  run(onLaunch?: (r: LaunchRecord) => void): (Held | number | null)[] {
    const { plan } = this.loaded;
    try {
      this.bindInputs();
      requireMemory(this.machine, plan, this.loaded.wat, this.symbols);
      plan.steps.forEach((step, i) => {
        const start = onLaunch ? performance.now() : 0;
        this.step(step);
        // what only manages memory counts as overhead
        if (!onLaunch || !(step.kind === "launch" || step.kind === "extern" || step.kind === "finish_partials")) return;
        const kernel =
          step.kind === "launch"
            ? (plan.kernels[step.kernel]?.name ?? "?")
            : step.kind === "extern"
              ? step.kernel
              : step.kind;
        onLaunch({ step: i, kernel, us: (performance.now() - start) * 1000 });
      });
      const outputs = plan.outputs.map(o => this.output(o));
      for (const o of outputs) if (o && typeof o !== "number") this.machine.hold(o.base);
      return outputs;
    } catch (e) {
      if (e instanceof SizeTextError) throw new JobFailure("unsupported", e.message);
      throw e;
    } finally {
      for (const held of this.named.values()) this.machine.release(held.base);
      for (const items of this.tuples.values()) for (const t of items) if (t) this.machine.release(t.base);
    }
  }

  private bindInputs(): void {
    const { plan } = this.loaded;
    plan.inputs.forEach((input, i) => {
      const given = this.inputs[i];
      if ("symbol" in input) {
        if (typeof given === "number") this.symbols.set(input.symbol, given);
        return;
      }
      if (given === undefined || typeof given === "number")
        throw new JobFailure("invalid-job", `input ${input.name} is missing`);
      this.named.set(input.name, given);
      this.machine.hold(given.base);
    });
    for (const s of plan.symbols) {
      const given = this.inputs[s.input];
      const value = typeof given === "number" ? given : s.dim === null ? undefined : given?.view.size[s.dim];
      this.symbols.set(s.name, value ?? s.value);
    }
    for (const c of plan.constants) {
      const { size, stride } = shapeOf(c, this.symbols);
      const held = this.machine.create(size, stride, c.dtype);
      const element = accessor(this.machine.buffer, c.dtype);
      forEachElement(held.view, (flat, address) => element.set(address, c.values[flat] ?? 0));
      this.named.set(c.name, held);
    }
  }

  private step(step: PlanStep): void {
    switch (step.kind) {
      case "assert": {
        const held = this.find(step.name);
        const wrong = step.size.some((s, d) => sizeValue(s, this.symbols) !== held.view.size[d]);
        if (wrong) throw new JobFailure("invalid-job", `${step.name} has size [${held.view.size.join(", ")}]`);
        return;
      }
      case "allocate":
        this.bind(step.tensor.name, this.place(step));
        return;
      case "free":
        this.unbind(step.name);
        return;
      case "launch":
        this.template(step);
        return;
      case "extern":
        this.extern(step);
        return;
      case "getitem": {
        const item = this.tuples.get(step.of)?.[step.index ?? 0];
        if (!item) throw new JobFailure("invalid-job", `${step.of} has no result ${step.index}`);
        this.machine.hold(item.base);
        this.bind(step.output.name, item);
        return;
      }
      case "finish_partials":
        this.finishPartials(step);
        return;
      default: {
        const never: never = step;
        throw new JobFailure("invalid-job", `a step of kind ${JSON.stringify(never)}`);
      }
    }
  }

  private bind(name: string, held: Held): void {
    this.unbind(name);
    this.named.set(name, held);
  }
  private unbind(name: string): void {
    const held = this.named.get(name);
    this.named.delete(name);
    if (held) this.machine.release(held.base);
    const items = this.tuples.get(name);
    this.tuples.delete(name);
    for (const t of items ?? []) if (t) this.machine.release(t.base);
  }

  private place(step: Extract<PlanStep, { kind: "allocate" }>): Held {
    const { tensor, from } = step;
    const { size, stride } = shapeOf(tensor, this.symbols);
    if (from.kind === "new") {
      const held = this.machine.create(size, stride, tensor.dtype);
      if (from.zero) this.clear(held.view);
      return held;
    }
    const source = from.kind === "reuse" ? from.buffer : from.base;
    const other = this.find(source);
    const width = itemSize(tensor.dtype);
    const offset = from.kind === "alias" ? sizeValue(tensor.offset, this.symbols) * width : 0;
    this.machine.hold(other.base);
    if (from.kind === "reuse") {
      this.replaced.set(source, other);
      if (!this.outputs.has(source)) this.unbind(source); // the storage changes hands
    }
    return {
      base: other.base,
      view: { size, stride, address: other.view.address + offset, dtype: tensor.dtype, itemSize: width },
    };
  }

  private clear(view: TensorView): void {
    new Uint8Array(this.machine.buffer, view.address, storageBytes(view.size, view.stride, 0, view.dtype)).fill(0);
  }

  /** what comes before a template's matrix products, those, and the rest of its kernel; what lives inside has memory of its own */
  private template(step: Extract<PlanStep, { kind: "launch" }>): void {
    const inside: string[] = [];
    const create = (t: PlanTensor): void => {
      if (this.named.has(t.name)) return;
      const { size, stride } = shapeOf(t, this.symbols);
      this.named.set(t.name, this.machine.create(size, stride, t.dtype));
      inside.push(t.name);
    };
    for (const c of step.before ?? []) {
      for (const t of c.results) create(t);
      this.launch();
    }
    for (const p of step.products ?? []) {
      const [result] = p.results;
      if (result) create({ ...result, name: p.output });
      runExtern(p, this.externContext());
    }
    this.launch();
    for (const name of inside) this.unbind(name);
  }

  private launch(): void {
    const { machine } = this;
    const kernel = this.loaded.wat[this.launches];
    const number = this.loaded.kernels[this.launches];
    this.launches += 1;
    if (!kernel || number === undefined) throw new JobFailure("invalid-job", "a launch has no kernel");
    for (const name of kernel.zeroed) this.clear(this.find(name).view);
    const temps = (kernel.temps ?? []).map(t => machine.allocate(sizeValue(t, this.symbols)));
    const scratchBytes = sizeValue(kernel.scratchBytes, this.symbols);
    const args = [
      ...kernel.buffers.map(name => this.find(name).view.address),
      ...temps,
      ...(kernel.symbols ?? []).map(s => sizeValue({ text: s, value: 0 }, this.symbols)),
    ];
    const scratch = scratchBytes ? machine.scratchFor(scratchBytes) : null;
    const faults = new DataView(machine.buffer);
    faults.setInt32(FAULT_CODE, 0, true);
    try {
      [kernel, ...(kernel.later ?? [])].forEach((phase, i) => {
        const total = sizeValue(phase.parallelSize, this.symbols);
        machine.pool.run({ kernel: number + i, args, total, grain: phase.grain, scratch });
      });
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
    } finally {
      for (const t of temps) machine.release(t);
    }
  }

  private extern(step: Extract<PlanStep, { kind: "extern" }>): void {
    const outs = runExtern(step, this.externContext());
    if (step.call === "out") return;
    this.bindSizes(step, outs);
    // the unpacking steps say which calls give tuples
    if (this.loaded.plan.steps.some(s => s.kind === "getitem" && s.of === step.output)) {
      this.unbind(step.output);
      this.tuples.set(step.output, outs);
      return;
    }
    const [first, ...more] = outs;
    if (first) this.bind(step.output, first);
    for (const m of more) if (m) this.machine.release(m.base);
  }

  /** sizes that only the data decided: a symbol that a result is declared with takes the result's own size */
  private bindSizes(step: Extract<PlanStep, { kind: "extern" }>, outs: readonly ExternValue[]): void {
    step.results.forEach((r, i) => {
      r?.size.forEach((s, d) => {
        const size = outs[i]?.view.size[d];
        if (typeof s === "object" && /^u\d+$/.test(s.text) && size !== undefined) this.symbols.set(s.text, size);
      });
    });
  }

  private externContext(): ExternContext {
    const { machine } = this;
    return {
      machine,
      buffer: machine.buffer,
      tensor: arg => this.argument(arg).view,
      held: arg => this.argument(arg),
      size: s => sizeValue(s, this.symbols),
      create: t => {
        const { size, stride } = shapeOf(t, this.symbols);
        return machine.create(size, stride, t.dtype);
      },
      named: name => this.find(name).view,
      fail: (code, message) => {
        throw new JobFailure(code, message);
      },
    };
  }

  private finishPartials(step: Extract<PlanStep, { kind: "finish_partials" }>): void {
    const { machine } = this;
    const workspace = this.find(step.workspace).view;
    if (!this.named.has(step.output.name)) {
      const { size, stride } = shapeOf(step.output, this.symbols);
      this.named.set(step.output.name, machine.create(size, stride, step.output.dtype));
    }
    const output = this.find(step.output.name).view;
    const splits = sizeValue(step.splits, this.symbols);
    const columns = sizeValue(step.columns, this.symbols);
    const from = new Float32Array(
      machine.buffer,
      workspace.address + 4 * step.slot * splits * columns,
      splits * columns,
    );
    const sum = step.reduction === "sum";
    const totals = new Float64Array(columns).fill(sum ? 0 : 1);
    for (let s = 0; s < splits; s++) {
      for (let c = 0; c < columns; c++) {
        const v = from[s * columns + c] as number;
        totals[c] = sum ? (totals[c] as number) + v : (totals[c] as number) * v;
      }
    }
    const element = accessor(machine.buffer, output.dtype);
    forEachElement(output, (flat, address) => element.set(address, totals[flat] ?? 0));
  }

  private output(arg: PlanArg): Held | number | null {
    if (arg.kind === "none") return null;
    if (arg.kind === "size") return sizeValue(arg.value, this.symbols);
    if (arg.kind === "number") return arg.value;
    return this.argument(arg);
  }

  private argument(arg: PlanArg): Held {
    if (arg.kind === "buffer") return this.find(arg.name);
    if (arg.kind !== "view") throw new JobFailure("invalid-job", `a ${arg.kind} stands where a tensor should`);
    const held = this.find(arg.buffer);
    const width = itemSize(arg.dtype);
    const { size, stride } = shapeOf(arg, this.symbols);
    const address = held.view.address + sizeValue(arg.offset, this.symbols) * width;
    return { base: held.base, view: { size, stride, address, dtype: arg.dtype, itemSize: width } };
  }

  private find(name: string): Held {
    const held = this.named.get(name) ?? this.replaced.get(name);
    if (!held) throw new JobFailure("invalid-job", `no buffer ${name} at this step`);
    return held;
  }
}
