// x[index] and x[index] = value. In: a tensor and the index as Python wrote it. Out: the operators that PyTorch's
// indexing runs (python_variable_indexing.cpp): select, slice, unsqueeze, then index or index_put_ for tensors.
// Works over any builder, so capture uses it on metas and tracing on tensors.
import {
  type ArgValue,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  LayoutArg,
  type Scalar,
} from "./types";

/** One item of an index. A single index is a list of one with `bare` set. */
export type IndexItem<T> =
  | { readonly kind: "none" }
  | { readonly kind: "ellipsis" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: Dim | number }
  | {
      readonly kind: "slice";
      readonly start: Dim | number | null;
      readonly stop: Dim | number | null;
      readonly step: Dim | number | null;
    }
  | { readonly kind: "tensor"; readonly tensor: T }
  /** a (nested) list of ints or bools, row-major */
  | { readonly kind: "list"; readonly values: readonly (number | boolean)[]; readonly shape: readonly number[] };

export interface Subscript<T> {
  readonly items: readonly IndexItem<T>[];
  /** not written as a tuple: x[:] rather than x[:,] */
  readonly bare: boolean;
}

const OPEN_END = 9223372036854775807n;

interface Sliced<T> {
  readonly result: T;
  /** index tensors by dim of `result`, null where a dim is kept */
  readonly indices: readonly (T | null)[];
}

/** x[index] */
export function getItem<T>(b: GraphBuilder<T>, x: T, index: Subscript<T>): T {
  const only = index.items.length === 1 && index.bare ? index.items[0] : undefined;
  if (only?.kind === "ellipsis") return b.call("aten.alias.default", [x]);
  const { result, indices } = applySlicing(b, x, index);
  if (indices.length > 0) return b.call("aten.index.Tensor", [result, indices]);
  return result === x ? b.call("aten.alias.default", [x]) : result;
}

/** x[index] = value */
export function setItem<T>(b: GraphBuilder<T>, x: T, index: Subscript<T>, value: T | Scalar | Dim): void {
  const only = index.items.length === 1 && index.bare ? index.items[0] : undefined;
  if (only?.kind === "bool" && !only.value) return;
  const meta = b.meta(x);
  const source = b.isTensor(value) ? value : constant(b, value, meta.dtype);
  if (only?.kind === "ellipsis") return copyTo(b, x, source);
  const { result, indices } = applySlicing(b, x, index);
  if (indices.length === 0) return copyTo(b, result, source);
  const shape = b.meta(source).shape;
  const kept = dropLeadingOnes(b, shape);
  const fitted = kept.length === shape.length ? source : b.call("aten.view.default", [source, kept]);
  b.call("aten.index_put_.default", [result, indices, fitted]);
}

/** a number as a tensor: written into the graph, on the CPU */
function constant<T>(b: GraphBuilder<T>, value: Scalar | Dim, dtype: DType): T {
  const device = { type: "cpu", index: null } as const;
  if (b.isDim(value)) {
    const options = { dtype: new DTypeArg(dtype), layout: new LayoutArg("strided"), device: new DeviceArg(device) };
    return b.call("aten.scalar_tensor.default", [value], options);
  }
  return b.call("aten.lift_fresh_copy.default", [b.literal({ values: [value], shape: [], dtype, device })]);
}

function copyTo<T>(b: GraphBuilder<T>, target: T, source: T): void {
  const to = b.meta(target).shape;
  const { shape: from, device } = b.meta(source);
  let s = source;
  if (to.length !== from.length || !to.every((d, i) => b.eq(d, from[i] as Dim))) {
    if (from.length === 0 && device.type === "cpu") {
      b.call("aten.fill_.Tensor", [target, s]);
      return;
    }
    const kept = dropLeadingOnes(b, from);
    if (kept.length !== from.length) s = b.call("aten.view.default", [s, kept]);
    s = b.call("aten.expand.default", [s, to]);
  }
  b.call("aten.copy_.default", [target, s]);
}

