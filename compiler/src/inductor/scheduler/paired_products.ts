// Two products of one input, where the second's template already ends in what joins them (the gate of a SwiGLU block).
// In: nodes after the fusion rounds. Out: nodes in which such a pair is one kernel with two sums. Promises: only where the
// first product is read by that kernel alone, so nothing waits for it in between. PyTorch keeps the products apart.
import { intValue, sameExprs } from "../symbolic/expr";
import { denseDimension } from "../templates/forms";
import { type Gemm, gemmOf } from "../templates/gemm";
import { makeGroup } from "./groups";
import { flag, isGroup, isTemplate, membersOf, type SchedulerState } from "./state";
import type { AnyNode, SchedulerNode } from "./types";

export function pairProducts(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  if (!flag(s, "triton.paired_products")) return [...nodes];
  const gone = new Set<AnyNode>();
  const joined = new Map<AnyNode, AnyNode>();
  for (const n of nodes) {
    if (!isGroup(n) || n.type !== "FusedSchedulerNode") continue;
    const members = membersOf(n);
    const templates = members.filter(isTemplate);
    const [second] = templates;
    if (!second || templates.length > 1 || members[0] !== second) continue;
    const first = nodes.find(m => !isGroup(m) && !gone.has(m) && isTemplate(m) && pairs(m, second, members));
    if (!first || isGroup(first)) continue;
    gone.add(first);
    s.events.push({
      kind: "note",
      level: "DEBUG",
      text: `two products of one input: fusing ${first.name} with ${n.name}`,
    });
    joined.set(n, makeGroup(s, "FusedSchedulerNode", [first, ...members]));
  }
  return nodes.flatMap(n => (gone.has(n) ? [] : [joined.get(n) ?? n]));
}

function pairs(first: SchedulerNode, second: SchedulerNode, members: readonly SchedulerNode[]): boolean {
  const [x, y] = [first, second].map(n => (n.operation.kind === "extern" ? gemmOf(n.operation) : null));
  if (!x || !y || !sameShape(x, y)) return false;
  const inside = new Set<SchedulerNode>(members);
  return first.outputs.every(
    o => o.users.length > 0 && o.users.every(u => u.node !== null && u.node !== second && inside.has(u.node)),
  );
}

/** one first operand, and second operands that lie alike */
function sameShape(x: Gemm, y: Gemm): boolean {
  return (
    x.scales === null &&
    y.scales === null &&
    x.a.buffer === y.a.buffer &&
    x.a.dtype === y.a.dtype &&
    sameExprs(x.a.size, y.a.size) &&
    sameExprs(x.a.stride, y.a.stride) &&
    intValue(x.a.offset) === intValue(y.a.offset) &&
    sameExprs(x.b.size, y.b.size) &&
    x.b.dtype === y.b.dtype &&
    denseDimension(x.b) === denseDimension(y.b)
  );
}
