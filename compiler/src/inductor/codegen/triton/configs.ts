// Candidate launch configurations of a kernel (torch/_inductor/runtime/triton_heuristics.py). In: size hints and what the
// kernel is. Out: block sizes, warps, stages, best guess first. Promises: never empty, no duplicates.
import type { TritonConfig } from "../../plan/types";
import { ADDS_TOGETHER, nextPowerOf2 } from "./blocks";
import type { ConfigInput } from "./config_input";
import { gatherConfigs, withMore } from "./more_configs";
import { type CodegenOptions, configBool, configNumber, has } from "./options";
import { rowsAcrossConfigs, wideRowConfigs, widestRow } from "./wide_rows";

const clamp = (v: number, low: number, high: number): number => Math.max(low, Math.min(v, high));

function warps(n: number, max = 8, min = 2, registerIntensive = false): number {
  return nextPowerOf2(clamp(Math.floor(n), min, registerIntensive ? max / 2 : max));
}

export function kernelConfigs(c: ConfigInput, o: CodegenOptions): readonly TritonConfig[] {
  const { kernel: k, hints } = c;
  let list: TritonConfig[];
  if (!k.isReduction) list = pointwise(hints, c.tileHint, k.minElemPerThread);
  else if (c.rsplitSize !== null) list = mixOrder(hints, c.rsplitSize, o);
  else if (k.spec.persistent) list = persistent(c, o);
  else list = reduction(c, o);
  if (c.gathers && !k.spec.persistent && hints.y === undefined) list = [...gatherConfigs(c), ...list].slice(0, 4);
  if (has(o, "more_configurations")) list = withMore(c, list);
  // of two dimensions the first configuration is square
  if (k.spec.order === "paired") list = list.filter(x => x.kwargs.XBLOCK === x.kwargs.YBLOCK);
  if (k.spec.constants?.includes(ADDS_TOGETHER)) list = bothWays(list);
  // another block size would add in another order
  if (configBool(o, "deterministic")) list = list.slice(0, 1);
  const seen = new Set<string>();
  return list.filter(x => {
    const key = JSON.stringify(x);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** the first few, each with additions into rows summed first and one by one */
const bothWays = (list: readonly TritonConfig[]): TritonConfig[] =>
  list.slice(0, 3).flatMap(c => [1, 0].map(together => ({ ...c, kwargs: { ...c.kwargs, [ADDS_TOGETHER]: together } })));

function pointwise(
  hints: Readonly<Record<string, number>>,
  tileHint: string | undefined,
  minElements: number,
): TritonConfig[] {
  const numel = Object.values(hints).reduce((a, b) => a * b, 1);
  const bs = clamp(Math.floor(numel / 128), 256, 1024);
  const { x = 1, y, z } = hints;
  const make = (bx: number, by?: number, bz?: number, w?: number): TritonConfig =>
    tritonConfig({ x, y, z }, { x: bx, y: by, z: bz }, w, minElements);
  if (y === undefined) {
    const a = nextPowerOf2(bs);
    return [make(a, undefined, undefined, a / 256), make(a / 2, undefined, undefined, a / 2 / 64)];
  }
  if (z !== undefined) return [make(16, 16, 16)];
  if (tileHint === "SQUARE") return [make(32, 32)];
  const a = nextPowerOf2(bs);
  return [make(32, 32), make(64, 64), make(256, 16), make(16, 256), make(a, 1), make(1, a)];
}

type Sizes = { x: number; y?: number; z?: number };

/** blocks clipped to the sizes and scaled up to the wanted product (triton_config) */
function tritonConfig(hints: Sizes, wanted: Sizes, wantedWarps: number | undefined, minElements: number): TritonConfig {
  const block: Required<Sizes> = {
    x: Math.min(wanted.x, hints.x),
    y: Math.min(wanted.y ?? 1, hints.y ?? 1),
    z: Math.min(wanted.z ?? 1, hints.z ?? 1),
  };
  let target = wanted.x * (wanted.y ?? 1) * (wanted.z ?? 1);
  const all = hints.x * (hints.y ?? 1) * (hints.z ?? 1);
  if (all < target) target = Math.floor(target / 8);
  const now = (): number => block.x * block.y * block.z;
  for (const d of ["x", "y", "z"] as const) {
    const hint = hints[d];
    if (hint === undefined) continue;
    while (block[d] < hint && now() < target) block[d] *= 2;
  }
  let numWarps = warps(wantedWarps ?? now() / 256, 8, 1);
  if (now() >= 128) numWarps = Math.max(numWarps, 4);
  // so many elements for each thread of the whole block
  block.x = Math.min(block.x * Math.max(1, Math.ceil((numWarps * 32 * minElements) / now())), hints.x);
  const kwargs: Record<string, number> = { XBLOCK: block.x };
  if (hints.y !== undefined) kwargs.YBLOCK = block.y;
  if (hints.z !== undefined) kwargs.ZBLOCK = block.z;
  return { kwargs, numWarps, numStages: 1 };
}

/** x and r blocks clipped to the sizes; along contiguous rows (`inner`) warps go by the row alone (triton_config_reduction) */
function reductionConfig(
  hints: Readonly<Record<string, number>>,
  x: number,
  r: number,
  opts: { warps?: number; leastWarps?: number; registerIntensive?: boolean; inner?: boolean } = {},
): TritonConfig {
  const bx = Math.min(x, hints.x ?? 1);
  const br = Math.min(r, hints.r0_ ?? 1);
  const n = opts.warps ?? (opts.inner ? r : bx * br) / 128;
  const numWarps = warps(n, r > 8192 ? 32 : 16, opts.leastWarps ?? 2, opts.registerIntensive);
  return { kwargs: { XBLOCK: bx, R0_BLOCK: br }, numWarps, numStages: 1 };
}

function reduction(c: ConfigInput, o: CodegenOptions): TritonConfig[] {
  const { hints, kernel: k, hint } = c;
  if (hints.y !== undefined) return tiledReduction(c);
  const X = hints.x ?? 1;
  const R = hints.r0_ ?? 1;
  const registerIntensive = o.target.computeCapability[0] >= 10 || (X >= 1024 && k.numLoad + k.numReduction >= 10);
  const M = registerIntensive ? 1024 : 2048;
  const shared = { registerIntensive, inner: hint === "INNER" };
  const inner = reductionConfig(hints, R <= 2048 ? 2 : 1, Math.min(R, M), shared);
  const tiny = reductionConfig(hints, R <= 256 ? 2 * Math.floor(256 / R) : 1, Math.min(R, M), shared);
  const outer = outerConfig(c, registerIntensive);
  const minR = k.spec.splitScan ? configNumber(o, "triton.min_split_scan_rblock", 256) : 0;
  let list: TritonConfig[];
  switch (hint) {
    case "INNER":
      list = [inner];
      break;
    case "OUTER":
      list = [outer];
      break;
    case "OUTER_TINY":
      list = [tiny];
      break;
    case "DEFAULT":
      list = [
        inner,
        outer,
        tiny,
        reductionConfig(hints, 64, 64),
        reductionConfig(hints, 8, 512),
        reductionConfig(hints, 64, 4, { warps: 8 }),
      ];
      break;
    default: {
      const never: never = hint;
      return never;
    }
  }
  if (c.addPersistentRBlock && k.numLoad + k.numReduction <= 8) {
    const br = Math.min(R, 32768);
    list.unshift({
      kwargs: { XBLOCK: Math.max(Math.floor(4096 / R), 1), R0_BLOCK: br },
      numWarps: warps(br / 128, br > 8192 ? 32 : 16),
      numStages: 1,
    });
  }
  // a program has one row, and the scratch memory room for this many elements per program at least
  if (minR > 0) list = list.map(x => ({ ...x, kwargs: { R0_BLOCK: Math.max(x.kwargs.R0_BLOCK ?? 1, minR) } }));
  return withNestedMinimum(c, list);
}

/** a nested reduction's block holds whole groups */
function withNestedMinimum(c: ConfigInput, list: readonly TritonConfig[]): TritonConfig[] {
  const nested = c.kernel.spec.nested;
  if (!nested) return [...list];
  const key = `${nested.prefix.toUpperCase()}BLOCK`;
  return list.map(x => ({ ...x, kwargs: { ...x.kwargs, [key]: Math.max(x.kwargs[key] ?? 1, nested.group) } }));
}

function outerConfig(c: ConfigInput, registerIntensive: boolean): TritonConfig {
  const { hints, kernel: k } = c;
  const X = hints.x ?? 1;
  const R = hints.r0_ ?? 1;
  const sizes = [...k.args.sizes.keys()].filter(e => typeof e !== "number").length;
  if (X <= 1024)
    return reductionConfig(hints, clamp(Math.floor(X / 128), 2, 8), Math.min(R, 64), { registerIntensive });
  if (Math.floor(X / 4096) <= 8) return reductionConfig(hints, 16, 32, { registerIntensive });
  if (sizes > 1) return reductionConfig(hints, 64, clamp(Math.floor(R / 64), 8, 64), { registerIntensive });
  if (sizes === 1)
    return reductionConfig(
      hints,
      64,
      k.numLoad >= 3 ? 1 : Math.min(nextPowerOf2(Math.floor(Math.max(R, 128) / 128)), 8),
      { registerIntensive },
    );
  if (k.numLoad < 4 || R <= 128) {
    const bx = clamp(nextPowerOf2(Math.floor(X / 4096)), 64, 256);
    return reductionConfig(hints, bx, Math.max(1, Math.floor(512 / bx)), { registerIntensive });
  }
  return reductionConfig(hints, Math.min(X, 32), R >= 2048 ? 64 : 32, { warps: 4, registerIntensive });
}

function tiledReduction(c: ConfigInput): TritonConfig[] {
  const { hints, scores } = c;
  const X = hints.x ?? 1;
  const Y = hints.y ?? 1;
  const R = hints.r0_ ?? 1;
  const yFirst = (scores?.get("y") ?? 0) > (scores?.get("x") ?? 0);
  return [
    [1, 2048],
    [64, 64],
    [8, 512],
    [64, 4],
  ].map(([xy = 1, r = 1]) => {
    let by = yFirst ? Math.min(xy, Y) : 1;
    const bx = Math.min(Math.max(1, Math.floor(xy / by)), X);
    by = Math.min(Math.max(by, Math.floor(xy / bx)), Y);
    const br = Math.min(r, R);
    return {
      kwargs: { YBLOCK: by, XBLOCK: bx, R0_BLOCK: br },
      numWarps: warps((bx * by * br) / 256, 8, 1),
      numStages: 1,
    };
  });
}

function persistent(c: ConfigInput, o: CodegenOptions): TritonConfig[] {
  const { hints, hint } = c;
  const X = hints.x ?? 1;
  const R = hints.r0_ ?? 1;
  if (R > 1024 && R <= widestRow(o)) {
    return hint === "INNER" ? wideRowConfigs(R, c.rowsHeld) : rowsAcrossConfigs(R, c.rowsHeld);
  }
  const make = (x: number, opts: Parameters<typeof reductionConfig>[3] = {}): TritonConfig => {
    const one = reductionConfig(hints, x, R, { registerIntensive: true, inner: hint === "INNER", ...opts });
    const kwargs: Record<string, number> = { XBLOCK: one.kwargs.XBLOCK ?? 1 };
    if (hints.y !== undefined) kwargs.YBLOCK = 1;
    return { ...one, kwargs };
  };
  const all = [1, 8, 32, 128].filter(x => x === 1 || (R * x <= 4096 && x <= X)).map(x => make(x));
  if (hint === "INNER" && R >= 256) {
    if (R > 1024 || Math.floor(X / 8) < 128) return [make(1)];
    // one warp needs no shared memory to reduce a row
    return [make(Math.min(Math.floor(1024 / R), 8), { warps: 1, leastWarps: 1 })];
  }
  if (hint === "OUTER") return all.slice(-1);
  if (hint === "OUTER_TINY") return [make(R <= 256 ? 2 * Math.floor(256 / R) : 1, { registerIntensive: false })];
  return all;
}

function mixOrder(hints: Readonly<Record<string, number>>, rsplit: number, o: CodegenOptions): TritonConfig[] {
  const R = hints.r0_ ?? 1;
  const x = clamp(Math.floor(rsplit / 32), R <= 512 ? 4 : 1, 16);
  const most = has(o, "mix_order_multi_stages") ? (R > 8192 ? 2 : 3) : 1;
  const stages = clamp(Math.floor(rsplit / x / 4), 1, most);
  // as many as a single row would have
  let numWarps = warps(R / 128, R > 8192 ? 32 : 16, 2, true);
  if (R <= 1024) numWarps = Math.max(1, numWarps / 2);
  return [{ kwargs: { XBLOCK: x, RSPLIT_SIZE: rsplit, NUM_STAGES: stages }, numWarps, numStages: 1 }];
}
