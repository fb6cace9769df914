// The lowered graph as plain data. In: a Lowering whose layouts are decided. Out: LoweredGraph. Promises: nothing of the
// boxes remains; names are those given during lowering.

import { isExpr } from "../../aten/dim_math";
import type { ArgValue } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import { type Expr, freeSymbols, int, mul, type SymExpr, sameExprs } from "../symbolic/expr";
import { bufferIndexer, isZeroElements, stridesOf, valueLayout } from "./access";
import {
  bufferOf,
  type ComputedBuffer,
  type ConcatBuffer,
  type ExternBuffer,
  type IrBuffer,
  type IrLayout,
  isTensorBox,
  type Loops,
  type ReductionLoops,
  type TensorBox,
} from "./boxes";
import { bodyOf } from "./computed_body";
import { tensorMeta } from "./constraints";
import type { Lowering } from "./context";
import { itemsize } from "./dtypes";
import { contiguousStrides, fixedIndexer } from "./layouts";
import type { LoopBody } from "./loop_body";
import type { Buffer, BufferView, GraphInput, Layout, LoopsKind, LoweredGraph, Operation } from "./types";

export function finishGraph(
  ctx: Lowering,
  outputs: readonly (TensorBox | Expr | null)[],
  placeholders: readonly FxNode[],
  info: { readonly kind: LoweredGraph["kind"]; readonly donated?: readonly number[] },
): LoweredGraph {
  const inputs = placeholders.map((p): GraphInput => graphInput(ctx, p));
  const buffers = new Map<string, Buffer>();
  for (const b of ctx.buffersByName.values()) {
    buffers.set(b.name, {
      name: b.name,
      irClass: b.irClass,
      layout: finalLayout(b.layout),
      operation: b.kind === "input" ? null : b.operation,
      originNode: b.originNode,
    });
  }
  const symbols = new Set<SymExpr>();
  for (const i of inputs) {
    const l = i.layout;
    const sizes = l !== null && "size" in l ? [...l.size, ...l.stride] : i.symbol === undefined ? [] : [i.symbol];
    for (const e of sizes) for (const s of freeSymbols(e)) symbols.add(s);
  }
  return {
    graph: ctx.graph,
    kind: info.kind,
    sizevars: ctx.sizevars,
    inputs,
    operations: ctx.operations.map(b => operation(ctx, b)),
    buffers,
    constants: ctx.constants,
    outputs: outputs.map(o => (o !== null && isTensorBox(o) ? bufferView(o) : o)),
    mutatedInputs: inputs.map(i => i.name).filter(n => ctx.mutatedBuffers.has(n)),
    donated: new Set((info.donated ?? []).flatMap(i => inputs[i]?.name ?? [])),
    foreachLists: ctx.foreachLists,
    symbols: [...symbols],
  };
}

function graphInput(ctx: Lowering, p: FxNode): GraphInput {
  const t = tensorMeta(p);
  if (t !== undefined) {
    return {
      name: p.name,
      layout: { kind: "fixed", device: t.device, dtype: t.dtype, size: t.shape, stride: t.stride, offset: int(0) },
      ...(isAligned(ctx, t) ? {} : { unaligned: true as const }),
    };
  }
  if (!isExpr(p.meta.val)) return { name: p.name, layout: null };
  const hint = ctx.sizevars.hint(p.meta.val);
  return { name: p.name, layout: null, symbol: p.meta.val, ...(hint === undefined ? {} : { hint }) };
}

/** bytes that kernels take the beginning of a tensor to be a multiple of */
const ALIGNMENT = 16;

function isAligned(ctx: Lowering, t: FakeTensor): boolean {
  return (
    t.device.type !== "cuda" || ctx.sizevars.knownMultipleOf(mul(t.storageOffset, int(itemsize(t.dtype))), ALIGNMENT)
  );
}

function finalLayout(l: IrLayout): Layout {
  switch (l.kind) {
    case "fixed":
    case "flexible":
      return l;
    case "non_owning": {
      const base = bufferOf(l.view);
      return {
        ...l.view.layout,
        kind: "non_owning",
        offset: int(0),
        base: base?.name ?? "",
        baseOffset: l.view.layout.offset,
      };
    }
    case "mutation": {
      const target = bufferOf(l.target);
      const strides = stridesOf(l);
      if (target === undefined || strides === undefined) throw new Error("a mutated value has storage");
      return { ...strides, kind: "mutation", target: target.name };
    }
    case "multi_output":
    case "none":
      return l;
    default: {
      const never: never = l;
      return never;
    }
  }
}

/** name, strides and whether the view is the buffer itself */
function bufferView(x: TensorBox): BufferView {
  const b = bufferOf(x);
  if (b === undefined) throw new Error("a value that leaves the graph is in memory");
  const l = valueLayout(x);
  if (l === undefined) {
    // the whole of a buffer that holds several values, or a list of them
    return { buffer: b.name, size: [], stride: [], offset: int(0), dtype: "float32", whole: true };
  }
  const own = stridesOf(b.layout);
  const whole =
    x.data.kind === "storage" ||
    (own !== undefined &&
      sameExprs(l.size, own.size) &&
      sameExprs(l.stride, own.stride) &&
      l.offset === own.offset &&
      l.dtype === own.dtype);
  const view: BufferView = { buffer: b.name, size: l.size, stride: l.stride, offset: l.offset, dtype: l.dtype, whole };
  return own !== undefined && l.dtype !== own.dtype ? { ...view, reinterpreted: true } : view;
}

