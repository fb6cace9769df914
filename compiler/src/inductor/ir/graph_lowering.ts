// ATen graph -> loop IR (torch/_inductor/graph.py, GraphLowering). In: a post-grad FX graph and options. Out: LoweredGraph.
// Promises: nodes are lowered in order through their records; an operator without a lowering becomes a call of its ATen
// kernel; every buffer of the result has a fixed layout, every operation its origins.

import { isExpr } from "../../aten/dim_math";
import { isComplexDType } from "../../aten/ops/helpers/dtypes";
import { lookup } from "../../aten/registry";
import { type LoweringBuilder, OpError } from "../../aten/types";
import { type FxGraph, FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import { stopPoint } from "../../interrupt";
import { type Expr, int } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { dtypeOf } from "./access";
import { type InputBuffer, isLoops, isTensorBox, type Origins, storageOf, type TensorBox } from "./boxes";
import { makeBuilder } from "./builder";
import { literalTensor } from "./constants";
import { tensorMeta } from "./constraints";
import { type EnvValue, Lowering } from "./context";
import { type ExternManySpec, externMany } from "./extern";
import { finishGraph } from "./finish";
import { lowerOutputs } from "./graph_outputs";
import { decideLayoutOpt, nodesDislikingPadding, nodesPreferringChannelsLast } from "./layout_opt";
import { argValue, bindNode, nodeArgs } from "./lowering_args";
import { mutateTo, registerUsers } from "./mutation";
import { finishNode, isViewOperator } from "./node_tail";
import { toDtype } from "./pointwise";
import { decideLayout } from "./realize";
import type { TargetProperties } from "./target";
import type { LoweredGraph } from "./types";

/** What lowering must know beside the nodes; the fields of aot's GraphInfo fit as they are. */
export interface LoweringInfo {
  readonly kind: "inference" | "forward" | "backward";
  /** torch._inductor.config by dotted name; defaults are torch's */
  readonly config: ReadonlyMap<string, unknown>;
  readonly behaviours?: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  readonly sizevars: SizeVars;
  /** traced metas of the outputs that the user sees, by position; null: not the user's. Left out: all are */
  readonly userOutputs?: readonly (FakeTensor | null)[];
  /** positions of the inputs whose memory may be used again */
  readonly donated?: readonly number[];
}

export function lowerGraph(graph: FxGraph, info: LoweringInfo): LoweredGraph {
  const ctx = new Lowering(graph, info);
  ctx.layoutOpt = decideLayoutOpt(graph, info.kind === "inference", {
    enabled: ctx.configFlag("layout_optimization"),
    force: ctx.configFlag("force_layout_optimization"),
  });
  if (ctx.layoutOpt) ctx.prefersChannelsLast = nodesPreferringChannelsLast(graph);
  const builder = makeBuilder(ctx);
  const visible = userVisibleStrides(graph, info);
  ctx.dislikesPadding = nodesDislikingPadding(graph, underViews(visible.keys()), ctx.configFlag("pad_outputs"));
  let outputs: (TensorBox | Expr | null)[] = [];
  for (const node of graph.nodes) {
    ctx.currentNode = node;
    ctx.withOrigins(originsOf(ctx, node), () => {
      if (node.op === "output") outputs = lowerOutputs(ctx, node);
      else runNode(ctx, builder, node, visible);
    });
  }
  ctx.currentNode = null;
  for (const b of ctx.buffers) decideLayout(ctx, b);
  return finishGraph(ctx, outputs, graph.placeholders(), info);
}

/** nodes and what they are views of */
function underViews(nodes: Iterable<FxNode>): ReadonlySet<FxNode> {
  const found = new Set(nodes);
  for (const n of found) {
    const base = isViewOperator(n) ? n.args[0] : undefined;
    if (base instanceof FxNode) found.add(base);
  }
  return found;
}

function userVisibleStrides(graph: FxGraph, info: LoweringInfo): ReadonlyMap<FxNode, readonly Expr[]> {
  const map = new Map<FxNode, readonly Expr[]>();
  const returned = graph.output.inputs.length > 0 ? graph.returned() : [];
  for (const [i, n] of returned.entries()) {
    if (n === null) continue;
    const own = tensorMeta(n);
    const seen = info.userOutputs === undefined ? own : info.userOutputs[i];
    if (seen !== null && seen !== undefined) map.set(n, seen.stride);
  }
  return map;
}

/** the node itself, then what its arguments carry as far as it isn't in memory */
function originsOf(ctx: Lowering, n: FxNode): Origins {
  const set = new Set<FxNode>([n]);
  if (n.op !== "call_function") return set;
  const visit = (v: EnvValue): void => {
    if (isTensorBox(v)) {
      if (v.data.kind !== "storage" || isLoops(v.data.data)) for (const o of v.origins) set.add(o);
    } else if (Array.isArray(v)) for (const x of v as readonly EnvValue[]) visit(x);
  };
  for (const a of n.args) visit(argValue(ctx, a));
  for (const a of n.kwargs.values()) visit(argValue(ctx, a));
  return set;
}

function runNode(
  ctx: Lowering,
  builder: LoweringBuilder<TensorBox>,
  n: FxNode,
  visible: ReadonlyMap<FxNode, readonly Expr[]>,
): void {
  stopPoint();
  let result = nodeValue(ctx, builder, n);
  if (isTensorBox(result) && n.op !== "get_attr") result = finishNode(ctx, n, result, visible);
  if (isTensorBox(result)) assignOriginNode(result, n);
  ctx.env.set(n, result);
  const register = (v: EnvValue): void => {
    if (isTensorBox(v)) registerUsers(ctx, v);
    else if (Array.isArray(v)) for (const x of v as readonly EnvValue[]) register(x);
  };
  register(result);
}

function nodeValue(ctx: Lowering, builder: LoweringBuilder<TensorBox>, n: FxNode): EnvValue {
  switch (n.op) {
    case "placeholder":
      return placeholder(ctx, n);
    case "get_attr":
      return literalTensor(ctx, n);
    case "call_function":
      return callFunction(ctx, builder, n);
    case "call_method":
    case "output":
      throw new Error(`a post-grad graph has no ${n.op} in its middle`);
    default: {
      const never: never = n.op;
      return never;
    }
  }
}

function inputBox(ctx: Lowering, name: string, t: FakeTensor): TensorBox {
  const b: InputBuffer = {
    kind: "input",
    irClass: "InputBuffer",
    name,
    origins: ctx.origins,
    originNode: null,
    layout: { kind: "fixed", device: t.device, dtype: t.dtype, size: t.shape, stride: t.stride, offset: int(0) },
  };
  ctx.registerInput(b);
  return ctx.boxOf(b);
}

function placeholder(ctx: Lowering, n: FxNode): EnvValue {
  const t = tensorMeta(n);
  if (t === undefined) return isExpr(n.meta.val) ? n.meta.val : null;
  const box = inputBox(ctx, n.name, t);
  ctx.inputs.set(n.name, box);
  ctx.originalInputs.set(n.name, ctx.box(ctx.storage(storageOf(box).data)));
  return box;
}

/** operators that only state facts, or change nothing that the loops see */
const NO_EFFECT: ReadonlySet<string> = new Set([
  "aten.sym_constrain_range.default",
  "aten.sym_constrain_range_for_size.default",
  "aten._assert_scalar.default",
  "aten._assert_tensor_metadata.default",
]);

function callFunction(ctx: Lowering, builder: LoweringBuilder<TensorBox>, n: FxNode): EnvValue {
  if (n.target === "operator.getitem") return getItem(ctx, n);
  if (isExpr(n.meta.val)) return n.meta.val;
  if (NO_EFFECT.has(n.target)) return null;
  const { args, kwargs } = nodeArgs(ctx, n);
  const record = lookup(n.target);
  let problem = n.meta.opaque;
  if (touchesComplex(n)) return fallback(ctx, n, args, kwargs, problem, "any");
  try {
    const result =
      record?.lower !== undefined
        ? record.lower(builder, bindNode(ctx, record, args, kwargs))
        : writeFunctional(ctx, builder, record?.functional, args, kwargs);
    if (result !== undefined) return isTensorBox(result) ? result : [...result];
  } catch (e) {
    if (!(e instanceof OpError)) throw e;
    problem ??= e.message;
  }
  return fallback(ctx, n, args, kwargs, problem);
}

/** what has a lowering of its own for complex results */
const GIVES_COMPLEX: ReadonlySet<string> = new Set(["aten.view.dtype", "prims.convert_element_type.default"]);

/** loops have no complex numbers: whatever reads or gives them is ATen's (fallback_node_due_to_unsupported_type) */
function touchesComplex(n: FxNode): boolean {
  if (n.target === "aten.view_as_complex.default") return false;
  return (!GIVES_COMPLEX.has(n.target) && holdsComplex(n.meta.val)) || n.inputs.some(m => holdsComplex(m.meta.val));
}

function holdsComplex(val: unknown): boolean {
  if (Array.isArray(val)) return val.some(holdsComplex);
  return typeof val === "object" && val !== null && "dtype" in val && isComplexDType((val as FakeTensor).dtype);
}

/** an in-place operator: what its functional form computes, written into its first argument (register_inplace) */
function writeFunctional(
  ctx: Lowering,
  builder: LoweringBuilder<TensorBox>,
  functional: string | undefined,
  args: readonly EnvValue[],
  kwargs: ReadonlyMap<string, EnvValue>,
): TensorBox | readonly (TensorBox | null)[] | undefined {
  const record = functional === undefined ? undefined : lookup(functional);
  const [target] = args;
  if (record?.lower === undefined) return undefined;
  const result = record.lower(builder, bindNode(ctx, record, args, kwargs));
  if (isTensorBox(target) && isTensorBox(result)) return mutateTo(ctx, target, toDtype(ctx, result, dtypeOf(target)));
  if (!Array.isArray(target) || isTensorBox(result)) return undefined;
  // lists are written without a copy: nothing reads the old values once the list is written
  return result.map((r, i) => {
    const t = (target as readonly EnvValue[])[i];
    return isTensorBox(t) && r !== null ? mutateTo(ctx, t, r, true) : null;
  });
}

function getItem(ctx: Lowering, n: FxNode): EnvValue {
  const [source, index] = n.args.map(a => argValue(ctx, a));
  const item = Array.isArray(source) && typeof index === "number" ? (source as readonly EnvValue[])[index] : undefined;
  if (item === undefined) throw new Error(`${n.name} takes an item that isn't there`);
  return item;
}

/** the operator called as it is, on values in memory */
function fallback(
  ctx: Lowering,
  n: FxNode,
  args: readonly EnvValue[],
  kwargs: ReadonlyMap<string, EnvValue>,
  opaque: string | undefined,
  strides: ExternManySpec["strides"] = ctx.options.kind === "backward" ? "contiguous" : "fx",
): EnvValue {
  const results = externMany(ctx, {
    // an operator's overload is called through torch.ops, anything else as it is named
    kernel: /^\w+\.\w+\.\w+$/.test(n.target) ? `torch.ops.${n.target}` : n.target,
    op: n.target,
    inputs: [],
    args,
    kwargs: Object.fromEntries(kwargs),
    strides,
    ...(opaque === undefined ? {} : { opaque }),
  });
  return tensorMeta(n) !== undefined ? (results[0] ?? null) : results;
}

/** the one node whose value this buffer is; views stay without */
function assignOriginNode(x: TensorBox, n: FxNode): void {
  if (x.data.kind !== "storage") return;
  const d = x.data.data;
  d.originNode = n;
  if (isLoops(d)) return;
  if (d.kind === "computed") d.data.originNode = n;
  if (d.kind === "extern" && d.irClass === "MultiOutput" && d.index === undefined) {
    const producer = d.inputs[0];
    const b = producer === undefined ? undefined : storageOf(producer).data;
    if (b !== undefined && !isLoops(b)) b.originNode = n;
  }
}
