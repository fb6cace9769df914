// Concatenation: computed in place over masked loads, or a buffer whose parts are written in place (cat, pointwise_cat,
// ConcatKernel). In: boxes of one rank. Out: a box. Promises: what is chosen depends on how the parts stand now and on who
// uses the result (lowering.md §10).

import { lookup } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import { type Dim, type DType, type Loader, type Ops, PyFloat } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import { add, type Expr, identity, int, intValue, mul, sub } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf, valueLayout } from "./access";
import {
  bufferOf,
  type ComputedBuffer,
  type ConcatBuffer,
  type ExternBuffer,
  isLoops,
  isReduction,
  type Loops,
  type StorageBox,
  type StridedLayout,
  storageOf,
  type TensorBox,
} from "./boxes";
import { tensorMeta } from "./constraints";
import type { Lowering } from "./context";
import {
  channelsLastStrides,
  contiguousStrides,
  isChannelsLastContiguous,
  isDenseChannelsLast,
  padStrides,
} from "./layouts";
import { countOf } from "./op_count";
import { clone, createPointwise, promoted, toDtype } from "./pointwise";
import { realize } from "./realize";
import { isStridedStorage, reinterpret } from "./views";

/** more parts than this are only computed in place if each is trivial */
const MAX_COMPLEX = 8;
const MAX_SIMPLE_OPS = 2;

/** Whether a user takes the value element by element, looking through views and tuple accesses (is_pointwise_use). */
export function isPointwiseUse(user: FxNode, also: (target: string) => boolean = () => false): boolean {
  if (user.op !== "call_function") return false;
  if (user.target === "operator.getitem") return [...user.users].every(u => isPointwiseUse(u, also));
  const record = lookup(user.target);
  if (record !== undefined && parseSchema(record.schema).parameters.some(p => p.alias !== null)) {
    return [...user.users].every(u => isPointwiseUse(u, also));
  }
  return (record?.tags?.includes("pointwise") ?? false) || also(user.target);
}

export function concatenate(ctx: Lowering, parts: readonly TensorBox[], dim: number): TensorBox {
  const [first] = parts;
  if (first === undefined) throw new Error("cat of nothing");
  if (parts.length === 1) return clone(ctx, first);
  const dtype = promoted("default", parts);
  const xs = parts.map(p => toDtype(ctx, p, dtype));
  if (ctx.configFlag("force_pointwise_cat")) return pointwiseCat(ctx, xs, dim, dtype);
  if (deviceOf(first).type === "cpu") return concatKernel(ctx, xs, dim);
  const few =
    xs.length <= MAX_COMPLEX ||
    (xs.length <= ctx.configNumber("max_pointwise_cat_inputs") &&
      xs.every(x => opsBehind(ctx, storageOf(x).data) <= MAX_SIMPLE_OPS));
  if (few) {
    const users = [...(ctx.currentNode?.users ?? [])];
    const pointwiseUses = users.every(u =>
      isPointwiseUse(u, t => t === "aten.cat.default" || t === "aten.constant_pad_nd.default"),
    );
    const lowered = xs.map(x => needsKernel(x));
    const fuses = lowered.some(v => v) && pointwiseUses;
    const copiesAll = lowered.every(v => v) && !xs.some(x => readsReduction(ctx, storageOf(x).data));
    if (fuses || copiesAll) return pointwiseCat(ctx, xs, dim, dtype);
  }
  return concatKernel(ctx, xs, dim);
}

/** not in memory yet, or in memory that can't be made a part of the result */
function needsKernel(x: TensorBox): boolean {
  const storage = storageOf(x);
  if (isStridedStorage(x)) return !canWriteInPlace(storage);
  if (!isLoops(storage.data)) return !canWriteInPlace(storage);
  return storage.data.kind === "Pointwise" || storage.data.kind === "Scatter";
}

function canWriteInPlace(s: StorageBox): boolean {
  const b = s.data;
  return !isLoops(b) && b.layout.kind === "flexible" && !(b.kind === "extern" && b.irClass === "ExternKernelAlloc");
}

type Held = StorageBox["data"];

function readsReduction(ctx: Lowering, d: Held): boolean {
  if (!isLoops(d)) return d.kind === "computed" && isReduction(d.data);
  return d.kind === "Pointwise" && readBuffers(ctx, d).some(b => readsReduction(ctx, b));
}

function readBuffers(ctx: Lowering, l: Loops): Held[] {
  return [...new Set(countOf(l).reads)].flatMap(n => {
    const b = ctx.buffersByName.get(n);
    return b === undefined ? [] : [b];
  });
}

function opsBehind(ctx: Lowering, d: Held): number {
  if (!isLoops(d) || d.kind !== "Pointwise") return 0;
  return countOf(d).ops + readBuffers(ctx, d).reduce((n, b) => n + opsBehind(ctx, b), 0);
}

function resultSize(
  ctx: Lowering,
  xs: readonly TensorBox[],
  dim: number,
): { readonly size: Expr[]; readonly starts: Expr[]; readonly ends: Expr[] } {
  const size = [...sizeOf(xs[0] as TensorBox)];
  const starts: Expr[] = [int(0)];
  const ends: Expr[] = [size[dim] as Expr];
  for (const x of xs.slice(1)) {
    starts.push(size[dim] as Expr);
    for (const [j, s] of sizeOf(x).entries()) {
      if (j === dim) size[j] = add(size[j] as Expr, s);
      else ctx.sizevars.guardEquals(size[j] as Expr, s);
    }
    ends.push(size[dim] as Expr);
  }
  return { size, starts, ends };
}

