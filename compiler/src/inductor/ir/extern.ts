// Kernels that the generated code calls (ExternKernelOut, ExternKernelAlloc, FallbackKernel, MultiOutput).
// In: an operator with boxes among its arguments. Out: boxes over the kernel's results. Promises: inputs are in memory, in
// the strides that the kernel asks for; results have a layout of their own.
import { lookup } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import type { ArgValue, TensorMeta } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import { type Expr, int } from "../symbolic/expr";
import { deviceOf, sizeOf } from "./access";
import { bufferOf, type IrLayout, isTensorBox, type TensorBox } from "./boxes";
import {
  fxStrideOrder,
  realizeInput,
  requireContiguous,
  requireStride1,
  requireStrideOrder,
  tensorMeta,
} from "./constraints";
import type { Lowering } from "./context";
import { rerunMeta, stridesAsTraced, tracedResults } from "./fallback_meta";
import { CHANNELS_LAST_ORDER, contiguousStrides, strideOrderOf } from "./layouts";
import { markBufferMutated } from "./mutation";
import { decideLayout } from "./realize";
import { sdpaInput } from "./sdpa_constraint";
import type { ExternOperation } from "./types";
import { isStridedStorage } from "./views";

type Kwargs = Readonly<Record<string, ArgValue<TensorBox>>>;

export interface ExternSpec {
  readonly kind: "out" | "alloc" | "fallback";
  readonly kernel: string;
  readonly op: string;
  readonly inputs: readonly TensorBox[];
  readonly args: readonly ArgValue<TensorBox>[];
  readonly kwargs?: Kwargs;
  readonly layout?: "flexible" | "meta" | "contiguous";
  readonly mutates?: readonly TensorBox[];
  readonly strides?: "mm" | "contiguous" | "fx" | "channels_last" | "any";
  readonly opaque?: string;
}

export interface ExternManySpec {
  readonly kernel: string;
  readonly op: string;
  readonly inputs: readonly TensorBox[];
  readonly args: readonly ArgValue<TensorBox>[];
  readonly kwargs?: Kwargs;
  readonly strides?: "contiguous" | "fx" | "any" | "sdpa";
  readonly opaque?: string;
}

/** the FX node behind each box among the current node's inputs */
function nodesOf(ctx: Lowering): Map<TensorBox, FxNode> {
  const map = new Map<TensorBox, FxNode>();
  const visit = (v: unknown, n: FxNode): void => {
    if (isTensorBox(v)) map.set(v, n);
  };
  for (const n of ctx.currentNode?.inputs ?? []) visit(ctx.env.get(n), n);
  return map;
}

function swap(a: ArgValue<TensorBox>, by: ReadonlyMap<TensorBox, TensorBox>): ArgValue<TensorBox> {
  if (isTensorBox(a)) return by.get(a) ?? a;
  if (Array.isArray(a)) return (a as readonly ArgValue<TensorBox>[]).map(x => swap(x, by));
  return a;
}

const swapKwargs = (k: Kwargs, by: ReadonlyMap<TensorBox, TensorBox>): Kwargs =>
  Object.fromEntries(Object.entries(k).map(([name, v]) => [name, swap(v, by)]));

/** boxes in order of appearance among arguments */
function boxesIn(args: readonly ArgValue<TensorBox>[], kwargs: Kwargs): TensorBox[] {
  const out = new Set<TensorBox>();
  const visit = (a: ArgValue<TensorBox>): void => {
    if (isTensorBox(a)) out.add(a);
    else if (Array.isArray(a)) for (const x of a as readonly ArgValue<TensorBox>[]) visit(x);
  };
  for (const a of args) visit(a);
  for (const a of Object.values(kwargs)) visit(a);
  return [...out];
}

/** an argument of the current node in memory, in the order of its traced strides (constrain_to_fx_strides) */
export function inTracedOrder(ctx: Lowering, x: TensorBox): TensorBox {
  return constrain(ctx, x, 0, "", "fx", nodesOf(ctx).get(x));
}

function constrain(
  ctx: Lowering,
  x: TensorBox,
  position: number,
  op: string,
  strides: ExternSpec["strides"] | "sdpa",
  node: FxNode | undefined,
): TensorBox {
  switch (strides) {
    case "mm":
      return requireStride1(ctx, realizeInput(ctx, x));
    case "contiguous":
      return realizeInput(ctx, requireContiguous(ctx, x));
    case "fx": {
      const traced = node === undefined ? undefined : tensorMeta(node);
      return realizeInput(ctx, traced === undefined ? x : requireStrideOrder(ctx, x, fxStrideOrder(ctx, traced)));
    }
    case "sdpa":
      return realizeInput(ctx, sdpaInput(ctx, x, op, position, node === undefined ? undefined : tensorMeta(node)));
    case "channels_last":
    case "any":
    case undefined:
      return realizeInput(ctx, x);
    default: {
      const never: never = strides;
      return never;
    }
  }
}

