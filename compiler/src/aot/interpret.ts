// Runs a pre-grad graph over traced tensors. In: the graph and its inputs' values. Out: the output values.
// Promises: each node's operators carry its stack and name; what PyTorch would refuse becomes an OpFailure at the node's
// line; an operator that the table does not know stays one opaque call.
import { resolveOverload } from "../aten/bind";
import { isExpr } from "../aten/dim_math";
import { customOperator, lookupPython } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import { getItem, type IndexItem, type Subscript, setItem } from "../aten/subscript";
import { type ArgValue, type Dim, type DType, OpError, type OpRecord, PyFloat, type Scalar } from "../aten/types";
import { CHECKPOINT, FUNCTION_APPLY, FUNCTION_BEGIN, FUNCTION_GRAD, shownName } from "../fx/bodies";
import { type FxGraph, FxNode } from "../fx/graph";
import {
  type Argument,
  EllipsisArg,
  type FakeTensor,
  type FakeValue,
  OpaqueArg,
  SliceArg,
  TupleArg,
} from "../fx/types";
import {
  add,
  type Expr,
  floorDiv,
  int,
  isNumber,
  max,
  min,
  mod,
  mul,
  neg,
  pow,
  product,
  sub,
  sum,
  toExpr,
  trueDiv,
} from "../inductor/symbolic/expr";
import { stopPoint } from "../interrupt";
import { Autocast } from "./autocast";
import { functionEdges } from "./autograd_function";
import type { Computed } from "./computed";
import type { Dispatcher } from "./dispatch";
import { OpFailure } from "./failure";
import { many, TracedTensor } from "./traced_tensor";
import { isValue, type Value } from "./value";

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  add: ["torch.add"],
  sub: ["torch.sub"],
  mul: ["torch.mul"],
  truediv: ["torch.true_divide", "torch.div"],
  floordiv: ["torch.floor_divide"],
  mod: ["torch.remainder"],
  pow: ["torch.pow"],
  matmul: ["torch.matmul"],
  neg: ["torch.neg"],
  pos: ["torch.positive"],
  invert: ["torch.bitwise_not"],
  and_: ["torch.bitwise_and"],
  or_: ["torch.bitwise_or"],
  xor: ["torch.bitwise_xor"],
  lshift: ["torch.bitwise_left_shift"],
  rshift: ["torch.bitwise_right_shift"],
  eq: ["torch.eq"],
  ne: ["torch.ne"],
  lt: ["torch.lt"],
  le: ["torch.le"],
  gt: ["torch.gt"],
  ge: ["torch.ge"],
  abs: ["torch.abs"],
  iadd: ["Tensor.add_"],
  isub: ["Tensor.sub_"],
  imul: ["Tensor.mul_"],
  itruediv: ["Tensor.div_"],
  ifloordiv: ["Tensor.floor_divide_"],
  imod: ["Tensor.remainder_"],
  ipow: ["Tensor.pow_"],
  iand: ["Tensor.bitwise_and_"],
  ior: ["Tensor.bitwise_or_"],
  ixor: ["Tensor.bitwise_xor_"],
  ilshift: ["Tensor.bitwise_left_shift_"],
  irshift: ["Tensor.bitwise_right_shift_"],
};

/** number op tensor: the operator that Tensor.__rop__ runs */
const SWAPPED: Readonly<Record<string, string>> = {
  add: "add",
  mul: "mul",
  and_: "and_",
  or_: "or_",
  xor: "xor",
  eq: "eq",
  ne: "ne",
  lt: "gt",
  gt: "lt",
  le: "ge",
  ge: "le",
};

/** The records behind a printed target. */
export function recordsOf(op: FxNode["op"], target: string): readonly OpRecord[] {
  const spelling = op === "call_method" ? `Tensor.${target}` : target.replace(/^_operator\./, "operator.");
  const found = lookupPython(spelling);
  if (found.length > 0) return found;
  const name = /^(?:operator|Tensor)\.(?:__)?(\w+?)(?:__)?$/.exec(spelling)?.[1];
  for (const other of name !== undefined && Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : []) {
    const records = lookupPython(other);
    if (records.length > 0) return records;
  }
  return [];
}

