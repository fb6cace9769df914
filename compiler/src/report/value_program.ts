// The running program as a list of steps that an executor can replay: tensors filled, compiled graphs called, gradients
// accumulated, rows reported. In: runtime steps and compiled frames in program order. Out: ValueProgram, plain data.
import type { AotResult, OutputInfo } from "../aot/types";
import type { Fill, RuntimeStep, RuntimeTensor } from "../dynamo/types";
import type { FxGraph } from "../fx/graph";
import { TupleArg } from "../fx/types";
import type { ExecutablePlan, WatKernel } from "../inductor/plan/types";

export interface ValueTensor {
  readonly id: number;
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dtype: string;
}

export type ValueStep =
  | { readonly kind: "create"; readonly tensor: ValueTensor; readonly fill: Fill }
  | { readonly kind: "refill"; readonly id: number; readonly fill: Fill }
  | {
      readonly kind: "call";
      readonly graph: number;
      readonly inputs: readonly ({ readonly id: number } | { readonly value: number })[];
      readonly outputs: readonly (number | null)[];
    }
  | { readonly kind: "accumulate"; readonly id: number; readonly of: number }
  | { readonly kind: "copy"; readonly id: number; readonly of: number }
  | { readonly kind: "view"; readonly tensor: ValueTensor; readonly of: number; readonly offset: number }
  | { readonly kind: "row"; readonly id: number; readonly slot: string };

/** a compiled graph as far as an executor needs it */
export interface ValueGraph {
  readonly plan: ExecutablePlan;
  readonly wat: readonly WatKernel[];
}

export interface ValueProgram {
  /** what `call` steps call: the program's compiled graphs and those of its eager operators */
  readonly graphs: readonly ValueGraph[];
  readonly steps: readonly ValueStep[];
  /** slots of each compiled call's rows */
  readonly calls: readonly { readonly outputs: readonly string[]; readonly args: readonly string[] }[];
  readonly grads: readonly { readonly of: string; readonly slot: string }[];
  /** why the program can't be replayed; null when it can */
  readonly blocker: string | null;
}

/** compiled calls whose rows are reported, as the truth's values.py does */
const CALLS_REPORTED = 4;

const ZEROS: Fill = { how: "full", value: 0 };

/** what of a frame's AOT compilation its replay needs */
export type ReplayFacts =
  | { readonly kind: "error" }
  | ({
      readonly outputs: readonly OutputInfo[];
      readonly keptInputs: readonly number[];
      /** how many values the first graph returns */
      readonly outputCount: number;
    } & (
      | { readonly kind: "inference" }
      | {
          readonly kind: "train";
          readonly savedOutputs: readonly number[];
          readonly returnedInputs: readonly number[];
          readonly tangentOutputs: readonly number[];
          readonly gradients: readonly (number | null)[];
        }
    ));

export function replayFacts(aot: AotResult): ReplayFacts {
  if (aot.kind === "error") return { kind: "error" };
  const { outputs, keptInputs } = aot;
  const { graph } = aot.kind === "train" ? aot.forward : aot.compiled;
  const shared = { outputs, keptInputs, outputCount: graph.output.inputs.length ? outputCount(graph) : 0 };
  if (aot.kind === "inference") return { kind: "inference", ...shared };
  const { savedOutputs, returnedInputs, tangentOutputs, gradients } = aot;
  return { kind: "train", ...shared, savedOutputs, returnedInputs, tangentOutputs, gradients };
}

interface CompiledFrame {
  readonly facts: ReplayFacts;
  /** indices into the program's graphs */
  readonly graphs: readonly number[];
}

/** one executed graph that may have to run backward */
interface TapeEntry {
  readonly backward: number;
  readonly saved: readonly number[];
  /** runtime ids of the outputs that have tangents, with their shapes */
  readonly tangents: readonly ValueTensor[];
  /** inputs that the graph wrote: the gradients of what they were are others than of what they are now */
  readonly written: ReadonlySet<number>;
  /** per backward output: the input it is the gradient of */
  readonly gradients: readonly (number | null)[];
}

export class ValueProgramBuilder {
  private readonly steps: ValueStep[] = [];
  private readonly frames = new Map<number, CompiledFrame>();
  private readonly calls: { outputs: string[]; args: string[] }[] = [];
  private readonly tape: TapeEntry[] = [];
  private readonly gradOf = new Map<number, number>();
  private readonly leaves: { of: string; id: number }[] = [];
  private inputLeaves = 0;
  private blocker: string | null = null;
  /** ids of our own (saved values, gradients) lie far from the program's */
  private nextId = 1_000_000_000;
  private slot = 0;
  private readonly graphs: ValueGraph[] = [];
  private readonly eagerFrames = new Map<RuntimeStep, CompiledFrame>();

