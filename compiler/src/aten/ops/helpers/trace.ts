// What decompositions and derivatives share: casts, constants, selection. In: a graph builder. Out: traced nodes, in
// the order in which PyTorch's own helpers create them (names are numbered by creation).
import {
  type ArgValue,
  type Device,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  LayoutArg,
  MemoryFormatArg,
  PyComplex,
  PyFloat,
  type Result,
  type Scalar,
  type TensorMeta,
} from "../../types";
import { isComplexDType, isFloatDType } from "./define";

export const STRIDED = new LayoutArg("strided");
export const CONTIGUOUS = new MemoryFormatArg("contiguous_format");
export const INT_MAX = 9223372036854775807n;

/** prims.convert_element_type, also to the same dtype */
export function convert<T>(b: GraphBuilder<T>, x: T, dtype: DType): T {
  return b.call("prims.convert_element_type.default", [x, new DTypeArg(dtype)]);
}

/** Tensor.to(dtype): nothing if it has that dtype */
export function toDtype<T>(b: GraphBuilder<T>, x: T, dtype: DType): T {
  return b.meta(x).dtype === dtype ? x : convert(b, x, dtype);
}

/** Tensor.to(dtype) above autograd, where casts have a gradient */
export function cast<T>(b: GraphBuilder<T>, x: T, dtype: DType): T {
  if (b.meta(x).dtype === dtype) return x;
  return b.call("aten._to_copy.default", [x], { dtype: new DTypeArg(dtype) });
}

export function scalarTensor<T>(b: GraphBuilder<T>, value: Scalar, dtype: DType, device: Device, pin?: false): T {
  return b.call("aten.scalar_tensor.default", [value], {
    dtype: new DTypeArg(dtype),
    layout: STRIDED,
    device: new DeviceArg(device),
    ...(pin === false ? { pin_memory: false } : {}),
  });
}

export function full<T>(
  b: GraphBuilder<T>,
  size: readonly (Dim | number)[],
  value: Scalar,
  dtype: DType,
  device: Device,
): T {
  return b.call("aten.full.default", [size, value], {
    dtype: new DTypeArg(dtype),
    layout: STRIDED,
    device: new DeviceArg(device),
    pin_memory: false,
  });
}

export function fullLike<T>(b: GraphBuilder<T>, x: T, value: Scalar, dtype?: DType): T {
  const m = b.meta(x);
  return full(b, m.shape, value, dtype ?? m.dtype, m.device);
}

/** at::zeros_like, which decomposes under its own name */
export const zerosLike = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.zeros_like.default", [x]);

/** at::ones_like */
export const onesLike = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.ones_like.default", [x]);

/** at::zeros or at::ones of the dtype and on the device of `like` */
export function filledWith<T>(
  b: GraphBuilder<T>,
  packet: "zeros" | "ones",
  size: readonly (Dim | number)[],
  like: Pick<TensorMeta, "dtype" | "device">,
): T {
  return b.call(`aten.${packet}.default`, [size], {
    dtype: new DTypeArg(like.dtype),
    layout: STRIDED,
    device: new DeviceArg(like.device),
    pin_memory: false,
  });
}

/** Tensor.new_zeros of a size, as gradients of reads by index begin */
export const newZeros = <T>(b: GraphBuilder<T>, like: T, size: readonly (Dim | number)[]): T =>
  b.call("aten.new_zeros.default", [like, size]);

/** a tensor like x filled with a number: what C++ makes of the number in `1 - x` */
export const filledLike = <T>(b: GraphBuilder<T>, x: T, value: Scalar): T => b.call("aten.fill.Scalar", [x, value]);

/** x with a number where the mask is set, as an operator of its own */
export const fillWhere = <T>(b: GraphBuilder<T>, x: T, mask: T, value: Scalar): T =>
  b.call("aten.masked_fill.Scalar", [x, mask, value]);

/** at::scalar_tensor(0., x.options()), which backward formulas select with */
export function zeroScalar<T>(b: GraphBuilder<T>, like: T): T {
  const m = b.meta(like);
  return scalarTensor(b, new PyFloat(0), m.dtype, m.device);
}

/** prims.iota, as torch.arange(n) of int64 becomes */
export function iota<T>(
  b: GraphBuilder<T>,
  n: Dim | number,
  device: Device,
  start = 0,
  step = 1,
  dtype: DType = "int64",
): T {
  return b.call("prims.iota.default", [n], {
    start,
    step,
    dtype: new DTypeArg(dtype),
    device: new DeviceArg(device),
    requires_grad: false,
  });
}

/** torch.arange(n) as int64, under its own name */
export const arange = <T>(b: GraphBuilder<T>, n: Dim | number, device: Device): T =>
  b.call("aten.arange.default", [n], { device: new DeviceArg(device), pin_memory: false });

/** dtype in which half-precision arithmetic is done */
export function opmath(d: DType): DType {
  return d === "float16" || d === "bfloat16" || d.startsWith("float8") ? "float32" : d;
}

export const isHalf = (d: DType): boolean => opmath(d) !== d;

/**
 * Half-precision arguments cast up, in argument order, and results cast back (PyTorch's pw_cast_for_opmath): `body` gets
 * the cast tensors in the order given.
 */
