// What functions and methods that a forward hands a parameter on to do with it. In: the function and the parameter. Out: facts
// of its shape, added to what is known of it.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { PyFunction } from "../../interp/frame";
import type { PyClass } from "../../objects/values";
import { functionOf, type InferContext, lookup, methodOf } from "../context";
import { writtenShapes } from "../evidence/shapes";
import { dotted } from "../syntax";
import { noteDerivedRank } from "./derived_ranks";
import { rankTaken } from "./rank_usage";
import { addUsage, emptyUsage, type Usage, valueTest } from "./usage";

const DEEPEST = 3;
const MOST_CALLS = 6;

/** `cls`: of self. What the name stands for after it is bound again is another value. */
export function followCalls(
  ctx: InferContext,
  f: PyFunction,
  cls: PyClass | null,
  name: string,
  usage: Usage,
  depth = 0,
): void {
  const body = f.code.body ?? [];
  noteDerivedRank(usage, body, name);
  const until = boundAgain(body, name);
  const calls: ast.Call[] = [];
  walk(body, n => {
    if (n.kind === "Call" && n.span.line <= until && calls.length < MOST_CALLS && gets(n, name)) calls.push(n);
  });
  for (const call of calls) {
    const path = dotted(call.func) ?? "";
    const [first] = call.args;
    if (first?.kind === "Name" && first.id === name) usage.rank ??= rankTaken(path);
    const method = /^self\.\w+$/.test(path) ? cls && methodOf(cls, path.slice(5)) : undefined;
    const callee = method ?? (path.startsWith("self.") ? undefined : functionOf(lookup(ctx, f.globals, path)));
    if (!(callee instanceof PyFunction) || callee === f || callee.code.file.library !== "user") continue;
    const parameter = parameterOf(callee, call, name, method ? 1 : 0);
    if (parameter === undefined) continue;
    const found = emptyUsage();
    addUsage(found, callee.code.body ?? [], valueTest(parameter, new Set()));
    found.written = writtenShapes(callee.code).get(parameter);
    if (depth + 1 < DEEPEST) followCalls(ctx, callee, method ? cls : null, parameter, found, depth + 1);
    addShape(usage, found);
  }
}

/** the last line on which a name still stands for what the parameter was given */
function boundAgain(body: readonly ast.Stmt[], name: string): number {
  let first = Number.POSITIVE_INFINITY;
  walk(body, n => {
    if (n.kind !== "Assign") return;
    if (keepsRank(n.value, name)) return;
    const targets = n.targets.flatMap(t => (t.kind === "Tuple" ? t.elts : [t]));
    if (targets.some(t => t.kind === "Name" && t.id === name)) first = Math.min(first, n.span.endLine);
  });
  return first;
}

const SAME_RANK = /^(to|cuda|cpu|float|half|double|contiguous|clone|detach|type|clamp|type_as)$/;

/** a part of a value, its products and its copies, which have as many dimensions */
function keepsRank(e: ast.Expr, name: string): boolean {
  if (e.kind === "Name") return e.id === name;
  if (e.kind === "BinOp") return keepsRank(e.left, name);
  if (e.kind === "Subscript") {
    const parts = e.slice.kind === "Tuple" ? e.slice.elts : [e.slice];
    const whole = (x: ast.Expr): boolean =>
      x.kind === "Slice" || (x.kind === "Constant" && x.value.type === "Ellipsis");
    return keepsRank(e.value, name) && parts.every(whole);
  }
  return (
    e.kind === "Call" && e.func.kind === "Attribute" && SAME_RANK.test(e.func.attr) && keepsRank(e.func.value, name)
  );
}

const gets = (n: ast.Call, name: string): boolean =>
  [...n.args, ...n.keywords.map(k => k.value)].some(a => a.kind === "Name" && a.id === name);

/** the parameter of a callee that a call gives the name to */
function parameterOf(f: PyFunction, call: ast.Call, name: string, skip: number): string | undefined {
  const s = f.code.signature;
  if (!s) return undefined;
  const at = call.args.findIndex(a => a.kind === "Name" && a.id === name);
  if (call.args.slice(0, at + 1).some(a => a.kind === "Starred")) return undefined;
  if (at >= 0) return [...s.posonlyargs, ...s.args][at + skip]?.arg;
  const keyword = call.keywords.find(k => k.value.kind === "Name" && k.value.id === name)?.arg;
  return keyword ?? undefined;
}

function addShape(to: Usage, found: Usage): void {
  to.rank ??= found.rank;
  if (to.rank === found.rank) to.dimNames ??= found.dimNames;
  to.rankAtLeast = Math.max(to.rankAtLeast, found.rankAtLeast);
  to.written ??= found.written;
  to.sliced ||= found.sliced;
  to.subtracted ||= found.subtracted;
  for (const k of found.keys) to.keys.add(k);
}
