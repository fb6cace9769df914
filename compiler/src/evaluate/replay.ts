// The value of a small tensor that a program's control flow asks for, by replaying what led to it on the inputs that
// `values` fills. In: the program's steps so far. Out: numbers, or undefined where they cost too much or rest on what is
// not modelled. Only steps that the tensor depends on run; answers are kept, so that an edit elsewhere costs nothing.
import { type TracedGraph, traceFrame } from "../aot/trace";
import { isExpr } from "../aten/dim_math";
import { lookup, packetOf } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import { DTypeArg, OpError, PyFloat } from "../aten/types";
import type { CapturedFrame, Fill, RuntimeStep, RuntimeTensor } from "../dynamo/types";
import { type FxGraph, FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { type Argument, type FakeTensor, SliceArg, TupleArg } from "../fx/types";
import { evaluateNumber, type SymExpr } from "../inductor/symbolic/index";
import { Budget, type Dense, dense, isDense, rounded, sizeOf, TooMuch } from "./arrays";
import { operate } from "./operators";
import type { Operand, Outcome } from "./types";

export interface EvaluatorOptions {
  /** an eager step's graph as a frame */
  readonly frameOf: (step: Extract<RuntimeStep, { kind: "eager" }>) => CapturedFrame;
  readonly behaviours: ReadonlyMap<string, unknown>;
  /** element operations that one question may cost */
  readonly budget: number;
}

type Step = Extract<RuntimeStep, { kind: "create" | "eager" | "call" | "refill" }>;
type Known = Dense | number;

const LARGEST_ANSWER = 4096;

export class Evaluator {
  private readonly answers = new Map<string, readonly number[] | null>();
  private readonly traced = new WeakMap<object, TracedGraph | null>();

  /** `options` may change between questions; what is kept depends on the program alone */
  evaluate(
    steps: readonly RuntimeStep[],
    tensor: RuntimeTensor,
    options: EvaluatorOptions,
  ): readonly number[] | undefined {
    if (sizeOf(tensor.sizes) > LARGEST_ANSWER) return undefined;
    const needed = this.stepsBehind(steps, tensor.id, options);
    if (!needed) return undefined;
    const key = `${tensor.id} ${needed.map(describe).join(";")}`;
    const known = this.answers.get(key);
    if (known !== undefined) return known ?? undefined;
    let answer: readonly number[] | null = null;
    try {
      const values = this.run(needed, new Budget(options.budget), options);
      const v = values.get(tensor.id);
      if (v !== undefined && isDense(v)) answer = [...v.data];
    } catch (e) {
      if (!(e instanceof TooMuch) && !(e instanceof OpError)) throw e;
    }
    if (this.answers.size > 2000) this.answers.clear();
    this.answers.set(key, answer);
    return answer ?? undefined;
  }

  // ---- what a tensor depends on

  private stepsBehind(
    steps: readonly RuntimeStep[],
    id: number,
    options: EvaluatorOptions,
  ): readonly Step[] | undefined {
    const needed = new Set([id]);
    const kept: Step[] = [];
    for (let i = steps.length - 1; i >= 0 && needed.size > 0; i--) {
      const step = steps[i];
      if (!step) continue;
      switch (step.kind) {
        case "create":
          if (needed.delete(step.tensor.id)) kept.push(step);
          break;
        case "refill": {
          const mine = step.parameters.filter(p => needed.has(p.tensor.id));
          for (const p of mine) needed.delete(p.tensor.id);
          if (mine.length > 0) kept.push(step);
          break;
        }
        case "eager":
        case "call": {
          const inputs = step.inputs.flatMap(t => (typeof t === "number" ? [] : [t.id]));
          const outputs = step.outputs.flatMap(t => (t ? [t.id] : []));
          const asked =
            outputs.some(o => needed.has(o)) || (step.kind === "call" && this.writes(step, needed, options));
          if (!asked) break;
          kept.push(step);
          for (const o of outputs) if (!inputs.includes(o)) needed.delete(o);
          for (const n of inputs) needed.add(n);
          break;
        }
        case "compiled_call":
        case "backward":
          break;
        default:
          step satisfies never;
      }
    }
    return needed.size === 0 ? kept.reverse() : undefined;
  }

  /** whether a compiled frame writes one of these inputs */
  private writes(
    step: Extract<RuntimeStep, { kind: "call" }>,
    ids: ReadonlySet<number>,
    options: EvaluatorOptions,
  ): boolean {
    if (!step.inputs.some(t => typeof t !== "number" && ids.has(t.id))) return false;
    const traced = this.graphOf(step.frame, step.frame, options);
    return (
      traced?.mutated.some(name => {
        const t = step.inputs[traced.inputs.indexOf(name)];
        return t !== undefined && typeof t !== "number" && ids.has(t.id);
      }) ?? false
    );
  }

  private graphOf(key: object, frame: CapturedFrame, options: EvaluatorOptions): TracedGraph | null {
    let traced = this.traced.get(key);
    if (traced === undefined) {
      try {
        traced = traceFrame(frame, false, { behaviours: options.behaviours }) ?? null;
      } catch {
        // what cannot be compiled is said where it is compiled
        traced = null;
      }
      this.traced.set(key, traced);
    }
    return traced;
  }

  // ---- running

  private run(steps: readonly Step[], budget: Budget, options: EvaluatorOptions): Map<number, Known> {
    const values = new Map<number, Known>();
    for (const step of steps) {
      switch (step.kind) {
        case "create":
          values.set(step.tensor.id, filled(step.tensor, step.fill, budget));
          break;
        case "refill":
          for (const p of step.parameters) values.set(p.tensor.id, filled(p.tensor, p.fill, budget));
          break;
        case "eager":
        case "call": {
          const frame = step.kind === "call" ? step.frame : options.frameOf(step);
          const traced = this.graphOf(step.kind === "call" ? step.frame : step, frame, options);
          if (!traced) throw new TooMuch("a graph cannot be traced");
          const inputs = step.inputs.map(t => (typeof t === "number" ? t : values.get(t.id)));
          if (inputs.some(v => v === undefined)) throw new TooMuch("an input has no values");
          const { outputs, written } = runGraph(traced.graph, inputs as Known[], budget);
          step.inputs.forEach((t, i) => {
            const w = written.get(i);
            if (w && typeof t !== "number") values.set(t.id, w);
          });
          step.outputs.forEach((t, i) => {
            const v = outputs[traced.leading + i];
            if (t && v !== undefined) values.set(t.id, v);
          });
          break;
        }
        default:
          step satisfies never;
      }
    }
    return values;
  }
}

/** enough of a step to tell it from others: answers are kept under it */
function describe(s: Step): string {
  switch (s.kind) {
    case "create":
      return `${s.tensor.id}=${JSON.stringify(s.fill)}${s.tensor.sizes.join(",")}${s.tensor.meta.dtype}`;
    case "refill":
      return s.parameters.map(p => `${p.tensor.id}=${JSON.stringify(p.fill)}${p.tensor.sizes.join(",")}`).join();
    case "eager":
      return `${graphText(s.graph)}(${ids(s.inputs)})${ids(s.outputs)}`;
    case "call":
      return `${graphText(s.frame.graph)}(${ids(s.inputs)})${ids(s.outputs)}`;
    default:
      return s satisfies never;
  }
}

const ids = (ts: readonly (RuntimeTensor | number | null)[]): string =>
  ts.map(t => (t === null ? "-" : typeof t === "number" ? `#${t}` : t.id)).join();

function graphText(g: FxGraph): string {
  const text = (a: Argument): string => {
    if (a instanceof FxNode) return a.name;
    if (a instanceof TupleArg) return `(${a.items.map(text).join()})`;
    if (Array.isArray(a)) return `[${(a as readonly Argument[]).map(text).join()}]`;
    if (a instanceof PyFloat) return `${a.value}f`;
    if (isExpr(a)) return `e${a.id}`;
    if (a instanceof SliceArg) return `[${[a.start, a.stop, a.step].map(text).join(":")}]`;
    return a !== null && typeof a === "object" ? JSON.stringify(a) : String(a);
  };
  return g.nodes
    .map(
      n =>
        `${n.name}=${n.target}(${n.args.map(text).join()}${[...n.kwargs].map(([k, v]) => `,${k}=${text(v)}`).join("")})`,
    )
    .join("\n");
}

function filled(t: RuntimeTensor, fill: Fill, budget: Budget): Dense {
  const n = sizeOf(t.sizes);
  budget.spend(n);
  const out = new Float64Array(n);
  switch (fill.how) {
    case "full":
      out.fill(Number(fill.value));
      break;
    case "data":
      for (let i = 0; i < n; i++) out[i] = Number(fill.values[i] ?? 0);
      break;
    default: {
      const [scale, shift, offset, floor] = spread(fill, n / Math.max(1, t.sizes[0] ?? 1));
      for (let i = 0; i < n; i++) {
        const x = scale * (uniform(i, fill.k) - shift);
        out[i] = offset + (floor ? Math.floor(x) : x);
      }
    }
  }
  return dense(t.sizes, rounded(out, t.meta.dtype), t.meta.dtype);
}

/** uniform numbers on [0, 1) have this standard deviation's inverse */
const UNIT = Math.sqrt(12);

function spread(
  fill: Exclude<Fill, { how: "full" | "data" }>,
  row: number,
): readonly [scale: number, shift: number, offset: number, floor: boolean] {
  switch (fill.how) {
    case "rand":
      return [1, 0, 0, false];
    case "randn":
      return [UNIT, 0.5, 0, false];
    case "weight_matrix":
      return [UNIT / Math.sqrt(row), 0.5, 0, false];
    case "weight_vector":
      return [0.1, 0.5, 1, false];
    case "other_parameter":
      return [0.1, 0.5, 0, false];
    case "randint":
      return [fill.high - fill.low, 0, fill.low, true];
    default:
      return fill satisfies never;
  }
}

/** the same number for the same element of the same tensor everywhere */
function uniform(i: number, k: number): number {
  let h = (Math.imul(i + 1, 2654435761) + Math.imul(k, 40503)) >>> 0;
  h ^= h >>> 16;
  h = Math.imul(h, 2246822519) >>> 0;
  h ^= h >>> 13;
  return (h >>> 0) / 4294967296;
}

// ---- one graph

interface Ran {
  readonly outputs: readonly (Known | undefined)[];
  /** new values of inputs by position */
  readonly written: ReadonlyMap<number, Dense>;
}

function runGraph(graph: FxGraph, inputs: readonly Known[], budget: Budget): Ran {
  const symbols = new Map<SymExpr, number>();
  const values = new Map<FxNode, Outcome | number>();
  const written = new Map<number, Dense>();
  const placeholders = graph.placeholders();
  placeholders.forEach((p, i) => {
    const v = inputs[i];
    if (v === undefined) return;
    values.set(p, v);
    bindSymbols(p.meta.val, v, symbols);
  });
  const size = (e: unknown): number => {
    if (typeof e === "number") return e;
    const n = isExpr(e) ? evaluateNumber(e, s => symbols.get(s)) : undefined;
    if (n === undefined) throw new TooMuch("a size is not known");
    return n;
  };
  const operand = (a: Argument): Operand => {
    if (a instanceof FxNode) {
      const v = values.get(a);
      if (v === undefined) throw new TooMuch(`${a.name} has no value`);
      return v as Operand;
    }
    if (a instanceof PyFloat) return a.value;
    if (a instanceof DTypeArg) return a.dtype;
    if (a instanceof TupleArg) return a.items.map(operand);
    if (Array.isArray(a)) return (a as readonly Argument[]).map(operand);
    if (isExpr(a)) return size(a);
    return typeof a === "number" || typeof a === "boolean" || typeof a === "string" || a === null ? a : null;
  };
  for (const n of graph.nodes) {
    if (n.op === "placeholder") continue;
    if (n.op === "output") {
      const out = operand(n.args[0] ?? null);
      const list = (Array.isArray(out) ? out : [out]) as readonly Operand[];
      return { outputs: list.map(o => (isDense(o) || typeof o === "number" ? o : undefined)), written };
    }
    // arithmetic on sizes
    if (isExpr(n.meta.val)) {
      values.set(n, size(n.meta.val));
      continue;
    }
    if (n.op === "get_attr") {
      const c = graph.constants.get(n.target);
      const val = n.meta.val;
      if (!c || !isFakeTensor(val)) throw new TooMuch(`${n.target} has no value`);
      values.set(n, dense(val.shape.map(size), Float64Array.from(c.values, Number), val.dtype));
      continue;
    }
    if (n.target === "operator.getitem" || n.target === "_operator.getitem") {
      const from = operand(n.args[0] ?? null);
      const item = Array.isArray(from) ? (from as readonly Operand[])[Number(n.args[1])] : undefined;
      if (item !== undefined && isDense(item)) values.set(n, item);
      continue;
    }
    values.set(n, node(n, operand, size, budget));
    if (n.target === "aten.copy_.default" && n.args[0] instanceof FxNode) {
      const at = placeholders.indexOf(n.args[0]);
      const v = values.get(n);
      if (at >= 0 && isDense(v)) written.set(at, v);
    }
  }
  return { outputs: [], written };
}

function node(n: FxNode, operand: (a: Argument) => Operand, size: (e: unknown) => number, budget: Budget): Outcome {
  const record = lookup(n.target);
  if (!record) throw new TooMuch(`${n.target} is not modelled`);
  const schema = parseSchema(record.schema);
  const named = new Map<string, Operand>();
  n.args.forEach((a, i) => {
    const p = schema.parameters[i];
    if (p) named.set(p.name, operand(a));
  });
  for (const [k, v] of n.kwargs) named.set(k, operand(v));
  for (const p of schema.parameters) {
    if (named.has(p.name) || p.defaultValue === undefined) continue;
    const d = p.defaultValue;
    named.set(
      p.name,
      d instanceof PyFloat ? d.value : typeof d === "object" && !Array.isArray(d) ? null : (d as Operand),
    );
  }
  const val = n.meta.val;
  const first = (Array.isArray(val) ? val.find(v => isFakeTensor(v)) : val) as FakeTensor | undefined;
  const tensor = first !== undefined && isFakeTensor(first);
  const out = operate({
    packet: packetOf(record.name).replace(/_$/, ""),
    get: name => named.get(name),
    shape: tensor ? first.shape.map(size) : [],
    dtype: tensor ? first.dtype : "float64",
    budget,
  });
  if (out === undefined) throw new TooMuch(`${n.target} is not modelled`);
  return out;
}

/** what the frame's symbols stand for in this call */
function bindSymbols(val: FxNode["meta"]["val"], v: Known, symbols: Map<SymExpr, number>): void {
  if (typeof v === "number") {
    if (isExpr(val) && val.kind === "sym") symbols.set(val, v);
    return;
  }
  if (!isFakeTensor(val)) return;
  val.shape.forEach((e, d) => {
    if (e.kind === "sym") symbols.set(e, v.shape[d] ?? 0);
  });
}
