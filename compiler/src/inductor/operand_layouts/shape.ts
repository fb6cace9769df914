// Products whose sizes the library's fast kernels do not take, as products of padded operands (what PyTorch's pad_mm makes). In:
// a product. Out: the padded sizes of its operands and result, and what that costs. Promises: padding holds zeros, so that the
// sum over a longer depth is the same; rows and columns of the result that are no one's are left out where it is read.

import { estimateExternUs } from "../cost";
import { isHalf, itemsize } from "../ir/dtypes";
import type { GraphFacts } from "../ir/graph_facts";
import { contiguousStrides } from "../ir/layouts";
import type { Buffer, BufferView, ExternOperation } from "../ir/types";
import { type Expr, int, intValue } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { alignmentOf, rowsAreOff, sizesAreOff } from "../templates/alignment";
import { denseDimension } from "../templates/forms";
import type { Gemm } from "../templates/gemm";
import { copyOperand, copyOperation } from "./copy";
import { type GraphEdit, withViews } from "./edit";
import { bytesOf, copyUs, paddedStrides } from "./padding";
import { givenUs, type Means, trafficOf, type Weighed } from "./products";
import type { LayoutChoice } from "./types";

interface Padded {
  readonly view: BufferView;
  readonly size: readonly Expr[];
}

export interface PaddedShape extends Weighed {
  /** those that are copied, in the order of the call's arguments */
  readonly operands: readonly Padded[];
  /** of the result; null: as it is */
  readonly out: readonly Expr[] | null;
}

const up = (e: Expr, step: number): Expr => int(Math.ceil((intValue(e) ?? 0) / step) * step);
const same = (a: readonly Expr[], b: readonly Expr[]): boolean => a.every((e, i) => e === b[i]);

/** Null where the library takes the sizes as they are, or where they are no numbers. */
export function paddedShape(g: Gemm, facts: GraphFacts, means: Means): PaddedShape | null {
  const { sizevars: sv } = facts.graph;
  const [a, b] = g.op.reads.slice(-2) as [BufferView, BufferView];
  if (facts.graph.buffers.get(g.op.outputs[0] ?? "")?.layout.kind !== "fixed") return null;
  if (g.kind === "scaled_mm" || g.kind === "split_mm" || !(isHalf(g.a.dtype) || means.tf32)) return null;
  if (!(sizesAreOff(a, b) || rowsAreOff(a) || rowsAreOff(b))) return null;
  if (![...a.size, ...b.size].every(e => (intValue(e) ?? 0) > 0)) return null;
  const step = alignmentOf(a.dtype);
  const m = denseDimension(a) === "first" ? up(g.m, step) : g.m;
  const [n, k] = [up(g.n, step), up(g.k, step)];
  const batch = a.size.slice(0, -2);
  const added = g.added?.view;
  const fit = (v: BufferView, from: Expr, d: number, to: Expr): Expr => (v.size[d] === from ? to : (v.size[d] as Expr));
  const wide = added && [
    ...added.size.slice(0, -2),
    ...(added.size.length > 1 ? [fit(added, g.m, added.size.length - 2, m)] : []),
    fit(added, g.n, added.size.length - 1, n),
  ];
  const operands: Padded[] = [
    ...(added && wide ? [{ view: added, size: wide }] : []),
    { view: a, size: [...batch, m, k] },
    { view: b, size: [...batch, k, n] },
  ].filter(p => !same(p.view.size, p.size) || rowsAreOff(p.view));
  const out = m === g.m && n === g.n ? null : [...batch, m, n];
  const bytes = trafficOf(g, sv);
  const outBytes = [...batch, g.m, g.n].reduce((t, e) => t * sv.sizeHint(e, 1), itemsize(a.dtype));
  const returned = facts.isReturned(g.op.outputs[0] ?? "");
  const copies = operands.reduce((t, p) => t + copyUs(2 * bytesOf(p.view), means.target), 0);
  return {
    operands,
    out,
    given: givenUs(g, means, sv),
    other:
      estimateExternUs(g.op, bytes, means.target, sv, 1) +
      copies +
      (out !== null && returned ? copyUs(2 * outBytes, means.target) : 0),
  };
}

/** the product between copies of its operands and of its result, which keeps its buffer */
export function padShape(edit: GraphEdit, op: ExternOperation, padded: PaddedShape, sv: SizeVars): LayoutChoice[] {
  const views = new Map<string, BufferView>();
  const choices = padded.operands.map(({ view, size }): LayoutChoice => {
    const stride = paddedStrides({ ...view, size }, sv);
    const copy = copyOperand(edit, view, size, stride, op, sv);
    views.set(keyOf(view), copy.view);
    return {
      code: "padded_shape",
      op: op.name,
      buffer: view.buffer,
      copy: copy.operation,
      taken: { size, stride },
      other: view,
      bytes: bytesOf(view),
      estimateUs: { taken: padded.other, other: padded.given },
    };
  });
  const product = withViews(op, v => views.get(keyOf(v)) ?? v);
  edit.replace(padded.out === null ? product : sliced(edit, product, padded.out, sv));
  return choices;
}

const keyOf = (v: BufferView): string => [v.buffer, v.offset.id, ...[...v.size, ...v.stride].map(e => e.id)].join();

/** the product's result in a buffer of its own, of which the part that is asked for is copied out */
function sliced(edit: GraphEdit, op: ExternOperation, size: readonly Expr[], sv: SizeVars): ExternOperation {
  const out = edit.buffer(op.outputs[0] ?? "");
  const { layout } = out;
  if (!("size" in layout)) throw new Error(`${op.name} has no matrix as its result`);
  const { op: name, buffer } = edit.newNames();
  const stride = contiguousStrides(size);
  const whole: Buffer = {
    ...out,
    name: buffer,
    layout: { kind: "fixed", device: layout.device, dtype: layout.dtype, size, stride, offset: int(0) },
    operation: op.name,
  };
  const from = { buffer, size: layout.size, stride, offset: int(0), dtype: layout.dtype, whole: false };
  edit.insertAfter(op.name, copyOperation(name, from, { buffer: out.name, ...layout }, op, sv), whole);
  edit.setBuffer({ ...out, irClass: "ComputedBuffer", operation: name });
  return { ...op, outputs: [buffer] };
}
