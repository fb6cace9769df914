// Other layouts put into a lowered graph. In: what products.ts found for a product. Out: the graph changed, and the choice as
// people see it. Promises: the product computes the same; a copy of one view is made once for all its readers.

import { type GraphEdit, viewKey, withViews } from "../ir/graph_edit";
import type { GraphFacts } from "../ir/graph_facts";
import type { Buffer, BufferView, ExternOperation, Layout } from "../ir/types";
import { type Expr, int, intValue, mul } from "../symbolic";
import type { Gemm } from "../templates/gemm";
import { copyOperand, type OperandCopy, paddedChoice } from "./copy";
import { bytesOf, paddedStrides } from "./padding";
import type { PaddedRows, ViewedOperand } from "./products";
import type { LayoutChoice } from "./types";

/** copies by what they copy (viewKey) */
export type KnownCopies = Map<string, OperandCopy>;

/** operands copied to padded rows */
export function padRows(
  edit: GraphEdit,
  op: ExternOperation,
  padded: PaddedRows,
  known: KnownCopies,
  facts: GraphFacts,
): LayoutChoice[] {
  const sv = facts.graph.sizevars;
  const views = new Map<string, BufferView>();
  const choices = padded.off.map(({ view }): LayoutChoice => {
    const stride = paddedStrides(view, sv);
    const key = viewKey(view);
    // a copy made before a write holds what was there before
    const copy =
      (facts.isWrittenOver(view.buffer) ? undefined : known.get(key)) ??
      copyOperand(edit, view, view.size, stride, op, sv);
    known.set(key, copy);
    views.set(key, copy.view);
    return paddedChoice("padded_rows", op, view, copy, padded);
  });
  edit.replace(withViews(op, v => views.get(viewKey(v)) ?? v));
  return choices;
}

/** the first operand read where it lies, as a batch where its rows have two steps; the copy goes */
export function readAsItLies(edit: GraphEdit, op: ExternOperation, viewed: ViewedOperand, g: Gemm): LayoutChoice {
  const { gemm, copied, copy } = viewed;
  edit.replace(gemm.batch === null ? withFirst(op, copied, gemm.a) : batched(edit, op, g, gemm.a));
  edit.remove(copy);
  return {
    code: "read_as_it_lies",
    op: op.name,
    buffer: gemm.a.buffer,
    copy: null,
    taken: gemm.a,
    other: copied,
    bytes: bytesOf(copied),
    estimateUs: { taken: viewed.other, other: viewed.given },
  };
}

const withFirst = (op: ExternOperation, from: BufferView, to: BufferView): ExternOperation =>
  withViews(op, v => (v.buffer === from.buffer ? to : v));

const KERNELS: Readonly<Record<string, string>> = { mm: "bmm", addmm: "baddbmm" };

function batched(edit: GraphEdit, op: ExternOperation, g: Gemm, a: BufferView): ExternOperation {
  const [batch, rows] = a.size as readonly [Expr, Expr];
  const out = op.outputs[0] ?? "";
  const buffer = edit.buffer(out);
  edit.setBuffer({ ...buffer, layout: batchedLayout(buffer, batch, rows) });
  edit.reshaped(out, op.name);
  const b = { ...g.b, size: [batch, ...g.b.size], stride: [int(0), ...g.b.stride], whole: false };
  const added = g.added && addedTo(g.added.view, batch, rows);
  const name = KERNELS[g.kind] as string;
  return {
    ...op,
    kernel: `extern_kernels.${name}`,
    op: `aten.${name}.default`,
    args: [...(added ? [added] : []), a, b],
    reads: [...(added ? [added] : []), a, b],
  };
}

function batchedLayout(buffer: Buffer, batch: Expr, rows: Expr): Layout {
  const { layout } = buffer;
  if (!("size" in layout)) throw new Error(`${buffer.name} is no matrix`);
  const [pitch, step] = layout.stride as readonly [Expr, Expr];
  return {
    ...layout,
    size: [batch, rows, layout.size[1] as Expr],
    stride: [mul(pitch, rows), pitch, step],
  };
}

/** what is added to each row stays as it is; a whole matrix is cut into the batch's */
function addedTo(v: BufferView, batch: Expr, rows: Expr): BufferView {
  if (v.size.length < 2) return v;
  const [height, width] = v.size.slice(-2) as [Expr, Expr];
  const [pitch, step] = v.stride.slice(-2) as [Expr, Expr];
  const one = intValue(height) === 1;
  return {
    ...v,
    size: one ? [int(1), height, width] : [batch, rows, width],
    stride: one ? [int(0), pitch, step] : [mul(pitch, rows), pitch, step],
    whole: false,
  };
}
