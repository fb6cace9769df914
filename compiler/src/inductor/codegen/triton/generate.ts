// One kernel from a fused list of operations (SIMDScheduling.codegen_node). In: members in fused order. Out: the emitted
// kernel with what its header needs. Promises: bodies stand in fused order; a buffer whose users are all inside is gone.

import { isFloatDType, isHalf } from "../../ir/dtypes";
import type { LoopBody } from "../../ir/loop_body";
import { runBody } from "../../ir/run_body";
import type { ReductionHint } from "../../ir/types";
import type { SchedulerNode } from "../../scheduler/types";
import type { Expr } from "../../symbolic/expr";
import { ADDS_TOGETHER } from "./blocks";
import { bodyHandler } from "./body_handler";
import { type Features, indexDtype, reductionHint, usesPersistentReduction } from "./features";
import type { GraphView } from "./graph_view";
import { TritonKernel } from "./kernel";
import type { KernelSpec } from "./kernel_spec";
import { narrowCasts } from "./narrow_indices";
import { isReductionNode, nodeSchedule, type ScheduleEntry } from "./node_schedule";
import { type CodegenOptions, has } from "./options";
import { type ProgramOrder, programOrder } from "./program_order";
import type { Tiling } from "./range_tree";

export type Scores = ReadonlyMap<string, number>;

/** how a kernel's iteration space is cut into tiles (scheduler/tiling) */
export type TilingChooser = (
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
) => { readonly tiling: Tiling; readonly scores: Scores | null };

/** decides which inputs a node's outputs overwrite; called before its body is emitted */
export type InplaceDecider = (kernel: TritonKernel, node: SchedulerNode) => void;

export interface KernelContext {
  readonly graph: GraphView;
  readonly options: CodegenOptions;
  readonly chooseTiling: TilingChooser;
  readonly decideInplace: InplaceDecider;
  /** a name for scratch memory */
  readonly nextWorkspace: () => string;
}

export interface EmittedKernel {
  readonly kernel: TritonKernel;
  readonly features: Features;
  readonly hint: ReductionHint;
  readonly scores: Scores | null;
  readonly schedule: readonly ScheduleEntry[];
}

/** (numel, rnumel) of a fused list: those of its first reduction, else of its first member */
export function extentOf(nodes: readonly SchedulerNode[]): readonly [Expr, Expr] {
  const lead = nodes.find(isReductionNode) ?? nodes[0];
  if (!lead) throw new Error("a kernel needs members");
  return lead.group;
}

export function emitKernel(
  c: KernelContext,
  members: readonly SchedulerNode[],
  extra: Partial<KernelSpec> = {},
): EmittedKernel {
  const nodes = members.filter(n => !c.graph.removedOps.has(n.name));
  const [numel, rnumel] = extentOf(nodes);
  const schedule = nodeSchedule(nodes, numel, rnumel, c.graph.sizevars);
  if (!schedule) throw new Error(`members of ${nodes.map(n => n.name).join("_")} do not fit one loop nest`);
  const features: Features = { nodes, numel, rnumel };
  const { tiling, scores } = c.chooseTiling(nodes, numel, rnumel);
  const isReduction = nodes.some(isReductionNode);
  const hint = reductionHint(features, scores, c.graph);
  const decisionHint = has(c.options, "persistent_by_tiling_scores") ? hint : reductionHint(features, null, c.graph);
  const persistent = isReduction && usesPersistentReduction(features, decisionHint, c.graph, c.options);
  const orderFor = (t: Tiling): ProgramOrder | null => {
    const order = programOrder(nodes, t, c.graph, c.options);
    return order === "paired" && extra.pidOffset ? null : order;
  };
  // the first run finds out whether lines have rows in common
  const addsRows =
    has(c.options, "adds_rows_together") &&
    !isReduction &&
    !extra.pidOffset &&
    nodes.some(n => n.body && addsByIndex(n.body));
  const make = (t: Tiling): TritonKernel =>
    new TritonKernel({
      graph: c.graph,
      options: c.options,
      tiling: t,
      isReduction,
      persistent,
      indexDtype: indexDtype(features, c.graph),
      splitScan: nodes.some(isSplitScan),
      nextWorkspace: c.nextWorkspace,
      order: isReduction ? null : orderFor(t),
      halves: givesHalves(c.graph, nodes),
      ...(addsRows && t.has("y") ? { constants: [ADDS_TOGETHER] } : {}),
      ...extra,
    });
  const plain = untiled(numel, rnumel);
  const kernel = make(
    [...plain].every(([p, e]) => tiling.get(p) === e) || fits(make, tiling, schedule) ? tiling : plain,
  );
  for (const n of nodes) for (const o of n.outputs) for (const m of o.mutations) kernel.mutations.add(m);
  emitBodies(c, kernel, schedule);
  finishKernel(kernel);
  return { kernel, features, hint, scores, schedule };
}

