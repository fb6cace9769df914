// Tracing below autograd and functionalization: what torch's proxy mode does. In: bound calls over traced tensors.
// Out: nodes of one graph. Promises: an operator with a decomposition (Inductor's table) leaves the decomposition's
// nodes; names are given in order of creation; every node carries stack, source nodes and original operator.
import { type ArgsHost, makeArgs } from "../aten/args";
import { type BindHost, type Bound, bindArguments, keywords } from "../aten/bind";
import { asExpr, isExpr, makeDimMath, type ShapeGuards } from "../aten/dim_math";
import { isContiguous, type MetaDefaults, makeMetaBuilder, wrapDim } from "../aten/meta_builder";
import { promoteElementwise } from "../aten/promotion";
import { mustLookup, packetOf } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import {
  type ArgValue,
  type Dim,
  type DimMath,
  type GraphBuilder,
  type MetaBuilder,
  OpError,
  type OpRecord,
  PyFloat,
  type Result,
  type TensorMeta,
} from "../aten/types";
import { FxGraph, type FxNode } from "../fx/graph";
import {
  type Argument,
  type FakeTensor,
  type FakeValue,
  mapKeywords,
  type NodeMeta,
  type StackFrame,
} from "../fx/types";
import { add, type Expr, freeSymbols, int, intValue, isInteger, mul, neg, sub, sum } from "../inductor/symbolic/expr";
import { mapBound, normalizeCall } from "./call_args";
import { TracedCalls } from "./traced_calls";
import { isTraced, many, TracedTensor } from "./traced_tensor";

export const isTensorMeta = (x: unknown): x is TensorMeta =>
  typeof x === "object" && x !== null && "shape" in x && "dtype" in x;

export type LiteralSpec = Parameters<GraphBuilder<TracedTensor>["literal"]>[0];

/** Where the operators being traced come from. */
export interface TraceContext {
  readonly stack: readonly StackFrame[];
  readonly fromNode: readonly string[];
  readonly isBackward: boolean;
  readonly seqNr?: number;
  /** activation checkpointing's wish for the nodes made here */
  readonly recompute?: NodeMeta["recompute"];
  readonly checkpoint?: number;
  /** see NodeMeta */
  readonly stackNote?: string;
}

const NO_CONTEXT: TraceContext = { stack: [], fromNode: [], isBackward: false };

export class Tracer {
  readonly graph = new FxGraph();
  readonly math: DimMath;
  readonly metas: MetaBuilder;
  readonly builder: GraphBuilder<TracedTensor>;
  context: TraceContext = NO_CONTEXT;
  /** packet of the outermost operator being decomposed */
  private originalAten: string | undefined;
  private readonly host: BindHost<TracedTensor> & ArgsHost<TracedTensor> = {
    isTensor: isTraced,
    isDim: isExpr,
    int,
    specialize: d => this.specialize(d),
  };
  private readonly symbols = new Map<Expr, FxNode>();
  private depth = 0;
  private readonly calls = new TracedCalls(this.graph, (target, args, kwargs, val) =>
    this.create(target, args, kwargs, val),
  );

  constructor(
    readonly guards: ShapeGuards,
    readonly defaults: MetaDefaults,
  ) {
    this.math = makeDimMath(guards);
    this.metas = makeMetaBuilder(guards, defaults);
    this.builder = {
      ...this.math,
      meta: t => t.meta,
      call: (op, args, kwargs) => single(this.callByName(op, args, kwargs), op),
      callMany: (op, args, kwargs) => many(this.callByName(op, args, kwargs)) as TracedTensor[],
      isTensor: isTraced,
      promote: (kind, ...operands) => promoteElementwise(kind, operands, defaults.dtype),
      wrapDim,
      isContiguous: (t, format) => isContiguous(this.math, t.meta, format),
      literal: spec => this.literal(spec),
      training: () => false,
      defaultDType: () => defaults.dtype,
      defaultDevice: () => defaults.device,
      config: defaults.config,
      fail: (message, pythonType) => {
        throw new OpError(message, pythonType);
      },
    };
  }

