// The scheduler graph: operations, the buffers between them, and what was fused in which round. In: a schedule. Out:
// plain data, equal for equal schedules.
import type { Operation } from "../inductor/ir/types";
import type { Schedule, SchedulerNode } from "../inductor/scheduler/types";
import type { Expr } from "../inductor/symbolic/expr";
import { printLog } from "../inductor/symbolic/print_log";
import { leaves } from "./graph_report";
import { originOf } from "./origins";
import type { SchedulerGraph, SchedulerGraphRound } from "./types";

export function schedulerGraph(
  schedule: Schedule,
  file: string,
  name: string,
  kind: SchedulerGraph["kind"],
): SchedulerGraph {
  const groups = schedule.nodes.map(leaves);
  // launch order is a topological order, and the order in which people read kernels
  const nodes = groups.flat();
  const indexOf = new Map(nodes.map((n, i) => [n.name, i] as const));
  return {
    name,
    kind,
    ops: nodes.map(n => {
      const { lines, at, nodes: origins } = originOf(n.operation.origins, file);
      return { name: n.name, what: whatOf(n.operation), origins: [...origins].sort(), lines, at, sizes: sizesOf(n) };
    }),
    edges: edgesOf(schedule, nodes, indexOf),
    rounds: roundsOf(schedule, indexOf),
    final: groups.map(members => members.map(m => indexOf.get(m.name) ?? 0)),
    types: schedule.nodes.map(n => n.type),
  };
}

function whatOf(op: Operation): string {
  switch (op.kind) {
    case "extern":
      return op.kernel ?? op.irClass;
    case "nop":
      return "allocation";
    case "computed":
      return op.loops.kind;
    default: {
      const never: never = op;
      return String(never);
    }
  }
}

function sizesOf(n: SchedulerNode): string {
  const text = (xs: readonly Expr[]): string => xs.map(x => printLog(x)).join(", ");
  const [iteration, reduction] = n.sizes;
  if (!iteration.length && !reduction.length) return "";
  return reduction.length ? `[${text(iteration)}] reduce [${text(reduction)}]` : `[${text(iteration)}]`;
}

function edgesOf(
  schedule: Schedule,
  nodes: readonly SchedulerNode[],
  indexOf: ReadonlyMap<string, number>,
): SchedulerGraph["edges"] {
  const edges = new Map<string, { from: number; to: number; buffer: string; order: boolean }>();
  nodes.forEach((n, to) => {
    for (const dep of [...n.readWrites.reads, ...n.unmetDependencies]) {
      const definer = schedule.buffers.get(dep.name)?.definingOp.name;
      const from = definer === undefined ? undefined : indexOf.get(definer);
      if (from === undefined || from === to) continue;
      const key = `${from} ${to} ${dep.name}`;
      if (!edges.has(key)) edges.set(key, { from, to, buffer: dep.name, order: dep.kind === "weak" });
    }
  });
  return [...edges.values()].sort((x, y) => x.from - y.from || x.to - y.to || (x.buffer < y.buffer ? -1 : 1));
}

/** groups after each round that was tried, from the fusion events alone */
function roundsOf(schedule: Schedule, indexOf: ReadonlyMap<string, number>): SchedulerGraphRound[] {
  const rounds: SchedulerGraphRound[] = [];
  const groups = new Map<string, number[]>();
  for (const [name, i] of indexOf) groups.set(name, [i]);
  let fused: SchedulerGraphRound["fused"][number][] = [];
  let title = "before fusion";
  let open = false;
  const close = (): void => {
    rounds.push({ title, fused, groups: [...groups.values()].sort((x, y) => (x[0] ?? 0) - (y[0] ?? 0)) });
    fused = [];
    open = false;
  };
  close();
  for (const e of schedule.events) {
    if (e.kind === "attempting") {
      if (open) close();
      title = `round ${e.round}`;
      open = true;
    } else if (e.kind === "completed") {
      if (open) close();
    } else if (e.kind === "fusing") {
      if (!open) {
        title = "loop reordering";
        open = true;
      }
      const members = [...(groups.get(e.a) ?? []), ...(groups.get(e.b) ?? [])].sort((x, y) => x - y);
      groups.delete(e.a);
      groups.delete(e.b);
      groups.set(e.result || `${e.a}_${e.b}`, members);
      fused.push([e.a, e.b]);
    }
  }
  if (open) close();
  return rounds;
}
