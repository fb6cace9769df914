// State that a start-up function of the program puts where its other functions look for it: settings that a module keeps, a
// parser that an object of a module holds. In: an error of a run that found None there. Out: whether a function was called
// that makes it, so that the run is worth another try.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { PyClass, PyInstance, type PyModule } from "../objects/values";
import { around, holds } from "./conditions";
import { type InferContext, methodOf } from "./context";
import { functionMaker, type Maker, methodMaker } from "./makers";
import { assignsOwn, isNone, methodsThat } from "./setters";
import type { Failure } from "./types";

/** calls a way to an object with inferred arguments */
export type Call = (ctx: InferContext, cls: PyClass, maker: Maker) => { readonly kind: "built" | "failed" };

const ERRORS = /^(AssertionError|AttributeError|TypeError|ValueError|RuntimeError|KeyError|Exception|NameError)$/;
/** lines of the stack, innermost first, that are looked at */
const DEEPEST = 3;
/** functions that are tried */
const MOST = 3;
const NO_START = /^__|^(save|reset|clear|destroy|del|unset|close)/;

export function startedUp(ctx: InferContext, f: Failure, call: Call): boolean {
  if (!ERRORS.test(f.type)) return false;
  for (const [i, place] of f.places.slice(0, DEEPEST).entries()) {
    const m = ctx.elsewhere().find(x => x.file === fileName(place));
    const code = m && codeAround(m, place);
    if (!m || !code) continue;
    const tests = around(code.body ?? [], place.line).map(c => c.test);
    const named = new Set([...(f.lines[i + 1] ?? []), ...tests.flatMap(wordsOf)]);
    const tried = [...functionsSetting(ctx, m, named), ...methodsSetting(ctx, named, m)];
    for (const { cls, maker } of fewestFirst(tried).slice(0, MOST)) {
      if (call(ctx, cls, maker).kind !== "built") continue;
      const note = `${maker.name}() was called before`;
      if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
      return true;
    }
  }
  return false;
}

interface Start {
  readonly cls: PyClass;
  readonly maker: Maker;
}

const needed = (s: Start): number => s.maker.holes.filter(h => h.required).length;
const fewestFirst = (all: readonly Start[]): Start[] => [...all].sort((a, b) => needed(a) - needed(b));

const fileName = (place: Failure["places"][number]): string | undefined =>
  (place.file as { readonly name?: string }).name;

/** the function of a module, or the method of a class of it, that a line stands in */
function codeAround(m: PyModule, place: Failure["places"][number]): PyFunction["code"] | undefined {
  for (const v of m.dict.values()) {
    for (const f of v instanceof PyClass ? v.dict.values() : [v])
      if (f instanceof PyFunction && holds(f.code, place)) return f.code;
  }
  return undefined;
}

function wordsOf(test: ast.Expr): string[] {
  const out: string[] = [];
  walk([test], n => {
    if (n.kind === "Name") out.push(n.id);
    if (n.kind === "Attribute") out.push(n.attr);
  });
  return out;
}

/** `global settings; settings = ...` for a name that is None */
function functionsSetting(ctx: InferContext, m: PyModule, named: ReadonlySet<string>): Start[] {
  const lacking = [...named].filter(n => m.dict.get(n) === null);
  if (lacking.length === 0) return [];
  return m.dict.values().flatMap(v => {
    if (!(v instanceof PyFunction) || v.code.file.name !== m.file || NO_START.test(v.code.name)) return [];
    let [declared, assigned] = [false, false];
    walk(v.code.body ?? [], n => {
      if (n.kind === "Global") declared ||= n.names.some(x => lacking.includes(x));
      if (n.kind === "Assign" && !isNone(n.value))
        assigned ||= n.targets.some(t => t.kind === "Name" && lacking.includes(t.id));
    });
    return declared && assigned ? [{ cls: ctx.vm.types.object, maker: functionMaker(ctx, v, v.code.name) }] : [];
  });
}

/** `self.parser = ...` of an object that a module keeps, whose attribute is None */
function methodsSetting(ctx: InferContext, named: ReadonlySet<string>, m: PyModule): Start[] {
  const objects = new Set(
    m.dict.values().filter((v): v is PyInstance => v instanceof PyInstance && !ctx.torch.isModuleClass(v.cls)),
  );
  return [...objects].flatMap(o => {
    const lacking = [...named].filter(n => o.attrs?.get(n) === null);
    if (lacking.length === 0) return [];
    return methodsThat(o.cls, f => assignsOwn(f, lacking), NO_START).flatMap(name => {
      const method = methodOf(o.cls, name);
      return method ? [{ cls: o.cls, maker: methodMaker(ctx, o, method, name) }] : [];
    });
  });
}
