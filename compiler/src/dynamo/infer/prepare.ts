// Methods that a module wants called before it runs: those that set caches up, compute statistics or build its layers. In: a
// built module whose forward failed on something that it has not got yet. Out: what was called to make it, and with what.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { PyClass, type PyInstance } from "../objects/values";
import { make } from "./construct";
import { type InferContext, methodOf } from "./context";
import { methodMaker } from "./makers";
import { missingKey } from "./search/failure";
import { dotted, stringOf } from "./syntax";
import type { Failure } from "./types";

const LACKS = /^KeyError|NoneType|has no attribute|initiali[sz]ed|set ?up|first|before|Assertion/;
const NOT_BEFORE = /^__|forward|^(train|eval|to|apply|cuda|half|float|generate|sample|load|save|from_|get_)/;
/** methods that are tried */
const MOST_METHODS = 3;

/** the method's name as it was called and what its arguments were, for the notes; undefined: nothing makes what is lacking */
export function prepare(ctx: InferContext, target: PyInstance, f: Failure): string[] | undefined {
  if (!LACKS.test(`${f.type} ${f.message}`)) return undefined;
  for (const name of makers(target, f).slice(0, MOST_METHODS)) {
    const method = methodOf(target.cls, name);
    if (!method) continue;
    const assumed = ctx.assumed.length;
    const called = make(ctx, target.cls, methodMaker(ctx, target, method, name));
    if (called.kind === "built") return [`${name}() was called before`, ...called.notes, ...ctx.assumed.slice(assumed)];
  }
  return undefined;
}

interface Doing {
  /** gives the module what it lacks */
  direct: boolean;
  readonly calls: Set<string>;
}

/** methods that give the module what it lacks: public ones that do it themselves, that have others do it, then private ones */
function makers(target: PyInstance, f: Failure): string[] {
  const methods = new Map<string, Doing>();
  for (const cls of target.cls.mro) {
    for (const [key, v] of cls.dict.entries()) {
      const name = String(key);
      if (!(v instanceof PyFunction) || v.code.file.library !== "user" || NOT_BEFORE.test(name)) continue;
      const doing = methods.get(name) ?? { direct: false, calls: new Set<string>() };
      methods.set(name, doing);
      doing.direct ||= makes(target, v, f);
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

/** an attribute that is None or absent, which the failure speaks of, is assigned */
function makes(target: PyInstance, method: PyFunction, f: Failure): boolean {
  const lacking = (name: string): boolean => {
    const v = target.attrs?.get(name);
    return (
      (v === undefined || v === null) && f.lines.some(l => l.has(name)) && !(target.cls.lookup(name) instanceof PyClass)
    );
  };
  let found = false;
  const key = missingKey(f);
  walk(method.code.body ?? [], n => {
    if (n.kind === "Assign")
      for (const t of n.targets) {
        for (const [to, from] of paired(t, n.value)) if (isOwn(to) && lacking(to.attr) && !isNone(from)) found = true;
        // self.state["previous"] = ...
        if (key !== undefined && t.kind === "Subscript" && isOwn(t.value) && stringOf(t.slice) === key) found = true;
      }
    return !found;
  });
  return found;
}

/** what each target of an assignment gets; the parts of `a, b = x` get x */
const paired = (target: ast.Expr, value: ast.Expr): (readonly [ast.Expr, ast.Expr])[] =>
  target.kind !== "Tuple" && target.kind !== "List"
    ? [[target, value]]
    : target.elts.map((t, i) => [t, value.kind === "Tuple" ? (value.elts[i] ?? value) : value]);

const isNone = (e: ast.Expr): boolean => e.kind === "Constant" && e.value.type === "None";

const isOwn = (e: ast.Expr): e is ast.Attribute =>
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
