// Constants of a launch configuration: names of block sizes, and sizes that follow from a kernel's ranges.
import { type Expr, intValue } from "../../symbolic/expr";
import type { GraphView } from "./graph_view";
import type { Prefix } from "./range_tree";

/** constant of a launch configuration: rows that many lines of a tile name are summed before they are added (1), or not (0) */
export const ADDS_TOGETHER = "TOGETHER";

/** constants of a nested reduction: elements per group, and groups per block */
export function nestedNames(p: Prefix): { readonly local: string; readonly reduced: string } {
  const axis = p.toUpperCase().replace(/_$/, "");
  return { local: `nested_${axis}_LOCAL_REDUCTION_SIZE`, reduced: `nested_${axis}_REDUCED_BLOCK` };
}

export const blockOf = (p: Prefix): string => `${p.toUpperCase()}BLOCK`;

/** size of the single block of a persistent reduction (_get_persistent_RBLOCK); infinite if there is none */
export function persistentBlock(k: { readonly graph: GraphView }, numel: Expr): number {
  const n = intValue(k.graph.sizevars.simplify(numel));
  if (n !== undefined) return nextPowerOf2(n);
  let block = 2;
  while (block <= 1024 * 16 && !k.graph.sizevars.knownLeq(numel, block)) block *= 2;
  return k.graph.sizevars.knownLeq(numel, block) ? block : Number.POSITIVE_INFINITY;
}

/** The least power of two that is not below n. */
export function nextPowerOf2(n: number): number {
  let p = 1;
  while (p < n) p *= 2;
  return p;
}
