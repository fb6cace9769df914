// How a kernel's iteration space is cut into tiles. Promises: keys stand in Inductor's order (z, y, x, r0_, r1_).

import type { LoweredGraph } from "../../ir/types";
import { type Expr, intValue } from "../../symbolic";
import type { SizeVars } from "../../symbolic/size_vars";
import type { AnyNode, SchedulerBuffer } from "../types";

export type Prefix = "x" | "y" | "z" | "r0_" | "r1_";
export type Tiling = ReadonlyMap<Prefix, Expr>;
/** bytes that each tile's walk coalesces */
export type TilingScores = ReadonlyMap<Prefix, number>;

/** what tiling needs to know besides the nodes: a Schedule and the options fit, and so does the scheduler's state */
export interface TilingContext {
  readonly graph: LoweredGraph;
  readonly config: ReadonlyMap<string, unknown>;
  readonly buffers: ReadonlyMap<string, SchedulerBuffer>;
  readonly mutationRenames: ReadonlyMap<string, string>;
  readonly mutationRealName: ReadonlyMap<string, string>;
  readonly removedBuffers?: ReadonlySet<string>;
  /** nodes after fusion: what a kernel of several members reads together */
  readonly nodes?: readonly AnyNode[];
}

const POINTWISE: readonly Prefix[] = ["z", "y", "x"];
const REDUCTION: readonly Prefix[] = ["r0_", "r1_"];

/** Names the tiles: the last pointwise one is x, the first reduction one r0_. */
export function createTiling<T>(pointwise: readonly T[], reduction: readonly T[]): Map<Prefix, T> {
  const map = new Map<Prefix, T>();
  const prefixes = pointwise.length ? POINTWISE.slice(-pointwise.length) : [];
  prefixes.forEach((p, i) => {
    map.set(p, pointwise[i] as T);
  });
  REDUCTION.slice(0, reduction.length).forEach((p, i) => {
    map.set(p, reduction[i] as T);
  });
  return map;
}

export function sameTiling(a: Tiling, b: Tiling): boolean {
  return a.size === b.size && [...a].every(([p, e]) => b.get(p) === e);
}

/** a size of which whole warps can be kept busy */
export function isGoodSize(e: Expr, sv: SizeVars): boolean {
  const n = intValue(e) ?? sv.sizeHint(e, 8192);
  return n >= 32 && n % 32 === 0;
}
