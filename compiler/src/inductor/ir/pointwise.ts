// Elementwise lowerings (make_pointwise, transform_args, to_dtype, clone, _full of torch/_inductor/lowering.py).
// In: boxes and numbers. Out: a box over loops not in memory. Promises: operands are promoted, then broadcast; a number
// becomes a constant of the first box's dtype; loaders run in operand order.
import { promoteElementwise } from "../../aten/promotion";
import {
  type Device,
  type Dim,
  type DType,
  type Loader,
  type OpName,
  type Ops,
  type PromotionKind,
  PyComplex,
  PyFloat,
  type Scalar,
  type TensorMeta,
} from "../../aten/types";
import { type Expr, freeSymbols, product } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf } from "./access";
import { isLoops, isTensorBox, storageOf, type TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { loopIndex } from "./op_count";
import { markReuse } from "./realize";
import { expandView } from "./views";

export type Operand = TensorBox | Scalar | Expr;
export type PointwiseFn = OpName | (<V>(ops: Ops<V>, ...xs: V[]) => V);

export function createPointwise(
  ctx: Lowering,
  spec: { readonly size: readonly Expr[]; readonly dtype: DType; readonly device: Device; readonly inner: Loader },
): TensorBox {
  return ctx.boxOf({
    kind: "Pointwise",
    device: spec.device,
    dtype: spec.dtype,
    ranges: spec.size,
    inner: spec.inner,
    origins: ctx.origins,
    originNode: null,
  });
}

export const isScalar = (x: unknown): x is Scalar =>
  typeof x === "number" ||
  typeof x === "bigint" ||
  typeof x === "boolean" ||
  x instanceof PyFloat ||
  x instanceof PyComplex;

/** a scalar as ops.constant takes it */
function constantValue(s: Scalar): number | boolean | PyFloat {
  if (typeof s === "bigint") return Number(s);
  if (s instanceof PyComplex) return new PyFloat(s.re);
  return s;
}

/** shape that broadcasting gives; equal sizes are guarded to be equal */
export function broadcastShapes(ctx: Lowering, a: readonly Expr[], b: readonly Expr[]): Expr[] {
  const out: Expr[] = [];
  for (let i = 1; i <= Math.max(a.length, b.length); i++) {
    const x = a[a.length - i];
    const y = b[b.length - i];
    if (y === undefined || x === undefined) out.unshift((x ?? y) as Expr);
    else if (ctx.sizevars.isSizeOne(y)) out.unshift(x);
    else if (ctx.sizevars.isSizeOne(x)) out.unshift(y);
    else {
      ctx.sizevars.guardEquals(x, y);
      out.unshift(freeSymbols(y).size < freeSymbols(x).size ? y : x);
    }
  }
  return out;
}

const sameSize = (a: readonly Expr[], b: readonly Expr[]): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i]);

/** aten.expand: repeating a value counts as using it that often */
export function expand(ctx: Lowering, x: TensorBox, size: readonly Expr[]): TensorBox {
  const old = sizeOf(x);
  if (sameSize(old, size)) return x;
  const from = ctx.sizevars.hint(product(old));
  const to = ctx.sizevars.hint(product(size));
  if (from !== undefined && to !== undefined && from > 0) markReuse(ctx, x, Math.floor(to / from));
  return ctx.box(expandView(ctx, x, size));
}

function broadcastTo(ctx: Lowering, x: TensorBox, target: readonly Expr[]): TensorBox {
  const size = sizeOf(x);
  if (sameSize(size, target)) return x;
  const isOne = (e: Expr): boolean => ctx.sizevars.isSizeOne(e);
  // equal up to how a size is written: no view is needed
  if (size.length === target.length && size.every((s, i) => isOne(s) === isOne(target[i] as Expr))) return x;
  return expand(ctx, x, target);
}

export function toDtype(ctx: Lowering, x: TensorBox, dtype: DType, copy = false): TensorBox {
  const src = dtypeOf(x);
  if (src === dtype) return copy ? clone(ctx, x) : x;
  const load = loaderOf(ctx, x);
  return createPointwise(ctx, {
    size: sizeOf(x),
    dtype,
    device: deviceOf(x),
    inner: (ops, index) => ops.toDtype(load(ops, index), dtype, src),
  });
}