export class Interpreter {
  private readonly values = new Map<FxNode, Computed>();
  private readonly autocast: Autocast;
  readonly opaque: FxNode[] = [];
  /** inputs whose float value the graph fixes: torch traces the frame anew without them */
  readonly specialized: string[] = [];

  constructor(readonly dispatcher: Dispatcher) {
    this.autocast = new Autocast(dispatcher);
  }

  /** `autocast`: the dtype of the region that the whole graph runs in */
  run(graph: FxGraph, inputs: readonly Computed[], autocast: DType | null = null): readonly Computed[] {
    if (autocast !== null) this.autocast.ambient(autocast);
    let next = 0;
    /** the apply node of the autograd.Function whose backward stands here */
    let after: FxNode | null = null;
    for (const node of graph.nodes) {
      if (after !== null && node !== after) continue;
      after = null;
      if (node.target === FUNCTION_GRAD) after = applyOf(node);
      else if (node.op === "placeholder") this.values.set(node, inputs[next++] ?? null);
      else if (node.op === "output") {
        const out = this.value(node.args[0] ?? null);
        return Array.isArray(out) ? out : [out];
      } else this.runNode(node);
    }
    return [];
  }

  private runNode(node: FxNode, isBackward = false): void {
    stopPoint();
    const { stack, recompute, checkpoint } = node.meta;
    const context = {
      stack,
      fromNode: [shownName(node)],
      isBackward,
      ...(recompute === undefined ? {} : { recompute }),
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(isBackward && this.seqNr !== undefined ? { seqNr: this.seqNr } : {}),
    };
    try {
      this.values.set(
        node,
        this.dispatcher.inContext(context, () => this.evaluate(node)),
      );
    } catch (e) {
      if (e instanceof OpError) throw new OpFailure(node.meta.stack, e);
      throw e;
    }
  }

  private value(a: Argument): Computed {
    if (a instanceof FxNode) {
      const v = this.values.get(a);
      if (v === undefined) throw new Error(`${a.name} has not run`);
      return v;
    }
    if (Array.isArray(a)) return (a as readonly Argument[]).map(x => this.value(x));
    if (a instanceof TupleArg) return a.items.map(x => this.value(x));
    return a as Computed;
  }

  private evaluate(node: FxNode): Computed {
    if (node.op === "get_attr") return this.constant(node);
    const operator = node.op === "call_function" ? /^_?operator\.(\w+)$/.exec(node.target)?.[1] : undefined;
    if (operator === "getitem") return this.getitem(node);
    if (operator === "setitem") {
      const [target, index, value] = node.args as [Argument, Argument, Argument];
      const x = this.value(target);
      if (!isValue(x)) throw new OpError("only tensors are assigned into inside a graph", "TypeError");
      setItem(this.dispatcher.builder, x, this.subscript(index), this.value(value) as Value | Scalar | Dim);
      return x;
    }
    if (node.target === FUNCTION_APPLY) return this.applyFunction(node, [null, this.value(node.args[1] ?? null)]);
    const args = node.args.map(a => this.value(a));
    const kwargs = new Map([...node.kwargs].map(([k, v]) => [k, this.value(v)] as const));
    if (node.target === "builtins.getattr" || node.target === "getattr") return this.attribute(node, args);
    const special =
      node.op === "call_method" && node.target === "item" ? this.item(node, args) : this.special(node, args);
    if (special !== undefined) return special;
    const symbolic = operator === undefined ? symFunction(node.target, args) : symOperator(operator, args);
    if (symbolic !== undefined) {
      if (isExpr(symbolic)) this.dispatcher.tracer.compute(node.target, asNumbers(args) ?? [], symbolic);
      return symbolic;
    }
    if (operator !== undefined && args.length === 2 && !isValue(args[0]) && isValue(args[1]))
      return this.reflected(node, operator, args);
    return this.invoke(node, recordsOf(node.op, node.target), args, kwargs);
  }

  private invoke(
    node: FxNode,
    records: readonly OpRecord[],
    args: readonly Computed[],
    kwargs: ReadonlyMap<string, Computed>,
  ): Computed {
    const d = this.dispatcher;
    if (records.length === 0) return this.unknown(node, args, kwargs);
    const display = node.target.slice(node.target.lastIndexOf(".") + 1);
    const values = args.map(toArgValue);
    const named = new Map([...kwargs].map(([k, v]) => [k, toArgValue(v)] as const));
    const r = resolveOverload(records, values, named, d.host, display);
    if (!r.ok) throw new OpError(r.message, "TypeError");
    const result = d.call(r.record, r.bound);
    return fromResult(result, parseSchema(r.record.schema).returns.length);
  }

