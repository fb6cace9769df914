// One ATen graph through Inductor: post-grad passes, loop IR, schedule, plan, text. In: GraphInfo of a frame. Out:
// GraphResult, and the log records that the frame asked for, in torch's order.
import type { AotResult, GraphInfo } from "./aot/types";
import type { CapturedFrame } from "./dynamo/types";
import type { FxGraph } from "./fx/graph";
import { type PrintOptions, printReadable } from "./fx/print";
import { emptyKernel, generateWat, UnsupportedOnCpu } from "./inductor/codegen/wat";
import { computedBefore, launchedNode } from "./inductor/codegen/wat/launched";
import type { Partials } from "./inductor/codegen/wat/partials";
import { inductorCode } from "./inductor/codegen/wrapper/inductor";
import { outputCodeRecords } from "./inductor/codegen/wrapper/records";
import { lowerGraph } from "./inductor/ir/graph_lowering";
import type { TargetProperties } from "./inductor/ir/target";
import { buildPlan } from "./inductor/plan/build_plan";
import { exampleBounds } from "./inductor/plan/example_integers";
import type { ExecutablePlan, WatKernel } from "./inductor/plan/types";
import { schedule as scheduleGraph } from "./inductor/scheduler/schedule";
import { mayBeTemplate, waysAsked } from "./inductor/scheduler/template_fusion";
import type { AnyNode, Schedule } from "./inductor/scheduler/types";
import type { Expr } from "./inductor/symbolic/expr";
import { SizeVars } from "./inductor/symbolic/size_vars";
import {
  commonWays,
  estimatedFastest,
  fastest,
  type GraphWays,
  isWayOf,
  type MeasuredWays,
  waysOf,
} from "./inductor/templates/ways";
import { postGrad } from "./passes/post_grad";
import { readBoolean } from "./presets";
import { fusionRecords } from "./report/fusion_log";
import { leaves } from "./report/graph_report";
import type { MeasuredProducts } from "./report/layout_report";
import type { Artifact, LogLevel, LogRecord } from "./report/log";
import { originOf, outermostFunction, reportedFile, UNNAMED } from "./report/origins";
import { type CodeWriter, codeWriter } from "./report/output_code";
import { scheduleRecords } from "./report/schedule_log";
import { schedulerDot } from "./report/scheduler_dot";
import { schedulerGraph } from "./report/scheduler_graph";
import type { OutputCode, ReportChoice, SchedulerGraph } from "./report/types";
import { stageBegins } from "./stages";

export interface FrameOptions {
  /** the program that is run: lines are of this file where it stands on a node's stack */
  readonly path: string;
  /** number of the next AOT compilation in this program */
  readonly aotId: number;
  readonly preset: string;
  readonly behaviours: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  readonly logs: ReadonlySet<string>;
  readonly wat: boolean;
  readonly unfused: boolean;
  /** what workers measured of graphs with matrix products, by the graph's key (inductor/templates/ways.ts) */
  readonly choices: ReadonlyMap<string, MeasuredWays>;
  /** the program runs backward() after this frame, so its backward graph is compiled too */
  readonly backward: boolean;
}

export interface GraphResult {
  readonly info: GraphInfo;
  /** strides of the graph's outputs as lowered; null: no tensor */
  readonly outputStrides: readonly (readonly Expr[] | null)[];
  readonly schedule: Schedule;
  readonly plan: ExecutablePlan;
  readonly outputCode: OutputCode;
  /** writes the output code of this plan with other texts in it */
  readonly writeCode: CodeWriter;
  readonly wat: readonly WatKernel[];
  readonly schedulerGraph: SchedulerGraph | null;
  /** the file that the graph's lines are of, and the function of it that the graph is named by */
  readonly file: string;
  readonly name: string;
  /** null: nothing that a template computes */
  readonly choice: ReportChoice | null;
  /** what a worker measured of the graph's products, by operation */
  readonly products: MeasuredProducts;
  /** numbers that torch would measure and we estimate, in words */
  readonly estimates: readonly string[];
}