  frame(id: number, facts: ReplayFacts, graphs: readonly ValueGraph[]): void {
    this.frames.set(id, this.add(facts, graphs));
  }

  private add(facts: ReplayFacts, graphs: readonly ValueGraph[]): CompiledFrame {
    const indices = graphs.map(g => this.graphs.push({ plan: g.plan, wat: g.wat }) - 1);
    return { facts, graphs: indices };
  }

  /** an eager operator's graph, compiled as a frame of its own; to be told before its step */
  eager(step: RuntimeStep, facts: ReplayFacts, graphs: readonly ValueGraph[]): void {
    this.eagerFrames.set(step, this.add(facts, graphs));
  }

  step(step: RuntimeStep): void {
    switch (step.kind) {
      case "create":
        this.steps.push({ kind: "create", tensor: plain(step.tensor), fill: step.fill });
        // gradients are reported of the tensors that a random factory made
        if (step.tensor.meta.requiresGrad && "k" in step.fill)
          this.leaves.push({ of: `input${this.inputLeaves++}`, id: step.tensor.id });
        return;
      case "refill":
        for (const p of step.parameters) {
          this.steps.push({ kind: "refill", id: p.tensor.id, fill: p.fill });
          const known = this.leaves.findIndex(l => l.id === p.tensor.id);
          if (known >= 0) this.leaves.splice(known, 1);
          this.leaves.unshift({ of: p.name, id: p.tensor.id });
        }
        return;
      case "call": {
        const compiled = this.frames.get(step.frame.id);
        if (!compiled) this.block(`frame ${step.frame.name} was not compiled`);
        else this.run(compiled, step.inputs, step.outputs);
        return;
      }
      case "eager": {
        const compiled = this.eagerFrames.get(step);
        if (!compiled) this.block("an eager operator outside of compiled functions");
        else this.run(compiled, step.inputs, step.outputs);
        return;
      }
      case "compiled_call": {
        if (this.calls.length >= CALLS_REPORTED) return;
        this.calls.push({ outputs: step.outputs.map(t => this.row(t.id)), args: step.args.map(t => this.row(t.id)) });
        return;
      }
      case "backward":
        this.backward(step);
        return;
      default: {
        const never: never = step;
        throw new Error(`unhandled step ${JSON.stringify(never)}`);
      }
    }
  }

  finish(): ValueProgram {
    const parameters = this.leaves.filter(l => !/^input\d+$/.test(l.of)).reverse();
    const inputs = this.leaves.filter(l => /^input\d+$/.test(l.of)).map((l, i) => ({ ...l, of: `input${i}` }));
    const grads = [...parameters, ...inputs].flatMap(l => {
      const grad = this.gradOf.get(l.id);
      return grad === undefined ? [] : [{ of: l.of, slot: this.row(grad) }];
    });
    return { graphs: this.graphs, steps: this.steps, calls: this.calls, grads, blocker: this.blocker };
  }

  private block(reason: string): void {
    this.blocker ??= reason;
  }

  private row(id: number): string {
    const slot = `row${this.slot++}`;
    this.steps.push({ kind: "row", id, slot });
    return slot;
  }