  /** c - x, c / x and the like, as Tensor's reflected methods write them */
  private reflected(node: FxNode, operator: string, args: readonly Computed[]): Computed {
    const [c, x] = args as [Computed, Value];
    const b = this.dispatcher.builder;
    const none = new Map<string, Computed>();
    const swapped = Object.hasOwn(SWAPPED, operator) ? SWAPPED[operator] : undefined;
    if (swapped !== undefined)
      return this.invoke(node, recordsOf("call_function", `operator.${swapped}`), [x, c], none);
    if (operator === "sub") return this.invoke(node, lookupPython("torch.rsub"), [x, c], none);
    if (operator === "truediv")
      return b.call("aten.mul.Tensor", [b.call("aten.reciprocal.default", [x]), toArgValue(c)]);
    return this.invoke(node, recordsOf("call_function", node.target), args, none);
  }

  /** the results of an autograd.Function's forward, with its own backward behind them */
  private applyFunction(node: FxNode, args: readonly Computed[]): Computed {
    const d = this.dispatcher;
    d.gradEnabled = this.outerGrad;
    const [begin, , grads] = node.args;
    if (!(begin instanceof FxNode) || !Array.isArray(grads)) throw new Error("autograd.Function without its parts");
    const inputs = many(this.value(begin.args[0] ?? null)) as readonly Computed[];
    const outputs = many(args[1] ?? null) as readonly Computed[];
    if (!d.gradEnabled || !inputs.some(v => isValue(v) && v.requiresGrad)) return outputs;
    const nodes = node.graph.nodes;
    const [from, to] = [nodes.indexOf(grads[0] as FxNode), nodes.indexOf(node)];
    const body = nodes.slice(from, to).filter(n => n.target !== FUNCTION_GRAD);
    return functionEdges(d, inputs.filter(isValue), outputs.filter(isValue), (given, seqNr) => {
      for (const [i, g] of grads.entries()) if (g instanceof FxNode) this.values.set(g, given[i] ?? null);
      this.seqNr = seqNr;
      for (const n of body) this.runNode(n, true);
      return (many(this.value(node.args[3] ?? null)) as readonly Computed[]).map(v => (isValue(v) ? v : null));
    });
  }
  private outerGrad = false;
  private seqNr: number | undefined;

  /** nodes that steer tracing itself */
  private special(node: FxNode, args: readonly Computed[]): Computed | undefined {
    switch (node.target) {
      case FUNCTION_BEGIN:
        this.outerGrad = this.dispatcher.gradEnabled;
        this.dispatcher.gradEnabled = false;
        return null;
      case CHECKPOINT:
        return args[0] ?? null;
      case "torch._C._set_grad_enabled":
      case "torch.set_grad_enabled":
        this.dispatcher.gradEnabled = args[0] === true;
        return null;
      case "torch.amp.autocast_mode._enter_autocast":
      case "torch._C._functorch._enter_autocast":
        return this.autocast.enter(args);
      case "numel":
      case "nelement": {
        const [x] = args;
        if (node.op !== "call_method" || !isValue(x)) return undefined;
        return product(x.tensor.meta.shape.map(d => toExpr(d as Expr)));
      }
      case "torch.amp.autocast_mode._exit_autocast":
      case "torch._C._functorch._exit_autocast":
        return this.autocast.exit();
      default:
        return undefined;
    }
  }

  /** x.item(): a float becomes the constant it was, an int a size that only the data decides */
  private item(node: FxNode, args: readonly Computed[]): Computed | undefined {
    const [x] = args;
    const val = node.meta.val ?? null;
    if (!isValue(x) || val === null || typeof val !== "object" || Array.isArray(val) || isTensorValue(val))
      return undefined;
    const { tracer } = this.dispatcher;
    if ("symFloat" in val) {
      const source = node.args[0];
      if (source instanceof FxNode && source.op === "placeholder") this.specialized.push(source.name);
      return new PyFloat(tracer.math.hint(val.symFloat));
    }
    if (!isExpr(val)) return undefined;
    const made = tracer.withOriginal("aten._local_scalar_dense", () =>
      tracer.create("aten._local_scalar_dense.default", [x.tensor.sync(tracer).node], new Map(), val),
    );
    tracer.defineSymbol(val, made);
    return val;
  }

