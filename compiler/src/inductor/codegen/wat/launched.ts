// What one launch step runs, as nodes. In: a schedule's node, the plan and one of its launches. Out: the node with the
// members of that launch alone, and the schedule that it is compiled against. Promises: a node that the plan launches in
// parts is compiled in the same parts; sums whose partial results a later step adds up (finish_partials) leave their whole
// result as the first partial one and neutral values as the others.

import { buildBody } from "../../ir/build_body";
import type { LoopBody } from "../../ir/loop_body";
import { opsHandler } from "../../ir/replay";
import { runBody } from "../../ir/run_body";
import { bodySizes, loopVars } from "../../ir/transform";
import type { Layout } from "../../ir/types";
import { sizeValue } from "../../plan/sizes";
import type { ExecutablePlan, PlanStep } from "../../plan/types";
import type { AnyNode, GroupNode, Schedule, SchedulerNode } from "../../scheduler/types";
import { add, type Expr, int, mul, product } from "../../symbolic/expr";

export type Launch = Extract<PlanStep, { kind: "launch" }>;
type Finish = Extract<PlanStep, { kind: "finish_partials" }>;

export interface Launched {
  readonly node: AnyNode;
  readonly schedule: Schedule;
}

export function launchedNode(node: AnyNode, step: Launch, plan: ExecutablePlan, schedule: Schedule): Launched {
  const finishes = finishesOf(step, plan);
  const own = restricted(node, new Set(step.ops));
  if (!own) throw new Error(`${node.name} has none of ${step.ops.join(", ")}`);
  if (finishes.length === 0) return { node: own, schedule };
  return withPartials(own, finishes, schedule);
}

/** the steps that add up what this launch leaves in its workspaces */
function finishesOf(step: Launch, plan: ExecutablePlan): Finish[] {
  const passed = new Set(step.args.flatMap(a => (a.kind === "buffer" ? [a.name] : [])));
  return plan.steps.filter((s): s is Finish => s.kind === "finish_partials" && passed.has(s.workspace));
}

/** the node's members among `ops`, in groups as they were */
function restricted(node: AnyNode, ops: ReadonlySet<string>): AnyNode | null {
  if ("operation" in node) return ops.has(node.name) ? node : null;
  const keep = (list: readonly AnyNode[]): AnyNode[] => list.flatMap(n => restricted(n, ops) ?? []);
  const snodes = keep(node.snodes);
  if (snodes.length === 0) return null;
  const halves = node.halves ? keep(node.halves) : [];
  const [a, b] = halves;
  if (a && b) return { ...node, snodes, halves: [a, b] };
  // one half alone is an ordinary kernel
  return { ...node, snodes, halves: undefined, type: node.halves ? "FusedSchedulerNode" : node.type };
}

function withPartials(node: AnyNode, finishes: readonly Finish[], schedule: Schedule): Launched {
  const buffers = new Map(schedule.graph.buffers);
  const sv = schedule.graph.sizevars;
  const members = leaves(node);
  const sums: SchedulerNode[] = [];
  const fills: SchedulerNode[] = [];
  const summed = new Set<string>();
  for (const f of finishes) {
    const source = members.find(m => results(m).includes(f.output.name));
    if (!source) throw new Error(`no sum of ${node.name} leads to ${f.output.name}`);
    const whole = wholeBody(source);
    if (!whole) throw new Error(`${source.name} has no loops`);
    const columns = product(whole.iterSizes);
    const splits = sizeValue(f.splits);
    const start = mul(mul(int(f.slot), int(splits)), columns);
    summed.add(source.name);
    sums.push(withBody(source, intoWorkspace(whole, f.workspace, start, sv)));
    if (f.reduction === "prod" && splits > 1) {
      const neutral = filled(f.workspace, add(start, columns), mul(columns, int(splits - 1)), sv);
      fills.push(withBody({ ...source, name: `${source.name}_fill` }, neutral, "Pointwise"));
    }
    const layout: Layout = {
      kind: "fixed",
      device: source.device,
      dtype: "float32",
      size: [sv.simplify(mul(columns, int(splits * finishes.length)))],
      stride: [int(1)],
      offset: int(0),
    };
    buffers.set(f.workspace, {
      name: f.workspace,
      irClass: "ComputedBuffer",
      layout,
      operation: null,
      originNode: null,
    });
  }
  const rest = restricted(node, new Set(members.map(m => m.name).filter(n => !summed.has(n))));
  // sums first: what the others write may take over memory that the sums read
  const snodes = [...fills, ...sums, ...(rest ? [rest] : [])];
  const group: GroupNode = { ...asGroup(node, snodes), type: "GroupedSchedulerNode", snodes, halves: undefined };
  return { node: group, schedule: { ...schedule, graph: { ...schedule.graph, buffers } } };
}

const leaves = (n: AnyNode): SchedulerNode[] => ("operation" in n ? [n] : n.snodes.flatMap(leaves));

function asGroup(n: AnyNode, snodes: readonly AnyNode[]): GroupNode {
  if (!("operation" in n)) return n;
  return { ...n, type: "GroupedSchedulerNode", snodes };
}

/** buffers that a reduction's result ends in: its own, and its second stage's */
function results(n: SchedulerNode): string[] {
  return n.outputs.flatMap(o => [o.name, ...o.users.flatMap(u => u.node?.outputs.map(x => x.name) ?? [])]);
}

function wholeBody(n: SchedulerNode): LoopBody | null {
  const op = n.operation;
  if (op.kind === "computed" && "split" in op.loops && op.loops.split) return op.loops.split.original();
  return n.body;
}

function withBody(n: SchedulerNode, body: LoopBody, kind?: "Pointwise"): SchedulerNode {
  const op = n.operation;
  if (op.kind !== "computed") throw new Error(`${n.name} is no loop nest`);
  const sizes = [body.iterSizes, body.reduceSizes] as const;
  const loops = kind ? { kind } : "split" in op.loops ? { ...op.loops, split: undefined } : op.loops;
  return {
    ...n,
    body,
    sizes,
    group: [product(body.iterSizes), product(body.reduceSizes)],
    operation: { ...op, loops, body, sizes },
  };
}

type SizeVars = Schedule["graph"]["sizevars"];

/** the same reduction, stored at its kept elements' position from `start` on */
function intoWorkspace(body: LoopBody, workspace: string, start: Expr, sv: SizeVars): LoopBody {
  const [iter, reduce] = loopVars(body.iterSizes, body.reduceSizes);
  const at = iter.reduce<Expr>((flat, v, i) => add(mul(flat, body.iterSizes[i] as Expr), v), int(0));
  return buildBody(iter, body.iterSizes, reduce, body.reduceSizes, bodySizes(sv), ops => {
    const handler = opsHandler(ops);
    runBody(
      body,
      { ...handler, storeReduction: (_b, _i, v) => ops.storeReduction(workspace, add(start, at), v) },
      iter,
      reduce,
    );
  });
}

function filled(workspace: string, start: Expr, count: Expr, sv: SizeVars): LoopBody {
  const [iter] = loopVars([count], []);
  return buildBody(iter, [count], [], [], bodySizes(sv), ops => {
    ops.store(workspace, add(start, iter[0] as Expr), ops.constant(1, "float32"), null);
  });
}
