// A matrix product as a template sees it. In: the operation that lowering left. Out: what is multiplied, by what it is
// scaled and what is added. Promises: null for products that no template computes; nothing is decided here.
import type { ArgValue, DType } from "../../aten/types";
import { PyFloat } from "../../aten/types";
import { isBufferView } from "../ir/buffer_view";
import { isHalf } from "../ir/dtypes";
import type { BufferView, ExternOperation } from "../ir/types";
import { add, type Expr, int, intValue, mul } from "../symbolic/expr";

export type GemmKind = "mm" | "addmm" | "bmm" | "baddbmm" | "scaled_mm" | "split_mm";

/** out[b, m, n] = alpha * sum over k of a[b, m, k] * b[b, k, n] + beta * added[b, m, n], scaled by row and column */
export interface Gemm {
  readonly kind: GemmKind;
  readonly op: ExternOperation;
  /** null: no batch; of a sum in pieces their number */
  readonly batch: Expr | null;
  readonly m: Expr;
  readonly n: Expr;
  readonly k: Expr;
  /** [batch, m, k]; [m, k] without a batch, or where the batch shares one matrix */
  readonly a: BufferView;
  /** [batch, k, n], or [k, n] */
  readonly b: BufferView;
  readonly added: { readonly view: BufferView; readonly beta: number } | null;
  readonly alpha: number;
  /** factors of a's rows and b's columns, or of all of a and b */
  readonly scales: { readonly a: BufferView; readonly b: BufferView } | null;
  /** fewer float32 additions inside the tensor core: fp8 only */
  readonly fastAccumulation: boolean;
  /** out[p, m, n] is the sum over piece p of k alone, `depth` of it; the last piece may be shorter */
  readonly piece: { readonly depth: number } | null;
}

const KERNEL = /^(?:extern_kernels\.(mm|addmm|bias_addmm|bmm|baddbmm|_scaled_mm)|fuselens\.(split_mm))$/;
const KINDS: Readonly<Record<string, GemmKind>> = { bias_addmm: "addmm", _scaled_mm: "scaled_mm" };

export function gemmKind(op: ExternOperation): GemmKind | null {
  const [, library, own] = KERNEL.exec(op.kernel ?? "") ?? [];
  const name = library ?? own;
  return name === undefined ? null : (KINDS[name] ?? (name as GemmKind));
}

/** dtypes that tensor cores take */
const isProductDType = (d: DType): boolean => isHalf(d) || d === "float32" || isFloat8(d);
export const isFloat8 = (d: DType): boolean => d === "float8_e4m3fn" || d === "float8_e5m2";

const addsFirst = (kind: GemmKind): boolean => kind === "addmm" || kind === "baddbmm";

/** Places among the arguments of what is multiplied. Not among the reads: a tensor that is both operands is read once. */
export const operandPlaces = (kind: GemmKind): readonly [number, number] => (addsFirst(kind) ? [1, 2] : [0, 1]);

/** what a product multiplies, as its call has it; null for other operations */
export function multiplied(op: ExternOperation): readonly [BufferView, BufferView] | null {
  const kind = gemmKind(op);
  const [a, b] = kind === null ? [] : operandPlaces(kind).map(i => viewOf(op.args[i]));
  return a && b ? [a, b] : null;
}

export function gemmOf(op: ExternOperation): Gemm | null {
  const kind = gemmKind(op);
  const operands = multiplied(op);
  if (kind === null || operands === null) return null;
  const [a, b] = operands;
  const views = op.args.map(viewOf);
  const added = addsFirst(kind) ? (views[0] ?? null) : (kind === "scaled_mm" && views[4]) || null;
  if (!isProductDType(a.dtype) || !isProductDType(b.dtype)) return null;
  // kernels load a buffer as what it holds
  if ([a, b, added].some(v => v?.reinterpreted)) return null;
  if (a.dtype !== b.dtype && !(isFloat8(a.dtype) && isFloat8(b.dtype))) return null;
  if (addsFirst(kind) && added === null) return null;
  const batched = kind === "bmm" || kind === "baddbmm";
  const rank = batched ? 3 : 2;
  if (a.size.length !== rank || b.size.length !== rank) return null;
  const [scaleA, scaleB] = kind === "scaled_mm" ? views.slice(2, 4) : [];
  if (kind === "scaled_mm" && (!scaleA || !scaleB || ![scaleA, scaleB].every(s => s.dtype === "float32"))) return null;
  const [pieces, depth] = kind === "split_mm" ? op.args.slice(2).map(Number) : [];
  const [m, k] = a.size.slice(-2);
  const n = b.size[rank - 1];
  // nothing to compute: no launch, so no tiles (an empty sum has a result, of zeros)
  if ([...a.size.slice(0, -1), n as Expr].some(s => intValue(s) === 0)) return null;
  return {
    kind,
    op,
    batch: batched ? (a.size[0] ?? int(1)) : pieces === undefined ? null : int(pieces),
    m: m as Expr,
    n: n as Expr,
    k: k as Expr,
    a: withoutRepeats(a),
    b: withoutRepeats(b),
    added: added === null ? null : { view: added, beta: kind === "scaled_mm" ? 1 : scalar(op.kwargs.beta) },
    alpha: scalar(op.kwargs.alpha),
    scales: scaleA && scaleB ? { a: scaleA, b: scaleB } : null,
    fastAccumulation: op.kwargs.use_fast_accum === true,
    piece: depth === undefined ? null : { depth },
  };
}

/** where an element of a view lies that is broadcast to the dimensions whose indices are `place` */
export function viewIndex(v: BufferView, place: readonly Expr[]): Expr {
  let at: Expr = v.offset;
  const lead = place.length - v.size.length;
  for (const [d, size] of v.size.entries()) {
    if (size.kind === "int" && size.value === 1) continue;
    at = add(at, mul(v.stride[d] as Expr, place[d + lead] as Expr));
  }
  return at;
}

/** a matrix that a batch shares has no batch of its own */
function withoutRepeats(v: BufferView): BufferView {
  const shared = v.size.length === 3 && intValue(v.stride[0] as Expr) === 0;
  return shared ? { ...v, size: v.size.slice(1), stride: v.stride.slice(1), whole: false } : v;
}

const viewOf = (a: ArgValue<BufferView> | undefined): BufferView | null => (isBufferView(a) ? a : null);

function scalar(a: ArgValue<BufferView> | undefined): number {
  if (a === undefined || a === null) return 1;
  if (a instanceof PyFloat) return a.value;
  return typeof a === "number" || typeof a === "bigint" ? Number(a) : 1;
}