export function withOpmath<T>(
  b: GraphBuilder<T>,
  tensors: readonly (T | null)[],
  body: (...cast: T[]) => Result<T>,
  resultDtype?: DType,
): Result<T> {
  const present = tensors.filter((t): t is T => t !== null);
  const result = resultDtype ?? b.promote("default", ...present.map(t => b.meta(t)));
  const compute = opmath(result);
  const cast = tensors.map(t => (t === null ? t : toDtype(b, t, compute))) as T[];
  const r = body(...cast);
  if (!isTensorList(b, r)) return toDtype(b, r as T, result);
  return r.map(x => (x === null ? null : toDtype(b, x, result)));
}

function isTensorList<T>(b: GraphBuilder<T>, r: Result<T>): r is readonly (T | null)[] {
  return Array.isArray(r) && !b.isTensor(r);
}

/** torch.where on tensors and numbers: numbers become 0-d tensors of the result's dtype. */
export function where<T>(b: GraphBuilder<T>, cond: T, x: T | Scalar, y: T | Scalar): T {
  const c = b.meta(cond);
  const xt = b.isTensor(x);
  const yt = b.isTensor(y);
  if (xt && yt) return b.call("aten.where.self", [cond, x, y]);
  if (xt) {
    const dtype = b.promote("default", b.meta(x), y as Scalar);
    const other = scalarTensor(b, y as Scalar, dtype, b.meta(x).device);
    return b.call("aten.where.self", [cond, toDtype(b, x, dtype), other]);
  }
  if (yt) {
    const dtype = b.promote("default", x as Scalar, b.meta(y));
    const self = scalarTensor(b, x as Scalar, dtype, b.meta(y).device);
    return b.call("aten.where.self", [cond, self, toDtype(b, y, dtype)]);
  }
  const dtype = b.promote("default", x as Scalar, y as Scalar);
  const other = scalarTensor(b, y as Scalar, dtype, c.device);
  const self = scalarTensor(b, x as Scalar, dtype, c.device);
  return b.call("aten.where.self", [cond, self, other]);
}

/** A number in the Python type of a dtype, as masked_fill and fill write it: 0 becomes 0.0 for floats. */
export function scalarFor(value: Scalar, dtype: DType): Scalar {
  if (value instanceof PyComplex) return value;
  if (value instanceof PyFloat && isFloatDType(dtype)) return value;
  const n = value instanceof PyFloat ? value.value : Number(value);
  if (dtype === "bool") return n !== 0;
  if (isFloatDType(dtype)) return new PyFloat(n);
  if (isComplexDType(dtype)) return new PyComplex(n, 0);
  return typeof value === "bigint" ? value : Math.trunc(n);
}

/** x.masked_fill(mask, value) */
export function maskedFill<T>(b: GraphBuilder<T>, x: T, mask: T, value: Scalar): T {
  const m = b.meta(x);
  const fill = scalarTensor(b, scalarFor(value, m.dtype), m.dtype, m.device);
  return filled(b, b.call("aten.where.self", [mask, fill, x]));
}

/** what masked_fill gives: always a contiguous tensor, copied where the choice between x and the value follows x's strides */
export function filled<T>(b: GraphBuilder<T>, chosen: T): T {
  if (b.isContiguous(chosen, "contiguous_format")) return chosen;
  return b.call("aten.clone.default", [chosen], { memory_format: CONTIGUOUS });
}

/** number of elements over some dims */
export function numelOf<T>(b: GraphBuilder<T>, x: T, dims?: readonly number[]): Dim {
  const shape = b.meta(x).shape;
  if (shape.length === 0) return b.int(1);
  return b.product(dims === undefined ? shape : dims.map(d => shape[b.wrapDim(d, shape.length)] as Dim));
}

/** a size as an operator's number argument: a plain int when it is known */
export function sizeScalar<T>(b: GraphBuilder<T>, d: Dim): ArgValue<T> {
  return b.static(d) ?? d;
}

/** number / size as a float argument of an operator */
export function quotient<T>(b: GraphBuilder<T>, over: number, size: Dim): ArgValue<T> {
  const n = b.static(size);
  return n === undefined ? b.truediv(b.real(over), size) : new PyFloat(over / n);
}

/** sum over dims as derivative code calls it: with dims, or over everything */
export function sumDims<T>(b: GraphBuilder<T>, x: T, dims: readonly number[], keepdim = false): T {
  return b.call("aten.sum.dim_IntList", keepdim ? [x, dims, true] : [x, dims]);
}

/** puts back the dims that a reduction dropped: unsqueeze from the lowest up */
export function unsqueezeDims<T>(b: GraphBuilder<T>, x: T, dims: readonly number[], rank: number): T {
  // one dim is passed on as it was written, several are wrapped first (unsqueeze_multiple)
  const wrapped = dims.length === 1 ? dims : dims.map(d => b.wrapDim(d, rank)).sort((p, q) => p - q);
  return wrapped.reduce((y, d) => b.call("aten.unsqueeze.default", [y, d]), x);
}

/** c.conj() of a formula: only complex tensors have a node for it */
export function conj<T>(b: GraphBuilder<T>, x: ArgValue<T>): ArgValue<T> {
  if (!b.isTensor(x) || !isComplexDType(b.meta(x).dtype)) return x;
  return b.call("aten.clone.default", [b.call("aten._conj.default", [x])]);
}
