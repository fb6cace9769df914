// Foreach and combo nodes: sub-kernels are sorted into launches, emitted, and combined (codegen_combo_kernel in
// torch/_inductor/codegen/simd.py, horizontal_partition in triton_combo_kernel.py). In: a ForeachKernelSchedulerNode.
// Out: one launch per partition.
import { type ComboOptions, separateBlocksSource, sharedBlocksSource } from "../codegen/triton/combo";
import { type EmittedKernel, emitKernel, extentOf } from "../codegen/triton/generate";
import { KernelArgs } from "../codegen/triton/kernel_args";
import { isReductionNode } from "../codegen/triton/node_schedule";
import { configBool, configNumber, has } from "../codegen/triton/options";
import { type ProgramOrder, programOrder } from "../codegen/triton/program_order";
import { interleaving } from "../scheduler/interleave";
import { membersOf } from "../scheduler/state";
import type { AnyNode, GroupNode, SchedulerNode } from "../scheduler/types";
import { intValue } from "../symbolic/expr";
import type { LaunchBuilder } from "./launches";
import { provenanceOf } from "./provenance";

/** pointwise kernels with more elements are launched alone */
const LARGE_NUMEL = 512e5;
/** reductions over more elements run long and are kept together */
const LONG_REDUCTION = 2048;

interface Part {
  readonly node: AnyNode;
  readonly members: readonly SchedulerNode[];
  readonly dims: number;
  readonly reduction: boolean;
  readonly rnumel: number;
  readonly x: number;
  readonly y: number | null;
  readonly arguments: number;
}

export function launchCombo(l: LaunchBuilder, node: GroupNode): void {
  const { b } = l;
  const combo = node.combo === true;
  const mixedLevel = configNumber(b.options, "combo_kernel_allow_mixed_sizes", 1);
  const mixed = mixedLevel > 1 || (mixedLevel === 1 && combo);
  const separate =
    combo && configBool(b.options, "combo_kernel_per_subkernel_blocks") && has(b.options, "combo_per_subkernel_blocks");
  const parts = node.snodes.map(n => partOf(l, n)).filter(p => p.members.length > 0);
  for (const group of partition(parts, combo, mixed, configNumber(b.options, "combo_kernel_max_num_args", 250))) {
    const shared = { args: new KernelArgs(n => b.view.realName(n)), tmp: { next: 0 }, vars: { next: 0 } };
    const turns = separate ? turnsOf(l, group) : null;
    // parts that take turns walk their data in one order
    const order = turns && group.some(p => orderOf(l, p) === "mirrored") ? ({ order: "mirrored" } as const) : {};
    const emitted: EmittedKernel[] = group.map(p => {
      const extra = separate
        ? ({ pidOffset: "x_pid_offset", optimizeMask: false, ...order } as const)
        : ({ pidOffset: "pid_offset", optimizeMask: !mixed, shared } as const);
      const e = emitKernel(l.context, p.members, extra);
      for (const m of p.members) b.markRun(m, e.kernel.inplaceUpdates);
      l.finish([e.kernel]);
      return e;
    });
    const options: ComboOptions = {
      options: b.options,
      kind: b.schedule.graph.kind,
      autotune: combo && configNumber(b.options, "combo_kernels_autotune", 1) > 0,
      turns,
    };
    const source = separate ? separateBlocksSource(emitted, options) : sharedBlocksSource(emitted, options);
    const members = group.flatMap(p => p.members);
    const index = l.define(
      source,
      node,
      [],
      members.map(m => m.operation.origins),
      false,
    );
    // only the newer form says where the sub-kernels came from
    l.launch(index, source, members, separate ? {} : { comment: provenanceOf([], [], b.view).comment });
  }
  b.freeBuffers();
}

/** blocks of each part per turn; null: one part after the other */
function turnsOf(l: LaunchBuilder, group: readonly Part[]): readonly number[] | null {
  if (group.some(p => p.reduction || p.y !== null)) return null;
  const { options, schedule } = l.b;
  return (
    interleaving(
      { ...options, graph: schedule.graph },
      group.map(p => p.node),
    )?.blocks ?? null
  );
}

function orderOf(l: LaunchBuilder, p: Part): ProgramOrder | null {
  const { options, view } = l.b;
  const { tiling } = l.context.chooseTiling(p.members, ...extentOf(p.members));
  return programOrder(p.members, tiling, view, options);
}

function partOf(l: LaunchBuilder, node: AnyNode): Part {
  const { b } = l;
  const members = membersOf(node).filter(m => !b.view.removedOps.has(m.name));
  if (members.length === 0) return { node, members, dims: 0, reduction: false, rnumel: 0, x: 0, y: null, arguments: 0 };
  const sv = b.view.sizevars;
  const [numel, rnumel] = extentOf(members);
  const { tiling } = l.context.chooseTiling(members, numel, rnumel);
  const x = tiling.get("x");
  const y = tiling.get("y");
  return {
    node,
    members,
    dims: tiling.size,
    reduction: members.some(isReductionNode),
    rnumel: sv.sizeHint(rnumel, 8192),
    x: x ? sv.sizeHint(x, 8192) : 1,
    y: y ? (intValue(y) ?? sv.sizeHint(y, 8192)) : null,
    arguments: node.readWrites.reads.length + node.readWrites.writes.length,
  };
}

function partition(parts: readonly Part[], combo: boolean, mixed: boolean, maxArguments: number): Part[][] {
  const raw = combo ? byShape(parts) : [[...parts]];
  return raw.flatMap(list => {
    const states = new Map<string, { done: Part[][]; now: Part[]; count: number }>();
    for (const p of list) {
      const key = !mixed && p.dims === 3 ? `y${p.y}` : `d${p.dims}`;
      const s = states.get(key) ?? { done: [], now: [], count: 0 };
      states.set(key, s);
      if (s.now.length > 0 && s.count + p.arguments > maxArguments) {
        s.done.push(s.now);
        s.now = [];
        s.count = 0;
      }
      s.now.push(p);
      s.count += p.arguments;
    }
    return [...states.values()].flatMap(s => [...s.done, s.now]);
  });
}

/** by number of tiles; within that large pointwise kernels alone, then pointwise, short and long reductions */
function byShape(parts: readonly Part[]): Part[][] {
  const groups: Part[][] = [];
  const most = Math.max(...parts.map(p => p.dims));
  for (let dims = 2; dims <= most; dims++) {
    const here = parts.filter(p => p.dims === dims);
    const reductions = here.filter(p => p.reduction);
    const large = here.filter(p => !p.reduction && dims === 2 && p.x > LARGE_NUMEL);
    for (const p of large) groups.push([p]);
    const rest = here.filter(p => !p.reduction && !large.includes(p));
    const long = reductions.filter(p => p.rnumel > LONG_REDUCTION);
    const short = reductions.filter(p => p.rnumel <= LONG_REDUCTION);
    for (const g of [rest, short, long]) if (g.length > 0) groups.push(g);
  }
  return groups;
}