  private attribute(node: FxNode, args: readonly Computed[]): Computed {
    const [x, name] = args;
    if (!isValue(x) || typeof name !== "string")
      throw new OpError("getattr on something that is no tensor", "AttributeError");
    if (name === "data") return this.dispatcher.builder.call("aten.detach.default", [x]);
    return this.invoke(node, lookupPython(`Tensor.${name}`), [x], new Map());
  }

  private getitem(node: FxNode): Computed {
    const x = this.value(node.args[0] as Argument);
    if (isValue(x)) return getItem(this.dispatcher.builder, x, this.subscript(node.args[1] as Argument));
    const index = this.value(node.args[1] as Argument);
    if (Array.isArray(x) && typeof index === "number") return (x as readonly Computed[]).at(index) ?? null;
    throw new OpError("getitem on something that is no tensor", "TypeError");
  }

  private subscript(index: Argument): Subscript<Value> {
    if (index instanceof TupleArg) return { items: index.items.map(i => this.indexItem(i)), bare: false };
    return { items: [this.indexItem(index)], bare: true };
  }

  private indexItem(a: Argument): IndexItem<Value> {
    if (a === null) return { kind: "none" };
    if (a instanceof EllipsisArg) return { kind: "ellipsis" };
    if (typeof a === "boolean") return { kind: "bool", value: a };
    if (a instanceof SliceArg) {
      const [start, stop, step] = [a.start, a.stop, a.step].map(x => this.bound(x));
      return { kind: "slice", start: start ?? null, stop: stop ?? null, step: step ?? null };
    }
    const v = this.value(a);
    if (isValue(v)) return { kind: "tensor", tensor: v };
    if (Array.isArray(v)) return this.listItem(v as readonly Computed[]);
    return { kind: "int", value: this.bound(a) ?? 0 };
  }

  private bound(a: Argument): Dim | number | null {
    const v = this.value(a);
    if (v === null || typeof v === "number" || isExpr(v)) return v;
    // beyond all sizes, on one side or the other
    if (typeof v === "bigint") return v < 0n ? -Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
    throw new OpError("slice indices must be integers or None or have an __index__ method", "TypeError");
  }

  private listItem(items: readonly Computed[]): IndexItem<Value> {
    const shape: number[] = [];
    let level: Computed = items;
    while (Array.isArray(level)) {
      shape.push(level.length);
      level = (level as readonly Computed[])[0] ?? 0;
    }
    const flat = flatten(items);
    if (flat.some(isValue)) {
      const b = this.dispatcher.builder;
      const tensors = flat.map(v =>
        isValue(v)
          ? v
          : b.literal({ values: [v as Scalar], shape: [], dtype: "int64", device: { type: "cpu", index: null } }),
      );
      return { kind: "tensor", tensor: b.call("aten.stack.default", [tensors]) };
    }
    return { kind: "list", values: flat.map(v => (typeof v === "boolean" ? v : Number(v))), shape };
  }

  private constant(node: FxNode): Computed {
    const spec = node.graph.constants.get(node.target);
    if (spec === undefined) return new OpaqueArg(node.target);
    return this.dispatcher.builder.literal(spec);
  }

