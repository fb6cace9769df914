// Calls of a class that the project's files write but that can't be run, since they hang on options and data. In: a file's text
// and the class's name. Out: for each parameter, the expression that it gets, with what was read from a configuration
// (`hp.width`, `args["width"]`) as the name alone.
import type * as ast from "../../../python/ast";
import { PythonFile } from "../../../python/file";
import { walk } from "../../../python/walk";
import { dotted, stringOf } from "../syntax";

/** parameter → expression */
export type GivenExpressions = ReadonlyMap<string, ast.Expr>;

export const mentionsCall = (text: string, cls: string): boolean =>
  text.includes(cls) && new RegExp(`(?<!\\bclass\\s+)\\b${cls}\\s*\\(`).test(text);

/** What each call of `cls` in a file gives; `positional`: its parameters in order. */
export function callsIn(text: string, cls: string, positional: readonly string[]): GivenExpressions[] {
  const out: GivenExpressions[] = [];
  walk(new PythonFile(text).module.body, n => {
    if (n.kind !== "Call" || dotted(n.func)?.split(".").pop() !== cls) return;
    const given = new Map<string, ast.Expr>();
    const starred = n.args.findIndex(a => a.kind === "Starred");
    n.args.slice(0, starred < 0 ? undefined : starred).forEach((a, i) => {
      const name = positional[i];
      if (name !== undefined) given.set(name, plainNames(a));
    });
    for (const k of n.keywords) if (k.arg !== null) given.set(k.arg, plainNames(k.value));
    if (given.size > 0) out.push(given);
  });
  return out;
}

/** `hp.width * 2` as `width * 2` */
function plainNames(e: ast.Expr): ast.Expr {
  const read = e.kind === "Attribute" ? e.attr : e.kind === "Subscript" ? stringOf(e.slice) : undefined;
  if (read !== undefined) return { kind: "Name", span: e.span, id: read };
  if (e.kind === "BinOp") return { ...e, left: plainNames(e.left), right: plainNames(e.right) };
  if (e.kind === "Tuple" || e.kind === "List") return { ...e, elts: e.elts.map(plainNames) };
  return e;
}

/** names whose values these expressions need */
export function namesIn(given: GivenExpressions): string[] {
  const out = new Set<string>();
  walk([...given.values()], n => {
    if (n.kind === "Name") out.add(n.id);
  });
  return [...out];
}