  private run(
    { facts, graphs }: CompiledFrame,
    inputs: readonly (RuntimeTensor | number)[],
    outputs: readonly (RuntimeTensor | null)[],
  ): void {
    const [first, second] = graphs;
    if (facts.kind === "error" || first === undefined) return this.block("a graph did not compile");
    const inputAt = (k: number): RuntimeTensor | null => {
      const input = inputs[facts.keptInputs[k] ?? k];
      return typeof input === "object" ? input : null;
    };
    /** inputs whose new value the graph returns, by output position: the runtime copies it into them */
    const returned = facts.kind === "train" ? facts.returnedInputs.map(inputAt) : [];
    const written = new Set(returned.flatMap(t => (t ? [t.id] : [])));
    const views: { tensor: ValueTensor; of: number; offset: number }[] = [];
    // graph outputs by position; those that the program sees take the program's ids
    const ids = new Array<number | null>(facts.outputCount).fill(null);
    facts.outputs.forEach((o, i) => {
      const tensor = outputs[i];
      if (!tensor || !("graphOutput" in o.from) || written.has(tensor.id)) return;
      const base = o.viewOf && inputAt(o.viewOf.input);
      if (o.viewOf && base) {
        if (base.id !== tensor.id) views.push({ tensor: plain(tensor), of: base.id, offset: o.viewOf.offset });
      } else ids[o.from.graphOutput] = tensor.id;
    });
    returned.forEach((t, k) => {
      if (t) ids[k] = this.nextId++;
    });
    const saved: number[] = [];
    if (facts.kind === "train") {
      for (const position of facts.savedOutputs) {
        const id = ids[position] ?? this.nextId++;
        ids[position] = id;
        saved.push(id);
      }
    }
    this.steps.push({
      kind: "call",
      graph: first,
      inputs: facts.keptInputs.map(k => {
        const i = inputs[k];
        return typeof i === "object" ? { id: i.id } : { value: i ?? 0 };
      }),
      outputs: ids,
    });
    // the backward wants its inputs as they were
    if (written.size > 0) {
      for (const [i, of] of saved.entries()) {
        const id = this.nextId++;
        this.steps.push({ kind: "accumulate", id, of });
        saved[i] = id;
      }
    }
    returned.forEach((t, k) => {
      const of = ids[k];
      if (t && typeof of === "number") this.steps.push({ kind: "copy", id: t.id, of });
    });
    for (const v of views) this.steps.push({ kind: "view", ...v });
    if (facts.kind !== "train" || second === undefined) return;
    const tangents = facts.tangentOutputs.flatMap(o => {
      const changed = returned[o];
      if (changed) return [plain(changed)];
      const position = facts.outputs.findIndex(x => "graphOutput" in x.from && x.from.graphOutput === o);
      const tensor = outputs[position];
      // an input that is handed out again has the gradient of its new value alone
      if (tensor && written.has(tensor.id)) return [{ ...plain(tensor), id: this.nextId++ }];
      return tensor ? [plain(tensor)] : [];
    });
    const gradients = facts.gradients.map((g, primal) => ({ g, input: inputs[facts.keptInputs[primal] ?? primal] }));
    const perOutput: (number | null)[] = [];
    for (const { g, input } of gradients) if (g !== null) perOutput[g] = typeof input === "object" ? input.id : null;
    this.tape.push({ backward: second, saved, tangents, written, gradients: Array.from(perOutput, x => x ?? null) });
  }

  /** the tensor that gradients of a leaf are added to: one of zeros where the program has none */
  private gradient(leaf: number, grad: RuntimeTensor): number {
    if (this.gradOf.get(leaf) !== grad.id) this.steps.push({ kind: "create", tensor: plain(grad), fill: ZEROS });
    this.gradOf.set(leaf, grad.id);
    return grad.id;
  }

  /** reverse order of execution; missing tangents are zero, gradients of one tensor add up */
  private backward(step: Extract<RuntimeStep, { kind: "backward" }>): void {
    const grads = new Map<number, number>();
    const leaves = new Map(step.leaves.map(l => [l.of.id, l.grad]));
    step.roots.forEach((root, i) => {
      const given = step.grads[i];
      const id = given?.id ?? this.nextId++;
      if (!given) this.steps.push({ kind: "create", tensor: { ...plain(root), id }, fill: { how: "full", value: 1 } });
      grads.set(root.id, id);
    });
    for (const entry of [...this.tape].reverse()) {
      if (!entry.tangents.some(t => grads.has(t.id))) continue;
      const tangents = entry.tangents.map(t => {
        const have = grads.get(t.id);
        if (have !== undefined) return { id: have };
        const id = this.nextId++;
        this.steps.push({ kind: "create", tensor: { ...t, id }, fill: ZEROS });
        return { id };
      });
      for (const id of entry.written) grads.delete(id);
      const outputs = entry.gradients.map(input => (input === null ? null : this.nextId++));
      this.steps.push({
        kind: "call",
        graph: entry.backward,
        inputs: [...entry.saved.map(id => ({ id })), ...tangents],
        outputs,
      });
      entry.gradients.forEach((input, i) => {
        const grad = outputs[i];
        if (input === null || grad === null || grad === undefined) return;
        const leaf = leaves.get(input);
        const have = leaf ? this.gradient(input, leaf) : grads.get(input);
        if (have === undefined) grads.set(input, grad);
        else this.steps.push({ kind: "accumulate", id: have, of: grad });
      });
    }
    this.tape.length = 0;
  }
}

function outputCount(graph: FxGraph): number {
  const [first] = graph.output.args;
  return Array.isArray(first) ? first.length : first instanceof TupleArg ? first.items.length : 1;
}

function plain(t: RuntimeTensor): ValueTensor {
  return { id: t.id, size: t.sizes, stride: t.strides, dtype: t.meta.dtype };
}
