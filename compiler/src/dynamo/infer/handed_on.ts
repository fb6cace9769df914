// forward(x, **kwargs) that hands its keywords on, to its base's forward or to a module or method of its own. In: the module, the
// function. Out: the parameters that are left for the keywords.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { type PyClass, PyInstance, type Value } from "../objects/values";
import { type ChoicesOf, functionHoles } from "./choices/holes";
import { functionOf, methodOf } from "./context";
import { guarded } from "./guarded";
import type { Program } from "./program";
import type { Hole } from "./types";

const DEEPEST = 3;
const STEPS = 100_000;

/** holes for what `f`, of the module `target`, takes as **kwargs for another function */
export function handedOnHoles(p: Program, target: Value, f: PyFunction, choices: ChoicesOf, depth = 0): Hole[] {
  const name = f.code.signature?.kwarg?.arg;
  if (name === undefined || depth >= DEEPEST || !(target instanceof PyInstance)) return [];
  const calls: ast.Call[] = [];
  walk(f.code.body ?? [], n => {
    if (n.kind === "Call" && n.keywords.some(k => k.arg === null && k.value.kind === "Name" && k.value.id === name))
      calls.push(n);
  });
  // what several calls share is told by each of them
  const call = calls.length === 1 ? calls[0] : undefined;
  const callee = call && calleeOf(p, target, f, call.func);
  if (!call || !callee || call.args.some(a => a.kind === "Starred")) return [];
  const given = new Set(call.keywords.flatMap(k => (k.arg === null ? [] : [k.arg])));
  const own = functionHoles(p, callee.f, callee.self.cls, 1, choices).slice(call.args.length);
  const left = own.filter(h => !given.has(h.name)).map(h => ({ ...h, keywordOnly: true }));
  return [...left, ...handedOnHoles(p, callee.self, callee.f, choices, depth + 1)];
}

interface Callee {
  readonly f: PyFunction;
  readonly self: PyInstance;
}

/** super().forward, self.part and self.method */
function calleeOf(p: Program, target: PyInstance, f: PyFunction, func: ast.Expr): Callee | undefined {
  if (func.kind !== "Attribute") return undefined;
  const { value, attr } = func;
  if (value.kind === "Call" && value.func.kind === "Name" && value.func.id === "super")
    return user(behind(target.cls, f, attr === "__call__" ? "forward" : attr), target);
  if (value.kind !== "Name" || value.id !== "self") return undefined;
  const method = methodOf(target.cls, attr);
  if (method) return user(method, target);
  const part = guarded(p, STEPS, () => p.vm.getattrOrUndefined(target, attr) ?? null);
  const held = "ok" in part ? part.ok : null;
  return held instanceof PyInstance ? user(methodOf(held.cls, "forward"), held) : undefined;
}

const user = (f: PyFunction | undefined, self: PyInstance): Callee | undefined =>
  f && f.code.file.library === "user" ? { f, self } : undefined;

/** the method of this name of the bases behind the class that defines `f` */
function behind(cls: PyClass, f: PyFunction, name: string): PyFunction | undefined {
  const at = cls.mro.findIndex(c => c.dict.values().some(v => functionOf(v) === f));
  for (const c of at < 0 ? [] : cls.mro.slice(at + 1)) {
    const found = functionOf(c.dict.get(name));
    if (found instanceof PyFunction) return found;
  }
  return undefined;
}
