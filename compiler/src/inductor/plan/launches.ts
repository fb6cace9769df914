// Launch steps: kernels are emitted, named, deduplicated by their source, and called. In: nodes of the schedule. Out:
// plan kernels and launch steps. Promises: equal sources are one kernel (with the first one's name and comment).
import type { FxNode } from "../../fx/graph";
import type { KernelContext } from "../codegen/triton/generate";
import type { Workspace } from "../codegen/triton/kernel_args";
import { type KernelParam, type KernelSource, NAME } from "../codegen/triton/kernel_text";
import { estimateExternUs, estimateKernelUs } from "../cost";
import { selectTiling } from "../scheduler/tiling/select";
import type { AnyNode, SchedulerNode } from "../scheduler/types";
import { templatePenalty } from "../templates/alignment";
import { scheduledUs } from "../templates/estimates";
import { gemmOf } from "../templates/gemm";
import { computesInParts, estimatePartsUs, isInParts } from "../templates/in_parts";
import type { PlanContext } from "./context";
import { decideInplace, inplaceDecisions } from "./inplace";
import { type LaunchForm, LaunchForms, sourceKey } from "./launch_forms";
import { fusedName, provenanceOf, sourceComment } from "./provenance";
import { planSize } from "./sizes";
import type {
  ComputedBefore,
  ExternStep,
  PlanArg,
  PlanKernel,
  PlanKernelArg,
  PlanOrigin,
  PlanScheduleEntry,
  PlanStep,
} from "./types";

const CATEGORY: Readonly<Record<KernelSource["heuristic"], string>> = {
  pointwise: "poi",
  reduction: "red",
  persistent_reduction: "per",
  foreach: "for",
  split_scan: "spl",
  template: "tem",
};

export interface LaunchExtras {
  /** what stands above the call where that is not the members' origins */
  readonly comment?: string;
  readonly all?: readonly SchedulerNode[];
  /** matrix products that a template's kernel computes */
  readonly products?: readonly ExternStep[];
  readonly before?: readonly ComputedBefore[];
}

export class LaunchBuilder {
  private readonly kernels: PlanKernel[] = [];
  private readonly bySource = new Map<string, number>();
  readonly context: KernelContext;
  private readonly forms: LaunchForms;

  constructor(readonly b: PlanContext) {
    this.context = {
      graph: b.view,
      options: b.options,
      chooseTiling:
        b.options.chooseTiling ??
        ((nodes, numel, rnumel) =>
          selectTiling(nodes, numel, rnumel, {
            ...b.schedule,
            config: b.options.config,
            removedBuffers: b.view.removedBuffers,
          })),
      decideInplace: (kernel, node) => decideInplace(b.inplace, kernel, node),
      nextWorkspace: () => `workspace_${b.nextWorkspace()}`,
    };
    const decide = (node: SchedulerNode) => inplaceDecisions(b.inplace, node);
    this.forms = new LaunchForms(this.context, b.schedule.graph.kind, decide, b.options.chooseTiling === undefined);
  }

  readonly scheduleEntries: (readonly PlanScheduleEntry[])[] = [];

  finished(): readonly PlanKernel[] {
    return this.kernels;
  }

  /** one kernel of one fused list */
  single(node: AnyNode, all: readonly SchedulerNode[]): void {
    const members = all.filter(m => !this.b.view.removedOps.has(m.name));
    if (members.length === 0) return;
    const form = this.forms.formOf(members);
    this.scheduleEntries.push(form.schedule);
    const kernel =
      this.bySource.get(form.key) ??
      this.define(form.source(), node, members, originsOf(members), true, members, form.again, form.key);
    for (const m of members) this.b.markRun(m, form.inplaceUpdates);
    for (const w of form.workspaces) this.allocate(w, node);
    this.launch(kernel, form, members);
    this.finish([form]);
    for (const w of form.workspaces) this.b.push({ kind: "free", name: w.outer });
    this.b.freeBuffers();
  }

  /** scratch memory for one launch */
  private allocate(w: Workspace, node: AnyNode): void {
    const { type, index } = node.device;
    this.b.push({
      kind: "allocate",
      tensor: {
        name: w.outer,
        size: [planSize(w.count, this.b.view)],
        stride: [1],
        offset: 0,
        dtype: w.dtype,
        device: index === null ? type : `${type}:${index}`,
      },
      from: { kind: "new", zero: w.zero },
    });
  }

  /** a kernel's buffers that vanished are gone for the whole graph */
  finish(kernels: readonly Pick<LaunchForm, "removed" | "inplacedToRemove">[]): void {
    for (const k of kernels) {
      for (const n of k.removed) this.b.view.removedBuffers.add(n);
      for (const n of k.inplacedToRemove) this.b.view.inplacedToRemove.add(n);
    }
  }