  /** an operator that the table lacks: one node with the value that capture worked out */
  private unknown(node: FxNode, args: readonly Computed[], kwargs: ReadonlyMap<string, Computed>): Computed {
    const val = node.meta.val;
    const spelled = node.op === "call_method" ? `Tensor.${node.target}` : node.target;
    if (val === undefined) throw new OpError(`the operator ${spelled} is not known`, "NotImplementedError");
    const tracer = this.dispatcher.tracer;
    const convert = (c: Computed): Argument => {
      if (isValue(c)) return c.tensor.sync(tracer).node;
      if (Array.isArray(c)) return (c as readonly Computed[]).map(convert);
      return isExpr(c) ? tracer.toArgument(c) : (c as Argument);
    };
    const custom = customOperator(spelled);
    const create = (): FxNode =>
      tracer.create(
        custom?.overload ?? spelled,
        args.map(convert),
        new Map([...kwargs].map(([k, v]) => [k, convert(v)] as const)),
        val,
      );
    const call = custom === undefined ? create() : tracer.withOriginal(custom.packet, create);
    call.meta.opaque = node.meta.opaque ?? `the operator ${spelled} is not known`;
    this.opaque.push(call);
    const wrap = (v: FakeValue, at: FxNode): Computed => {
      if (v === null) return null;
      if (Array.isArray(v))
        return (v as readonly (FakeValue | null)[]).map((x, i) =>
          wrap(x, tracer.create("operator.getitem", [at, i], new Map(), x)),
        );
      if (isTensorValue(v)) return this.dispatcher.wrap(new TracedTensor(at, v));
      if (isExpr(v)) {
        tracer.defineSymbol(v, at);
        return v;
      }
      return null;
    };
    return wrap(val, call);
  }
}

function applyOf(grad: FxNode): FxNode {
  const begin = grad.args[0];
  const apply = begin instanceof FxNode ? [...begin.users].find(u => u.target === FUNCTION_APPLY) : undefined;
  if (apply === undefined) throw new Error("the backward of an autograd.Function without its apply");
  return apply;
}

function isTensorValue(v: FakeValue): v is FakeTensor {
  return typeof v === "object" && v !== null && "shape" in v;
}

/** a value as an operator's argument */
function toArgValue(c: Computed): ArgValue<Value> {
  if (c instanceof OpaqueArg) return null;
  if (Array.isArray(c)) return (c as readonly Computed[]).map(toArgValue);
  return c as ArgValue<Value>;
}

function fromResult(r: Value | readonly (Value | null)[], returns: number): Computed {
  if (!Array.isArray(r)) return r as Value;
  const items = many(r) as readonly (Value | null)[];
  return returns === 0 ? null : items;
}

function flatten(c: Computed): Computed[] {
  return Array.isArray(c) ? (c as readonly Computed[]).flatMap(flatten) : [c];
}

type SymNumber = Expr | number | bigint | boolean | PyFloat;

const isSymNumber = (c: Computed): c is SymNumber =>
  isExpr(c) || typeof c === "number" || typeof c === "bigint" || typeof c === "boolean" || c instanceof PyFloat;

function asNumber(c: SymNumber): Expr {
  if (c instanceof PyFloat) return toExpr(c.value);
  if (typeof c === "number") return toExpr(c);
  if (typeof c === "bigint") return int(Number(c));
  return typeof c === "boolean" ? int(c ? 1 : 0) : c;
}

/** undefined where one is no number: the others are not looked at, as a float may be a parameter */
function asNumbers(cs: readonly Computed[]): Expr[] | undefined {
  return cs.every(isSymNumber) ? cs.map(asNumber) : undefined;
}

/** arithmetic on symbolic ints; undefined when a tensor takes part */
function symOperator(operator: string, args: readonly Computed[]): Computed | undefined {
  const [a, b = int(0)] = asNumbers(args) ?? [];
  if (a === undefined) return undefined;
  switch (operator) {
    case "add":
      return add(a, b);
    case "sub":
      return sub(a, b);
    case "mul":
      return mul(a, b);
    case "floordiv":
      return floorDiv(a, b);
    case "mod":
      return mod(a, b);
    case "pow":
      return pow(a, b);
    case "truediv":
      return trueDiv(a, b);
    case "neg":
      return neg(a);
    case "pos":
      return a;
    default:
      return undefined;
  }
}

function symFunction(target: string, args: readonly Computed[]): Computed | undefined {
  if (target === "torch.sym_sum") {
    const items = asNumbers(many(args[0] as Computed));
    return items && sum(items);
  }
  const [a, b = int(0)] = asNumbers(args) ?? [];
  if (a === undefined) return undefined;
  switch (target) {
    case "torch.sym_max":
      return max(a, b);
    case "torch.sym_min":
      return min(a, b);
    case "torch.sym_float":
      return a;
    case "torch.sym_int":
      return isNumber(a) ? int(Math.trunc(a.value)) : a;
    default:
      return undefined;
  }
}
