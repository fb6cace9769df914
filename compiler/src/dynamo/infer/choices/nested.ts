// What a parameter holds, by what the code does with its items. In: a node of the code and a test for the parameter. Out: whether
// the node treats an item as a list (indexes it, measures it, goes through it), or gives each item to a layer of its own.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { dotted } from "../syntax";

const MEASURES = /^(len|list|tuple|enumerate|zip|reversed|sum|range)$/;

export function readsItemAsList(n: ast.Node, is: (e: ast.Expr) => boolean): boolean {
  const isItem = (e: ast.Expr | undefined): boolean =>
    e?.kind === "Subscript" && is(e.value) && e.slice.kind !== "Slice" && e.slice.kind !== "Tuple" && !isText(e.slice);
  switch (n.kind) {
    case "Subscript":
      return isItem(n.value) && !isText(n.slice);
    case "Call":
      return MEASURES.test(dotted(n.func) ?? "") && n.args.some(isItem);
    case "Starred":
      return isItem(n.value);
    case "For":
      return isItem(n.iter);
    default:
      return false;
  }
}

const isText = (e: ast.Expr): boolean => e.kind === "Constant" && e.value.type === "str";

/**
 * `self.convs[i](x[i])`, `for i, conv in enumerate(self.convs): conv(x[i])`, `for conv, f in zip(self.convs, x): conv(f)`: as many
 * items as there are layers.
 */
export function givesEachToLayer(n: ast.Node, is: (e: ast.Expr) => boolean): boolean {
  if (n.kind === "Call") return n.func.kind === "Subscript" && getsItem(n, nameOf(n.func.slice), is);
  if (n.kind !== "For" || n.target.kind !== "Tuple" || n.iter.kind !== "Call") return false;
  const [first, second] = n.target.elts.map(nameOf);
  const [a, b] = n.iter.args;
  const kind = dotted(n.iter.func);
  if (kind === "enumerate" && !(a && is(a))) return calls(n.body, second, call => getsItem(call, first, is));
  if (kind !== "zip" || !a || !b) return false;
  const [layer, item] = is(b) && !is(a) ? [first, second] : is(a) && !is(b) ? [second, first] : [];
  return calls(n.body, layer, call => call.args.some(x => nameOf(x) === item));
}

const nameOf = (e: ast.Expr | undefined): string | undefined => (e?.kind === "Name" ? e.id : undefined);

/** whether an argument is x[i] */
const getsItem = (n: ast.Call, i: string | undefined, is: (e: ast.Expr) => boolean): boolean =>
  i !== undefined && n.args.some(a => a.kind === "Subscript" && is(a.value) && nameOf(a.slice) === i);

function calls(body: readonly ast.Stmt[], layer: string | undefined, gets: (n: ast.Call) => boolean): boolean {
  let found = false;
  walk(body, n => {
    if (layer !== undefined && n.kind === "Call" && nameOf(n.func) === layer) found ||= gets(n);
  });
  return found;
}
