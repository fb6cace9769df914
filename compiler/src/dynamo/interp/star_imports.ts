// `from m import *` where m makes its names when they are asked for, or nobody knows it. In: the importing module's names and a
// name that these lack. Out: what the name stands for in m.
import { type PyDict, type PyModule, PyUnknown, type Value } from "../objects/values";
import type { Interp } from "./api";

const sources = new WeakMap<PyDict, (PyModule | PyUnknown)[]>();
/** dictionaries whose sources are being asked: modules may import each other */
const asked = new Set<PyDict>();

/** names that Python 2 had, which code asks for to learn what it runs on */
const OLD = /^(unicode|xrange|raw_input|basestring|long|reload|unichr|file|cmp|__.*)$/;

/** `m`, and the unknown modules that it has imported in this way itself */
export function noteStar(into: PyDict, m: PyModule | PyUnknown): void {
  const behind = m instanceof PyUnknown ? [] : (sources.get(m.dict) ?? []).filter(x => x instanceof PyUnknown);
  sources.set(into, [m, ...behind, ...(sources.get(into) ?? [])]);
}

/** `known`: only what is known; else an unknown value of a module that nobody knows counts too */
export function starName(vm: Interp, names: PyDict, name: string, known: boolean): Value | undefined {
  const from = sources.get(names);
  if (from === undefined || OLD.test(name) || asked.has(names)) return undefined;
  asked.add(names);
  try {
    let unknown: Value | undefined;
    for (const m of from) {
      const v = vm.getattrOrUndefined(m, name);
      if (v === undefined) continue;
      if (!(v instanceof PyUnknown)) return v;
      unknown ??= v;
    }
    return known ? undefined : unknown;
  } finally {
    asked.delete(names);
  }
}
