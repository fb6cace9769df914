// The scheduler: which operations of a lowered graph become one kernel, and in which order kernels are launched.
// In: a lowered graph, Inductor's configuration, a preset's behaviours, the target GPU. Out: a Schedule.
// Promises: decisions, names and order are Inductor's for the given preset; nothing of the graph is changed.
import { dumpNodes } from "../../report/ir_dump";
import type { LoweredGraph } from "../ir/types";
import { layOutOperands } from "../operand_layouts";
import { resultLayouts } from "../operand_layouts/results";
import { wholeWay } from "../templates/choose";
import { countBytes } from "./bytes";
import { createComboKernels } from "./combo";
import { createForeachNodes } from "./foreach";
import { computeLastUsage } from "./last_usage";
import { mergeAllLoops } from "./merge_loops";
import { computeAncestors, computeDependencies, createNodes, eliminateDeadNodes, topologicalSort } from "./nodes";
import { pairProducts } from "./paired_products";
import { estimatePeakMemory, reorderForPeakMemory } from "./peak_memory";
import { fuseNodes } from "./rounds";
import { behaves, flag, layoutOf, newState, type SchedulerOptions, type SchedulerState } from "./state";
import { estimatedCosts, type TemplateCosts, withWantedWays } from "./template_choices";
import { finalizeTemplates, hasLibrary, speedupByFusion, splitTemplateGroups, withTemplates } from "./template_fusion";
import type { AnyNode, Schedule } from "./types";

export interface ScheduleOptions extends SchedulerOptions {
  /** make the texts of the BEFORE FUSION and AFTER FUSION dumps */
  readonly wantDumps: boolean;
  /** false: every node stays a kernel of its own (the reference that fused kernels are verified against) */
  readonly fuse?: boolean;
  /** times of template choices; estimated where it is missing */
  readonly measure?: TemplateCosts;
}

/** the reference has no templates */
function withoutTemplates(o: ScheduleOptions): ScheduleOptions {
  return { ...o, config: new Map([...o.config, ["triton.template_form", "library"]]) };
}

export function schedule(lowered: LoweredGraph, given: ScheduleOptions): Schedule {
  const options = given.fuse === false ? withoutTemplates(given) : given;
  const laidOut = layOutOperands(lowered, options);
  const graph = ownCopy(withTemplates(laidOut.graph, options));
  const s = newState(graph, options);
  const templates = {
    costs: withWantedWays(
      options.measure ?? estimatedCosts(graph, options.target, behaves(options, "float32_products_in_parts")),
      op => wholeWay(options, op.name) ?? (hasLibrary(options) ? null : "pointers"),
    ),
    choices: new Map(),
    numbered: 0,
  };
  let singles = topologicalSort(computeUsers(s));
  singles = eliminateDeadNodes(s, singles);
  computeAncestors(s, singles);
  const preFusionDump = options.wantDumps ? dump(s, singles) : null;

  let nodes: AnyNode[] = topologicalSort(createForeachNodes(s, singles));
  if (options.fuse !== false) nodes = fuseNodes(s, nodes, (a, b) => speedupByFusion(s, templates, a, b));
  mergeAllLoops(s, nodes);
  nodes = finalizeTemplates(s, templates, pairProducts(s, nodes));
  if (flag(s, "combo_kernels")) nodes = createComboKernels(s, nodes);
  if (flag(s, "reorder_for_peak_memory")) nodes = reorderForPeakMemory(s, nodes);
  const postFusionDump = options.wantDumps ? dump(s, nodes) : null;
  nodes = splitTemplateGroups(s, nodes);
  s.nodes = nodes;
  computeLastUsage(s, nodes);
  const bytes = countBytes(s, nodes);
  return {
    graph,
    layouts: [...laidOut.layouts, ...resultLayouts(nodes, graph.sizevars)],
    preFusionDump,
    postFusionDump,
    events: s.events,
    refusals: s.refusals,
    nodes,
    buffers: s.buffers,
    mutationRealName: s.mutationRealName,
    mutationRenames: s.mutationRenames,
    removedOps: s.removedOps,
    bytes,
    totalBytes: [...bytes.values()].reduce((a, b) => a + b, 0),
    peakMemory: estimatePeakMemory(s, nodes),
  };
}

/** cutting a sum in two adds an operation and a buffer to this schedule's graph, not to the lowered one */
function ownCopy(g: LoweredGraph): LoweredGraph {
  return { ...g, operations: [...g.operations], buffers: new Map(g.buffers) };
}

function computeUsers(s: SchedulerState): ReturnType<typeof createNodes> {
  const nodes = createNodes(s);
  computeDependencies(s, nodes);
  return nodes;
}

function dump(s: SchedulerState, nodes: readonly AnyNode[]): string {
  return dumpNodes(nodes, {
    layoutOf: name => layoutOf(s.graph, name),
    printsInputDistance: behaves(s, "prints_input_distance"),
  });
}
