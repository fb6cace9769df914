// Values worked out anew from changed inputs (FakeTensorProp, FakeTensorUpdater). In: a graph and the strides its inputs
// really have, or what its operators read before passes replaced some of it. Out: the same graph with the values of every
// operator that depends on a change. Promises: nothing changes where strides are as traced, except that a view has those of
// what it is a view of (a traced write in place may have left others); opaque operators keep their values.
import { lookup } from "../aten/registry";
import type { FxGraph, FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import type { FakeValue } from "../fx/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { Rewriter } from "./edit";

/** `strides`: of inputs that lie otherwise than they were traced */
export function propagateInputStrides(rw: Rewriter, strides: ReadonlyMap<string, readonly Expr[]>): void {
  const changed = new Set<FxNode>();
  for (const n of rw.graph.placeholders()) {
    const v = n.meta.val;
    const stride = strides.get(n.name);
    if (!isFakeTensor(v) || stride === undefined || rw.sameSizes(v.stride, stride)) continue;
    n.meta.val = { ...v, stride };
    changed.add(n);
  }
  propagate(rw, changed, isView);
}

const isView = (n: FxNode): boolean =>
  n.target === "aten.reshape.default" || (lookup(n.target)?.tags?.includes("view") ?? false);

type Seen = ReadonlyMap<FxNode, readonly (FakeValue | undefined)[]>;

/** what each operator reads, to be compared after the passes */
export function valuesRead(graph: FxGraph): Seen {
  return new Map(graph.nodes.map(n => [n, n.inputs.map(i => i.meta.val)]));
}

/** operators that read something of other strides than before a pass replaced it, and all that follow from them */
export function propagateReplaced(rw: Rewriter, before: Seen): void {
  propagate(rw, new Set(), n => {
    const was = before.get(n);
    return was?.length === n.inputs.length && n.inputs.some((i, k) => restrided(rw, was[k], i.meta.val));
  });
}

function restrided(rw: Rewriter, before: FakeValue | undefined, after: FakeValue | undefined): boolean {
  if (!isFakeTensor(before) || !isFakeTensor(after) || before.dtype !== after.dtype) return false;
  return rw.sameSizes(before.shape, after.shape) && !rw.sameSizes(before.stride, after.stride);
}

function propagate(rw: Rewriter, changed: Set<FxNode>, differs: (n: FxNode) => boolean): void {
  for (const n of rw.graph.nodes) {
    if (n.op !== "call_function" || !(n.inputs.some(i => changed.has(i)) || differs(n))) continue;
    const before = n.meta.val;
    const after = workOut(rw, n);
    if (after === undefined || same(rw, before, after)) continue;
    n.meta.val = after;
    changed.add(n);
  }
}

function workOut(rw: Rewriter, n: FxNode): FakeValue | undefined {
  if (n.target === "operator.getitem") {
    const of = n.inputs[0]?.meta.val;
    return Array.isArray(of) ? ((of as readonly (FakeValue | null)[])[n.args[1] as number] ?? null) : undefined;
  }
  return n.meta.opaque === undefined && lookup(n.target) ? rw.valueOf(n.target, n.args, n.kwargs) : undefined;
}

function same(rw: Rewriter, a: FakeValue | undefined, b: FakeValue): boolean {
  if (isFakeTensor(a) && isFakeTensor(b))
    return rw.sameSizes(a.shape, b.shape) && rw.sameSizes(a.stride, b.stride) && a.dtype === b.dtype;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((x, i) => same(rw, x as FakeValue, b[i] as FakeValue));
  return a === b;
}
