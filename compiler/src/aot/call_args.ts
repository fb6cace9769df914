// A bound call as a graph node's arguments. In: a binding. Out: positional and keyword arguments as the dispatcher hands
// them to tracing. Promises: numbers stand in the schema's type; trailing positional defaults and keyword defaults are
// left out.

import { parseDevice } from "../aten/args";
import type { Bound } from "../aten/bind";
import { floatKey } from "../aten/float_parameter";
import type { SchemaType } from "../aten/schema";
import { type ArgValue, DeviceArg, DTypeArg, PyFloat } from "../aten/types";

export interface NormalizedCall<T> {
  readonly args: readonly ArgValue<T>[];
  readonly kwargs: ReadonlyMap<string, ArgValue<T>>;
}

export function normalizeCall<T>(bound: Bound<T>, isTensor: (x: unknown) => x is T): NormalizedCall<T> {
  const args: ArgValue<T>[] = [];
  const kwargs = new Map<string, ArgValue<T>>();
  let keep = 0;
  for (const p of bound.schema.parameters) {
    const given = bound.values.get(p.name);
    const value = coerce(given === undefined ? (p.defaultValue ?? null) : given, p.type, isTensor);
    const isDefault = p.defaultValue !== undefined && sameValue(value, coerce(p.defaultValue, p.type, isTensor));
    if (p.keywordOnly) {
      if (!isDefault) kwargs.set(p.name, value);
      continue;
    }
    args.push(value);
    if (!isDefault) keep = args.length;
  }
  return { args: args.slice(0, keep), kwargs };
}

/** the value as the dispatcher stores it for this type: an int for a float parameter is a float */
function coerce<T>(value: ArgValue<T>, type: SchemaType, isTensor: (x: unknown) => x is T): ArgValue<T> {
  if (value === null || isTensor(value)) return value;
  if (type.list !== false) {
    const item: SchemaType = { ...type, list: false };
    // one number stands for all of a list of known length
    const repeats = typeof type.list === "number" ? type.list : 1;
    const items = Array.isArray(value)
      ? (value as readonly ArgValue<T>[])
      : Array.from({ length: repeats }, () => value);
    return items.map(x => coerce(x, item, isTensor));
  }
  switch (type.base) {
    case "float":
      if (typeof value === "number") return new PyFloat(value);
      return typeof value === "boolean" || typeof value === "bigint" ? new PyFloat(Number(value)) : value;
    case "int":
    case "SymInt":
      return typeof value === "boolean" ? Number(value) : value;
    case "Device":
      if (typeof value === "number") return new DeviceArg({ type: "cuda", index: value });
      if (typeof value === "string") {
        const d = parseDevice(value);
        return d === undefined ? value : new DeviceArg(d);
      }
      return value;
    default:
      return value;
  }
}

function sameValue<T>(a: ArgValue<T>, b: ArgValue<T>): boolean {
  if (a === b) return true;
  if (a instanceof PyFloat && b instanceof PyFloat) return floatKey(a) === floatKey(b);
  if (a instanceof DTypeArg && b instanceof DTypeArg) return a.dtype === b.dtype;
  if (Array.isArray(a) && Array.isArray(b)) {
    const xs = a as readonly ArgValue<T>[];
    const ys = b as readonly ArgValue<T>[];
    return xs.length === ys.length && xs.every((x, i) => sameValue(x, ys[i] ?? null));
  }
  return false;
}

/** Every tensor of a bound call replaced by f(tensor). */
export function mapBound<T, U>(bound: Bound<T>, isTensor: (x: unknown) => x is T, f: (x: T) => U): Bound<U> {
  const map = (v: ArgValue<T>): ArgValue<U> => {
    if (isTensor(v)) return f(v);
    if (Array.isArray(v)) return (v as readonly ArgValue<T>[]).map(map);
    return v as ArgValue<U>;
  };
  const values = new Map<string, ArgValue<U>>();
  for (const [name, v] of bound.values) values.set(name, map(v));
  return { schema: bound.schema, values };
}

/** The tensors of a bound call, in schema order. */
export function tensorsOf<T>(bound: Bound<T>, isTensor: (x: unknown) => x is T): T[] {
  const found: T[] = [];
  const visit = (v: ArgValue<T> | undefined): void => {
    if (v === undefined) return;
    if (isTensor(v)) found.push(v);
    else if (Array.isArray(v)) for (const x of v as readonly ArgValue<T>[]) visit(x);
  };
  for (const p of bound.schema.parameters) visit(bound.values.get(p.name));
  return found;
}
