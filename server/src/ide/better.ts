// What preset `fuselens` would make of the same program, graph by graph, beside the user's preset.
import { type BetterSchedule, betterSchedule, type Program } from "@fuselens/compiler";

/** per graph of `mine`: the better schedule, or null where nothing is gained or the graphs do not pair */
export function betterSchedules(mine: Program, other: Program): (BetterSchedule | null)[] {
  return mine.report.graphs.map((g, i) => {
    const o = other.report.graphs[i];
    return o && o.name === g.name && o.kind === g.kind ? betterSchedule(g, o) : null;
  });
}
