// One compiled graph as `explain --json` shows it. In: the post-grad graph's schedule and plan. Out: ReportGraph.
import { FxNode } from "../fx/graph";
import type { FakeTensor, FakeValue } from "../fx/types";
import { estimateExternUs, reportedUs } from "../inductor/cost";
import { itemsize } from "../inductor/ir/dtypes";
import type { TargetProperties } from "../inductor/ir/target";
import type { ExecutablePlan, PlanKernel } from "../inductor/plan/types";
import type { AnyNode, Dep, Schedule, SchedulerNode } from "../inductor/scheduler/types";
import { printLog } from "../inductor/symbolic/print_log";
import { itemsOf } from "../passes/edit";
import { layoutReports, type MeasuredProducts } from "./layout_report";
import { originOf, placesOfNode } from "./origins";
import type { ReportChoice, ReportGraph, ReportKernel, ReportRefusal, ReportTensor } from "./types";

export interface GraphReportInput {
  readonly file: string;
  readonly name: string;
  readonly kind: "inference" | "forward" | "backward";
  readonly schedule: Schedule;
  readonly plan: ExecutablePlan;
  readonly target: TargetProperties;
  /** backward inputs that are saved values, not tangents */
  readonly saved: ReadonlySet<string>;
  readonly assumed: readonly string[];
  /** forward: positions among its outputs of the values that its backward takes */
  readonly savedOutputs: readonly number[];
  readonly choice: ReportChoice | null;
  readonly products: MeasuredProducts;
}

export function graphReport(input: GraphReportInput): ReportGraph {
  const { schedule, file } = input;
  const fx = schedule.graph.graph;
  const calls = fx.nodes.filter(n => n.op === "call_function");
  const launched = new LaunchedKernels(input.plan);
  const linesOf = operationLines(input);
  const nodes = schedule.nodes.filter(n => !isTupleItem(n));
  const layouts = layoutReports(schedule, nodes, input.products, linesOf);
  return {
    name: input.name,
    kind: input.kind,
    bytes: schedule.totalBytes,
    peak_bytes: schedule.peakMemory,
    saved_bytes: savedBytes(input),
    inputs: fx
      .placeholders()
      .map(n => ({ ...(tensorOf(n.name, n.meta.val) ?? noTensor(n.name)), saved: input.saved.has(n.name) })),
    aten: calls.map(n => {
      const { name, shape, stride, dtype } = tensorOf(n.name, n.meta.val) ?? noTensor(n.name);
      const { lines, at } = placesOfNode(n, file);
      return { name, shape, stride, dtype, target: targetText(n.target), lines, at };
    }),
    kernels: nodes.map(n => kernelReport(n, input, launched)),
    refusals: schedule.refusals.map(r => refusalReport(r, linesOf)),
    ...(layouts.length === 0 ? {} : { layouts }),
    ...(input.choice === null ? {} : { choice: input.choice }),
  };
}

/** What was given to the graph stands on no line, and a value kept twice is kept once. */
function savedBytes({ schedule, file, savedOutputs }: GraphReportInput): ReportGraph["saved_bytes"] {
  const { graph, sizevars } = schedule.graph;
  const outputs = itemsOf(graph.output.args[0]);
  const kept = new Set<FxNode>();
  for (const position of savedOutputs) {
    const node = outputs[position];
    if (node instanceof FxNode && node.op === "call_function") kept.add(node);
  }
  const byLine = new Map<number, number>();
  for (const node of kept) {
    const { val } = node.meta;
    const [line] = placesOfNode(node, file).at;
    if (line === undefined || !isFakeTensor(val)) continue;
    const elements = val.shape.reduce((n, s) => n * sizevars.sizeHint(s, 1), 1);
    byLine.set(line, (byLine.get(line) ?? 0) + elements * itemsize(val.dtype));
  }
  return [...byLine].sort(([a], [b]) => a - b).map(([line, bytes]) => ({ line, bytes }));
}

export function leaves(node: AnyNode): SchedulerNode[] {
  return "operation" in node ? [node] : node.snodes.flatMap(leaves);
}

/** an item of a tuple is no kernel */
export function isTupleItem(node: AnyNode): boolean {
  return "operation" in node && node.operation.kind === "extern" && node.operation.irClass === "MultiOutput";
}