  /** an input of the graph; a symbolic int becomes known as the node that stands for it */
  placeholder(name: string, val: FakeValue): FxNode {
    const node = this.graph.create(
      "placeholder",
      name,
      [],
      new Map(),
      { val, stack: [], fromNode: [] },
      { candidate: name },
    );
    if (isExpr(val)) this.defineSymbol(val, node);
    return node;
  }

  defineSymbol(e: Expr, node: FxNode): void {
    if (intValue(e) === undefined && !this.symbols.has(e)) this.symbols.set(e, node);
  }

  /** lets a node of another graph stand for its symbolic int */
  defineFrom(node: FxNode): void {
    if (isExpr(node.meta.val)) this.defineSymbol(node.meta.val, node);
  }

  /** takes over which nodes stand for symbols: for tracing beside another graph */
  adoptSymbols(other: Tracer): void {
    for (const [e, n] of other.symbols) this.symbols.set(e, n);
  }

  /** runs `body` with `packet` as the original operator of its nodes, unless one is set already */
  withOriginal<R>(packet: string, body: () => R): R {
    const outer = this.originalAten;
    this.originalAten ??= packet;
    try {
      return body();
    } finally {
      this.originalAten = outer;
    }
  }

  /** nodes made for another reason than the operator in hand: they carry this name, or each its own */
  asOriginal<R>(packet: string | undefined, body: () => R): R {
    const outer = this.originalAten;
    this.originalAten = packet;
    try {
      return body();
    } finally {
      this.originalAten = outer;
    }
  }

  withContext<R>(context: TraceContext, body: () => R): R {
    const outer = this.context;
    this.context = context;
    try {
      return body();
    } finally {
      this.context = outer;
    }
  }

  private callByName(
    op: string,
    args: readonly ArgValue<TracedTensor>[],
    kwargs: Readonly<Record<string, ArgValue<TracedTensor>>> = {},
  ): Result<TracedTensor> {
    const record = mustLookup(op);
    const r = bindArguments(parseSchema(record.schema), args, keywords(kwargs), this.host);
    if (!r.ok) throw new Error(`${op} called with wrong arguments: ${r.message}`);
    return this.call(record, r.bound);
  }

  /** one operator: its decomposition if it has one that applies, else a node */
  call(record: OpRecord, bound: Bound<TracedTensor>): Result<TracedTensor> {
    if (this.depth > 200) throw new Error(`decomposition of ${record.name} does not end`);
    this.depth++;
    try {
      return this.withOriginal(packetOf(record.name), () => {
        return this.calls.call(record, bound, () => {
          const expand = record.decompose ?? (record.lower === undefined ? record.composite : undefined);
          const done = expand?.(this.builder, this.args(bound));
          return done ?? this.emit(record, bound);
        });
      });
    } finally {
      this.depth--;
    }
  }

  args(bound: Bound<TracedTensor>) {
    return makeArgs(bound, this.host);
  }

  specialize(d: Dim): number {
    const known = this.math.static(d);
    if (known !== undefined) return known;
    const value = this.math.hint(d);
    if (!this.math.eq(d, value)) throw new Error("a hint must equal its expression");
    return value;
  }

  /** the meta rule's answer */
  metaOf(record: OpRecord, bound: Bound<TracedTensor>): TensorMeta | readonly (TensorMeta | null)[] {
    const metas = mapBound<TracedTensor, TensorMeta>(bound, isTraced, t => t.meta);
    return record.meta(
      this.metas,
      makeArgs(metas, { isTensor: isTensorMeta, isDim: this.math.isDim, int, specialize: d => this.specialize(d) }),
    );
  }

  /** a node for the call as it stands; several results get one getitem each */
  emit(record: OpRecord, bound: Bound<TracedTensor>): Result<TracedTensor> {
    const result = this.metaOf(record, bound);
    const call = normalizeCall(bound, isTraced);
    const args = call.args.map(a => this.toArgument(a));
    const kwargs = mapKeywords(call.kwargs, v => this.toArgument(v));
    const outputs = many(result) as (FakeTensor | null)[];
    const single = !Array.isArray(result);
    const node = this.create(record.name, args, kwargs, single ? (outputs[0] as FakeTensor) : outputs);
    if (single) return new TracedTensor(node, outputs[0] as FakeTensor);
    return outputs.map((meta, i) => {
      const item = this.create("operator.getitem", [node, i], new Map(), meta);
      return meta === null ? null : new TracedTensor(item, meta);
    });
  }

