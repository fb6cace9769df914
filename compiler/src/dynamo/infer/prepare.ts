// Methods that a module wants called before it runs: caches that are set up, statistics that are computed. In: a built
// module whose forward failed on something that it has not got yet. Out: whether a method that makes it could be called.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { PyClass, type PyInstance } from "../objects/values";
import { constructorChoices } from "./choices/constructor";
import { functionHoles } from "./choices/holes";
import type { InferContext } from "./context";
import { guarded } from "./guarded";
import { callArguments, makeValue } from "./make";
import { ABSENT, type Failure } from "./types";

/** steps that such a method may take */
const STEPS = 2_000_000;
const LACKS = /NoneType|has no attribute|initiali[sz]ed|set ?up|first|before|Assertion/;
const NOT_BEFORE = /^_|forward|^(train|eval|to|apply|cuda|half|float|generate|sample|load|save|from_|get_|reset$)/;

/** the method's name as it was called, for the notes */
export function prepare(ctx: InferContext, target: PyInstance, f: Failure): string | undefined {
  if (!LACKS.test(`${f.type} ${f.message}`)) return undefined;
  const { vm } = ctx;
  for (const cls of target.cls.mro) {
    for (const [name, method] of cls.dict.entries()) {
      if (!(method instanceof PyFunction) || method.code.file.library !== "user") continue;
      if (NOT_BEFORE.test(String(name)) || !makes(target, method, f)) continue;
      const holes = functionHoles(ctx, method, cls, 1, constructorChoices);
      const outcome = guarded(ctx, STEPS, () => {
        const values = new Map(
          holes.flatMap(h => {
            const v = makeValue(ctx, h, h.required ? (h.choices[0] ?? ABSENT) : ABSENT, () => undefined);
            return v === undefined ? [] : [[h.name, v] as const];
          }),
        );
        const { args, kwargs } = callArguments(holes, values);
        return vm.call(vm.getattr(target, String(name)), args, kwargs);
      });
      if ("ok" in outcome) return `${String(name)}() was called before`;
    }
  }
  return undefined;
}

/** whether a method gives the module what it lacks: an attribute that is None or absent, which the failure speaks of */
function makes(target: PyInstance, method: PyFunction, f: Failure): boolean {
  const lacking = (name: string): boolean => {
    const v = target.attrs?.get(name);
    return (
      (v === undefined || v === null) && f.lines.some(l => l.has(name)) && !(target.cls.lookup(name) instanceof PyClass)
    );
  };
  let found = false;
  walk(method.code.body ?? [], n => {
    if (n.kind === "Assign") for (const t of n.targets) if (isOwn(t) && lacking(t.attr)) found = true;
    return !found;
  });
  return found;
}

const isOwn = (e: ast.Expr): e is ast.Attribute =>
  e.kind === "Attribute" && e.value.kind === "Name" && e.value.id === "self";
