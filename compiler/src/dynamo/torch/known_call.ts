// The call of an operator whose result may be known: its arguments as numbers and small arrays.
import { isExpr } from "../../aten/dim_math";
import { type ArgValue, type Dim, type DType, PyFloat, type TensorMeta } from "../../aten/types";
import { intValue } from "../../inductor/symbolic/expr";
import { isMeta } from "./convert";
import type { KnownArray } from "./known_arrays";

export type Arg = ArgValue<TensorMeta> | undefined;

export interface KnownCall {
  readonly name: string;
  readonly args: ReadonlyMap<string, Arg>;
  /** the values of a tensor argument */
  readonly valuesOf: (m: TensorMeta) => readonly (number | boolean)[] | null;
  /** a size as it is in this run */
  readonly sizeOf: (d: Dim) => number;
  /** of the result */
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/** aten.add.Tensor -> add */
export const packet = (name: string): string => name.replace(/^\w+\./, "").replace(/\.\w+$/, "");
/** a dimension counted from the front */
export const wrap = (d: number, rank: number): number => (d < 0 ? d + rank : d);

/** a number, True as 1; undefined for anything else */
export function number(v: Arg): number | undefined {
  if (typeof v === "number") return v;
  if (typeof v === "boolean") return v ? 1 : 0;
  if (v instanceof PyFloat) return v.value;
  if (isExpr(v)) return intValue(v);
  return undefined;
}

/** a number or a tensor of known values as an array, undefined where the values are not known */
export function array(c: KnownCall, v: Arg): KnownArray | undefined {
  const n = number(v);
  if (n !== undefined) return { shape: [], data: [n] };
  if (!isMeta(v)) return undefined;
  const values = c.valuesOf(v);
  const shape = v.shape.map(c.sizeOf);
  if (values === null) return undefined;
  return { shape, data: values.map(Number) };
}

/** the argument of this name as an array */
export const tensor = (c: KnownCall, name: string): KnownArray | undefined => array(c, c.args.get(name));