export function clone(ctx: Lowering, x: TensorBox): TensorBox {
  return createPointwise(ctx, { size: sizeOf(x), dtype: dtypeOf(x), device: deviceOf(x), inner: loaderOf(ctx, x) });
}

export function full(
  ctx: Lowering,
  value: Scalar | Expr,
  dtype: DType,
  device: Device,
  size: readonly Expr[],
): TensorBox {
  const inner: Loader = isScalar(value)
    ? ops => ops.constant(constantValue(value), dtype)
    : ops => ops.indexExpr(value, dtype);
  return createPointwise(ctx, { size, dtype, device, inner });
}

/** dtype that the operands promote to */
export function promoted(kind: PromotionKind, operands: readonly Operand[]): DType {
  return promoteElementwise(
    kind,
    operands.map((o): TensorMeta | Scalar => {
      if (isTensorBox(o)) return { shape: sizeOf(o), dtype: dtypeOf(o) } as unknown as TensorMeta;
      return isScalar(o) ? o : 0;
    }),
  );
}

export function elementwise(
  ctx: Lowering,
  fn: PointwiseFn,
  operands: readonly Operand[],
  opts: { readonly promotion?: PromotionKind | null; readonly dtype?: DType } = {},
): TensorBox {
  const kind = opts.promotion === undefined ? "default" : opts.promotion;
  let args: readonly Operand[] = operands;
  const common = kind === null ? undefined : promoted(kind === "always_bool" ? "default" : kind, operands);
  if (common !== undefined) args = args.map(a => (isTensorBox(a) ? toDtype(ctx, a, common) : a));
  const shapes = args.filter(isTensorBox).map(sizeOf);
  const target = shapes.reduce((a, b) => broadcastShapes(ctx, a, b), [] as readonly Expr[]);
  if (shapes.length > 1) args = args.map(a => (isTensorBox(a) ? broadcastTo(ctx, a, target) : a));
  const boxes = args.filter(isTensorBox);
  const first = boxes[0];
  const device =
    boxes.map(deviceOf).find(d => d.type === "cuda") ??
    (first ? deviceOf(first) : { type: "cpu" as const, index: null });
  const dtypeOfConstants = first ? dtypeOf(first) : (common ?? "float32");
  const dtype = opts.dtype ?? (kind === "always_bool" ? "bool" : dtypeOfConstants);
  const loaders = args.map((a): Loader => {
    if (isTensorBox(a)) return loaderOf(ctx, a);
    if (isScalar(a)) return ops => ops.constant(constantValue(a), dtypeOfConstants);
    return ops => ops.indexExpr(a, dtypeOfConstants);
  });
  const size = first ? sizeOf(first) : [];
  const inner: Loader = <V>(ops: Ops<V>, index: readonly Dim[]): V => {
    const values = loaders.map(l => l(ops, index));
    return typeof fn === "string" ? ops.op(fn, ...values) : fn(ops, ...values);
  };
  return createPointwise(ctx, { size, dtype, device, inner });
}

/** the scalar that a value is everywhere, if its loops end in a constant (get_constant_value) */
export function constantOf(x: TensorBox): Scalar | null {
  const d = storageOf(x).data;
  if (!isLoops(d) || d.kind !== "Pointwise") return null;
  type Probe = { readonly constant: number | boolean | PyFloat } | null;
  const none = (): Probe => null;
  const ops: Ops<Probe> = {
    constant: (value, dtype) => ({
      constant:
        value instanceof PyFloat || (!dtype.startsWith("float") && dtype !== "bfloat16")
          ? value
          : new PyFloat(Number(value)),
    }),
    indexExpr: none,
    load: none,
    toDtype: none,
    toDtypeBitcast: none,
    op: none,
    loadSeed: none,
    random: none,
    randint64: none,
    indirectIndexing: (_x, size) => size,
    masked: (_m, body) => {
      body();
      return null;
    },
  };
  const result = d.inner(ops, loopIndex(d.ranges, "i"));
  return result === null ? null : result.constant;
}