function kernelReport(node: AnyNode, input: GraphReportInput, launched: LaunchedKernels): ReportKernel {
  const { schedule, file } = input;
  const members = leaves(node);
  const origins = new Set<FxNode>();
  for (const m of members) for (const o of m.operation.origins) origins.add(o);
  const { lines, at } = originOf(origins, file);
  const bytes = schedule.bytes.get(node.name) ?? 0;
  return {
    name: launched.name(node),
    type: node.type === "FusedTransposeReduction" ? "FusedSchedulerNode" : node.type,
    nodes: members.map(m => m.name),
    origins: Array.from(origins, o => o.name).sort(),
    lines,
    at,
    reads: buffersOf(node.readWrites.reads),
    writes: buffersOf(node.readWrites.writes),
    bytes,
    estimate_us: reportedUs(estimateUs(node, bytes, input, launched)),
    assumed: input.assumed,
  };
}

/** each buffer once, by name */
function buffersOf(deps: readonly Dep[]): string[] {
  const names = new Set<string>();
  for (const d of deps) names.add(d.name);
  return [...names].sort();
}

/** which generated kernel runs each operation */
class LaunchedKernels {
  private readonly byOp = new Map<string, { readonly step: number; readonly kernel: number }>();

  constructor(private readonly plan: ExecutablePlan) {
    for (const [at, step] of plan.steps.entries()) {
      if (step.kind !== "launch") continue;
      for (const op of step.ops) if (!this.byOp.has(op)) this.byOp.set(op, { step: at, kernel: step.kernel });
    }
  }

  /** the kernel of the first launch that runs one of the node's operations */
  kernel(node: AnyNode): PlanKernel | undefined {
    let first: { readonly step: number; readonly kernel: number } | undefined;
    for (const m of leaves(node)) {
      const at = this.byOp.get(m.name);
      if (at && (first === undefined || at.step < first.step)) first = at;
    }
    return first && this.plan.kernels[first.kernel];
  }

  /** the generated kernel's name, or an extern kernel as the wrapper calls it; "" for a mere allocation */
  name(node: AnyNode): string {
    const generated = this.kernel(node)?.name;
    if (generated !== undefined) return generated;
    return "operation" in node && node.operation.kind === "extern" ? (node.operation.kernel ?? "") : "";
  }
}

function estimateUs(node: AnyNode, bytes: number, input: GraphReportInput, launched: LaunchedKernels): number {
  const generated = launched.kernel(node);
  if (generated === undefined && "operation" in node) {
    if (node.operation.kind === "nop") return 0;
    if (node.operation.kind === "extern")
      return estimateExternUs(node.operation, bytes, input.target, input.schedule.graph.sizevars);
  }
  return generated?.estimateUs ?? 0;
}

type LinesOf = (ops: readonly string[]) => { readonly lines: readonly number[]; readonly at: readonly number[] };

/** Source lines of operations. Many refusals are of the same few groups, whose lists of operations are the same. */
function operationLines({ schedule, file }: GraphReportInput): LinesOf {
  const origins = new Map(schedule.graph.operations.map(o => [o.name, o.origins] as const));
  const known = new Map<readonly string[], ReturnType<LinesOf>>();
  return ops => {
    let found = known.get(ops);
    if (found === undefined) {
      const { lines, at } = originOf(
        ops.flatMap(op => origins.get(op) ?? []),
        file,
      );
      found = { lines, at };
      known.set(ops, found);
    }
    return found;
  };
}

function refusalReport(r: Schedule["refusals"][number], linesOf: LinesOf): ReportRefusal {
  const [first, second] = [linesOf(r.aOps), linesOf(r.bOps)];
  const { code, a, b, detail, aIndex, bIndex, buffer, aAccess, bAccess, bytesLost } = r;
  return {
    code,
    a,
    b,
    detail,
    aIndex,
    bIndex,
    buffer,
    aAccess,
    bAccess,
    bytesLost,
    lines: [first.lines, second.lines],
    at: [first.at, second.at],
  };
}

/** equal layers' nodes have metas in common */
const described = new WeakMap<FakeTensor, Omit<ReportTensor, "name">>();

function tensorOf(name: string, val: FakeValue | undefined): ReportTensor | null {
  if (!isFakeTensor(val)) return null;
  let known = described.get(val);
  if (known === undefined) {
    known = { shape: val.shape.map(printLog), stride: val.stride.map(printLog), dtype: `torch.${val.dtype}` };
    described.set(val, known);
  }
  const { shape, stride, dtype } = known;
  return { name, shape, stride, dtype };
}

/** a size, or several values in a tuple */
function noTensor(name: string): ReportTensor {
  return { name, shape: [], stride: [], dtype: null };
}

/** Arithmetic on sizes calls Python's operators, which print as built-in functions. */
function targetText(target: string): string {
  return target.replace(/^operator\.(.*)$/, "<built-in function $1>");
}

export function isFakeTensor(val: FakeValue | undefined): val is FakeTensor {
  return typeof val === "object" && val !== null && "dtype" in val;
}
