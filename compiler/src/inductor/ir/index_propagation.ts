// Constants and index arithmetic of a body folded while it is captured (torch/_inductor/index_propagation.py).
// In: operations over values that may still be expressions. Out: an expression with a dtype, or undefined where the
// operation must be emitted. Promises: integers wrap as their dtype does; floats fold only among constants.

import { FloatParameter, noteLiteral } from "../../aten/float_parameter";
import type { DType, OpName } from "../../aten/types";
import {
  abs,
  add,
  type Expr,
  float,
  floorDiv,
  int,
  isInteger,
  isNonnegative,
  isPositive,
  max,
  min,
  mod,
  modularIndexing,
  mul,
  neg,
  sub,
} from "../symbolic/expr";
import { categoryOf, integerBits, isIntegerDType, promoteTypes } from "./dtypes";
import type { ConstantValue } from "./loop_body";

/** a value known while the body is captured: a number, or an integer expression of loop variables */
export type Known =
  | { readonly kind: "constant"; readonly value: ConstantValue; readonly dtype: DType }
  | { readonly kind: "expr"; readonly expr: Expr; readonly dtype: DType };

/** the constant as its dtype holds it: 3 becomes 3.0 in a float, integers wrap around */
export function typedConstant(value: ConstantValue, dtype: DType): Known {
  switch (categoryOf(dtype)) {
    case "bool":
      return { kind: "constant", value: Boolean(value), dtype };
    case "int": {
      let v = Math.trunc(Number(value));
      const bits = integerBits(dtype);
      if (bits.width < 53) {
        const span = 2 ** bits.width;
        const low = bits.signed ? -(span / 2) : 0;
        v = ((((v - low) % span) + span) % span) + low;
      }
      return { kind: "constant", value: v, dtype };
    }
    case "float":
    case "complex":
      return { kind: "constant", value: value instanceof FloatParameter ? value : noteLiteral(Number(value)), dtype };
    default: {
      const never: never = categoryOf(dtype) as never;
      return never;
    }
  }
}

export function knownExpr(expr: Expr, dtype: DType): Known {
  return expr.kind === "int" || expr.kind === "float"
    ? typedConstant(expr.value, dtype)
    : { kind: "expr", expr, dtype };
}

/** to_dtype of a known value */
export function convertKnown(x: Known, dtype: DType): Known {
  return x.kind === "constant" ? typedConstant(x.value, dtype) : { ...x, dtype };
}

/** Folds one operation over known values; undefined: emit it. */
export function foldKnown(name: OpName, args: readonly Known[]): Known | undefined {
  const [a, b] = args;
  if (a === undefined) return undefined;
  if (b === undefined) return foldUnary(name, a);
  const dtype = promoteTypes(a.dtype, b.dtype);
  if (a.kind === "constant" && b.kind === "constant") {
    const v = foldNumbers(name, Number(a.value), Number(b.value), dtype);
    return v === undefined ? undefined : typedConstant(v, dtype);
  }
  const x = asExpr(a);
  const y = asExpr(b);
  if (x === undefined || y === undefined) return undefined;
  const e = foldExprs(name, x, y, dtype);
  return e === undefined ? undefined : knownExpr(e, dtype);
}

function foldUnary(name: OpName, a: Known): Known | undefined {
  if (a.kind === "constant") {
    const v = Number(a.value);
    if (name === "neg") return typedConstant(-v, a.dtype);
    if (name === "abs") return typedConstant(Math.abs(v), a.dtype);
    if (name === "square") return typedConstant(v * v, a.dtype);
    return undefined;
  }
  if (name === "neg") return knownExpr(neg(a.expr), a.dtype);
  if (name === "square") return knownExpr(mul(a.expr, a.expr), a.dtype);
  if (name === "abs") return knownExpr(abs(a.expr), a.dtype);
  return undefined;
}

function asExpr(k: Known): Expr | undefined {
  if (k.kind === "expr") return k.expr;
  const v = Number(k.value);
  if (v === 0) return int(0); // x + 0.0 is x in sympy
  if (categoryOf(k.dtype) === "float") return Number.isFinite(v) ? float(v) : undefined;
  return Number.isInteger(v) ? int(v) : undefined;
}

function foldNumbers(name: OpName, a: number, b: number, dtype: DType): number | undefined {
  switch (name) {
    case "add":
      return a + b;
    case "sub":
      return a - b;
    case "mul":
      return a * b;
    case "minimum":
      return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Math.min(a, b);
    case "maximum":
      return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Math.max(a, b);
    case "floordiv":
      return isIntegerDType(dtype) && b !== 0 ? Math.floor(a / b) : undefined;
    case "mod":
    case "remainder":
      return isIntegerDType(dtype) && b !== 0 ? a - b * Math.floor(a / b) : undefined;
    default:
      return undefined;
  }
}

function foldExprs(name: OpName, x: Expr, y: Expr, dtype: DType): Expr | undefined {
  const e = combine(name, x, y, dtype);
  return e !== undefined && isInteger(e) ? e : undefined;
}

function combine(name: OpName, x: Expr, y: Expr, dtype: DType): Expr | undefined {
  switch (name) {
    case "add":
      return add(x, y);
    case "sub":
      return sub(x, y);
    case "mul":
      return mul(x, y);
    case "minimum":
      return min(x, y);
    case "maximum":
      return max(x, y);
    case "floordiv":
      return isIntegerDType(dtype) ? floorDiv(x, y) : undefined;
    case "mod":
      return isIntegerDType(dtype) ? modularIndexing(x, 1, y) : undefined;
    case "remainder":
      if (!isIntegerDType(dtype)) return undefined;
      // Python's and C's remainder agree when the signs are known to
      return isNonnegative(x) && isPositive(y) ? modularIndexing(x, 1, y) : mod(x, y);
    default:
      return undefined;
  }
}