function dropLeadingOnes<T>(b: GraphBuilder<T>, shape: readonly Dim[]): readonly Dim[] {
  let lead = 0;
  while (lead < shape.length && b.knownEq(shape[lead] as Dim, 1)) lead++;
  return shape.slice(lead);
}

function consumed<T>(b: GraphBuilder<T>, item: IndexItem<T>): number {
  switch (item.kind) {
    case "none":
    case "ellipsis":
    case "bool":
      return 0;
    case "int":
    case "slice":
      return 1;
    case "list":
      return item.values.some(v => typeof v === "boolean") ? item.shape.length : 1;
    case "tensor": {
      const m = b.meta(item.tensor);
      return m.dtype === "bool" || m.dtype === "uint8" ? m.shape.length : 1;
    }
    default: {
      const never: never = item;
      return never;
    }
  }
}

function applySlicing<T>(b: GraphBuilder<T>, x: T, index: Subscript<T>): Sliced<T> {
  const rank = b.meta(x).shape.length;
  const used = index.items.reduce((n, item) => n + consumed(b, item), 0);
  if (used > rank) return b.fail(`too many indices for tensor of dimension ${rank}`, "IndexError");
  let result = x;
  let dim = 0;
  const indices: (T | null)[] = [];
  const put = (t: T): void => {
    while (indices.length < dim) indices.push(null);
    indices.push(t);
  };
  for (const item of index.items) {
    switch (item.kind) {
      case "none":
        result = b.call("aten.unsqueeze.default", [result, dim++]);
        break;
      case "ellipsis":
        dim += rank - used;
        break;
      case "int":
        result = select(b, result, dim, item.value);
        break;
      case "slice":
        result = slice(b, result, dim++, item, index.bare);
        break;
      case "bool":
        result = b.call("aten.unsqueeze.default", [result, dim]);
        put(
          b.literal({
            values: item.value ? [0] : [],
            shape: [item.value ? 1 : 0],
            dtype: "int64",
            device: b.meta(x).device,
          }),
        );
        dim++;
        break;
      case "list": {
        const dtype = item.values.some(v => typeof v === "boolean") ? "bool" : "int64";
        const list = b.literal({ values: item.values, shape: item.shape, dtype, device: b.meta(x).device });
        put(b.call("aten.lift_fresh_copy.default", [list]));
        dim += dtype === "bool" ? item.shape.length : 1;
        break;
      }
      case "tensor":
        put(item.tensor);
        dim += consumed(b, item);
        break;
      default: {
        const never: never = item;
        return never;
      }
    }
  }
  return { result, indices };
}

function select<T>(b: GraphBuilder<T>, x: T, dim: number, index: Dim | number): T {
  const size = b.meta(x).shape[dim];
  if (size === undefined)
    return b.fail(
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
      "IndexError",
    );
  if (typeof index === "number" && b.static(size) !== undefined) {
    const n = b.static(size) as number;
    if (index < -n || index >= n)
      return b.fail(`index ${index} is out of bounds for dimension ${dim} with size ${n}`, "IndexError");
  }
  return b.call("aten.select.int", [x, dim, index]);
}

function slice<T>(
  b: GraphBuilder<T>,
  x: T,
  dim: number,
  item: { start: Dim | number | null; stop: Dim | number | null; step: Dim | number | null },
  bare: boolean,
): T {
  const step = item.step ?? 1;
  const fixed = b.static(step);
  if (fixed === 0) return b.fail("slice step cannot be zero", "ValueError");
  if (fixed !== undefined && fixed < 0) return b.fail("step must be greater than zero", "ValueError");
  const start = item.start ?? 0;
  const stop: ArgValue<T> = item.stop ?? OPEN_END;
  const size = b.meta(x).shape[dim] as Dim;
  const whole =
    b.knownEq(start, 0) &&
    fixed === 1 &&
    b.static(size) !== undefined &&
    (typeof stop === "bigint" || (b.static(stop as Dim | number) ?? -1) >= (b.static(size) as number));
  if (whole && !bare) return x;
  return b.call("aten.slice.Tensor", [x, dim, start, stop, step]);
}
