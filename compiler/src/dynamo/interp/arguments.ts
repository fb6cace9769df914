// Arguments of calls: of Python functions to local slots, of native functions to named values. In: positional and keyword
// values. Out: bound values, or Python's TypeError.
import type { Code } from "../code/instructions";
import { type Kwargs, PyDict, PyTuple, type Value } from "../objects/values";
import type { Interp } from "./api";
import type { PyFunction } from "./frame";

/** fills the parameter slots of a frame, as CPython's initialize_locals */
export function bindParameters(
  vm: Interp,
  f: PyFunction,
  args: readonly Value[],
  kwargs: Kwargs,
  locals: (Value | undefined)[],
): void {
  const code = f.code;
  const count = code.argCount;
  const n = Math.min(args.length, count);
  for (let i = 0; i < n; i++) locals[i] = args[i];
  let next = count + code.kwOnlyCount;
  if (code.varargs) locals[next++] = vm.tuple(args.slice(count));
  else if (args.length > count) tooMany(vm, f, args.length);
  const extra = code.varkw ? vm.dict() : null;
  if (extra) locals[next] = extra;
  for (const [name, value] of kwargs) {
    const at = parameterIndex(code, name);
    if (at < 0) {
      if (!extra) vm.raise("TypeError", `${f.qualname}() got an unexpected keyword argument '${name}'`);
      extra.set(name, value);
    } else {
      if (locals[at] !== undefined) vm.raise("TypeError", `${f.qualname}() got multiple values for argument '${name}'`);
      locals[at] = value;
    }
  }
  const firstDefault = count - f.defaults.length;
  const missing: string[] = [];
  for (let i = n; i < count; i++) {
    if (locals[i] !== undefined) continue;
    if (i >= firstDefault) locals[i] = f.defaults[i - firstDefault];
    else missing.push(code.varnames[i] ?? "?");
  }
  if (missing.length > 0) missingArguments(vm, f, missing, "positional");
  const missingKeywords: string[] = [];
  for (let i = count; i < count + code.kwOnlyCount; i++) {
    if (locals[i] !== undefined) continue;
    const name = code.varnames[i] ?? "?";
    const d = f.kwDefaults.get(name);
    if (d !== undefined) locals[i] = d;
    else missingKeywords.push(name);
  }
  if (missingKeywords.length > 0) missingArguments(vm, f, missingKeywords, "keyword-only");
}

function parameterIndex(code: Code, name: string): number {
  const named = code.argCount + code.kwOnlyCount;
  for (let i = code.posOnlyCount; i < named; i++) if (code.varnames[i] === name) return i;
  return -1;
}

function tooMany(vm: Interp, f: PyFunction, given: number): never {
  const count = f.code.argCount;
  const least = count - f.defaults.length;
  const takes = least < count ? `from ${least} to ${count}` : `${count}`;
  const plural = count === 1 && least === count ? "" : "s";
  const were = given === 1 ? "was" : "were";
  return vm.raise(
    "TypeError",
    `${f.qualname}() takes ${takes} positional argument${plural} but ${given} ${were} given`,
  );
}

function missingArguments(vm: Interp, f: PyFunction, names: readonly string[], kind: string): never {
  const quoted = names.map(n => `'${n}'`);
  const last = quoted[quoted.length - 1] ?? "";
  const list =
    quoted.length === 1
      ? last
      : quoted.length === 2
        ? quoted.join(" and ")
        : `${quoted.slice(0, -1).join(", ")}, and ${last}`;
  const plural = names.length === 1 ? "" : "s";
  return vm.raise("TypeError", `${f.qualname}() missing ${names.length} required ${kind} argument${plural}: ${list}`);
}

/** unpacks `*args` of a call */
export function spread(vm: Interp, v: Value): readonly Value[] {
  return v instanceof PyTuple ? v.items : vm.toArray(v);
}

/** unpacks `**kwargs` of a call */
export function spreadKeywords(vm: Interp, v: Value): Map<string, Value> {
  const out = new Map<string, Value>();
  if (v instanceof PyDict) {
    for (const [k, x] of v.entries()) {
      if (typeof k !== "string") vm.raise("TypeError", "keywords must be strings");
      out.set(k, vm.observer?.loadedItem?.(v, k, x) ?? x);
    }
    return out;
  }
  for (const k of vm.toArray(vm.call(vm.getattr(v, "keys"), []))) {
    if (typeof k !== "string") vm.raise("TypeError", "keywords must be strings");
    out.set(k, vm.getitem(v, k));
  }
  return out;
}

/**
 * Arguments of a native function by name. `names` lists parameters; "*" starts keyword-only ones, a trailing "?" marks
 * an optional one. Missing optional ones are undefined.
 */
export class NativeArgs {
  private readonly values = new Map<string, Value>();
  constructor(
    private readonly vm: Interp,
    private readonly func: string,
    names: readonly string[],
    args: readonly Value[],
    kwargs: Kwargs,
  ) {
    const star = names.indexOf("*");
    const positional = star < 0 ? names : names.slice(0, star);
    if (args.length > positional.length) {
      vm.raise("TypeError", `${func}() takes at most ${positional.length} arguments (${args.length} given)`);
    }
    args.forEach((a, i) => {
      this.values.set((positional[i] ?? "").replace("?", ""), a);
    });
    for (const [k, v] of kwargs) {
      if (!names.includes(k) && !names.includes(`${k}?`)) {
        vm.raise("TypeError", `${func}() got an unexpected keyword argument '${k}'`);
      }
      if (this.values.has(k)) vm.raise("TypeError", `${func}() got multiple values for argument '${k}'`);
      this.values.set(k, v);
    }
    for (const n of names) {
      if (n !== "*" && !n.endsWith("?") && !this.values.has(n)) {
        vm.raise("TypeError", `${func}() missing required argument '${n}'`);
      }
    }
  }
  get(name: string): Value | undefined {
    return this.values.get(name);
  }
  need(name: string): Value {
    const v = this.values.get(name);
    if (v === undefined) return this.vm.raise("TypeError", `${this.func}() missing required argument '${name}'`);
    return v;
  }
}
