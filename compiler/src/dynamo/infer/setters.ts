// Methods of a class by what they do: those that give an object what it lacks, and those that have others do it. In: a class and
// what is looked for. Out: names of methods, the ones that do it themselves first.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import type { PyClass } from "../objects/values";
import { dotted } from "./syntax";

interface Doing {
  /** does it itself */
  direct: boolean;
  readonly calls: Set<string>;
}

/** methods of the user's that do something: public ones that do it themselves, that have others do it, then private ones */
export function methodsThat(cls: PyClass, does: (m: PyFunction) => boolean, skipped: RegExp): string[] {
  const methods = new Map<string, Doing>();
  for (const c of cls.mro) {
    for (const [key, v] of c.dict.entries()) {
      const name = String(key);
      if (!(v instanceof PyFunction) || v.code.file.library !== "user" || skipped.test(name)) continue;
      const doing = methods.get(name) ?? { direct: false, calls: new Set<string>() };
      methods.set(name, doing);
      doing.direct ||= does(v);
      for (const called of methodsCalled(v)) doing.calls.add(called);
    }
  }
  const leading = new Set([...methods].flatMap(([name, m]) => (m.direct ? [name] : [])));
  for (let grew = leading.size > 0; grew; ) {
    grew = false;
    for (const [name, m] of methods) {
      if (leading.has(name) || ![...m.calls].some(n => leading.has(n))) continue;
      leading.add(name);
      grew = true;
    }
  }
  const found = [...methods.keys()].filter(n => leading.has(n));
  const rank = (n: string): number => (n.startsWith("_") ? 2 : 0) + (methods.get(n)?.direct ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** `self.name = ...`, for one of the names, to what is not None */
export function assignsOwn(method: PyFunction, names: readonly string[]): boolean {
  let found = false;
  walk(method.code.body ?? [], n => {
    if (n.kind === "Assign")
      for (const t of n.targets)
        for (const [to, from] of paired(t, n.value))
          if (isOwn(to) && names.includes(to.attr) && !isNone(from)) found = true;
    return !found;
  });
  return found;
}

/** what each target of an assignment gets; the parts of `a, b = x` get x */
export const paired = (target: ast.Expr, value: ast.Expr): (readonly [ast.Expr, ast.Expr])[] =>
  target.kind !== "Tuple" && target.kind !== "List"
    ? [[target, value]]
    : target.elts.map((t, i) => [t, value.kind === "Tuple" ? (value.elts[i] ?? value) : value]);

export const isNone = (e: ast.Expr): boolean => e.kind === "Constant" && e.value.type === "None";

export const isOwn = (e: ast.Expr): e is ast.Attribute =>
  e.kind === "Attribute" && e.value.kind === "Name" && e.value.id === "self";

/** names of the methods that a method calls on self */
function methodsCalled(method: PyFunction): Set<string> {
  const out = new Set<string>();
  walk(method.code.body ?? [], n => {
    const name = n.kind === "Call" ? /^self\.(\w+)$/.exec(dotted(n.func) ?? "")?.[1] : undefined;
    if (name !== undefined) out.add(name);
  });
  return out;
}
