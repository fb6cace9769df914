// Products whose sizes the library's fast kernels do not take, as products of padded operands (what PyTorch's pad_mm makes). In:
// a product. Out: the padded sizes of its operands and result, and what that costs. Promises: padding holds zeros, so that the
// sum over a longer depth is the same; rows and columns of the result that are no one's are left out where it is read.

import { estimateExternUs } from "../cost";
import { isHalf } from "../ir/dtypes";
import { type GraphEdit, withArguments } from "../ir/graph_edit";
import type { GraphFacts } from "../ir/graph_facts";
import { contiguousStrides } from "../ir/layouts";
import type { Buffer, BufferView, ExternOperation } from "../ir/types";
import { type Expr, int, intValue, sameExprs } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { alignmentOf, rowsAreOff, sizesAreOff } from "../templates/alignment";
import { denseDimension } from "../templates/forms";
import { type Gemm, multiplied, operandPlaces } from "../templates/gemm";
import { copyOperand, copyOperation, paddedChoice } from "./copy";
import { bytesOf, copyUs, paddedStrides } from "./padding";
import { givenUs, type Means, outBytes, trafficOf, type Weighed } from "./products";
import type { LayoutChoice } from "./types";

interface Padded {
  /** among the call's arguments */
  readonly place: number;
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

/** Null where the library takes the sizes as they are, or where they are no numbers. */
export function paddedShape(g: Gemm, facts: GraphFacts, means: Means): PaddedShape | null {
  const { sizevars: sv } = facts.graph;
  const operands = multiplied(g.op);
  if (operands === null) return null;
  const [a, b] = operands;
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
  const [first, second] = operandPlaces(g.kind);
  const padded: Padded[] = [
    ...(added && wide ? [{ place: 0, view: added, size: wide }] : []),
    { place: first, view: a, size: [...batch, m, k] },
    { place: second, view: b, size: [...batch, k, n] },
  ].filter(p => !sameExprs(p.view.size, p.size) || rowsAreOff(p.view));
  const out = m === g.m && n === g.n ? null : [...batch, m, n];
  const bytes = trafficOf(g, sv);
  const returned = facts.isReturned(g.op.outputs[0] ?? "");
  const copies = padded.reduce((t, p) => t + copyUs(2 * bytesOf(p.view), means.target), 0);
  return {
    operands: padded,
    out,
    given: givenUs(g, means, sv),
    other:
      estimateExternUs(g.op, bytes, means.target, sv, 1) +
      copies +
      (out !== null && returned ? copyUs(2 * outBytes(g, sv), means.target) : 0),
  };
}

/** the product between copies of its operands and of its result, which keeps its buffer */
export function padShape(edit: GraphEdit, op: ExternOperation, padded: PaddedShape, sv: SizeVars): LayoutChoice[] {
  const copies = new Map<number, BufferView>();
  const choices = padded.operands.map(({ place, view, size }): LayoutChoice => {
    const stride = paddedStrides({ ...view, size }, sv);
    const copy = copyOperand(edit, view, size, stride, op, sv);
    copies.set(place, copy.view);
    return paddedChoice("padded_shape", op, view, copy, padded);
  });
  const product = withArguments(op, copies);
  edit.replace(padded.out === null ? product : sliced(edit, product, padded.out, sv));
  return choices;
}

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
