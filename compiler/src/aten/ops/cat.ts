// Joining tensors: cat, stack, hstack and kin, atleast_Nd, block_diag.

import type { Args, ArgValue, Dim, GraphBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { each } from "./helpers/define";
import { asMany, at, composed, decomposed, looksChannelsLast, outMeta, range } from "./helpers/shape";
import { convert, full } from "./helpers/trace";
import { flatten, reshape } from "./view";

/** torch.cat still takes 1-d tensors of no element among others */
const isLegacyEmpty = (b: { static(d: Dim): number | undefined }, t: TensorMeta): boolean =>
  t.shape.length === 1 && b.static(at(t.shape, 0)) === 0;

function catDim<T>(b: GraphBuilder<T>, xs: readonly T[], d: number): number {
  const full = xs.find(x => !isLegacyEmpty(b, b.meta(x))) ?? xs[0];
  return full === undefined ? d : b.wrapDim(d, b.meta(full).shape.length);
}

function catMeta(m: MetaBuilder, xs: readonly TensorMeta[], d: number): TensorMeta {
  const first = xs.find(x => !isLegacyEmpty(m, x)) ?? xs[0];
  if (first === undefined) return m.fail("torch.cat(): expected a non-empty list of Tensors");
  if (xs.some(x => x.shape.length === 0)) {
    return m.fail(
      `zero-dimensional tensor (at position ${xs.findIndex(x => x.shape.length === 0)}) cannot be concatenated`,
    );
  }
  const dim = m.wrapDim(d, first.shape.length);
  let total: Dim = m.int(0);
  for (const [i, x] of xs.entries()) {
    if (isLegacyEmpty(m, x) && first.shape.length !== 1) continue;
    if (x.shape.length !== first.shape.length) {
      return m.fail(`Tensors must have same number of dimensions: got ${first.shape.length} and ${x.shape.length}`);
    }
    const bad = x.shape.findIndex((s, k) => k !== dim && !m.eq(s, at(first.shape, k)));
    if (bad >= 0) {
      return m.fail(
        `Sizes of tensors must match except in dimension ${dim}. Expected size ${m.hint(at(first.shape, bad))} but got size ${m.hint(at(x.shape, bad))} for tensor number ${i} in the list.`,
      );
    }
    total = m.add(total, at(x.shape, dim));
  }
  const shape = first.shape.map((s, k) => (k === dim ? total : s));
  const dtype = m.promote("default", ...xs);
  const device = xs.find(x => x.device.type !== "cpu")?.device ?? first.device;
  const lasts = xs.filter(x => !isLegacyEmpty(m, x)).map(x => looksChannelsLast(m, x));
  const stride = lasts.length > 0 && lasts.every(Boolean) && shape.length <= 5 ? m.channelsLast(shape) : undefined;
  return m.tensor(shape, { dtype, device }, stride);
}

function joinDecomposition<T>(b: GraphBuilder<T>, a: Args<T>): T | undefined {
  const xs = a.tensors("tensors");
  const metas = xs.map(x => b.meta(x));
  const dim = a.int("dim");
  const kept = xs.filter((_, i) => {
    const shape = (metas[i] as TensorMeta).shape;
    if (shape.length === 1 && b.static(at(shape, 0)) === 0) return false;
    return !(dim >= 0 && dim < shape.length && b.static(at(shape, dim)) === 0);
  });
  const only = kept[0];
  if (kept.length === 1 && only !== undefined) {
    const dtype = b.promote("default", ...metas);
    return b.meta(only).dtype === dtype ? b.call("aten.clone.default", [only]) : convert(b, only, dtype);
  }
  if (kept.length > 1 && kept.length < xs.length) return b.call("aten.cat.default", [kept, dim]);
  if (kept.length > 1 && only !== undefined && kept.every(x => x === only)) {
    // the same tensor several times is a repetition, not a join
    const shape = b.meta(only).shape;
    const wrapped = b.wrapDim(dim, shape.length);
    const times = [...shape.slice(0, wrapped), b.int(kept.length), ...shape.slice(wrapped)];
    const wide = b.call("aten.expand.default", [b.call("aten.unsqueeze.default", [only, wrapped]), times]);
    return b.call("aten.clone.default", [flatten(b, wide, wrapped, wrapped + 1)]);
  }
  return undefined;
}

/** each input's part of the gradient, in order along dim */
function catBackward<T>(b: GraphBuilder<T>, grad: T, xs: readonly T[], d: number): (T | null)[] {
  const dim = catDim(b, xs, d);
  let end: Dim = b.int(0);
  return xs.map(x => {
    const t = b.meta(x);
    if (isLegacyEmpty(b, t)) return full(b, [0], 0, b.meta(grad).dtype, b.meta(grad).device);
    const start = end;
    end = b.add(end, at(t.shape, dim));
    return b.call("aten.slice.Tensor", [grad, dim, start, end, 1]);
  });
}

/** at least `rank` dims, as numpy's atleast_Nd */
function atLeast<T>(b: GraphBuilder<T>, x: T, rank: 1 | 2 | 3): T {
  const own = b.meta(x).shape.length;
  if (own >= rank) return x;
  if (own === 0)
    return reshape(
      b,
      x,
      range(rank).map(() => 1),
    );
  if (rank === 2) return b.call("aten.unsqueeze.default", [x, 0]);
  const matrix = own === 1 ? b.call("aten.unsqueeze.default", [x, 0]) : x;
  return b.call("aten.unsqueeze.default", [matrix, -1]);
}

function columnStack<T>(b: GraphBuilder<T>, xs: readonly T[]): T {
  const columns = xs.map(x => {
    const shape = b.meta(x).shape;
    return shape.length <= 1 ? reshape(b, x, [b.product(shape), 1]) : x;
  });
  return b.call("aten.cat.default", [asMany(columns), 1]);
}

const joins: OpRecord[] = [
  {
    name: "aten.cat.default",
    schema: "cat(Tensor[] tensors, int dim=0) -> Tensor",
    python: ["torch.cat", "torch.concat", "torch.concatenate"],
    meta: (m, a) => catMeta(m, a.tensors("tensors"), a.int("dim")),
    decompose: joinDecomposition,
    derivative: each({ tensors: (b, c) => catBackward(b, c.grad(), c.args.tensors("tensors"), c.args.int("dim")) }),
    lower: (b, a) => {
      const { dtype } = outMeta(b);
      const xs = a.tensors("tensors");
      if (xs.length === 1 && xs[0] !== undefined) return b.clone(xs[0]);
      const dim = b.wrapDim(a.int("dim"), b.size(at(xs, 0)).length);
      return b.cat(
        xs.map(x => b.toDtype(x, dtype)),
        dim,
      );
    },
  },
  decomposed({
    name: "aten.stack.default",
    schema: "stack(Tensor[] tensors, int dim=0) -> Tensor",
    python: ["torch.stack"],
    decompose: (b, a) => {
      const xs = a.tensors("tensors");
      const first = xs[0];
      if (first === undefined) return b.fail("stack expects a non-empty TensorList");
      const shape = b.meta(first).shape;
      const dim = b.wrapDim(a.int("dim"), shape.length + 1);
      for (const [i, x] of xs.entries()) {
        const other = b.meta(x).shape;
        if (other.length !== shape.length || other.some((s, k) => !b.eq(s, at(shape, k)))) {
          const text = (s: readonly Dim[]): string => `[${s.map(d => b.hint(d)).join(", ")}]`;
          return b.fail(
            `stack expects each tensor to be equal size, but got ${text(shape)} at entry 0 and ${text(other)} at entry ${i}`,
          );
        }
      }
      if (dim < shape.length) {
        const joined = b.call("aten.cat.default", [asMany(xs), dim]);
        return b.call("aten.view.default", [joined, [...shape.slice(0, dim), xs.length, ...shape.slice(dim)]]);
      }
      const wide = xs.map(x => b.call("aten.unsqueeze.default", [x, dim]));
      return b.call("aten.cat.default", [asMany(wide), a.raw("dim")]);
    },
    derivative: each({
      tensors: (b, c) =>
        c.args.tensors("tensors").map((_, i) => b.call("aten.select.int", [c.grad(), c.args.raw("dim"), i])),
    }),
  }),
  composed({
    name: "aten.hstack.default",
    schema: "hstack(Tensor[] tensors) -> Tensor",
    python: ["torch.hstack"],
    composite: (b, a) => {
      const xs = a.tensors("tensors").map(x => atLeast(b, x, 1));
      const dim = b.meta(at(xs, 0)).shape.length === 1 ? 0 : 1;
      return b.call("aten.cat.default", [asMany(xs), dim]);
    },
  }),
  ...["vstack", "row_stack"].map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor[] tensors) -> Tensor`,
      python: [`torch.${name}`],
      composite: (b, a) => b.call("aten.cat.default", [asMany(a.tensors("tensors").map(x => atLeast(b, x, 2))), 0]),
    }),
  ),
  composed({
    name: "aten.dstack.default",
    schema: "dstack(Tensor[] tensors) -> Tensor",
    python: ["torch.dstack"],
    composite: (b, a) => b.call("aten.cat.default", [asMany(a.tensors("tensors").map(x => atLeast(b, x, 3))), 2]),
  }),
  composed({
    name: "aten.column_stack.default",
    schema: "column_stack(Tensor[] tensors) -> Tensor",
    python: ["torch.column_stack"],
    composite: (b, a) => columnStack(b, a.tensors("tensors")),
  }),
  ...([1, 2, 3] as const).flatMap(rank => {
    const spelled = {
      python: [`torch.atleast_${rank}d`, `torch.functional.atleast_${rank}d`],
      printedAs: `torch.functional.atleast_${rank}d`,
    };
    return [
      composed({
        name: `aten.atleast_${rank}d.default`,
        schema: `atleast_${rank}d(Tensor self) -> Tensor`,
        ...spelled,
        composite: (b, a) => atLeast(b, a.tensor("self"), rank),
      }),
      composed({
        name: `aten.atleast_${rank}d.Sequence`,
        schema: `atleast_${rank}d.Sequence(Tensor[] tensors) -> Tensor[]`,
        ...spelled,
        composite: (b, a) => a.tensors("tensors").map(x => atLeast(b, x, rank)),
      }),
    ];
  }),
  decomposed({
    name: "aten.block_diag.default",
    schema: "block_diag(Tensor[] tensors) -> Tensor",
    python: ["torch.block_diag", "torch.functional.block_diag"],
    printedAs: "torch.functional.block_diag",
    decompose: (b, a) => {
      const xs = a.tensors("tensors").map(x => (b.meta(x).shape.length < 2 ? reshape(b, x, [1, -1]) : x));
      const cols = xs.map(x => at(b.meta(x).shape, 1));
      const sum = (ds: readonly Dim[]): Dim => ds.reduce<Dim>((p, q) => b.add(p, q), b.int(0));
      const rows = xs.map((x, i) => {
        const t = b.meta(x);
        const zeros = (width: Dim): typeof x => full(b, [at(t.shape, 0), width], 0, t.dtype, t.device);
        const left = zeros(sum(cols.slice(0, i)));
        const right = zeros(sum(cols.slice(i + 1)));
        return b.call("aten.cat.default", [[left, x, right] as readonly ArgValue<typeof x>[], 1]);
      });
      return b.call("aten.cat.default", [asMany(rows)]);
    },
    derivative: each({
      tensors: (b, c) => {
        let [row, col] = [b.int(0) as Dim, b.int(0) as Dim];
        return c.args.tensors("tensors").map(x => {
          const shape = b.meta(x).shape;
          const [h, w] = shape.length === 2 ? [at(shape, 0), at(shape, 1)] : [b.int(1), b.product(shape)];
          const part = b.call("aten.slice.Tensor", [c.grad(), 0, row, b.add(row, h), 1]);
          const block = b.call("aten.slice.Tensor", [part, 1, col, b.add(col, w), 1]);
          row = b.add(row, h);
          col = b.add(col, w);
          const squeeze = (y: typeof block): typeof block => b.call("aten.squeeze.dim", [y, -1]);
          return shape.length === 2 ? block : shape.length === 1 ? squeeze(block) : squeeze(squeeze(block));
        });
      },
    }),
  }),
];

export const records: readonly OpRecord[] = [...joins];
