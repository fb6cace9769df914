import { type Expr, int } from "../../symbolic";
import type { SchedulerState } from "../state";
import type { SchedulerNode } from "../types";
export type Tiling = readonly (readonly [string, Expr])[];
export function tilingOf(_s: SchedulerState, _n: readonly SchedulerNode[], numel: Expr, rnumel: Expr = int(1)): Tiling {
  return [
    ["x", numel],
    ["r0_", rnumel],
  ];
}
