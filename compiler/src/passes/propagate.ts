// Values worked out anew from changed inputs (FakeTensorProp). In: a graph and the strides its inputs really have.
// Out: the same graph with the values of every operator that depends on them. Promises: nothing changes for inputs whose
// strides are as traced; opaque operators keep their values.
import { lookup } from "../aten/registry";
import type { FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import type { FakeValue } from "../fx/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { Rewriter } from "./edit";

export function propagateInputStrides(rw: Rewriter, strides: ReadonlyMap<string, readonly Expr[]>): void {
  const changed = new Set<FxNode>();
  for (const n of rw.graph.placeholders()) {
    const v = n.meta.val;
    const stride = strides.get(n.name);
    if (!isFakeTensor(v) || stride === undefined || rw.sameSizes(v.stride, stride)) continue;
    n.meta.val = { ...v, stride };
    changed.add(n);
  }
  for (const n of rw.graph.nodes) {
    if (n.op !== "call_function" || !n.inputs.some(i => changed.has(i))) continue;
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
