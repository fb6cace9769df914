// What another schedule of the same graph would save. In: a graph's report under the user's preset and under another
// (preset `fuselens`). Out: kernels, bytes and estimated time of both, and the places in the source where they differ for
// the better. Promises: plain data; null where nothing is gained; every number of time is an estimate.
import type { ReportGraph, ReportKernel } from "./types";

/** what of a graph's report counts here */
export type ScheduledGraph = Pick<ReportGraph, "name" | "kind" | "kernels">;

export interface ScheduleCost {
  readonly kernels: number;
  readonly bytes: number;
  readonly estimateUs: number;
}

export interface BetterPlace {
  /** source lines of the kernels that change: all frames, and the innermost */
  readonly lines: readonly number[];
  readonly at: readonly number[];
  /** indices into the kernels of the user's schedule, and of the other */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly cost: { readonly before: ScheduleCost; readonly after: ScheduleCost };
  /** "one pass instead of three, saves 310 MB, est. 1.6x" */
  readonly text: string;
}

export interface BetterSchedule {
  readonly graph: string;
  readonly kind: ReportGraph["kind"];
  readonly before: ScheduleCost;
  readonly after: ScheduleCost;
  /** largest gain first */
  readonly places: readonly BetterPlace[];
}

/** an estimate must shrink by so much to be told */
const TOLD = 0.95;

export function betterSchedule(mine: ScheduledGraph, other: ScheduledGraph): BetterSchedule | null {
  const places = components(mine, other)
    .flatMap(({ before, after }): BetterPlace[] => {
      const cost = { before: costOf(pick(mine, before)), after: costOf(pick(other, after)) };
      if (!isBetter(cost.before, cost.after)) return [];
      const kernels = pick(mine, before);
      const union = (f: (k: ReportKernel) => readonly number[]): number[] =>
        [...new Set(kernels.flatMap(f))].sort((a, b) => a - b);
      return [
        {
          lines: union(k => k.lines),
          at: union(k => k.at),
          before,
          after,
          cost,
          text: gainText(cost.before, cost.after),
        },
      ];
    })
    .sort((a, b) => gain(b) - gain(a));
  if (places.length === 0) return null;
  return { graph: mine.name, kind: mine.kind, before: costOf(mine.kernels), after: costOf(other.kernels), places };
}

const gain = (p: BetterPlace): number => p.cost.before.estimateUs - p.cost.after.estimateUs;
const pick = (g: ScheduledGraph, at: readonly number[]): ReportKernel[] => at.flatMap(i => g.kernels[i] ?? []);
/** nodes that only reserve memory are no kernels */
const isLaunched = (k: ReportKernel): boolean => k.type !== "NopKernelSchedulerNode" && k.name !== "";

function costOf(kernels: readonly ReportKernel[]): ScheduleCost {
  const launched = kernels.filter(isLaunched);
  return {
    kernels: launched.length,
    bytes: kernels.reduce((n, k) => n + k.bytes, 0),
    estimateUs: launched.reduce((n, k) => n + k.estimate_us, 0),
  };
}

function isBetter(before: ScheduleCost, after: ScheduleCost): boolean {
  return after.estimateUs < before.estimateUs * TOLD && after.bytes <= before.bytes;
}

/** kernels of both schedules that hold common operations, joined until no group shares any */
function components(mine: ScheduledGraph, other: ScheduledGraph): { before: number[]; after: number[] }[] {
  const owner = new Map<string, number>();
  const parent: number[] = [];
  const find = (i: number): number => {
    let x = i;
    while (parent[x] !== x) x = parent[x] as number;
    return x;
  };
  const offset = mine.kernels.length;
  [...mine.kernels, ...other.kernels].forEach((k, i) => {
    parent.push(i);
    // operations that both schedules know by the same name, and those that one of them cut in two
    for (const key of new Set([...k.nodes, ...k.origins.map(o => `%${o}`)])) {
      const known = owner.get(key);
      if (known === undefined) owner.set(key, i);
      else if (key.startsWith("%") ? sharesSide(known, i, offset) : true) parent[find(i)] = find(known);
    }
  });
  const groups = new Map<number, { before: number[]; after: number[] }>();
  parent.forEach((_, i) => {
    const g = groups.get(find(i)) ?? { before: [], after: [] };
    groups.set(find(i), g);
    if (i < offset) g.before.push(i);
    else g.after.push(i - offset);
  });
  return [...groups.values()].filter(g => g.before.length > 0 && g.after.length > 0);
}

/** an origin joins a kernel of one schedule with one of the other; within a schedule many kernels have it */
const sharesSide = (a: number, b: number, offset: number): boolean => a < offset !== b < offset;

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const word = (n: number): string => NUMBERS[n] ?? String(n);

export function gainText(before: ScheduleCost, after: ScheduleCost): string {
  const parts: string[] = [];
  if (after.kernels < before.kernels) {
    const what = after.kernels === 1 ? "kernel" : "kernels";
    parts.push(`${word(after.kernels)} ${what} instead of ${word(before.kernels)}`);
  } else parts.push("fewer passes over memory");
  const saved = before.bytes - after.bytes;
  if (saved >= 1e4) parts.push(`saves ${bytesText(saved)}`);
  parts.push(`est. ${(before.estimateUs / after.estimateUs).toFixed(1)}x`);
  return parts.join(", ");
}

function bytesText(n: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const) {
    if (n >= size) return `${n / size >= 100 ? Math.round(n / size) : (n / size).toFixed(1)} ${unit}`;
  }
  return `${n} B`;
}
