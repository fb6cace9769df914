// The executable plan of a schedule: what is allocated, launched, called and freed, in order (Scheduler._codegen and the
// wrapper's line planning in torch/_inductor). In: a schedule. Out: ExecutablePlan, plain data from which the Python
// wrapper, the CPU runner and the worker's job derive. Promises: kernels with equal sources are one; names are given in
// launch order; verify.ts states what holds of the result.
import { stopPoint } from "../../interrupt";
import { readBoolean } from "../../presets";
import { GraphView } from "../codegen/triton/graph_view";
import { configBool } from "../codegen/triton/options";
import { isGroup, membersOf } from "../scheduler/state";
import type { AnyNode, Dep, GroupNode, NodeUser, Schedule, SchedulerNode } from "../scheduler/types";
import { type Expr, freeSymbols } from "../symbolic/expr";
import type { PlanContext, PlanOptions } from "./context";
import { externSteps } from "./extern_calls";
import { canReuse, type InplaceContext } from "./inplace";
import { onKernelDevice } from "./kernel_device";
import { launchCombo } from "./launch_combo";
import { launchMixOrder } from "./launch_mix_order";
import { launchNested } from "./launch_nested";
import { launchPieces } from "./launch_pieces";
import { isTemplateLaunch, launchTemplate } from "./launch_template";
import { launchTransposeReduction } from "./launch_transpose";
import { LaunchBuilder } from "./launches";
import { type OpenStep, planMemory } from "./memory_plan";
import { PeakEstimate } from "./peak";
import { planSize, planTensor, planView } from "./sizes";
import type { ExecutablePlan, PlanArg, PlanStep } from "./types";

export function buildPlan(schedule: Schedule, options: PlanOptions): ExecutablePlan {
  return new PlanBuilder(schedule, options).build();
}

class PlanBuilder implements PlanContext {
  readonly view: GraphView;
  readonly open: OpenStep[] = [];
  readonly allocated = new Set<string>();
  readonly freed = new Set<string>();
  readonly completed = new Set<string>();
  private readonly toFree = new Set<string>();
  private readonly launches: LaunchBuilder;
  readonly inplace: InplaceContext;
  readonly blockers: string[] = [];
  /** position of the node being generated */
  at = 0;
  private workspaces = 0;

  constructor(
    readonly schedule: Schedule,
    readonly options: PlanOptions,
  ) {
    this.view = new GraphView(schedule);
    const kernelOf = new Map<string, AnyNode>();
    for (const n of schedule.nodes) for (const m of membersOf(n)) kernelOf.set(m.name, n);
    this.inplace = {
      view: this.view,
      enabled: configBool(options, "inplace_buffers"),
      completed: this.completed,
      freed: this.freed,
      kernelOf: n => kernelOf.get(n.name),
      donatedUsers: donatedUsers(schedule),
    };
    this.launches = new LaunchBuilder(this);
  }

  build(): ExecutablePlan {
    const { graph } = this.schedule;
    for (const [at, node] of this.schedule.nodes.entries()) {
      this.at = at;
      // a concatenation without a kernel leaves its parts for what comes next: a call frees them before it, a kernel after
      if (node.type === "ExternKernelSchedulerNode" || isTemplateLaunch(node)) this.freeBuffers();
      for (const name of node.lastUsage) this.toFree.add(name);
      this.generate(node);
      for (const m of membersOf(node)) this.completed.add(m.name);
    }
    const outputs = graph.outputs.map(
      (o): PlanArg =>
        o === null
          ? { kind: "none" }
          : "buffer" in o
            ? planView(o, this.view)
            : { kind: "size", value: planSize(o, this.view) },
    );
    const peak = new PeakEstimate(this.schedule, readBoolean(this.options.behaviours, "returns_freed_first"));
    const gpu = this.schedule.nodes.find(n => n.device.type === "cuda")?.device;
    const planned = planMemory(this.open, this.view, peak, {
      reuse: configBool(this.options, "allow_buffer_reuse"),
      outputs: this.view.outputNames,
      guarded: gpu !== undefined,
    });
    const literals = [...graph.constants].map(([name, c]) => ({
      ...planTensor(name, this.view.tensorLayout(name), this.view),
      values: c.values,
    }));
    const device = gpu ? `cuda:${gpu.index ?? 0}` : "cpu";
    const { constants, steps } = onKernelDevice(literals, planned, outputs, device);
    return {
      name: this.options.name,
      aotId: `${this.options.aotId}_${graph.kind}`,
      kind: graph.kind,
      symbols: boundSymbols(this.schedule, this.view),
      inputs: graph.inputs.map(i =>
        i.layout && i.layout.kind !== "multi_output" && i.layout.kind !== "none"
          ? { ...planTensor(i.name, i.layout, this.view), ...this.exampleBound(i.name) }
          : { name: i.name, symbol: symbolText(i.symbol), value: i.hint ?? 0 },
      ),
      constants,
      kernels: this.launches.finished(),
      steps: [...this.inputAsserts(), ...steps],
      outputs,
      mutatedInputs: graph.mutatedInputs,
      scheduleEntries: this.launches.scheduleEntries,
      blockers: this.blockers,
      peakBytes: this.schedule.peakMemory,
    };
  }

