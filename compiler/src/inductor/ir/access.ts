// What a value looks like and how its elements are read: size, dtype, loader, indexer (get_size, make_loader,
// make_indexer of torch/_inductor/ir.py). In: boxes, views, buffers. Out: facts and functions of an index.
// Promises: a loader keeps what the value was when the loader was made: loops not in memory are computed in place, also
// if they are put in memory later; layouts are read when the loader runs.
import type { Device, Dim, DType, Loader, Ops } from "../../aten/types";
import { type Expr, int, intValue } from "../symbolic/expr";
import {
  bufferOf,
  type IrBuffer,
  type IrLayout,
  isLoops,
  type Loops,
  loopsSize,
  type StridedLayout,
  type Value,
} from "./boxes";
import type { Lowering } from "./context";
import { isFloatDType } from "./dtypes";
import { fixedIndexer } from "./layouts";
import { countOf } from "./op_count";

/** size, stride, dtype of a layout as seen through mutation and slices; undefined for those without */
export function stridesOf(l: IrLayout): StridedLayout | undefined {
  switch (l.kind) {
    case "fixed":
    case "flexible":
      return l;
    case "non_owning":
      // the slice is a buffer of its own to whoever writes or reads it
      return { ...l.view.layout, offset: int(0) };
    case "mutation": {
      // what is written has the target's shape, but the strides that it names are those of the storage
      const b = bufferOf(l.target);
      const base = b === undefined ? undefined : stridesOf(b.layout);
      return base === undefined
        ? undefined
        : { ...base, size: sizeOf(l.target), dtype: dtypeOf(l.target), offset: int(0) };
    }
    case "multi_output":
    case "none":
      return undefined;
    default: {
      const never: never = l;
      return never;
    }
  }
}

/** layout of a value in memory (strides of its view), undefined for loops and lazy views */
export function valueLayout(x: Value): StridedLayout | undefined {
  switch (x.kind) {
    case "tensor":
      return valueLayout(x.data);
    case "storage":
      return isLoops(x.data) ? undefined : stridesOf(x.data.layout);
    case "reinterpret":
      return x.layout;
    case "view":
    case "dtype":
      return undefined;
    default: {
      const never: never = x;
      return never;
    }
  }
}

function bufferLayout(b: IrBuffer): StridedLayout {
  const l = stridesOf(b.layout);
  if (l === undefined) throw new Error(`${b.name} has no strides`);
  return l;
}

const dataSize = (d: Loops | IrBuffer): readonly Expr[] => (isLoops(d) ? loopsSize(d) : bufferLayout(d).size);

export function sizeOf(x: Value): readonly Expr[] {
  switch (x.kind) {
    case "tensor":
      return sizeOf(x.data);
    case "storage":
      return dataSize(x.data);
    case "view":
      return x.size;
    case "reinterpret":
      return x.layout.size;
    case "dtype":
      return sizeOf(x.data);
    default: {
      const never: never = x;
      return never;
    }
  }
}

export function dtypeOf(x: Value): DType {
  switch (x.kind) {
    case "tensor":
    case "view":
      return dtypeOf(x.data);
    case "storage":
      return isLoops(x.data) ? x.data.dtype : bufferLayout(x.data).dtype;
    case "reinterpret":
      return x.layout.dtype;
    case "dtype":
      return x.target;
    default: {
      const never: never = x;
      return never;
    }
  }
}

export function deviceOf(x: Value): Device {
  switch (x.kind) {
    case "tensor":
    case "view":
    case "dtype":
      return deviceOf(x.data);
    case "storage": {
      if (isLoops(x.data)) return x.data.device;
      const l = x.data.layout;
      return l.kind === "multi_output" || l.kind === "none" ? l.device : bufferLayout(x.data).device;
    }
    case "reinterpret":
      return x.layout.device;
    default: {
      const never: never = x;
      return never;
    }
  }
}

export const isZeroElements = (size: readonly Expr[]): boolean => size.some(s => intValue(s) === 0);

/** what a loader of an empty value yields; nothing ever reads it */
function emptyLoader(dtype: DType): Loader {
  return <V>(ops: Ops<V>): V => ops.constant(isFloatDType(dtype) ? Number.NaN : 0, dtype);
}

function bufferLoader(ctx: Lowering, b: IrBuffer): Loader {
  if (
    b.kind === "computed" &&
    b.data.kind === "Pointwise" &&
    !ctx.mutatedBuffers.has(b.name) &&
    countOf(b.data).reads.length === 0
  ) {
    // a constant or an iota: computing it again is cheaper than reading it
    return loopsLoader(b.data);
  }
  if (isZeroElements(bufferLayout(b).size)) return emptyLoader(bufferLayout(b).dtype);
  return <V>(ops: Ops<V>, index: readonly Dim[]): V => ops.load(b.name, bufferIndexer(b)(index as readonly Expr[]));
}

function loopsLoader(l: Loops): Loader {
  if (l.kind === "Pointwise" || l.kind === "Scatter") return isZeroElements(l.ranges) ? emptyLoader(l.dtype) : l.inner;
  throw new Error(`${l.kind} can't be computed in place`);
}

export function bufferIndexer(b: IrBuffer): (index: readonly Expr[]) => Expr {
  return b.layout.kind === "mutation" ? indexerOf(b.layout.target) : fixedIndexer(bufferLayout(b));
}

/** position in storage of an element of a value in memory */
export function indexerOf(x: Value): (index: readonly Expr[]) => Expr {
  switch (x.kind) {
    case "tensor":
    case "dtype":
      return indexerOf(x.data);
    case "storage":
      if (isLoops(x.data)) throw new Error("loops have no storage");
      return bufferIndexer(x.data);
    case "reinterpret":
      return fixedIndexer(x.layout);
    case "view": {
      const inner = indexerOf(x.data);
      return index => inner(x.reindex(index));
    }
    default: {
      const never: never = x;
      return never;
    }
  }
}

export function loaderOf(ctx: Lowering, x: Value): Loader {
  switch (x.kind) {
    case "tensor":
      return loaderOf(ctx, x.data);
    case "storage":
      return isLoops(x.data) ? loopsLoader(x.data) : bufferLoader(ctx, x.data);
    case "view": {
      const inner = loaderOf(ctx, x.data);
      return <V>(ops: Ops<V>, index: readonly Dim[]): V => inner(ops, x.reindex(index as readonly Expr[]));
    }
    case "reinterpret": {
      const base = dtypeOf(x.data);
      return <V>(ops: Ops<V>, index: readonly Dim[]): V => {
        const d = x.data.data;
        if (isLoops(d)) throw new Error("a strided view over loops");
        const value = ops.load(d.name, fixedIndexer(x.layout)(index as readonly Expr[]));
        return x.layout.dtype === base ? value : ops.toDtypeBitcast(value, x.layout.dtype, base);
      };
    }
    case "dtype": {
      const inner = loaderOf(ctx, x.data);
      const base = dtypeOf(x.data);
      return <V>(ops: Ops<V>, index: readonly Dim[]): V => ops.toDtypeBitcast(inner(ops, index), x.target, base);
    }
    default: {
      const never: never = x;
      return never;
    }
  }
}
