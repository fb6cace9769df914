// Editing of ATen graphs. In: a graph and its shape environment. Out: new nodes with their values worked out.
// Promises: a node made by a pass is named by its overload ("add_tensor"), as torch.fx names it; its value comes from the
// operator's own meta rule.
import { makeArgs } from "../aten/args";
import { bindArguments } from "../aten/bind";
import { isExpr, makeDimMath, type ShapeGuards } from "../aten/dim_math";
import { makeMetaBuilder } from "../aten/meta_builder";
import { mustLookup, packetOf } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import type { ArgValue, Dim, DimMath, MetaBuilder, TensorMeta } from "../aten/types";
import { type FxGraph, FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { type Argument, type FakeTensor, type FakeValue, type NodeMeta, type StackFrame, TupleArg } from "../fx/types";
import { int } from "../inductor/symbolic/expr";

export interface MakeOptions {
  readonly before: FxNode;
  /** the node it stands for: stack, source and original operator are taken over */
  readonly like?: FxNode;
  /** part of a traced replacement of nodes with these frames (replacedFrames): its original operator is itself, and reports show their lines */
  readonly traced?: readonly StackFrame[];
}

export class Rewriter {
  readonly math: DimMath;
  private readonly metas: MetaBuilder;

  constructor(
    readonly graph: FxGraph,
    guards: ShapeGuards,
    readonly config: (name: string) => unknown = () => undefined,
  ) {
    this.math = makeDimMath(guards);
    this.metas = makeMetaBuilder(guards);
  }

  /** a call of an ATen operator, its value worked out */
  call(
    op: string,
    args: readonly Argument[],
    kwargs: Readonly<Record<string, Argument>>,
    options: MakeOptions,
  ): FxNode {
    const named = new Map(Object.entries(kwargs));
    const val = this.valueOf(op, args, named);
    return this.node(op, args, named, val, options);
  }

  getitem(node: FxNode, index: number, options: MakeOptions): FxNode {
    const val = Array.isArray(node.meta.val) ? ((node.meta.val as readonly (FakeValue | null)[])[index] ?? null) : null;
    // traced together with what it is an item of
    const { originalAten } = node.meta;
    const meta = this.metaFor("operator.getitem", val, options);
    return this.graph.create(
      "call_function",
      "operator.getitem",
      [node, index],
      new Map(),
      options.traced && originalAten ? { ...meta, originalAten } : meta,
      {
        candidate: "getitem",
        before: options.before,
      },
    );
  }

  node(
    target: string,
    args: readonly Argument[],
    kwargs: ReadonlyMap<string, Argument>,
    val: FakeValue,
    options: MakeOptions,
  ): FxNode {
    const [, packet = target, overload = ""] = target.split(".");
    return this.graph.create("call_function", target, args, kwargs, this.metaFor(target, val, options), {
      candidate: overload ? `${packet}_${overload}`.toLowerCase() : packet,
      before: options.before,
    });
  }

  private metaFor(target: string, val: FakeValue, options: MakeOptions): NodeMeta {
    if (options.like) return { ...options.like.meta, val };
    return {
      val,
      stack: options.traced ?? [],
      fromNode: [],
      ...(options.traced && target.split(".").length > 2 ? { originalAten: packetOf(target) } : {}),
    };
  }

  /** the value that a call of an operator has, by its meta rule */
  valueOf(op: string, args: readonly Argument[], kwargs: ReadonlyMap<string, Argument>): FakeValue {
    const record = mustLookup(op);
    const host = { isTensor: isTensorMeta, isDim: this.math.isDim };
    const named = new Map([...kwargs].map(([k, v]) => [k, toMetaArgument(v)] as const));
    const r = bindArguments<TensorMeta>(parseSchema(record.schema), args.map(toMetaArgument), named, host);
    if (!r.ok) throw new Error(`${op} called with wrong arguments: ${r.message}`);
    const bound = makeArgs(r.bound, { ...host, int, specialize: d => this.math.static(d) ?? this.math.hint(d) });
    return record.meta(this.metas, bound) as FakeValue;
  }

  /** a contiguous tensor's meta */
  contiguousMeta(shape: readonly number[], like: Pick<TensorMeta, "dtype" | "device">): TensorMeta {
    return this.metas.tensor(shape, like);
  }

  /** this graph's node for the symbolic int that a node of another graph stands for */
  symbolOf(other: FxNode): Argument {
    const e = other.meta.val;
    return (isExpr(e) ? this.graph.nodes.find(n => n.meta.val === e) : undefined) ?? null;
  }

  tensor(node: FxNode): FakeTensor | undefined {
    const v = node.meta.val;
    return isFakeTensor(v) ? v : undefined;
  }

  sameSizes(a: readonly Dim[], b: readonly Dim[]): boolean {
    return a.length === b.length && a.every((d, i) => this.math.knownEq(d, b[i] as Dim));
  }
}

/** frames of nodes that a traced replacement takes the place of: all of its nodes share them, for reports alone */
export function replacedFrames(nodes: readonly FxNode[]): readonly StackFrame[] {
  const stacks = new Set(nodes.map(n => n.meta.stack));
  return [...stacks].flatMap(stack => stack.map(f => ({ ...f, reportOnly: true })));
}

export const isTensorMeta = (x: unknown): x is TensorMeta =>
  typeof x === "object" && x !== null && "shape" in x && "dtype" in x;

/** an argument with every node replaced by its value */
function toMetaArgument(a: Argument): ArgValue<TensorMeta> {
  if (a instanceof FxNode) {
    const v = a.meta.val ?? null;
    if (isFakeTensor(v)) return v;
    if (isExpr(v)) return v;
    return Array.isArray(v) ? (v.filter(isFakeTensor) as TensorMeta[]) : null;
  }
  if (a instanceof TupleArg) return a.items.map(toMetaArgument);
  if (Array.isArray(a)) return (a as readonly Argument[]).map(toMetaArgument);
  return a as ArgValue<TensorMeta>;
}

/** a size argument of a node as a number or expression: nodes of symbolic ints give their expression */
export function dimOf(a: Argument): Dim | number | undefined {
  if (typeof a === "number") return a;
  if (typeof a === "bigint") return Number(a);
  if (a instanceof FxNode) return isExpr(a.meta.val) ? a.meta.val : undefined;
  return isExpr(a) ? a : undefined;
}

/** the items of a list argument */
export function itemsOf(a: Argument | undefined): readonly Argument[] {
  if (a instanceof TupleArg) return a.items;
  return Array.isArray(a) ? (a as readonly Argument[]) : [];
}

/** a list of plain ints, or undefined if something else is among them */
export function intsOf(a: Argument | undefined): number[] | undefined {
  const items = itemsOf(a);
  return items.every(x => typeof x === "number") ? (items as number[]).slice() : undefined;
}

/** replaces a node everywhere and drops it */
export function replaceNode(graph: FxGraph, node: FxNode, by: FxNode): void {
  node.replaceAllUsesWith(by);
  graph.erase(node);
}

/** drops the given nodes as far as nothing uses them any more, last first */
export function eraseUnused(graph: FxGraph, nodes: readonly FxNode[]): void {
  const here = [...new Set(nodes)].filter(n => graph.has(n));
  const order = here.map(n => [n, graph.indexOf(n)] as const).sort(([, a], [, b]) => b - a);
  for (const [n] of order) if (n.users.size === 0) graph.erase(n);
}
