// Methods that a module wants called before it runs: those that set caches up, compute statistics or build its layers. In: a
// built module whose forward failed on something that it has not got yet. Out: what was called to make it, and with what.
import { walk } from "../../python/walk";
import type { PyFunction } from "../interp/frame";
import { PyClass, type PyInstance } from "../objects/values";
import { make } from "./construct";
import { type InferContext, methodOf } from "./context";
import { methodMaker } from "./makers";
import { missingKey } from "./search/failure";
import { isNone, isOwn, methodsThat, paired } from "./setters";
import { stringOf } from "./syntax";
import type { Failure } from "./types";

const LACKS = /^KeyError|NoneType|has no attribute|initiali[sz]ed|set ?up|first|before|Assertion/;
const NOT_BEFORE = /^__|forward|^(train|eval|to|apply|cuda|half|float|generate|sample|load|save|from_|get_)/;
/** methods that are tried */
const MOST_METHODS = 3;

/** the method's name as it was called and what its arguments were, for the notes; undefined: nothing makes what is lacking */
export function prepare(ctx: InferContext, target: PyInstance, f: Failure): string[] | undefined {
  if (!LACKS.test(`${f.type} ${f.message}`) && !/\w\(/.test(f.message)) return undefined;
  // a message may say which method to call
  const gives = (m: PyFunction): boolean => makes(target, m, f) || f.message.includes(`${m.code.name}(`);
  for (const name of methodsThat(target.cls, gives, NOT_BEFORE).slice(0, MOST_METHODS)) {
    const method = methodOf(target.cls, name);
    if (!method) continue;
    const assumed = ctx.assumed.length;
    const called = make(ctx, target.cls, methodMaker(ctx, target, method, name));
    if (called.kind === "built") return [`${name}() was called before`, ...called.notes, ...ctx.assumed.slice(assumed)];
  }
  return undefined;
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