  private exampleBound(input: string): { below?: number } {
    const below = this.options.exampleBounds?.get(input);
    return below === undefined ? {} : { below };
  }

  private inputAsserts(): PlanStep[] {
    const steps: PlanStep[] = [];
    for (const i of this.schedule.graph.inputs) {
      if (!i.layout || i.layout.kind === "multi_output" || i.layout.kind === "none") continue;
      const t = planTensor(i.name, i.layout, this.view);
      if (t.size.some(s => s === 0)) continue;
      steps.push({ kind: "assert", name: t.name, size: t.size, stride: t.stride });
    }
    return steps;
  }

  private generate(node: AnyNode): void {
    stopPoint();
    if (isGroup(node)) {
      this.generateGroup(node);
      return;
    }
    const { type } = node;
    switch (type) {
      case "SchedulerNode":
        this.single(node, [node]);
        return;
      case "ExternKernelSchedulerNode":
        this.markRun(node, null);
        externSteps(this, node);
        this.freeBuffers();
        return;
      case "NopKernelSchedulerNode":
        this.markRun(node, null);
        return;
      default: {
        const never: never = type;
        return never;
      }
    }
  }

  private single(node: AnyNode, members: readonly SchedulerNode[]): void {
    if (isTemplateLaunch(node)) launchTemplate(this.launches, node);
    else if (!launchPieces(this.launches, node, members)) this.launches.single(node, members);
  }

  private generateGroup(node: GroupNode): void {
    switch (node.type) {
      case "FusedSchedulerNode":
        this.single(node, membersOf(node));
        return;
      case "FusedMixOrderReductions":
        launchMixOrder(this.launches, node);
        return;
      case "FusedNestedReductions":
        launchNested(this.launches, node);
        return;
      case "ForeachKernelSchedulerNode":
        launchCombo(this.launches, node);
        return;
      case "FusedTransposeReduction":
        launchTransposeReduction(this.launches, node);
        return;
      case "GroupedSchedulerNode":
        for (const n of node.snodes) this.generate(n);
        return;
      default: {
        const never: never = node.type;
        return never;
      }
    }
  }

  nextWorkspace(): number {
    return this.workspaces++;
  }

  push(step: PlanStep): void {
    this.open.push({ kind: "done", step });
  }

  /** allocates a node's outputs (mark_run); `inplaceOf` names the buffers that the kernel writes in place */
  markRun(node: SchedulerNode, inplaceOf: ReadonlyMap<string, string> | null): void {
    for (const out of node.outputs) {
      const op = node.operation;
      // kernels that allocate their own results
      if (
        op.kind === "extern" &&
        op.irClass !== "ExternKernelOut" &&
        op.irClass !== "RandomSeeds" &&
        op.irClass !== "DeviceCopy" &&
        op.irClass !== "TemplateBuffer" &&
        op.irClass !== "MultiTemplateBuffer"
      ) {
        this.allocated.add(out.name);
        continue;
      }
      const from = inplaceOf?.get(out.name);
      if (from === undefined || out.mutations.length > 0) this.allocate(out.name);
      else {
        this.allocate(from);
        this.freed.add(from);
        this.allocated.add(out.name);
        this.open.push({ kind: "inplace", from, buffer: out.name });
      }
    }
  }