export function graphRecord(level: LogLevel, artifact: Artifact, graph: FxGraph, print: PrintOptions): LogRecord {
  return { level, artifact, message: printReadable(graph, print) };
}

export function compileGraph(
  frame: CapturedFrame,
  info: GraphInfo,
  aot: AotResult,
  options: FrameOptions,
  logs: LogRecord[],
  inputStrides?: ReadonlyMap<string, readonly Expr[]>,
): GraphResult {
  const { behaviours, target } = options;
  let { config } = frame;
  const wants = (artifact: Artifact): boolean => options.logs.has(artifact);
  const sizevars = new SizeVars(aot.shapeEnv);
  stageBegins("passes");
  const { graph } = info;
  const returned = postGrad(graph, { info, config, behaviours, shapeEnv: aot.shapeEnv, inputStrides });
  if (wants("post_grad_graphs")) {
    const file = info.kind === "backward" ? "<eval_with_key>.2" : undefined;
    logs.push(
      graphRecord("DEBUG", "post_grad_graphs", graph, {
        title: "AFTER POST GRAD",
        className: info.kind === "inference" ? "<lambda>" : "GraphModule",
        file,
      }),
    );
  }
  stageBegins("lowering");
  const lowered = lowerGraph(graph, {
    kind: info.kind,
    config,
    behaviours,
    target,
    sizevars,
    userOutputs: info.userOutputs.map((seen, i) => (seen === null ? null : (returned[i] ?? seen))),
    donated: info.donated,
  });
  stageBegins("schedule");
  const templates = { config, behaviours, target };
  const ways = waysOf(lowered, templates, op => mayBeTemplate(lowered, op, templates), waysAsked(templates));
  const measured = (ways && options.choices.get(ways.key)) ?? null;
  const known = measured && fastest(measured);
  if (ways && asked(config) === null) {
    const way = known !== null && isWayOf(known, ways) ? known : estimatedFastest(ways);
    if (way !== null) config = new Map([...config, ["triton.template_form", way]]);
  }
  const products = ways?.numbers ?? new Map<string, number>();
  const schedule = scheduleGraph(lowered, {
    config,
    behaviours,
    target,
    products,
    wantDumps: wants("ir_pre_fusion") || wants("ir_post_fusion"),
    fuse: !options.unfused,
  });
  if (wants("ir_pre_fusion"))
    logs.push({ level: "INFO", artifact: "ir_pre_fusion", message: `BEFORE FUSION\n${schedule.preFusionDump ?? ""}` });
  if (wants("fusion"))
    logs.push(...fusionRecords(schedule.events, { anchors: readBoolean(behaviours, "stack_trace_anchors") }));
  if (wants("ir_post_fusion"))
    logs.push({ level: "INFO", artifact: "ir_post_fusion", message: `AFTER FUSION\n${schedule.postFusionDump ?? ""}` });
  const file = reportedFile(graph.nodes, options.path, frame.file);
  const name = outermostFunction(graph.nodes, file) ?? outermostFunction(frame.graph.nodes, file) ?? UNNAMED;
  const drawn = wants("scheduler_graph") ? schedulerGraph(schedule, file, name, info.kind) : null;
  if (drawn) logs.push({ level: "INFO", artifact: "scheduler_graph", message: schedulerDot(drawn), raw: true });
  const codegen = { config, behaviours, target, products };
  stageBegins("plan");
  const plan = buildPlan(schedule, {
    ...codegen,
    name,
    aotId: options.aotId,
    originOf: nodes => originOf(nodes, file),
    exampleBounds: exampleBounds(graph, size => sizevars.hint(size)),
  });
  if (wants("schedule")) logs.push(...scheduleRecords(plan.scheduleEntries));
  if (wants("output_code")) logs.push(...outputCodeRecords(inductorCode(plan, codegen), codegen));
  const writeCode = codeWriter(codegen, info.kind === "backward" ? null : frame.graph);
  const { wat, blockers } = options.wat ? cpuKernels(plan, schedule, file) : { wat: [], blockers: [] };
  stageBegins("report");
  return {
    info,
    outputStrides: lowered.outputs.map(o => (o !== null && "stride" in o ? o.stride : null)),
    schedule,
    plan: { ...plan, blockers: [...plan.blockers, ...blockers] },
    outputCode: writeCode(plan, text => text),
    writeCode,
    wat,
    schedulerGraph: drawn,
    file,
    name,
    products: { times: measured, numbers: products },
    choice: ways && choiceOf(ways, measured, plan, asked(config)),
    estimates: estimatesOf(schedule),
  };
}

