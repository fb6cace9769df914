// Ranks of what a function computes from one of its parameters without changing how many dimensions it has: `b, c, h, w =
// y.shape` of `y = x + pos` says the rank of x. In: the function's statements and the parameter. Out: facts of its shape.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { dotted } from "../syntax";
import type { Usage } from "./usage";

const METHODS =
  /^(to|cuda|cpu|float|half|double|contiguous|clone|detach|type|type_as|clamp|permute|transpose|flip|roll|relu|sigmoid|tanh|softmax|masked_fill|mul|add|sub|div|repeat_interleave)$/;
const FUNCTIONS =
  /^(?:torch|F|nn\.functional|torch\.nn\.functional)\.(relu|gelu|silu|sigmoid|tanh|softmax|normalize|dropout|pad|interpolate|repeat_interleave|flip|roll)$/;

/** whether an expression has as many dimensions as these names */
function keeps(e: ast.Expr, names: ReadonlySet<string>): boolean {
  if (e.kind === "Name") return names.has(e.id);
  if (e.kind === "BinOp") return keeps(e.left, names) || ((e.op === "+" || e.op === "-") && keeps(e.right, names));
  if (e.kind !== "Call") return false;
  if (e.func.kind === "Attribute" && METHODS.test(e.func.attr) && keeps(e.func.value, names)) return true;
  const [first] = e.args;
  return first !== undefined && FUNCTIONS.test(dotted(e.func) ?? "") && keeps(first, names);
}

/** the name whose shape an expression is */
function shapeOwner(e: ast.Expr): string | undefined {
  const of = (x: ast.Expr): string | undefined => (x.kind === "Name" ? x.id : undefined);
  if (e.kind === "Attribute") return e.attr === "shape" ? of(e.value) : undefined;
  const size = e.kind === "Call" && e.args.length === 0 && e.func.kind === "Attribute" && e.func.attr === "size";
  return size && e.func.kind === "Attribute" ? of(e.func.value) : undefined;
}

export function noteDerivedRank(usage: Usage, body: readonly ast.Stmt[], parameter: string): void {
  const names = new Set([parameter]);
  walk(body, n => {
    if (n.kind === "FunctionDef" || n.kind === "Lambda") return false;
    if (n.kind !== "Assign" || usage.rank !== undefined) return true;
    const [target] = n.targets;
    if (target?.kind === "Name") {
      if (keeps(n.value, names)) names.add(target.id);
      else names.delete(target.id);
    } else if (target?.kind === "Tuple") {
      const owner = shapeOwner(n.value);
      const plain = target.elts.every(t => t.kind === "Name");
      if (owner !== undefined && names.has(owner) && plain && target.elts.length >= usage.rankAtLeast) {
        usage.rank = target.elts.length;
        usage.dimNames = target.elts.map(t => (t.kind === "Name" ? t.id : "_"));
      } else for (const t of target.elts) if (t.kind === "Name") names.delete(t.id);
    }
    return true;
  });
}