  /** a tensor that the source writes out, as an attribute of the graph */
  literal(spec: LiteralSpec): TracedTensor {
    const name = `_tensor_constant${this.graph.constants.size}`;
    const values = spec.values.map(v => (typeof v === "object" ? (v instanceof PyFloat ? v.value : Number.NaN) : v));
    this.graph.constants.set(name, { ...spec, values });
    const meta = this.metas.tensor(spec.shape, spec) as FakeTensor;
    const { stack, fromNode } = this.context;
    const node = this.graph.create(
      "get_attr",
      name,
      [],
      new Map(),
      { val: meta, stack, fromNode },
      { candidate: name },
    );
    return new TracedTensor(node, meta);
  }

  create(target: string, args: readonly Argument[], kwargs: ReadonlyMap<string, Argument>, val: FakeValue): FxNode {
    const { stack, fromNode, isBackward, seqNr, recompute, checkpoint, stackNote } = this.context;
    const meta: NodeMeta = { val, stack, fromNode };
    if (isBackward) meta.isBackward = true;
    if (seqNr !== undefined) meta.seqNr = seqNr;
    if (recompute !== undefined && !isBackward) meta.recompute = recompute;
    if (checkpoint !== undefined && !isBackward) meta.checkpoint = checkpoint;
    if (stackNote !== undefined) meta.stackNote = stackNote;
    if (this.originalAten !== undefined) meta.originalAten = this.originalAten;
    return this.graph.create("call_function", target, args, kwargs, meta);
  }

  /** an argument as nodes hold it; symbolic ints become the nodes that compute them */
  toArgument(v: ArgValue<TracedTensor>): Argument {
    if (isTraced(v)) return v.node;
    if (Array.isArray(v)) return (v as readonly ArgValue<TracedTensor>[]).map(x => this.toArgument(x));
    if (isExpr(v)) return this.symbolArgument(v);
    return v as Argument;
  }

  private symbolArgument(e: Expr): Argument {
    if (e.kind === "float") return new PyFloat(e.value);
    const n = intValue(e);
    return n === undefined ? this.symbolNode(e) : n;
  }

  /** the program's own arithmetic on symbolic ints: a node where it stands, but for a constant and a factor of 1 */
  compute(target: string, operands: readonly Expr[], result: Expr): void {
    if (intValue(result) === undefined && !operands.includes(result))
      this.defineSymbol(
        result,
        this.create(
          target,
          operands.map(o => this.symbolArgument(o)),
          new Map(),
          result,
        ),
      );
  }

  /** the node of a symbolic int, made by arithmetic on the inputs' symbols where none stands for it yet */
  symbolNode(e: Expr): FxNode {
    const known = this.symbols.get(e);
    if (known !== undefined) return known;
    const chain = (target: string): FxNode => {
      const parts = e.args.map(a => this.symbolArgument(a));
      let node = parts[0] as Argument;
      for (const [i, part] of parts.slice(1).entries()) {
        const last = i === parts.length - 2;
        node = this.create(target, [node, part], new Map(), last ? e : asExpr(0));
      }
      return node as FxNode;
    };
    let node: FxNode;
    switch (e.kind) {
      case "add":
        node = this.realSum(e) ?? this.sumNode(e);
        break;
      case "truediv": {
        const [a, c] = e.args;
        const divisor = a.kind === "float" && isInteger(c) ? this.realNode(c) : this.symbolArgument(c);
        node = this.create("operator.truediv", [this.symbolArgument(a), divisor], new Map(), e);
        break;
      }
      case "mul":
        node = this.productNode(e.args, e);
        break;
      case "floordiv":
        node = chain("operator.floordiv");
        break;
      case "mod":
        node = chain("operator.mod");
        break;
      case "pow":
        node = (intValue(e.args[1]) ?? 0) > 1 ? this.productNode([e], e) : chain("operator.pow");
        break;
      case "min":
        node = chain("torch.sym_min");
        break;
      case "max":
        node = chain("torch.sym_max");
        break;
      case "modular": {
        const [x, divisor, modulus] = e.args;
        const quotient = this.create(
          "operator.floordiv",
          [this.symbolArgument(x), this.symbolArgument(divisor)],
          new Map(),
          e,
        );
        node = this.create("operator.mod", [quotient, this.symbolArgument(modulus)], new Map(), e);
        break;
      }
      default:
        throw new OpError(`no input carries the symbol ${e.kind === "sym" ? e.name : e.kind}`);
    }
    this.symbols.set(e, node);
    return node;
  }

