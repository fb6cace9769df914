// What tensor constructors share: options (dtype, layout, device) as PyTorch prints them, and the layout that *_like
// constructors copy. In: bound arguments. Out: keyword arguments and orders of dims.
import {
  type Args,
  type ArgValue,
  type Device,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type MemoryFormatArg,
  type MetaBuilder,
  PyComplex,
  PyFloat,
  type Scalar,
  type TensorMeta,
} from "../../types";
import { at, range } from "./shape";
import { STRIDED } from "./trace";

/** the options of a constructor in schema text */
export const OPTIONS = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

/** the size of a new tensor, checked as an allocation checks it: no dimension is negative, and bytes are counted in 63 bits */
export function newSize(m: MetaBuilder, a: Args<TensorMeta>): readonly Dim[] {
  const size = a.dims("size");
  const text = (): string => `[${size.map(s => BigInt(m.hint(s))).join(", ")}]`;
  let elements = 1;
  for (const s of size) {
    const n = m.static(s);
    if (n === undefined) continue;
    if (n < 0) return m.fail(`Trying to create tensor with negative dimension ${n}: ${text()}`);
    elements *= n;
  }
  if (elements >= 2 ** 60) return m.fail(`Storage size calculation overflowed with sizes=${text()}`);
  return size;
}

/** a cuda device without index is the current one */
export function canonical(d: Device): Device {
  return d.type === "cuda" && d.index === null ? { type: "cuda", index: 0 } : d;
}

export function deviceOf<T>(b: GraphBuilder<T>, a: Args<T>, like?: TensorMeta): Device {
  return canonical(a.device("device") ?? like?.device ?? b.defaultDevice());
}

/** the device as a call writes it: one that is given keeps its form, with or without an index */
export function writtenDevice<T>(b: GraphBuilder<T>, a: Args<T>, like?: TensorMeta): Device {
  return a.device("device") ?? like?.device ?? b.defaultDevice();
}

/** dtype of a number: bool, int64, the default float or its complex partner */
export function scalarDType<T>(b: GraphBuilder<T>, value: Scalar): DType {
  if (typeof value === "boolean") return "bool";
  if (value instanceof PyComplex) return b.defaultDType() === "float64" ? "complex128" : "complex64";
  return value instanceof PyFloat ? b.defaultDType() : "int64";
}

/** keywords of a call that Python's argument parser has filled in */
export function options<T>(
  dtype: DType,
  device: Device,
  extra: { readonly layout?: boolean } = {},
): Record<string, ArgValue<T>> {
  return {
    dtype: new DTypeArg(dtype),
    ...(extra.layout === false ? {} : { layout: STRIDED }),
    device: new DeviceArg(device),
    pin_memory: false,
  };
}

/**
 * Dims of a tensor from the outermost in memory to the innermost, as elementwise results take them over
 * (torch._prims_common.compute_elementwise_output_logical_to_physical_perm).
 */
function physicalOrder<T>(b: GraphBuilder<T>, x: T): number[] {
  const t = b.meta(x);
  const rank = t.shape.length;
  if (rank <= 1 || b.isContiguous(x)) return range(rank);
  if (rank === 4 && b.isContiguous(x, "channels_last")) return [0, 2, 3, 1];
  const swap = (p: number, q: number): number => {
    const [s, u] = [at(t.stride, p), at(t.stride, q)];
    if (b.static(s) === 0 || b.static(u) === 0) return 0;
    if (!b.knownEq(s, u)) return b.lt(s, u) ? -1 : 1;
    return b.lt(at(t.shape, q), at(t.shape, p)) ? 1 : 0;
  };
  const order = range(rank).reverse();
  for (let i = 1; i < rank; i++) {
    let here = i;
    for (let j = i - 1; j >= 0; j--) {
      const c = swap(at(order, j), at(order, here));
      if (c > 0) {
        [order[j], order[here]] = [at(order, here), at(order, j)];
        here = j;
      } else if (c < 0) break;
    }
  }
  return order.reverse();
}

/** A tensor made in memory order and permuted to look like x; `copy`: what a view of it is turned into a tensor by. */
export function likeLayout<T>(b: GraphBuilder<T>, x: T, make: (shape: readonly Dim[]) => T, copy: boolean): T {
  const shape = b.meta(x).shape;
  const order = physicalOrder(b, x);
  const made = make(order.map(d => at(shape, d)));
  if (order.every((d, i) => d === i)) return made;
  const permuted = b.call("aten.permute.default", [made, range(order.length).map(d => order.indexOf(d))]);
  return copy ? b.call("aten.clone.default", [permuted]) : permuted;
}

/** .to(memory_format=...) of a fresh tensor */
export function toFormat<T>(b: GraphBuilder<T>, x: T, format: MemoryFormatArg): T {
  if (format.format === "preserve_format") return x;
  if (b.isContiguous(x, format.format)) return x;
  return b.call("aten.clone.default", [x], { memory_format: format });
}

/** a number argument that may be symbolic */
export type Count = number | bigint | boolean | Dim | PyFloat | PyComplex;

export function isIntegral(b: { isDim(x: unknown): boolean }, x: Count): boolean {
  return typeof x === "number" || typeof x === "bigint" || typeof x === "boolean" || b.isDim(x);
}
export const asNumber = (b: { hint(x: Dim): number; isDim(x: unknown): x is Dim }, x: Count): number =>
  x instanceof PyFloat ? x.value : b.isDim(x) ? b.hint(x) : Number(x);
