// The nodes of a syntax tree. In: a node, or a list of them. Out: each node below, outermost first, in source order.
import type * as ast from "./ast";

/** Calls `visit` for every node; where it returns false, what is below that node is left out. */
export function walk(root: unknown, visit: (n: ast.Node) => unknown): void {
  if (Array.isArray(root)) {
    for (const x of root) walk(x, visit);
    return;
  }
  if (root === null || typeof root !== "object" || root instanceof Uint8Array) return;
  if ("kind" in root && "span" in root && visit(root as ast.Node) === false) return;
  for (const [k, v] of Object.entries(root)) {
    if (k !== "span" && k !== "nameSpan" && typeof v === "object" && v !== null) walk(v, visit);
  }
}
