// Whether tensor cores' kernels can load a product's operands at full width. In: operands as strided views. Out: which sizes
// and rows are off the alignment. Promises: sizes and strides that are no numbers count as aligned, since nothing can be
// done about them.
//
// The library's fast kernels want the sizes n and k to be multiples of the alignment too, not rows alone: on an H200 a product
// of odd sizes takes it five times as long, wherever its rows begin. A template wants aligned rows; it cuts at the edge itself.
import type { DType } from "../../aten/types";
import { isHalf, itemsize } from "../ir/dtypes";
import type { BufferView, ExternOperation } from "../ir/types";
import { type Expr, intValue } from "../symbolic/expr";
import { gemmKind, multiplied } from "./gemm";

/** bytes that are loaded at once */
const LOAD_BYTES = 16;

/** elements whose multiples sizes and strides should be */
export const alignmentOf = (d: DType): number => LOAD_BYTES / itemsize(d);

/** whether the view has the same elements all along a dimension of this stride */
export const repeats = (stride: Expr): boolean => intValue(stride) === 0;

const isOff = (e: Expr, step: number): boolean => (intValue(e) ?? 0) % step !== 0;

/** which of the last two dimensions lies densely; null: neither */
function denseAt(v: BufferView): number | null {
  const last = v.size.length - 1;
  if (intValue(v.stride[last] as Expr) === 1) return last;
  return intValue(v.stride[last - 1] as Expr) === 1 ? last - 1 : null;
}

/** whether rows of a matrix, or of a batch of matrices, begin off the alignment, or their elements do not lie together */
export function rowsAreOff(v: BufferView): boolean {
  const numeric = [...v.size, ...v.stride, v.offset].every(e => intValue(e) !== undefined);
  if (!numeric || v.size.length < 2 || v.size.some(s => intValue(s) === 0)) return false;
  const dense = denseAt(v);
  const step = alignmentOf(v.dtype);
  return dense === null || isOff(v.offset, step) || v.stride.some((s, d) => d !== dense && isOff(s, step));
}

/** sizes that the library's fast kernels do not take: n, k, and m where the first operand's columns lie together */
export function sizesAreOff(a: BufferView, b: BufferView): boolean {
  const step = alignmentOf(a.dtype);
  const [m, k] = a.size.slice(-2) as [Expr, Expr];
  const n = b.size[b.size.length - 1] as Expr;
  return isOff(k, step) || isOff(n, step) || (denseAt(a) === a.size.length - 2 && isOff(m, step));
}

/** the two operands of a product that the library has alignments for */
function operandsOf(op: ExternOperation): readonly [BufferView, BufferView] | null {
  const kind = gemmKind(op);
  const operands = kind === "scaled_mm" || kind === "split_mm" ? null : multiplied(op);
  return operands && (isHalf(operands[0].dtype) || operands[0].dtype === "float32") ? operands : null;
}

/** times that the library's kernels take off the alignment, of what they take on it */
const SLOWER = { half: 5, float32: 1.07 } as const;

/** by how much arithmetic is slower because of sizes or rows */
export function libraryPenalty(op: ExternOperation): number {
  const operands = operandsOf(op);
  if (operands === null || !(operands.some(rowsAreOff) || sizesAreOff(...operands))) return 1;
  return isHalf(operands[0].dtype) ? SLOWER.half : SLOWER.float32;
}

/** a template's loads off the alignment go element by element */
export function templatePenalty(op: ExternOperation): number {
  const operands = operandsOf(op);
  return operands?.some(rowsAreOff) && isHalf(operands[0].dtype) ? SLOWER.half : 1;
}
