// Which values share memory. In: a node. Out: the node that owns its storage. Promises: follows view operators,
// in-place operators and the parts of multi-output views.
import { lookup } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import { FxNode } from "../fx/graph";

/** view operators by schema, also the ones that exist only after view_to_reshape */
export function isViewTarget(target: string): boolean {
  return lookup(target)?.viewOf !== undefined || target === "aten.reshape.default";
}

/** Whether the operator's schema has an aliased argument (a view or a write): what torch's is_view asks. */
export function hasAliasInfo(target: string): boolean {
  const record = lookup(target);
  return record !== undefined && parseSchema(record.schema).parameters.some(p => p.alias !== null);
}

export function storageOf(node: FxNode): FxNode {
  let n = node;
  for (;;) {
    const first = n.args[0];
    if (n.op !== "call_function" || !(first instanceof FxNode)) return n;
    const record = lookup(n.target);
    if (n.target === "operator.getitem") {
      if (!isViewTarget(first.target)) return n;
      n = first;
    } else if (isViewTarget(n.target) || (record !== undefined && parseSchema(record.schema).parameters[0]?.mutated))
      n = first;
    else return n;
  }
}