const addsByIndex = (body: LoopBody): boolean =>
  body.block.nodes.some(n => n.op === "store" && n.mode === "atomic_add");

const isSplitScan = (n: SchedulerNode): boolean =>
  n.operation.kind === "computed" && n.operation.loops.kind === "SplitScan";

const untiled = (numel: Expr, rnumel: Expr): Tiling =>
  new Map([
    ["x", numel],
    ["r0_", rnumel],
  ] as const);

/** whether every member's loops can be cut as the tiles are; tiles that options ask for need not suit all members */
function fits(make: (t: Tiling) => TritonKernel, tiling: Tiling, schedule: readonly ScheduleEntry[]): boolean {
  const trial = make(tiling);
  let all = true;
  walk(trial, schedule, n => {
    all &&= trial.splitAndSetRanges(n.sizes) !== undefined;
  });
  return all;
}

/** in two passes, as variables are numbered before any text is written */
export function emitBodies(c: KernelContext, kernel: TritonKernel, schedule: readonly ScheduleEntry[]): void {
  walk(kernel, schedule, n => {
    c.decideInplace(kernel, n);
    rangesOf(kernel, n);
  });
  const handler = bodyHandler(kernel);
  walk(kernel, schedule, n => {
    const [iter = [], reduce = []] = rangesOf(kernel, n);
    if (!n.body) throw new Error(`${n.name} has no body`);
    kernel.node = n;
    kernel.op = n.name;
    kernel.narrowCasts = narrowCasts(n.body, c.graph.sizevars);
    runBody(n.body, handler, iter, reduce);
    kernel.node = null;
    kernel.op = "";
  });
}

/** whether all floating-point results that anyone outside of the kernel reads are halves */
export function givesHalves(graph: GraphView, nodes: readonly SchedulerNode[]): boolean {
  const inside = new Set(nodes);
  const kept = nodes.flatMap(n =>
    n.outputs.filter(o => o.mutations.length > 0 || o.users.some(u => u.node === null || !inside.has(u.node))),
  );
  const dtypes = kept.map(o => graph.dtype(o.name)).filter(isFloatDType);
  return dtypes.length > 0 && dtypes.every(isHalf);
}

/** runs `f` on the members, those between "disable" and "enable" with the reduction closed */
function walk(kernel: TritonKernel, schedule: readonly ScheduleEntry[], f: (n: SchedulerNode) => void): void {
  for (let i = 0; i < schedule.length; i++) {
    const e = schedule[i] as ScheduleEntry;
    if (e === "enable") continue;
    if (e !== "disable") {
      f(e);
      continue;
    }
    const outside: SchedulerNode[] = [];
    while (i + 1 < schedule.length && schedule[i + 1] !== "enable") {
      const n = schedule[++i];
      if (n !== undefined && n !== "disable" && n !== "enable") outside.push(n);
    }
    kernel.disableReduction(() => {
      for (const n of outside) f(n);
    });
  }
}

export function rangesOf(kernel: TritonKernel, n: SchedulerNode): Expr[][] {
  const index = kernel.splitAndSetRanges(n.sizes);
  if (!index) throw new Error(`${n.name} does not fit the kernel's tiles`);
  return index;
}

/** closes the text and drops buffers that no one outside reads (remove_kernel_local_buffers) */
export function finishKernel(kernel: TritonKernel): void {
  kernel.flush();
  removeLocalBuffers(kernel);
}

export function removeLocalBuffers(kernel: TritonKernel): void {
  const { graph, args } = kernel;
  const own = new Set<string>();
  for (const name of kernel.storedBuffers) {
    const op = graph.schedulerBuffer(name)?.definingOp.name;
    if (op) own.add(op);
  }
  const gone = new Set<string>();
  for (const name of kernel.storedBuffers) {
    const b = graph.schedulerBuffer(name);
    if (!b || kernel.mustKeep.has(name) || args.inputs.has(name)) continue;
    const inside = b.users.every(u => u.isWeak || (u.node !== null && own.has(u.node.name)));
    if (!inside || graph.schedule.mutationRenames.has(name) || graph.schedule.mutationRealName.has(name)) continue;
    kernel.numStore--;
    gone.add(name);
  }
  for (const name of gone) {
    const shared = args.inplace.get(name);
    if (shared) {
      if (shared.names.every(n => gone.has(n))) {
        shared.removed = true;
        kernel.removed.add(name);
      }
      kernel.inplacedToRemove.add(name);
    } else {
      args.outputs.set(name, null);
      kernel.removed.add(name);
    }
  }
}
