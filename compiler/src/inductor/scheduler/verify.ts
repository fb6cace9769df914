// What the scheduler's result promises, checked. In: a Schedule. Out: what does not hold, in words; empty if all does.
import { isReduction } from "./state";
import type { AnyNode, Schedule, SchedulerNode } from "./types";

const membersOf = (n: AnyNode): readonly SchedulerNode[] => ("snodes" in n ? n.snodes.flatMap(membersOf) : [n]);

export function verifySchedule(schedule: Schedule): string[] {
  const problems: string[] = [];
  const seen = new Map<string, string>();
  const available = new Set([...schedule.graph.inputs.map(i => i.name), ...schedule.graph.constants.keys()]);
  for (const node of schedule.nodes) {
    const own = new Set(node.outputs.map(o => o.name));
    // every operation is launched once
    for (const m of membersOf(node)) {
      const before = seen.get(m.name);
      if (before !== undefined) problems.push(`${m.name} is in ${before} and in ${node.name}`);
      seen.set(m.name, node.name);
      if (schedule.removedOps.has(m.name)) problems.push(`${m.name} was removed but is launched in ${node.name}`);
    }
    // nothing is read before it is written
    for (const d of node.readWrites.reads) {
      if (!available.has(d.name) && !own.has(d.name))
        problems.push(`${node.name} reads ${d.name} before it is written`);
    }
    for (const name of own) available.add(name);
    problems.push(...verifyMembers(node), ...verifyLoops(node));
  }
  for (const op of schedule.graph.operations) {
    if (!seen.has(op.name) && !schedule.removedOps.has(op.name))
      problems.push(`${op.name} is neither launched nor removed`);
  }
  for (const o of schedule.graph.outputs) {
    if (o && "buffer" in o && !available.has(o.buffer)) problems.push(`output ${o.buffer} is never written`);
  }
  const bytes = [...schedule.bytes.values()].reduce((a, b) => a + b, 0);
  if (bytes !== schedule.totalBytes) problems.push(`bytes of the nodes sum to ${bytes}, not ${schedule.totalBytes}`);
  return problems;
}

/** inside a group, producers stand before consumers */
function verifyMembers(node: AnyNode): string[] {
  const members = membersOf(node);
  const at = new Map(members.map((m, i) => [m.name, i] as const));
  return members.flatMap((m, i) =>
    [...m.ancestors].flatMap(a => ((at.get(a) ?? -1) > i ? [`${node.name}: ${m.name} stands before ${a}`] : [])),
  );
}

/** a node's sizes are its body's, and its extent is their product */
function verifyLoops(node: AnyNode): string[] {
  return membersOf(node).flatMap(m => {
    if (!m.body) return [];
    const same =
      m.sizes[0].length === m.body.iterSizes.length && m.sizes[0].every((e, i) => e === m.body?.iterSizes[i]);
    const problems = same ? [] : [`${m.name}: sizes are not the body's`];
    if (!isReduction(m) && m.sizes[1].length > 0) problems.push(`${m.name} reduces without being a reduction`);
    return problems;
  });
}
