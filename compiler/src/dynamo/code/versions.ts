// Assertions about the version of a library: what is modelled of it is of no release, so that they say nothing. In: the test of
// an assertion. Out: whether it asks for a version.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";

export function asksForVersion(test: ast.Expr): boolean {
  let found = false;
  walk(test, n => {
    if (n.kind === "Attribute" && n.attr === "__version__") found = true;
    return !found;
  });
  return found;
}
