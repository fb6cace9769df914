// Triangles and diagonals of matrices as masks: tril, triu, diag_embed and kin.

import { type Args, type GraphBuilder, MemoryFormatArg, type OpRecord } from "../types";
import { each, inplace, spell } from "./helpers/define";
import { options } from "./helpers/factories";
import { at, composed, decomposed, range } from "./helpers/shape";
import { iota, where } from "./helpers/trace";
import { reshape } from "./view";
import { moveDims } from "./view_permute";
import { DIAGONAL_DERIVATIVE } from "./view_window";

/** where a triangle starts: column minus row, compared with the diagonal */
function triangle<T>(b: GraphBuilder<T>, a: Args<T>, upper: boolean): T {
  const x = a.tensor("self");
  const t = b.meta(x);
  const rank = t.shape.length;
  if (rank < 2) return b.fail(`${upper ? "triu" : "tril"}: input tensor must have at least 2 dimensions`);
  const [h, w] = [at(t.shape, rank - 2), at(t.shape, rank - 1)];
  const cols = b.call("aten.unsqueeze.default", [iota(b, w, t.device), -2]);
  const rows = b.call("aten.unsqueeze.default", [iota(b, h, t.device), -1]);
  const apart = b.call("aten.sub.Tensor", [cols, rows]);
  const mask = b.call(upper ? "aten.ge.Scalar" : "aten.le.Scalar", [apart, a.raw("diagonal")]);
  if (t.dtype === "bool") return b.call("aten.logical_and.default", [mask, x]);
  return where(b, mask, x, 0);
}

const triangles: OpRecord[] = (["tril", "triu"] as const).flatMap(name => {
  const record = decomposed({
    name: `aten.${name}.default`,
    schema: `${name}(Tensor self, int diagonal=0) -> Tensor`,
    python: spell(name),
    decompose: (b, a) => triangle(b, a, name === "triu"),
    derivative: each({ self: (b, c) => b.call(`aten.${name}.default`, [c.grad(), c.args.raw("diagonal")]) }),
  });
  return [record, inplace(record)];
});

/** diag_embed: the last dim on a diagonal of a new square (torch._refs.diag_embed) */
function diagEmbed<T>(b: GraphBuilder<T>, x: T, offset: number, d1: number, d2: number): T {
  const t = b.meta(x);
  const rank = t.shape.length + 1;
  let [dim1, dim2] = [b.wrapDim(d1, rank), b.wrapDim(d2, rank)];
  if (dim1 === dim2) return b.fail(`diagonal dimensions cannot be identical ${dim1}, ${dim2}`);
  let shift = offset;
  if (dim1 > dim2) {
    [dim1, dim2] = [dim2, dim1];
    shift = -shift;
  }
  const last = at(t.shape, t.shape.length - 1);
  const n = b.add(last, Math.abs(shift));
  let y = x;
  if (shift !== 0) {
    const pad = b.call(
      "aten.full.default",
      [[...t.shape.slice(0, -1), Math.abs(shift)], 0],
      options(t.dtype, t.device),
    );
    y = b.call("aten.cat.default", [shift > 0 ? [pad, y] : [y, pad], -1]);
  }
  y = b.call("aten.unsqueeze.default", [y, dim1]);
  y = moveDims(b, y, [-1], [dim2]);
  const along = iota(b, n, t.device);
  const down = shift === 0 ? iota(b, n, t.device) : iota(b, n, t.device, shift, 1);
  const hit = b.call("aten.eq.Tensor", [along, b.call("aten.unsqueeze.default", [down, -1])]);
  const shape = range(rank).map(d => (d === dim1 || d === dim2 ? n : b.int(1)));
  return where(b, reshape(b, hit, shape), y, 0);
}

const diagonals: OpRecord[] = [
  decomposed({
    name: "aten.diag_embed.default",
    schema: "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    python: spell("diag_embed"),
    decompose: (b, a) => diagEmbed(b, a.tensor("self"), a.int("offset"), a.int("dim1"), a.int("dim2")),
    derivative: each({
      self: (b, c) =>
        b.call("aten.diagonal.default", [c.grad(), c.args.raw("offset"), c.args.raw("dim1"), c.args.raw("dim2")]),
    }),
  }),
  composed({
    name: "aten.diagflat.default",
    schema: "diagflat(Tensor self, int offset=0) -> Tensor",
    python: spell("diagflat"),
    composite: (b, a) =>
      b.call("aten.diag.default", [b.call("aten.reshape.default", [a.tensor("self"), [-1]]), a.raw("offset")]),
  }),
  composed({
    name: "aten.diag.default",
    schema: "diag(Tensor self, int diagonal=0) -> Tensor",
    python: spell("diag"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      if (rank === 1) return b.call("aten.diag_embed.default", [x, a.raw("diagonal")]);
      if (rank !== 2) return b.fail(`diag(): Supports 1D or 2D tensors. Got ${rank}D`);
      // the copy is a new tensor, not a view
      return b.call("aten.diagonal_copy.default", [x, a.raw("diagonal")]);
    },
  }),
  decomposed({
    name: "aten.diagonal_copy.default",
    schema: "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    decompose: (b, a) => {
      const d = b.call("aten.diagonal.default", [a.tensor("self"), a.raw("offset"), a.raw("dim1"), a.raw("dim2")]);
      return b.call("aten.clone.default", [d], { memory_format: new MemoryFormatArg("contiguous_format") });
    },
    derivative: DIAGONAL_DERIVATIVE,
  }),
];

export const records: readonly OpRecord[] = [...triangles, ...diagonals];
