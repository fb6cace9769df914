// Whether what a parameter holds are lists themselves. In: a node of the code and a test for the parameter. Out: whether the node
// indexes one of its items, measures it or goes through it.
import type * as ast from "../../../python/ast";
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
