// Autograd's tape. In: operators on tensors that require gradients, as they are traced. Out: on demand, the gradients of
// the inputs as traced operators. Promises: functions run highest sequence number first; the formulas of one function
// come before the reductions of broadcast operands; gradients of one tensor are summed as soon as the second arrives.
import type { Bound } from "../aten/bind";
import { isFloatDType } from "../aten/ops/helpers/dtypes";
import type { Args, ArgValue, Derivative, DerivativeContext, Dim, GraphBuilder, TensorMeta } from "../aten/types";
import { DeviceArg, DTypeArg, OpError } from "../aten/types";
import { OpFailure } from "./failure";
import type { TraceContext } from "./tracer";
import { type Edge, type GradFunction, type GradInput, isValue, metaOf, type Value } from "./value";

/** What the engine needs of the dispatcher. */
export interface GradHost {
  readonly builder: GraphBuilder<Value>;
  /** the compiled call stands in an autocast region, which the backward pass runs in too */
  readonly ambientAutocast: boolean;
  args(bound: Bound<Value>): Args<Value>;
  /** the tensor as it was when it was saved */
  unpack(v: Value): Value;
  inContext<R>(context: TraceContext, body: () => R): R;
  withOriginal<R>(packet: string, body: () => R): R;
}

/** what torch appends to the stack of a sum of gradients, which it makes behind the function whose stack that is */
const SUM_NOTE = "Gradient addition node due to multiple use of tensor around:";

/** Evaluates one function's formulas. `results` gives saved results by number. */
export function applyDerivative(
  host: GradHost,
  fn: Pick<GradFunction, "derivative" | "bound" | "inputs" | "outputs">,
  grads: readonly (Value | null)[],
  result: (i: number) => Value,
): (Value | null)[] {
  const b = host.builder;
  const wanted = new Set(fn.inputs.filter(i => i.edge !== null).map(i => i.name));
  const optGrad = (i: number): Value | null => grads[i] ?? null;
  const context: DerivativeContext<Value> = {
    args: host.args(fn.bound),
    grad: (i = 0) => optGrad(i) ?? zeros(b, fn.outputs[i] as TensorMeta),
    optGrad,
    result: (i = 0) => result(i),
    needs: name => wanted.has(name),
  };
  const byName = new Map<string, Value | readonly (Value | null)[] | null>();
  if (fn.derivative.kind === "each") {
    const names = Object.keys(fn.derivative.grads).sort();
    for (const name of names) if (wanted.has(name)) byName.set(name, fn.derivative.grads[name]?.(b, context) ?? null);
  } else {
    for (const [name, g] of Object.entries(fn.derivative.grads(b, context))) byName.set(name, g);
  }
  return fn.inputs.map(({ name, item, edge }) => {
    if (edge === null) return null;
    const g = byName.get(name) ?? null;
    if (item === null || g === null) return g as Value | null;
    return Array.isArray(g) ? ((g as readonly (Value | null)[])[item] ?? null) : null;
  });
}

/** names of the arguments that a derivative has formulas for */
function differentiableNames(d: Exclude<Derivative, { kind: "none" }>): readonly string[] {
  return d.kind === "each" ? Object.keys(d.grads) : d.of;
}

/**
 * Runs the tape from `roots` (each an output's edge with its gradient). Returns the gradient of each leaf by number.
 * @throws OpFailure where a gradient is not defined, at the line of the forward call
 */
export function runBackward(
  host: GradHost,
  roots: readonly { readonly edge: Edge; readonly grad: Value }[],
): ReadonlyMap<number, Value> {
  const leaves = new Map<number, Value>();
  const buffers = new Map<GradFunction, (Value | null)[]>();
  const waiting = countDependencies(roots.map(r => r.edge));
  const ready: GradFunction[] = [];
  const deliver = (edge: Edge, grad: Value): void => {
    if ("leaf" in edge) {
      const old = leaves.get(edge.leaf);
      leaves.set(edge.leaf, old === undefined ? grad : sum(host, old, grad));
      return;
    }
    let buffer = buffers.get(edge.fn);
    if (buffer === undefined) {
      buffer = edge.fn.outputs.map(() => null);
      buffers.set(edge.fn, buffer);
    }
    const old = buffer[edge.index] ?? null;
    buffer[edge.index] = old === null ? grad : sum(host, old, grad);
  };
  const arrived = (edge: Edge): void => {
    if ("leaf" in edge) return;
    const left = (waiting.get(edge.fn) ?? 1) - 1;
    waiting.set(edge.fn, left);
    if (left === 0) ready.push(edge.fn);
  };
  for (const { edge, grad } of roots) deliver(edge, grad);
  for (const { edge } of roots) arrived(edge);
  for (;;) {
    let best: GradFunction | undefined;
    for (const fn of ready) if (best === undefined || fn.seqNr > best.seqNr) best = fn;
    if (best === undefined) return leaves;
    ready.splice(ready.indexOf(best), 1);
    const fn = best;
    const grads = buffers.get(fn) ?? fn.outputs.map(() => null);
    const context: TraceContext = { stack: fn.context.stack, fromNode: [], isBackward: true, seqNr: fn.seqNr };
    host.inContext(context, () => {
      try {
        const results = grads.every(g => g === null) ? fn.inputs.map(() => null) : runFunction(host, fn, grads);
        for (const [i, input] of fn.inputs.entries()) {
          if (input.edge === null) continue;
          const g = results[i] ?? null;
          if (g !== null) host.inContext({ ...context, stackNote: SUM_NOTE }, () => deliver(input.edge as Edge, g));
          arrived(input.edge);
        }
      } catch (e) {
        throw e instanceof OpError ? new OpFailure(fn.context.stack, e) : e;
      }
    });
  }
}