  /** index of the kernel with this source: an equal one that is there, or a new one with the next name */
  define(
    source: KernelSource,
    node: AnyNode,
    members: readonly SchedulerNode[],
    origins: readonly (readonly FxNode[])[],
    named = true,
    all: readonly SchedulerNode[] = members,
    again = 0,
    key = sourceKey(source),
  ): number {
    const known = this.bySource.get(key);
    if (known !== undefined) return known;
    const index = this.kernels.length;
    const { options } = this.b;
    const name = [
      "triton",
      CATEGORY[source.heuristic],
      named ? fusedName(origins, options.config.get("triton.descriptive_names")) : "fused",
      String(index),
    ].join("_");
    const provenance = provenanceOf(named ? origins : [], members, this.b.view);
    this.bySource.set(key, index);
    const whole = options.originOf(origins.flat());
    const byOp = new Map<string, PlanOrigin>();
    for (const m of all) byOp.set(m.name, options.originOf(m.operation.origins));
    const rename = (text: string): string => text.replaceAll(NAME, name);
    const lines = [...source.preamble, ...source.lines];
    const text = lines.map(l => rename(l.text));
    const bytes = this.b.schedule.bytes.get(node.name) ?? 0;
    const flops = flopsOf(this.b, all);
    this.kernels.push({
      name,
      type: node.type as PlanKernel["type"],
      heuristic: source.heuristic,
      args: source.params.flatMap(p => planKernelArg(this.b, p)),
      triton: text.join("\n"),
      tritonLines: lines.map(l => byOp.get(l.op) ?? whole),
      provenance: [provenance.comment, ...provenance.detail],
      meta: { ...source.meta, inductorMeta: source.meta.inductorMeta.map(([k, v]) => [k, rename(v)] as const) },
      origin: whole,
      bytes,
      flops,
      estimateUs: Math.max(estimateKernelUs(bytes, flops, options.target, again), productUs(this.b, all)),
    });
    return index;
  }

  launch(
    kernel: number,
    source: Pick<KernelSource, "params">,
    members: readonly SchedulerNode[],
    { comment, all = members, products, before }: LaunchExtras = {},
  ): void {
    const origins = originsOf(members);
    const step: PlanStep = {
      kind: "launch",
      kernel,
      args: callArgs(this.b, source.params),
      origin: this.b.options.originOf(originsOf(all).flat()),
      ops: all.map(m => m.name),
      comment: comment ?? sourceComment(origins),
      ...(products ? { products } : {}),
      ...(before ? { before } : {}),
    };
    this.b.push(step);
  }
}

export const originsOf = (members: readonly SchedulerNode[]): readonly (readonly FxNode[])[] =>
  members.map(m => m.operation.origins);

function callArgs(b: PlanContext, params: readonly KernelParam[]): PlanArg[] {
  return params.flatMap((p): PlanArg[] => {
    const { def } = p;
    switch (def.kind) {
      case "tensor":
        return [{ kind: "buffer", name: def.buffer }];
      case "size":
      case "numel":
        return [{ kind: "size", value: planSize(def.expr, b.view) }];
      case "seed_offset":
        return [{ kind: "number", value: def.value, float: false }];
      case "workspace":
        return [{ kind: "buffer", name: def.workspace.outer }];
      case "constexpr":
        return [];
      default: {
        const never: never = def;
        return never;
      }
    }
  });
}

function planKernelArg(b: PlanContext, p: KernelParam): PlanKernelArg[] {
  const { def } = p;
  switch (def.kind) {
    case "tensor":
      return [{ name: p.name, role: def.role, dtype: b.view.dtype(def.buffer) }];
    case "size":
      return [{ name: p.name, role: "size", dtype: null }];
    case "numel":
      return [{ name: p.name, role: "numel", dtype: null }];
    case "seed_offset":
      return [{ name: p.name, role: "seed", dtype: null }];
    case "workspace":
      return [{ name: p.name, role: "workspace", dtype: def.workspace.dtype }];
    case "constexpr":
      return [];
    default: {
      const never: never = def;
      return never;
    }
  }
}

/** microseconds that the matrix products of a template's kernel take at least; 0 for other kernels */
function productUs(b: PlanContext, members: readonly SchedulerNode[]): number {
  const fused = members.findIndex(m => m.operation.kind === "extern") > 0;
  const inParts = computesInParts(b.options);
  return members.reduce((us, m) => {
    const op = m.operation;
    if (op.kind !== "extern") return us;
    const { target } = b.options;
    const gemm = gemmOf(op);
    const sv = b.view.sizevars;
    const own = gemm && scheduledUs(b.schedule.graph, gemm, { fused, inParts }, target);
    if (own !== null) return us + own;
    const parts = inParts && isInParts(op) ? gemm : null;
    return us + (parts ? estimatePartsUs(parts, target, sv) : estimateExternUs(op, 0, target, sv, templatePenalty(op)));
  }, 0);
}

/** arithmetic operations of the bodies, one a value and iteration */
function flopsOf(b: PlanContext, members: readonly SchedulerNode[]): number {
  const sv = b.view.sizevars;
  let total = 0;
  for (const m of members) {
    if (!m.body) continue;
    const blocks = [m.body.block, ...m.body.subblocks.values()];
    const ops = blocks.reduce((n, blk) => n + blk.nodes.filter(x => x.op === "call" || x.op === "reduction").length, 0);
    total += ops * sv.sizeHint(sv.numel([...m.sizes[0], ...m.sizes[1]]), 8192);
  }
  return total;
}
