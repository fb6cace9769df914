// Rows longer than Inductor holds in one block. In: a reduction along contiguous rows. Out: whether the whole row stays in
// registers, and with how many warps. Promises: a row that is held is read once however many reductions follow each other;
// what would spill is left to a loop. Not Inductor's: behaviour `widest_persistent_row` (elements; 0 leaves its rules).
import { readNumber } from "../../../presets";
import type { ReductionHint } from "../../ir/types";
import type { TritonConfig } from "../../plan/types";
import type { Dep, SchedulerNode } from "../../scheduler/types";
import { type Expr, intValue, mul, product } from "../../symbolic/expr";
import type { GraphView } from "./graph_view";
import type { CodegenOptions } from "./options";

/** values of rows that one program holds: what 65536 registers leave beside addresses and temporaries */
const HELD = 49152;
/** values that one thread holds, at most and where there are warps for it */
const HELD_PER_THREAD = 64;
const MOST_WARPS = 32;
/** rows per program where something is stored across them */
const ROWS_ACROSS = 4;

const pow2 = (n: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, n)));

export const widestRow = (o: CodegenOptions): number => readNumber(o.behaviours, "widest_persistent_row") ?? 0;

export function holdsWideRow(
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
  hint: ReductionHint,
  graph: GraphView,
  options: CodegenOptions,
): boolean {
  const n = intValue(graph.sizevars.simplify(rnumel));
  if (n === undefined || n > widestRow(options)) return false;
  // a loop that reads every row once moves as little, and keeps more loads in flight; but a softmax's sums cost it a second
  // exponential per element, which a row that is held does without
  const rows = rowsNeededAgain(nodes, numel, rnumel, graph) || Number(nodes.some(isOnlineSoftmax));
  if (rows === 0) return false;
  const held = pow2(n) * rows;
  if (hint === "INNER") return held <= HELD;
  // a store across the rows costs the hint, but the rows are read as they lie; several rows make its pieces whole sectors
  return nodes.every(hasInnerHint) && held * ROWS_ACROSS <= HELD;
}

function isOnlineSoftmax(n: SchedulerNode): boolean {
  const op = n.operation;
  return op.kind === "computed" && "type" in op.loops && op.loops.type === "online_softmax_reduce";
}

function hasInnerHint(n: SchedulerNode): boolean {
  const op = n.operation;
  return op.kind !== "computed" || !("hint" in op.loops) || op.loops.hint === "INNER";
}

/** Rows that are alive at once: at least the one that is being reduced. */
export function rowsHeld(nodes: readonly SchedulerNode[], numel: Expr, rnumel: Expr, graph: GraphView): number {
  return Math.max(1, rowsNeededAgain(nodes, numel, rnumel, graph));
}

/**
 * Rows that have to be kept, or read again, past a reduction. What is read is loaded at the top and kept until its last
 * use, what is made inside from when it is made; each where a reduction has to be complete in between.
 */
function rowsNeededAgain(nodes: readonly SchedulerNode[], numel: Expr, rnumel: Expr, graph: GraphView): number {
  const sv = graph.sizevars;
  const full = sv.simplify(mul(numel, rnumel));
  const stage = new Map<string, number>();
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  let stages = 0;
  for (const n of nodes) {
    let at = 0;
    for (const a of n.ancestors) at = Math.max(at, stage.get(a) ?? 0);
    const reduces = n.operation.kind === "computed" && "type" in n.operation.loops;
    const whole = reduces || sv.simplify(n.group[0]) === full;
    stage.set(n.name, reduces ? at + 1 : at);
    if (!whole) continue;
    stages = Math.max(stages, at);
    const note = (d: Dep, from: number): void => {
      // a result of a reduction is one value per row, and its loops end there
      if (d.kind !== "memory" || sv.simplify(product(d.sizes)) !== full) return;
      if (!first.has(d.name)) first.set(d.name, from);
      last.set(d.name, at);
    };
    for (const d of n.readWrites.reads) note(d, 0);
    for (const d of n.readWrites.writes) note(d, at);
  }
  let most = 0;
  for (let s = 0; s < stages; s++) {
    const alive = [...first].filter(([name, from]) => from <= s && (last.get(name) ?? 0) > s).length;
    most = Math.max(most, alive);
  }
  return most;
}

/** `held`: rows alive at once. The likeliest number of warps first, then the next ones up and down. */
export function wideRowConfigs(block: number, held: number): TritonConfig[] {
  const most = Math.max(2 ** Math.floor(Math.log2(HELD_PER_THREAD / held)), 1);
  const make = (perThread: number): TritonConfig => ({
    kwargs: { XBLOCK: 1 },
    numWarps: Math.min(Math.max(block / (Math.min(perThread, most) * 32), 4), MOST_WARPS),
    numStages: 1,
  });
  return [make(16), make(8), make(32)];
}

/** the same where something is stored across the rows */
export function rowsAcrossConfigs(block: number, held: number): TritonConfig[] {
  const make = (rows: number, perThread: number): TritonConfig => ({
    kwargs: { XBLOCK: rows },
    numWarps: Math.min(Math.max((rows * block) / (perThread * 32), 4), MOST_WARPS),
    numStages: 1,
  });
  const all = [make(ROWS_ACROSS, 32), make(2 * ROWS_ACROSS, 64), make(ROWS_ACROSS, 64), make(2 * ROWS_ACROSS, 32)];
  return all.filter(c => (c.kwargs.XBLOCK ?? 1) * block * held <= HELD);
}