interface Prepared {
  readonly inputs: readonly TensorBox[];
  readonly args: readonly ArgValue<TensorBox>[];
  readonly kwargs: Kwargs;
  readonly nodes: readonly (readonly [TensorBox, FxNode])[] | undefined;
}

/** inputs in memory in the strides asked for, in the arguments' places */
function prepare(
  ctx: Lowering,
  spec: Pick<ExternSpec, "op" | "args" | "kwargs" | "strides"> | ExternManySpec,
  freeze: boolean,
): Prepared {
  const kwargs = spec.kwargs ?? {};
  const nodes = nodesOf(ctx);
  const by = new Map<TensorBox, TensorBox>();
  const pairs: [TensorBox, FxNode][] = [];
  let known = true;
  const boxes = boxesIn(spec.args, kwargs);
  for (const x of boxes) {
    const position = spec.args.indexOf(x);
    const node = nodes.get(x);
    const y = constrain(ctx, x, position, spec.op, spec.strides, node);
    by.set(x, y);
    if (node === undefined) known = false;
    else pairs.push([y, node]);
  }
  if (freeze) {
    // the result's strides follow the inputs', so these must not change any more
    for (const y of by.values()) {
      const b = isStridedStorage(y) ? bufferOf(y) : undefined;
      if (b !== undefined) decideLayout(ctx, b);
    }
  }
  return {
    inputs: [...by.values()],
    args: spec.args.map(a => swap(a, by)),
    kwargs: swapKwargs(kwargs, by),
    nodes: known ? pairs : undefined,
  };
}

/** a call's result starts where its pointer points: that it may be a view at an offset in other memory is not seen */
function fixedLayout(m: TensorMeta): IrLayout {
  return {
    kind: "fixed",
    device: m.device,
    dtype: m.dtype,
    size: m.shape as readonly Expr[],
    stride: m.stride as readonly Expr[],
    offset: int(0),
  };
}

/** the results' metas over the inputs as prepared */
function results(ctx: Lowering, op: string, p: Prepared): ReturnType<typeof tracedResults> {
  const isNodesOwn = ctx.currentNode?.target === op;
  if (isNodesOwn && p.nodes !== undefined && stridesAsTraced(ctx, p.nodes)) {
    const traced = tracedResults(ctx.currentNode);
    if (traced !== undefined) return traced;
  }
  return rerunMeta(ctx, op, p.args, p.kwargs) ?? tracedResults(ctx.currentNode);
}

export function extern(ctx: Lowering, spec: ExternSpec): TensorBox {
  if (spec.mutates !== undefined && spec.mutates.length > 0) return mutatingExtern(ctx, spec, spec.mutates);
  if (spec.kind === "fallback") {
    const [first] = externMany(ctx, spec as ExternManySpec);
    if (first === undefined || first === null) throw new Error(`${spec.op} has no result`);
    return first;
  }
  const p = spec.strides === "channels_last" ? prepareConvolution(ctx, spec) : prepare(ctx, spec, false);
  const traced = results(ctx, spec.op, p);
  const meta = Array.isArray(traced) ? traced[0] : (traced as TensorMeta | undefined);
  if (meta === undefined || meta === null) throw new Error(`${spec.op}: result unknown`);
  const layout = fixedLayout(meta);
  // a kernel choice that is still to be made needs its layout now
  const chooses = spec.kind === "out" && (ctx.configFlag("max_autotune") || ctx.configFlag("max_autotune_gemm"));
  const flexible = !chooses && (spec.layout === "flexible" || (spec.layout === undefined && spec.kind === "out"));
  const size = meta.shape as readonly Expr[];
  const open: IrLayout = {
    kind: "flexible",
    device: meta.device,
    dtype: meta.dtype,
    size,
    stride: contiguousStrides(size),
    offset: int(0),
  };
  const b = ctx.registerExtern({
    irClass: spec.kind === "out" ? "ExternKernelOut" : "ExternKernelAlloc",
    kernel: spec.kernel,
    op: spec.op,
    inputs: p.inputs,
    args: p.args,
    kwargs: p.kwargs,
    mutates: [],
    layout: flexible ? open : chooses || spec.layout === "contiguous" ? { ...open, kind: "fixed" } : layout,
    ...(spec.opaque === undefined ? {} : { opaque: spec.opaque }),
  });
  return ctx.boxOf(b);
}

