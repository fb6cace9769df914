// What a node of a loop body reads. In: a node. Out: the nodes it takes values from. Promises: every kind of node is known.
import type { BodyNode } from "./loop_body";

/** the nodes that `n` reads, in the order of its fields; a masked node reads its mask, its block lies apart */
export function operandsOf(n: BodyNode): readonly BodyNode[] {
  switch (n.op) {
    case "get_index":
    case "constant":
    case "load_seed":
      return [];
    case "load":
    case "index_expr":
      return [n.at];
    case "store":
    case "store_reduction":
      return [n.at, n.value];
    case "to_dtype":
    case "to_dtype_bitcast":
    case "set_indirect":
    case "getitem":
      return [n.x];
    case "check_bounds":
      return [n.at, n.size];
    case "masked":
      return [n.mask];
    case "reduction":
      return Array.isArray(n.value) ? (n.value as readonly BodyNode[]) : [n.value as BodyNode];
    case "scan":
    case "sort":
      return n.values;
    case "random":
      return [n.seed, n.offset];
    case "randint64":
      return [n.seed, n.offset, n.low, n.high];
    case "call":
      return n.args;
    default: {
      const never: never = n;
      return never;
    }
  }
}
