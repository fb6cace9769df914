// Configurations beyond Inductor's few, for the first run to choose from. In: what a kernel is, and Inductor's choices. Out:
// those and a handful more, each of which was the fastest by a twentieth or more of some kernel that was measured (H200).
// Promises: no more than MOST in all, so that tuning takes under a second. Not Inductor's: behaviour `more_configurations`.
import type { TritonConfig } from "../../plan/types";
import type { ConfigInput } from "./config_input";

const MOST = 6;

const config = (kwargs: Readonly<Record<string, number>>, numWarps: number): TritonConfig => ({
  kwargs: { ...kwargs },
  numWarps,
  numStages: 1,
});

/** `list` and what may serve better */
export function withMore(c: ConfigInput, list: readonly TritonConfig[]): TritonConfig[] {
  const [first] = list;
  // blocks of scans across programs and of groups across rows are bound to each other
  const { nested, splitScan } = c.kernel.spec;
  if (!first || splitScan || c.hints.z !== undefined || (nested && nested.prefix !== "r0_")) return [...list];
  const more = c.kernel.isReduction ? (c.hints.y === undefined ? reductions(c, first) : []) : pointwise(c, first);
  return [...list, ...more].slice(0, Math.max(MOST, list.length));
}

function pointwise(c: ConfigInput, first: TritonConfig): TritonConfig[] {
  const { x = 1, y } = c.hints;
  if (y !== undefined) {
    // square tiles wide enough for whole lines in both directions
    if (c.tileHint !== "SQUARE") return [];
    return [config({ XBLOCK: 64, YBLOCK: 64 }, 4), config({ XBLOCK: 64, YBLOCK: 64 }, 8)].filter(
      t => (t.kwargs.XBLOCK ?? 1) <= x && (t.kwargs.YBLOCK ?? 1) <= y,
    );
  }
  // more loads in flight per thread, and fewer
  return c.kernel.minElemPerThread > 0 || (first.kwargs.XBLOCK ?? 1) < 1024
    ? []
    : [config({ XBLOCK: 2048 }, 4), config({ XBLOCK: 1024 }, 8), config({ XBLOCK: 512 }, 4)];
}

/** whole lines of the rows that are added up, few rows at a time */
export function gatherConfigs(c: ConfigInput): TritonConfig[] {
  const all = [
    [256, 8],
    [128, 8],
    [64, 16],
    [32, 32],
  ] as const;
  return all.filter(([x]) => x <= (c.hints.x ?? 1)).map(([x, r]) => config({ XBLOCK: x, R0_BLOCK: r }, 4));
}

function reductions(c: ConfigInput, first: TritonConfig): TritonConfig[] {
  const X = c.hints.x ?? 1;
  const R = c.hints.r0_ ?? 1;
  if (c.rsplitSize !== null) return mixOrder(c.rsplitSize, R, first);
  if (c.kernel.spec.persistent) return c.hint === "INNER" && R >= 256 ? rows(X, R, c.rowsHeld) : [];
  // a nested reduction's block holds whole groups
  const group = c.kernel.spec.nested?.group ?? 1;
  if (c.hint === "INNER") return loops(X, R).filter(t => (t.kwargs.R0_BLOCK ?? 1) % group === 0);
  return c.hint === "OUTER" && X >= 128
    ? [config({ XBLOCK: 32, R0_BLOCK: 32 }, 4), config({ XBLOCK: 128, R0_BLOCK: 4 }, 4)]
    : [];
}

/** loops along rows: fewer threads with more to do leave room for more programs; wider blocks save turns */
function loops(X: number, R: number): TritonConfig[] {
  const all = [
    [1, 1024, 4],
    [1, 1024, 8],
    [1, 2048, 8],
    [1, 4096, 8],
    [1, 4096, 16],
  ] as const;
  return all.filter(([x, r]) => x <= X && r <= R).map(([x, r, w]) => config({ XBLOCK: x, R0_BLOCK: r }, w));
}

/** rows that are held: one to four at a time, 8 to 32 elements a thread */
function rows(X: number, R: number, held: number): TritonConfig[] {
  // one warp has Inductor's own choice of short rows
  const short: [number, number][] = [
    [1, R / 512],
    [2, R / 512],
    [2, R / 256],
    [4, R / 256],
  ];
  const long: [number, number][] = [
    [1, R / 512],
    [1, R / 1024],
    [2, R / 512],
  ];
  if (held === 1) long.push([1, R / 2048]);
  return (R > 1024 ? long : short).flatMap(([x, numWarps]) =>
    x <= X && numWarps >= 1 && numWarps <= 32 ? [config({ XBLOCK: x }, numWarps)] : [],
  );
}

/** without copies ahead of the loop's turns, which cost more than they hide where a row is short; and several rows a turn */
function mixOrder(rsplit: number, R: number, first: TritonConfig): TritonConfig[] {
  const { XBLOCK = 1, NUM_STAGES = 1 } = first.kwargs;
  const make = (x: number, stages: number, numWarps: number): TritonConfig =>
    config({ XBLOCK: x, RSPLIT_SIZE: rsplit, NUM_STAGES: stages }, numWarps);
  const several = Math.min(4, rsplit);
  return [
    make(XBLOCK, 1, first.numWarps),
    ...(R <= 2048 ? [make(several, 1, 8)] : []),
    ...(R <= 8192 ? [make(Math.min(2, rsplit), NUM_STAGES, first.numWarps)] : []),
  ];
}