/** both operands of a convolution: channels-last where that pays, else in the order of the result's strides */
function prepareConvolution(ctx: Lowering, spec: ExternSpec): Prepared {
  const [x, weight] = spec.inputs;
  if (x === undefined || weight === undefined) return prepare(ctx, spec, false);
  // eager's strides matter only as long as formats aren't chosen anew
  const first = prepare(ctx, { ...spec, strides: ctx.layoutOpt ? "any" : "fx" }, false);
  let order: readonly number[] = CHANNELS_LAST_ORDER;
  if (!ctx.layoutOpt || sizeOf(x).length !== 4) {
    const traced = results(ctx, spec.op, first);
    const meta = Array.isArray(traced) ? traced[0] : (traced as TensorMeta | undefined);
    order = strideOrderOf((meta?.stride ?? []) as readonly Expr[], ctx.sizevars);
  }
  const by = new Map(first.inputs.slice(0, 2).map(v => [v, realizeInput(ctx, requireStrideOrder(ctx, v, order))]));
  return {
    inputs: first.inputs.map(v => by.get(v) ?? v),
    args: first.args.map(a => swap(a, by)),
    kwargs: swapKwargs(first.kwargs, by),
    nodes: undefined,
  };
}

function multiOutput(ctx: Lowering, producer: TensorBox, meta: TensorMeta, index: number | undefined): TensorBox {
  const b = ctx.registerExtern({
    irClass: "MultiOutput",
    kernel: null,
    op: "",
    inputs: [producer],
    args: [],
    kwargs: {},
    mutates: [],
    layout: fixedLayout(meta),
    ...(isAlias(producer) ? { aliases: [bufferOf(producer)?.name ?? ""] } : {}),
    ...(index === undefined ? {} : { index }),
  });
  return ctx.boxOf(b);
}

function isAlias(x: TensorBox): boolean {
  const b = bufferOf(x);
  return b?.kind === "extern" && b.aliases !== undefined;
}

/** the buffers that the results of a view operator share memory with, as the schema has it: Tensor(a) */
function aliased(op: string, p: Prepared): string[] {
  const record = lookup(op);
  if (record === undefined) return [];
  return parseSchema(record.schema).parameters.flatMap(({ name, alias, mutated }, i) => {
    const source = p.args[i] ?? p.kwargs[name];
    return alias === null || mutated || !isTensorBox(source) ? [] : (bufferOf(source)?.name ?? []);
  });
}

/** A call whose results are unpacked one by one; null for a result that is None. */
export function externMany(ctx: Lowering, spec: ExternManySpec): (TensorBox | null)[] {
  const p = prepare(ctx, spec, true);
  const metas = results(ctx, spec.op, p);
  const device = p.inputs[0] === undefined ? deviceOfResult(metas) : deviceOf(p.inputs[0]);
  const aliases = aliased(spec.op, p);
  const b = ctx.registerExtern({
    irClass: "FallbackKernel",
    kernel: spec.kernel,
    op: spec.op,
    inputs: p.inputs,
    args: p.args,
    kwargs: p.kwargs,
    mutates: [],
    ...(aliases.length === 0 ? {} : { aliases }),
    layout: metas === undefined ? { kind: "none", device } : { kind: "multi_output", device },
    ...(spec.opaque === undefined ? {} : { opaque: spec.opaque }),
  });
  const producer = ctx.boxOf(b);
  if (metas === undefined) return [];
  if (Array.isArray(metas)) {
    return (metas as readonly (TensorMeta | null)[]).map((m, i) =>
      m === null ? null : multiOutput(ctx, producer, m, i),
    );
  }
  return [multiOutput(ctx, producer, metas as TensorMeta, undefined)];
}

function deviceOfResult(metas: ReturnType<typeof tracedResults>): TensorMeta["device"] {
  const first = Array.isArray(metas) ? metas.find(m => m !== null) : metas;
  return (first as TensorMeta | null | undefined)?.device ?? { type: "cpu", index: null };
}

function inplaceClass(op: string): ExternOperation["irClass"] {
  if (op === "aten.copy_.default") return "InplaceCopyFallback";
  if (op === "aten.index_put_.default") return "IndexPutFallback";
  if (/^aten\.scatter(_reduce)?_\./.test(op)) return "ScatterFallback";
  return /^aten\.bernoulli_\./.test(op) ? "InplaceBernoulliFallback" : "InplaceFallback";
}

/** a call that writes into some of its inputs and returns nothing new */
function mutatingExtern(ctx: Lowering, spec: ExternSpec, targets: readonly TensorBox[]): TensorBox {
  const p = prepare(ctx, { ...spec, strides: "any" }, true);
  const names = targets.flatMap(t => bufferOf(t)?.name ?? []);
  for (const n of names) markBufferMutated(ctx, n);
  ctx.registerExtern({
    irClass: inplaceClass(spec.op),
    kernel: spec.kernel,
    op: spec.op,
    inputs: p.inputs,
    args: p.args,
    kwargs: p.kwargs,
    mutates: names,
    layout: { kind: "none", device: deviceOf(targets[0] as TensorBox) },
    ...(spec.opaque === undefined ? {} : { opaque: spec.opaque }),
  });
  return targets[0] as TensorBox;
}
