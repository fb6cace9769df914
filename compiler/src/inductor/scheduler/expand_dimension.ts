// Two pointwise nodes whose loops differ in one size: the smaller one runs over the larger size, its own index taken
// modulo the old size (`expand_dimension_for_pointwise_nodes`, off by default). In: two nodes. Out: whether one changed.
// Promises: after get_expand_dim_for_pointwise_nodes; only small writes are repeated.
import { expandDimension } from "../ir/transform";
import { intValue, modularIndexing } from "../symbolic";
import { noteLoops } from "./loop_changes";
import { refreshDependencies } from "./nodes";
import { depBytes, hasAliasingOrMutation, isGroup, isReduction, type SchedulerState, setting } from "./state";
import type { AnyNode, SchedulerNode } from "./types";

export function expandDimensionToMatch(s: SchedulerState, a: AnyNode, b: AnyNode): boolean {
  if (!expandable(s, a) || !expandable(s, b)) return false;
  const [x, y] = [a.sizes[0], b.sizes[0]];
  if (x.length !== y.length) return false;
  const differing = x.flatMap((e, i) => (e === y[i] ? [] : [i]));
  const [at, ...more] = differing;
  if (at === undefined || more.length) return false;
  const [m, n] = [intValue(x[at] ?? 0), intValue(y[at] ?? 0)];
  if (m === undefined || n === undefined || m === n) return false;
  const [small, size] = m < n ? [a, y[at]] : [b, x[at]];
  if (!small.body || !size) return false;
  noteLoops(s, small);
  small.body = expandDimension(small.body, at, size, (v, old) => modularIndexing(v, 1, old), s.sizevars);
  small.sizes = [small.body.iterSizes, small.body.reduceSizes];
  small.group = [s.sizevars.numel(small.sizes[0]), small.group[1]];
  refreshDependencies(s, small, false);
  return true;
}

function expandable(s: SchedulerState, n: AnyNode): n is SchedulerNode {
  if (isGroup(n) || n.operation.kind !== "computed" || isReduction(n) || hasAliasingOrMutation(n)) return false;
  const [write, ...more] = n.readWrites.writes;
  if (!write || more.length || depBytes(s, write) > setting(s, "small_memory_access_threshold", 16777216)) return false;
  // an input that could be overwritten is worth more than the fusion
  return n.readWrites.reads.every(d => (s.buffers.get(d.name)?.users.length ?? 2) > 1);
}