  allocate(name: string): void {
    if (this.view.removedBuffers.has(name) || this.allocated.has(name) || this.view.isInput(name)) return;
    this.allocated.add(name);
    const l = this.view.layout(name);
    if (!l) return;
    switch (l.kind) {
      case "mutation":
      case "none":
      case "multi_output":
        return;
      case "non_owning":
        this.allocate(l.base);
        this.push({
          kind: "allocate",
          tensor: { ...planTensor(name, l, this.view), offset: planSize(l.baseOffset, this.view) },
          from: { kind: "alias", base: l.base },
        });
        return;
      case "fixed":
      case "flexible":
        this.open.push({ kind: "allocate", buffer: name, at: this.at });
        return;
      default: {
        const never: never = l;
        return never;
      }
    }
  }

  /** gives back what has been used for the last time, in order of names (free_buffers) */
  freeBuffers(): void {
    const names = [...this.toFree].filter(n => !this.view.removedBuffers.has(n) && !this.freed.has(n)).sort();
    this.toFree.clear();
    for (const name of names) {
      const b = this.view.schedulerBuffer(name);
      if (b) {
        if (b.buffer.layout.kind === "none" || b.users.some(u => u.node === null)) continue;
        if (!canReuse(this.inplace, name)) continue;
        this.freed.add(name);
        const pooled =
          b.aliases.length === 0 && b.buffer.layout.kind !== "multi_output" && b.buffer.layout.kind !== "mutation";
        this.open.push({ kind: "release", buffer: name, at: this.at, pooled });
      } else if (this.view.isInput(name)) {
        // a donated input too is only ever taken over in place
        if (this.freed.has(name)) continue;
        this.freed.add(name);
        this.push({ kind: "free", name });
      }
    }
  }
}

/** who reads a donated input, and whether the reader's output can take its place */
function donatedUsers(schedule: Schedule): Map<string, NodeUser[]> {
  const users = new Map<string, NodeUser[]>();
  const { donated } = schedule.graph;
  if (donated.size === 0) return users;
  const outputs = new Set(schedule.graph.outputs.flatMap(o => (o && "buffer" in o ? [o.buffer] : [])));
  for (const name of donated)
    if (outputs.has(name)) users.set(name, [{ node: null, canInplace: false, isWeak: false }]);
  for (const node of schedule.nodes.flatMap(n => membersOf(n))) {
    for (const read of node.readWrites.reads) {
      if (read.kind === "weak" || !donated.has(read.name)) continue;
      const list = users.get(read.name) ?? [];
      const before = list.findIndex(u => u.node === node);
      const inplace = sameAccess(node, read) && (before < 0 || (list[before]?.canInplace ?? false));
      if (before >= 0) list.splice(before, 1);
      list.push({ node, canInplace: inplace, isWeak: false });
      users.set(read.name, list);
    }
  }
  return users;
}

function sameAccess(node: SchedulerNode, read: Dep): boolean {
  if (node.operation.kind !== "computed" || node.outputs.some(o => o.aliases.length > 0)) return false;
  const [write, ...more] = node.readWrites.writes;
  if (more.length || write?.kind !== "memory" || read.kind !== "memory") return false;
  return (
    read.index === write.index &&
    read.sizes.length === write.sizes.length &&
    read.sizes.every((s, i) => s === write.sizes[i])
  );
}

const symbolText = (e: Expr | undefined): string => (e?.kind === "sym" ? e.name : "");

/** the input (and its dimension) that each size symbol is read from */
function boundSymbols(schedule: Schedule, view: GraphView): ExecutablePlan["symbols"] {
  const bound: { name: string; value: number; input: number; dim: number | null }[] = [];
  const seen = new Set<string>();
  const { inputs } = schedule.graph;
  const bind = (e: Expr, input: number, dim: number | null): void => {
    if (e.kind !== "sym" || seen.has(e.name)) return;
    seen.add(e.name);
    bound.push({ name: e.name, value: view.sizevars.sizeHint(e, 8192), input, dim });
  };
  inputs.forEach((x, i) => {
    if (x.layout === null && x.symbol) bind(x.symbol, i, null);
  });
  inputs.forEach((x, i) => {
    if (x.layout && "size" in x.layout) {
      x.layout.size.forEach((s, d) => {
        if (freeSymbols(s).size === 1) bind(s, i, d);
      });
    }
  });
  return bound;
}