  /** terms in the order in which their symbols came, the number last: n - 1 */
  private sumNode(e: Expr): FxNode {
    const signed = e.args.map(t => {
      const n = t.kind === "int" ? t.value : 0;
      const minus = n < 0 || (t.kind === "mul" && t.args.some(f => f.kind === "int" && f.value === -1));
      return { minus, term: minus ? neg(t) : t };
    });
    // what is subtracted comes after what it is subtracted from: 30 - n
    const onlyNumber = signed.every(x => x.minus || x.term.kind === "int");
    const rank = ({ minus, term }: (typeof signed)[number]): number => {
      if (term.kind === "int") return onlyNumber && !minus ? -1 : Number.POSITIVE_INFINITY;
      return minus ? Number.MAX_SAFE_INTEGER : this.age(term);
    };
    signed.sort((a, b) => rank(a) - rank(b));
    const first = signed[0];
    if (first?.minus) signed[0] = { minus: false, term: neg(first.term) };
    return this.steps(
      signed.map(({ minus, term }) => ({ target: minus ? "operator.sub" : "operator.add", term })),
      (sum, term, target) => (target === "operator.sub" ? sub(sum, term) : add(sum, term)),
      e,
    );
  }

  /** factors in the order in which their symbols came, powers written out, the number last: n * m * m * 2 */
  private productNode(factors: readonly Expr[], e: Expr): FxNode {
    const parts = factors.flatMap((f): Expr[] => {
      const [base, exponent] = f.kind === "pow" ? f.args : [f, undefined];
      const times = exponent === undefined ? 1 : intValue(exponent);
      return times === undefined || times < 1 ? [f] : new Array<Expr>(times).fill(base);
    });
    const rank = (f: Expr): number => (f.kind === "int" ? Number.POSITIVE_INFINITY : this.age(f));
    parts.sort((a, b) => rank(a) - rank(b));
    return this.steps(
      parts.map(term => ({ target: "operator.mul", term })),
      (product, term) => mul(product, term),
      e,
    );
  }

  private steps(
    terms: readonly { readonly target: string; readonly term: Expr }[],
    join: (sum: Expr, term: Expr, target: string) => Expr,
    e: Expr,
  ): FxNode {
    let value = terms[0]?.term as Expr;
    let node: Argument = this.symbolArgument(value);
    for (const [i, { target, term }] of terms.entries()) {
      if (i === 0) continue;
      value = i === terms.length - 1 ? e : join(value, term, target);
      const known = this.symbols.get(value);
      node = known ?? this.create(target, [node, this.symbolArgument(term)], new Map(), value);
      if (known === undefined) this.symbols.set(value, node as FxNode);
    }
    return node as FxNode;
  }

  /** when the first symbol of an expression came into the trace */
  private age(e: Expr): number {
    const nodes = [...this.symbols.keys()];
    return Math.min(...[...freeSymbols(e)].map(s => nodes.indexOf(s)));
  }

  /** a symbolic int as a float */
  private realNode(e: Expr): FxNode {
    return this.create("torch.sym_float", [this.symbolArgument(e)], new Map(), e);
  }

  /** a symbolic number plus a float: n - 1.0 */
  private realSum(e: Expr): FxNode | undefined {
    const constant = e.args.find(a => a.kind === "float");
    if (constant?.kind !== "float") return undefined;
    const rest = sum(e.args.filter(a => a !== constant));
    const first = isInteger(rest) ? this.realNode(rest) : this.symbolArgument(rest);
    const target = constant.value < 0 ? "operator.sub" : "operator.add";
    return this.create(target, [first, new PyFloat(Math.abs(constant.value))], new Map(), e);
  }
}

export function single<T>(r: Result<T>, op: string): T {
  if (!Array.isArray(r)) return r as T;
  const first = (r as readonly (T | null)[])[0];
  if (first === undefined || first === null) throw new Error(`${op} has no single result`);
  return first;
}
