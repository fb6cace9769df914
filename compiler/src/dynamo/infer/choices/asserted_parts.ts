// Objects that an assertion wants to be built in another way. In: the class of one that was handed over, the line that failed
// (`assert model.conditioned`). Out: the same class with the constructor's arguments that the attribute comes of.
import { walk } from "../../../python/walk";
import { PyClass } from "../../objects/values";
import { type InferContext, lookup, methodOf } from "../context";
import { parametersOf } from "../syntax";
import { bool, type Choice, type Failure, type Hole } from "../types";

const ASSERTED = /^assert\s*\(?\s*(not\s+)?(?:self\.)?(\w+)\.(\w+)\s*\)?\s*(?:,|$|#)/;

/** with flags on or off that the attribute is made of, one at a time */
export function asAsserted(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  const [, not, owner, attribute] = f.type === "AssertionError" ? (ASSERTED.exec(f.line) ?? []) : [];
  if (attribute === undefined || now.kind !== "instance" || now.by !== undefined || now.given) return [];
  if (h.name !== owner && !h.selves.has(owner ?? "")) return [];
  const cls = lookup(ctx, h.globals, now.path);
  if (!(cls instanceof PyClass)) return [];
  const wanted = bool(not === undefined);
  const before = now.fixed ?? [];
  return flagsOf(cls, attribute)
    .filter(name => !before.some(([k]) => k === name))
    .map(name => ({ ...now, fixed: [...before, [name, wanted] as const] }));
}

/** parameters of a constructor that an attribute is made of */
function flagsOf(cls: PyClass, attribute: string): string[] {
  const init = methodOf(cls, "__init__");
  const { signature, body } = init?.code ?? {};
  if (!signature) return [];
  const names = new Set(parametersOf(signature).map(p => p.name));
  const found = new Set(names.has(attribute) ? [attribute] : []);
  walk(body ?? [], n => {
    const target = n.kind === "Assign" ? n.targets[0] : undefined;
    if (n.kind !== "Assign" || target?.kind !== "Attribute" || target.attr !== attribute) return;
    walk(n.value, e => {
      if (e.kind === "Name" && names.has(e.id)) found.add(e.id);
    });
  });
  return [...found];
}
