// numpy's scalars (np.float32(0.5)): instances of the classes in stdlib/prelude_numpy/scalars.ts, with a number inside.
import type { DType } from "../../aten/types";
import { PyInstance, type Value } from "./values";

/** its dtype; null for what is none */
export function numpyDtype(v: Value): DType | null {
  if (!(v instanceof PyInstance) || v.payload === undefined) return null;
  const name = v.cls.lookup("_dtype_name");
  return typeof name === "string" ? (name as DType) : null;
}

/** Python's number inside one of them; other values as they are */
export function withoutDtype<V extends Value | undefined>(v: V): V | Value {
  return v instanceof PyInstance && numpyDtype(v) !== null ? (v.payload ?? null) : v;
}