function pointwiseCat(ctx: Lowering, xs: readonly TensorBox[], dim: number, dtype: DType): TensorBox {
  const { size, starts, ends } = resultSize(ctx, xs, dim);
  const loaders = xs.map(x => loaderOf(ctx, x));
  const inner: Loader = <V>(ops: Ops<V>, index: readonly Dim[]): V => {
    const at = ops.indexExpr(index[dim] as Dim, "int64");
    const masks: V[] = [];
    const loads: V[] = [];
    for (const [i, load] of loaders.entries()) {
      const start = i === 0 ? ops.constant(0, "int64") : ops.indexExpr(starts[i] as Expr, "int64");
      const end = ops.indexExpr(ends[i] as Expr, "int64");
      const after = ops.op("ge", at, start);
      const before = ops.op("lt", at, end);
      const mask = i === 0 ? before : i === loaders.length - 1 ? after : ops.op("and_", after, before);
      masks.push(mask);
      // kept whole, so that the product with a stride is not multiplied out
      const shifted = index.map((v, d) => (d === dim ? identity(sub(v as Expr, starts[i] as Expr)) : v));
      loads.push(ops.masked(mask, () => load(ops, shifted), new PyFloat(0)));
    }
    let value = loads[loads.length - 1] as V;
    for (let i = loads.length - 2; i >= 0; i--) value = ops.op("where", masks[i] as V, loads[i] as V, value);
    return value;
  };
  return createPointwise(ctx, { size, dtype, device: deviceOf(xs[0] as TensorBox), inner });
}

function concatKernel(ctx: Lowering, xs: readonly TensorBox[], dim: number): TensorBox {
  const [first] = xs as readonly [TensorBox];
  const { size, starts } = resultSize(ctx, xs, dim);
  const dtype = dtypeOf(first);
  const layout: StridedLayout = {
    kind: "fixed",
    device: deviceOf(first),
    dtype,
    size,
    stride: resultStrides(ctx, xs, size, dtype),
    offset: int(0),
  };
  const concat: ConcatBuffer = {
    kind: "concat",
    irClass: "ConcatKernel",
    name: "",
    operation: "",
    layout,
    inputs: [],
    origins: ctx.origins,
    originNode: null,
  };
  const kernel = ctx.storage(concat);
  const inputs: (ComputedBuffer | ExternBuffer)[] = [];
  const copies: string[] = [];
  for (const [i, x] of xs.entries()) {
    const part = sizeOf(x);
    const stride = layout.stride;
    const offset = intValue(starts[i] as Expr) === 0 ? layout.offset : mul(stride[dim] as Expr, starts[i] as Expr);
    const slice = reinterpret(ctx, kernel, {
      ...layout,
      size: size.map((s, d) => (d === dim ? (part[d] as Expr) : s)),
      offset,
    });
    const source = storageOf(x);
    const fromInput = !isLoops(source.data) && source.data.kind === "input";
    const b = realizeInto(ctx, x, slice);
    inputs.push(b);
    const dynamic = size.some(s => intValue(s) === undefined);
    if (fromInput && deviceOf(x).type === "cuda" && !dynamic) copies.push(b.operation);
  }
  if (copies.length > 1) ctx.foreachLists.push(copies);
  ctx.registerConcat(concat);
  concat.inputs = inputs;
  return ctx.box(kernel);
}

/** the part's buffer, now a slice of the result: its own if its layout is still open, else a copy */
function realizeInto(
  ctx: Lowering,
  x: TensorBox,
  slice: ReturnType<typeof reinterpret>,
): ComputedBuffer | ExternBuffer {
  if (x.data.kind === "storage") {
    const b = realize(ctx, x.data);
    if (canWriteInPlace(x.data) && (b.kind === "computed" || b.kind === "extern")) {
      b.layout = { kind: "non_owning", view: slice };
      return b;
    }
  }
  const copy = createPointwise(ctx, {
    size: sizeOf(x),
    dtype: dtypeOf(x),
    device: deviceOf(x),
    inner: loaderOf(ctx, x),
  });
  return realizeInto(ctx, copy, slice);
}

/** contiguous and padded; channels-last if a part is, or was so in eager and none is in memory */
function resultStrides(ctx: Lowering, xs: readonly TensorBox[], size: readonly Expr[], dtype: DType): readonly Expr[] {
  const { sizevars } = ctx;
  for (const x of xs) {
    const l = isStridedStorage(x) ? valueLayout(x) : undefined;
    const fixed = x.data.kind === "reinterpret" || bufferOf(x)?.layout.kind === "fixed";
    if (l !== undefined && fixed && isChannelsLastContiguous(l.size, l.stride, sizevars))
      return channelsLastStrides(size);
  }
  if (!xs.some(isStridedStorage)) {
    const traced = (ctx.currentNode?.inputs ?? []).map(tensorMeta);
    if (traced.some(t => t !== undefined && isDenseChannelsLast(t.shape, t.stride, sizevars)))
      return channelsLastStrides(size);
  }
  const stride = contiguousStrides(size);
  return ctx.padding.enabled ? padStrides(size, stride, dtype, ctx.padding, sizevars) : stride;
}
