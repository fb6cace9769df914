// What a compiled frame rests on. In: values seen while tracing, with their sources. Out: a check of a later call, and
// the reason why it fails, in Dynamo's words.
import { SCALAR_TYPE_NAMES } from "../../aten/types";
import type { FakeTensor } from "../../fx/types";
import { evaluateNumber } from "../../inductor/symbolic";
import { type Expr, intValue, type SymExpr } from "../../inductor/symbolic/expr";
import type { ShapeEnv } from "../../inductor/symbolic/shape_env";
import { PyFunction } from "../interp/frame";
import { withoutDtype } from "../objects/numpy_scalar";
import {
  PyClass,
  PyDict,
  PyFloat,
  PyInstance,
  PyList,
  PyNamed,
  PyObject,
  PySet,
  PyTuple,
  type Value,
} from "../objects/values";
import { PyTensor } from "../torch/objects";
import type { Entry, Source } from "./source";

export interface TensorGuard {
  readonly source: Source;
  /** as the graph sees it: dims may be symbols */
  readonly meta: FakeTensor;
}

export interface GlobalState {
  readonly gradEnabled: boolean;
  readonly autocast: string;
  readonly dtype: string;
}

export class GuardSet {
  private readonly values = new Map<
    string,
    { source: Source; holds: (v: Value | undefined) => boolean; text: string }
  >();
  readonly tensors: TensorGuard[] = [];
  readonly ints: { readonly source: Source; readonly symbol: Expr }[] = [];

  /** notes what a value was when the trace read it; the first reading counts */
  value(source: Source, v: Value): void {
    if (this.values.has(source.name) || v instanceof PyTensor) return;
    const { holds, text } = expectation(source, v);
    this.values.set(source.name, { source, holds, text });
  }

  /** undefined: the frame may be used for this call; otherwise why not */
  failure(entry: Entry, env: ShapeEnv, state: GlobalState, now: GlobalState): string | undefined {
    if (state.gradEnabled !== now.gradEnabled) return "GLOBAL_STATE changed: grad_mode ";
    if (state.autocast !== now.autocast) return "GLOBAL_STATE changed: autocast ";
    if (state.dtype !== now.dtype) return "GLOBAL_STATE changed: default_dtype ";
    for (const g of this.values.values()) {
      if (!g.holds(withoutDtype(g.source.fetch(entry)))) return g.text;
    }
    const symbols = new Map<SymExpr, number>();
    for (const t of this.tensors) {
      const reason = tensorFailure(t, t.source.fetch(entry), symbols);
      if (reason !== undefined) return reason;
    }
    for (const i of this.ints) {
      const v = withoutDtype(i.source.fetch(entry));
      if (typeof v !== "number") return `___check_type_id(${i.source.name})`;
      if (i.symbol.kind === "sym") symbols.set(i.symbol, v);
    }
    for (const [s, v] of symbols) {
      const range = env.symbolBounds(s);
      if (range && (v < range.lower || v > range.upper)) {
        return `${range.lower} <= ${env.sources.get(s)?.[0] ?? s.name}`;
      }
    }
    for (const g of env.guards) {
      const holds = evaluateNumber(g.expr, s => symbols.get(s));
      if (holds === 0) return g.reason;
    }
    return undefined;
  }
}

function expectation(source: Source, v: Value): { holds: (x: Value | undefined) => boolean; text: string } {
  if (v instanceof PyFloat) {
    return { holds: x => x instanceof PyFloat && Object.is(x.value, v.value), text: `${source.name} == ${v.value}` };
  }
  if (!(v instanceof PyObject)) return { holds: x => x === v, text: `${source.name} == ${String(v)}` };
  if (v instanceof PyList || v instanceof PyTuple) {
    const n = v.items.length;
    const same = (x: Value | undefined): boolean =>
      (x instanceof PyList || x instanceof PyTuple) && x.cls === v.cls && x.items.length === n;
    return { holds: same, text: `len(${source.name}) == ${n}` };
  }
  if (v instanceof PyDict || v instanceof PySet) {
    const n = v.size;
    const same = (x: Value | undefined): boolean => (x instanceof PyDict || x instanceof PySet) && x.size === n;
    return { holds: same, text: `len(${source.name}) == ${n}` };
  }
  if (v instanceof PyInstance) {
    const cls = v.cls;
    return { holds: x => x instanceof PyInstance && x.cls === cls, text: `___check_type_id(${source.name})` };
  }
  if (v instanceof PyFunction) {
    const code = v.code;
    return { holds: x => x instanceof PyFunction && x.code === code, text: `___check_obj_id(${source.name})` };
  }
  if (v instanceof PyNamed) {
    return { holds: x => x instanceof PyNamed && x.text === v.text, text: `${source.name} == ${v.text}` };
  }
  if (v instanceof PyClass) return { holds: x => x === v, text: `___check_obj_id(${source.name})` };
  const cls = v.cls;
  return { holds: x => x instanceof PyObject && x.cls === cls, text: `___check_type_id(${source.name})` };
}

function tensorFailure(g: TensorGuard, v: Value | undefined, symbols: Map<SymExpr, number>): string | undefined {
  if (!(v instanceof PyTensor)) return `expected type of '${g.source.name}' to be a tensor type`;
  const was = g.meta;
  const is = v.meta;
  const name = g.source.name;
  if (was.dtype !== is.dtype) {
    return `tensor '${name}' dtype mismatch. expected ${SCALAR_TYPE_NAMES[was.dtype] ?? was.dtype}, actual ${SCALAR_TYPE_NAMES[is.dtype] ?? is.dtype}`;
  }
  if (was.device.type !== is.device.type || was.device.index !== is.device.index) {
    return `tensor '${name}' Tensor device index mismatch. Expected device index to be ${was.device.index}, got ${is.device.index} instead`;
  }
  if (was.requiresGrad !== is.requiresGrad) {
    return `tensor '${name}' requires_grad mismatch. expected requires_grad=${was.requiresGrad ? 1 : 0}`;
  }
  if (was.shape.length !== is.shape.length) {
    return `tensor '${name}' rank mismatch. expected ${was.shape.length}, actual ${is.shape.length}`;
  }
  for (const [i, s] of was.shape.entries()) {
    const actual = intValue(is.shape[i] as Expr) ?? 0;
    const fixed = intValue(s);
    if (fixed !== undefined && fixed !== actual) {
      return `tensor '${name}' size mismatch at index ${i}. expected ${fixed}, actual ${actual}`;
    }
    if (s.kind === "sym") {
      const known = symbols.get(s);
      if (known !== undefined && known !== actual) return `${name}.size()[${i}] == ${s.name}`;
      symbols.set(s, actual);
    }
  }
  for (const [i, s] of was.stride.entries()) {
    const actual = intValue(is.stride[i] as Expr) ?? 0;
    if (intValue(is.shape[i] as Expr) === 1) continue;
    const expected = evaluateNumber(s, x => symbols.get(x));
    if (expected !== undefined && expected !== actual) {
      return `tensor '${name}' stride mismatch at index ${i}. expected ${expected}, actual ${actual}`;
    }
  }
  return undefined;
}
