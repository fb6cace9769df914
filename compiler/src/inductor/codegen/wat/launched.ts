// What one launch step runs, as nodes. In: a schedule's node, the plan and one of its launches. Out: the node with the
// members of that launch alone, and the partial sums that it leaves for later steps. Promises: a node that the plan
// launches in parts is compiled in the same parts.
import type { ExecutablePlan, PlanStep } from "../../plan/types";
import type { AnyNode, SchedulerNode } from "../../scheduler/types";
import type { Partials, Slot } from "./partials";

export type Launch = Extract<PlanStep, { kind: "launch" }>;
type Finish = Extract<PlanStep, { kind: "finish_partials" }>;

export interface Launched {
  /** null: nothing but matrix products */
  readonly node: AnyNode | null;
  readonly partials: Partials | null;
}

export function launchedNode(node: AnyNode, step: Launch, plan: ExecutablePlan): Launched {
  const elsewhere = new Set([
    ...(step.products?.flatMap(p => p.ops) ?? []),
    ...(step.before?.flatMap(c => c.ops) ?? []),
  ]);
  const own = restricted(node, new Set(step.ops.filter(o => !elsewhere.has(o))));
  if (!own && step.products) return { node: null, partials: null };
  if (!own) throw new Error(`${node.name} has none of ${step.ops.join(", ")}`);
  return { node: own, partials: partialsOf(own, finishesOf(step, plan)) };
}

/** the node's members that run before the step's products, one list after another */
export function computedBefore(node: AnyNode, step: Launch): (AnyNode | null)[] {
  return (step.before ?? []).map(c => restricted(node, new Set(c.ops)));
}

/** the steps that add up what this launch leaves in its workspace */
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

function partialsOf(node: AnyNode, finishes: readonly Finish[]): Partials | null {
  const [first] = finishes;
  if (!first) return null;
  const slots = new Map<string, Slot>();
  for (const f of finishes) {
    const source = leaves(node).find(m => results(m).includes(f.output.name));
    if (!source) throw new Error(`no sum of ${node.name} leads to ${f.output.name}`);
    slots.set(source.name, { slot: f.slot, product: f.reduction === "prod" });
  }
  return { workspace: first.workspace, splits: first.splits, slots };
}

const leaves = (n: AnyNode): SchedulerNode[] => ("operation" in n ? [n] : n.snodes.flatMap(leaves));

/** buffers that a reduction's result ends in: its own, and its second stage's */
function results(n: SchedulerNode): string[] {
  return n.outputs.flatMap(o => [o.name, ...o.users.flatMap(u => u.node?.outputs.map(x => x.name) ?? [])]);
}