function operation(ctx: Lowering, b: ComputedBuffer | ExternBuffer | ConcatBuffer): Operation {
  const device = "device" in b.layout ? b.layout.device : deviceOf(b);
  // written out in each case: a literal of known fields is made at once, one spread and added to grows field by field
  const { operation: name, originNode } = b;
  const outputs = [b.name];
  const origins = [...b.origins];
  switch (b.kind) {
    case "concat":
      return {
        name,
        outputs,
        device,
        origins,
        originNode,
        kind: "nop",
        irClass: "ConcatKernel",
        reads: b.inputs.map(i => i.name),
      };
    case "extern": {
      const views = (a: ArgValue<TensorBox>): ArgValue<BufferView> => {
        if (isTensorBox(a)) return bufferView(a);
        return Array.isArray(a) ? (a as readonly ArgValue<TensorBox>[]).map(views) : (a as ArgValue<BufferView>);
      };
      const extern: Operation = {
        name,
        outputs,
        device,
        origins,
        originNode,
        kind: "extern",
        irClass: b.irClass,
        kernel: b.kernel,
        op: b.op,
        args: b.args.map(views),
        kwargs: Object.fromEntries(Object.entries(b.kwargs).map(([k, v]) => [k, views(v)])),
        reads: b.inputs.map(bufferView),
        mutates: b.mutates,
      };
      const rest = [b.aliases, b.index, b.opaque, b.target];
      if (rest.every(x => x === undefined)) return extern;
      return {
        ...extern,
        ...(b.aliases === undefined ? {} : { aliases: b.aliases }),
        ...(b.index === undefined ? {} : { index: b.index }),
        ...(b.opaque === undefined ? {} : { opaque: b.opaque }),
        ...(b.target === undefined ? {} : { target: b.target }),
      };
    }
    case "computed": {
      const loops = loopsKind(ctx, b);
      const { ranges } = b.data;
      const reduced = reductionRanges(b.data);
      if (isZeroElements(ranges)) {
        return {
          name,
          outputs,
          device,
          origins,
          originNode,
          kind: "nop",
          irClass: "ComputedBuffer",
          reads: [],
          loops,
          ranges,
          reductionRanges: reduced,
        };
      }
      const { sizes, body } = bodyOf(b.data, b.name, bufferIndexer(b), ctx.sizevars, merges(ctx, b.data));
      return {
        name,
        outputs,
        device,
        origins,
        originNode,
        kind: "computed",
        loops,
        ranges,
        reductionRanges: reduced,
        sizes,
        body,
      };
    }
    default: {
      const never: never = b;
      return never;
    }
  }
}

function deviceOf(b: IrBuffer): Operation["device"] {
  const l = stridesOf(b.layout);
  if (l === undefined) throw new Error(`${b.name} has no device`);
  return l.device;
}

/** loops merge here only where the scheduler will not do it after fusion */
const merges = (ctx: Lowering, l: Loops): boolean =>
  l.device.type !== "cuda" || !ctx.configFlag("loop_ordering_after_fusion");

function reductionRanges(l: Loops): readonly Expr[] {
  if ("reductionRanges" in l) return l.reductionRanges;
  if ("scanRanges" in l) return l.scanRanges;
  return "sortRanges" in l ? l.sortRanges : [];
}

function loopsKind(ctx: Lowering, b: ComputedBuffer): LoopsKind {
  const l = b.data;
  switch (l.kind) {
    case "Pointwise":
      return { kind: "Pointwise" };
    case "Scatter":
      return { kind: "Scatter", mode: l.mode };
    case "Reduction":
    case "WelfordReduction":
    case "MultiOutputReduction": {
      const split = l.split;
      return {
        kind: l.kind,
        type: l.type,
        hint: l.hint,
        srcDtype: l.srcDtype,
        outputIndex: l.outputIndex,
        ...(split === undefined
          ? {}
          : {
              split: {
                size: split.size,
                ranges: split.ranges,
                reductionRanges: split.reductionRanges,
                original: () => unsplitBody(ctx, b, l),
              },
            }),
      };
    }
    case "Scan":
    case "SplitScan":
      return { kind: l.kind, hint: l.hint };
    case "Sort":
      return { kind: "Sort", stable: l.stable, descending: l.descending };
    default: {
      const never: never = l;
      return never;
    }
  }
}

/** the reduction as it was before it was split; its store goes nowhere, so any layout will do */
function unsplitBody(ctx: Lowering, b: ComputedBuffer, l: ReductionLoops): LoopBody {
  const { split } = l;
  if (split === undefined) throw new Error(`${b.name} is not split`);
  const whole: ReductionLoops = {
    ...l,
    ranges: split.ranges,
    reductionRanges: split.reductionRanges,
    inner: split.inner,
  };
  const layout = { size: split.ranges, stride: contiguousStrides(split.ranges), offset: int(0) };
  return bodyOf(whole, b.name, fixedIndexer(layout), ctx.sizevars, merges(ctx, l)).body;
}