/** the CPU form of each launch, in order, after that of what comes before its products; a kernel that has none blocks the plan's execution, with the reason */
function cpuKernels(
  plan: ExecutablePlan,
  schedule: Schedule,
  file: string,
): { readonly wat: WatKernel[]; readonly blockers: string[] } {
  const wat: WatKernel[] = [];
  const blockers: string[] = [];
  const nodes = new Map<string, AnyNode>();
  for (const n of schedule.nodes) for (const leaf of leaves(n)) nodes.set(leaf.name, n);
  const allocated = new Set(
    plan.steps.flatMap(s =>
      s.kind === "allocate" ? [s.tensor.name] : s.kind === "finish_partials" ? [s.output.name] : [],
    ),
  );
  for (const step of plan.steps) {
    if (step.kind !== "launch") continue;
    const name = plan.kernels[step.kernel]?.name ?? "kernel";
    const whole = nodes.get(step.ops[0] ?? "");
    if (!whole) throw new Error(`launch of ${name} belongs to no node`);
    const own = new Set(step.before?.flatMap(c => c.results.map(t => t.name)));
    const generate = (node: AnyNode | null, partials: Partials | null): void => {
      if (node === null) {
        wat.push(emptyKernel(name));
        return;
      }
      const written = leaves(node).flatMap(l => l.outputs.map(b => b.name));
      const kept = (b: string): boolean => allocated.has(b) || own.has(b) || schedule.mutationRealName.has(b);
      const removedBuffers = new Set(written.filter(b => !kept(b)));
      try {
        wat.push(generateWat(node, schedule, { removedBuffers, file, name, partials }));
      } catch (e) {
        if (!(e instanceof UnsupportedOnCpu)) throw e;
        blockers.push(`the CPU executor has no code for ${e.message} (${name})`);
      }
    };
    for (const n of computedBefore(whole, step)) generate(n, null);
    const { node, partials } = launchedNode(whole, step, plan);
    generate(node, partials);
  }
  return { wat, blockers };
}

/** what the configuration says of ways to compute products */
function asked(config: ReadonlyMap<string, unknown>): string | null {
  const way = config.get("triton.template_form");
  return typeof way === "string" ? way : null;
}

function choiceOf(
  graph: GraphWays,
  measured: MeasuredWays | null,
  plan: ExecutablePlan,
  wanted: string | null,
): ReportChoice {
  const { key, products } = graph;
  const ways = commonWays(graph);
  const asked = wanted?.split(",").every(w => w !== "") ? wanted : null;
  const chosen = asked ?? (plan.kernels.some(k => k.heuristic === "template") ? "template" : "library");
  const { microseconds = null, where = null } = measured ?? {};
  const named = (i: number): string[] => [...graph.numbers].flatMap(([op, number]) => (number === i ? [op] : []));
  const operations = products.map((_, i) => named(i));
  return { key, ways, products, operations, estimates: graph.estimates, chosen, measured: microseconds, where };
}

function estimatesOf(schedule: Schedule): string[] {
  return schedule.events.flatMap(e =>
    e.kind === "benchmark" && e.estimated
      ? [`whether fusing ${e.a.join(", ")} with ${e.b.join(", ")} pays (cost model, no GPU was asked)`]
      : [],
  );
}
