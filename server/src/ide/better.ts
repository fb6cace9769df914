// What preset `fuselens` would make of the same program, graph by graph, beside the user's preset. In: the graphs of both
// compiles. Out: per graph what is gained, and that in words for hover and lens.
import {
  type BetterPlace,
  type BetterSchedule,
  betterSchedule,
  type ScheduledGraph,
} from "@fuselens/compiler/vocabulary";
import { formatBytes, formatTime } from "../render/units";
import type { KernelRef } from "./lookup";
import { inlineCode } from "./markdown";

/** the preset that adds fusions of our own */
export const BETTER_PRESET = "fuselens";

/** per graph of the user's program: the better schedule; null where nothing is gained */
export type BetterSchedules = readonly (BetterSchedule | null)[];

/** null where the graphs do not pair */
export function betterSchedules(mine: readonly ScheduledGraph[], other: readonly ScheduledGraph[]): BetterSchedules {
  return mine.map((g, i) => {
    const o = other[i];
    return o && o.name === g.name && o.kind === g.kind ? betterSchedule(g, o) : null;
  });
}

/** the gains that kernels of a hover take part in, in Markdown, largest first */
export function betterLines(better: BetterSchedules | undefined, kernels: readonly KernelRef[]): string[] {
  const places = new Set<BetterPlace>();
  for (const ref of kernels)
    for (const p of better?.[ref.compilation]?.places ?? []) if (p.before.includes(ref.kernel)) places.add(p);
  return [...places].slice(0, 2).map(p => `**Possible** with preset ${inlineCode(BETTER_PRESET)}: ${p.text}`);
}

/** "possible: 2 kernels, 203 MB, est. 78.4 us" for the graphs of one root; null where nothing is gained */
export function betterTitle(
  better: BetterSchedules | undefined,
  compilations: readonly number[],
  mine: { readonly kernels: number; readonly bytes: number; readonly estimateUs: number },
): string | null {
  const found = compilations.flatMap(i => better?.[i] ?? []);
  if (!found.length) return null;
  const change = (f: (c: BetterSchedule["before"]) => number): number =>
    found.reduce((n, b) => n + f(b.after) - f(b.before), 0);
  const kernels = mine.kernels + change(c => c.kernels);
  const bytes = mine.bytes + change(c => c.bytes);
  const us = mine.estimateUs + change(c => c.estimateUs);
  return `possible: ${kernels} kernel${kernels === 1 ? "" : "s"}, ${formatBytes(bytes)}, est. ${formatTime(us)}`;
}
