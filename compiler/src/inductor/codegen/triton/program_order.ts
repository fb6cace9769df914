// In which order a kernel's programs walk its tiles, where the same data is read from two places: what a neighbour in time
// reads too comes from the L2. In: the loops of a pointwise kernel. Out: an order. Promises: every tile is done once (a
// symmetric one's diagonal twice, alike); an order is given only where the buffer read twice does not fit the L2 anyway.
// Not Inductor's: behaviour `orders_programs`.
import { itemsize } from "../../ir/dtypes";
import { accessesOf } from "../../scheduler/transpose_frame";
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, intValue } from "../../symbolic/expr";
import type { GraphView } from "./graph_view";
import { type CodegenOptions, has } from "./options";
import type { Tiling } from "./range_tree";

/**
 * mirrored: the first block, the last, the second, the last but one, ...: a tensor read forwards and backwards. paired: tile
 * (i, j), then tile (j, i): a square matrix read as it is and transposed.
 */
export type ProgramOrder = "mirrored" | "paired";

export function programOrder(
  nodes: readonly SchedulerNode[],
  tiling: Tiling,
  graph: GraphView,
  options: CodegenOptions,
): ProgramOrder | null {
  if (!has(options, "orders_programs")) return null;
  const [x, y, z] = (["x", "y", "z"] as const).map(p => tiling.get(p));
  if (!x || z) return null;
  for (const steps of stepsByBuffer(nodes, graph, options.target.l2Bytes / 2).values()) {
    if (!y && steps.some(isForwards) && steps.some(s => !isForwards(s))) return "mirrored";
    const square = y && intValue(x) !== undefined && x === y;
    if (square && steps.some(a => steps.some(b => isTransposed(a, b)))) return "paired";
  }
  return null;
}

/** of each large buffer: how far each of its reads steps per loop */
function stepsByBuffer(
  nodes: readonly SchedulerNode[],
  graph: GraphView,
  least: number,
): ReadonlyMap<string, readonly (readonly number[])[]> {
  const sv = graph.sizevars;
  const all = new Map<string, (readonly number[])[]>();
  for (const n of nodes) {
    if (!n.body) continue;
    const { iterVars, iterSizes } = n.body;
    const loops = iterVars.filter((_, i) => !sv.knownEquals(iterSizes[i] as Expr, 1));
    for (const a of accessesOf(n.body)) {
      if (a.write || bytesOf(graph, a.buffer) < least) continue;
      const steps = sv.strideVars(a.index, loops).map(intValue);
      if (steps.length < 2 || steps.some(s => s === undefined)) continue;
      const list = all.get(a.buffer) ?? [];
      all.set(a.buffer, list);
      list.push(steps as number[]);
    }
  }
  return all;
}

const bytesOf = (graph: GraphView, buffer: string): number =>
  graph.sizevars.sizeHint(graph.storageSize(buffer), 0) * itemsize(graph.dtype(buffer));

const isForwards = (steps: readonly number[]): boolean => (steps[0] ?? 0) >= 0;

const isTransposed = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === 2 && b.length === 2 && a[0] !== a[1] && a[0] === b[1] && a[1] === b[0];