function runFunction(host: GradHost, fn: GradFunction, grads: readonly (Value | null)[]): (Value | null)[] {
  const raw = fn.apply?.(grads) ?? evaluateFunction(host, fn, grads);
  return raw.map((g, i) => (g === null ? null : fit(host, g, (fn.inputs[i] as GradInput).meta)));
}

/** one function's gradients, as its formulas give them */
export function evaluateFunction(host: GradHost, fn: GradFunction, grads: readonly (Value | null)[]): (Value | null)[] {
  const unpacked = new Map<number, Value>();
  for (const [i, v] of fn.saved) {
    const again = host.withOriginal("aten.detach", () => host.builder.call("aten.alias.default", [host.unpack(v)]));
    unpacked.set(i, again);
  }
  const values = new Map([...fn.bound.values].map(([k, v]) => [k, unpackArgument(host, v)] as const));
  const bound = { schema: fn.bound.schema, values };
  return applyDerivative(host, { ...fn, bound }, grads, i => unpacked.get(i) ?? host.unpack(fn.results[i] as Value));
}

function unpackArgument(host: GradHost, v: unknown): never {
  if (host.builder.isTensor(v)) return host.unpack(v) as never;
  if (Array.isArray(v)) return v.map(x => unpackArgument(host, x)) as never;
  return v as never;
}

/** the gradient in its input's shape and dtype (the engine's validate_outputs) */
function fit(host: GradHost, g: Value, like: TensorMeta): Value {
  const b = host.builder;
  const meta = b.meta(g);
  let r = g;
  // autocast sums in float32
  const wide: Record<string, ArgValue<Value>> = host.ambientAutocast &&
  isFloatDType(meta.dtype) &&
  meta.dtype !== "float64"
    ? { dtype: new DTypeArg("float32") }
    : {};
  const lead = meta.shape.length - like.shape.length;
  const same = lead === 0 && meta.shape.every((s, i) => b.eq(s, like.shape[i] as Dim));
  if (!same) {
    if (like.shape.length === 0) r = b.call("aten.sum.default", [r], wide);
    else {
      const dims = meta.shape.flatMap((s, i) =>
        i < lead || (b.eq(like.shape[i - lead] as Dim, 1) && !b.eq(s, 1)) ? [i] : [],
      );
      if (dims.length > 0) r = b.call("aten.sum.dim_IntList", [r, dims, true], wide);
      if (lead > 0) r = b.call("aten.view.default", [r, like.shape]);
    }
  }
  // a real value takes the real part of a complex gradient
  if (b.meta(r).dtype.startsWith("complex") && !like.dtype.startsWith("complex")) r = b.call("aten.real.default", [r]);
  if (b.meta(r).dtype !== like.dtype) r = b.call("aten._to_copy.default", [r], { dtype: new DTypeArg(like.dtype) });
  return r;
}

function sum(host: GradHost, a: Value, b: Value): Value {
  return host.builder.call("aten.add.Tensor", [a, b]);
}

function zeros(b: GraphBuilder<Value>, like: TensorMeta): Value {
  return b.call("aten.zeros.default", [like.shape], {
    dtype: new DTypeArg(like.dtype),
    device: new DeviceArg(like.device),
  });
}

/** how many gradients each function that the roots reach will get */
function countDependencies(roots: readonly Edge[]): Map<GradFunction, number> {
  const counts = new Map<GradFunction, number>();
  const visited = new Set<GradFunction>();
  const stack: GradFunction[] = [];
  const count = (edge: Edge | null): void => {
    if (edge === null || "leaf" in edge) return;
    counts.set(edge.fn, (counts.get(edge.fn) ?? 0) + 1);
    if (!visited.has(edge.fn)) {
      visited.add(edge.fn);
      stack.push(edge.fn);
    }
  };
  for (const e of roots) count(e);
  for (let fn = stack.pop(); fn !== undefined; fn = stack.pop()) for (const i of fn.inputs) count(i.edge);
  return counts;
}

/** the tensors that the formulas give gradients for, with where those go */
export function gradInputs(derivative: GradFunction["derivative"], bound: Bound<Value>): GradInput[] {
  const inputs: GradInput[] = [];
  const names = differentiableNames(derivative);
  for (const { name } of bound.schema.parameters) {
    if (!names.includes(name)) continue;
    const v = bound.values.get(name);
    if (isValue(v)) inputs.push({ name, item: null, edge: v.edge, meta: metaOf(v) });
    else if (Array.isArray(v)) {
      for (const [item, x] of (v as readonly unknown[]).entries()) {
        if (isValue(x)) inputs.push({ name, item, edge: x.edge, meta: metaOf(x) });
      }
    }
  }
  return inputs;
}
