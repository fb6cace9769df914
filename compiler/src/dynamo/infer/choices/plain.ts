// Values as choices. In: a value of the program. Out: the choice that makes it again; undefined: nothing plain makes it.
import { PyDict, PyFloat, PyInstance, PyList, PyTuple, type Value } from "../../objects/values";
import { bool, type Choice, NONE, number, str } from "../types";

/** the class of stand-ins for configurations, as errors name it */
export const ASSUMED = "AssumedConfig";

export function plainChoice(v: Value | undefined): Choice | undefined {
  if (v === null) return NONE;
  if (v instanceof PyList || v instanceof PyTuple) {
    const items = v.items.map(plainChoice);
    return items.every(x => x !== undefined) ? { kind: "seq", items, tuple: v instanceof PyTuple } : undefined;
  }
  // a stand-in for a configuration holds what it was asked for
  const held = v instanceof PyInstance && v.cls.name === ASSUMED ? v.attrs : v;
  if (held instanceof PyDict) {
    const entries = held.entries().map(([k, x]) => [String(k), plainChoice(x)] as const);
    const known = entries.flatMap(([k, c]) => (c === undefined ? [] : [[k, c] as const]));
    return known.length === entries.length ? { kind: "dict", entries: known } : undefined;
  }
  if (typeof v === "boolean") return bool(v);
  if (typeof v === "number") return number(v);
  if (v instanceof PyFloat) return number(v.value, true);
  return typeof v === "string" ? str(v) : undefined;
}
