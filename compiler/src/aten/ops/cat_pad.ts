// Joining, padding and repeating: cat, stack and kin, pad in all modes, repeat, tile, repeat_interleave.
import {
  type Args,
  type ArgValue,
  type Dim,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  PyFloat,
  type TensorMeta,
} from "../types";
import { each, fallback, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { at, composed, decomposed, looksChannelsLast, outMeta, range } from "./helpers/shape";
import { CONTIGUOUS, convert, full, iota, scalarFor } from "./helpers/trace";
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

const asMany = <T>(xs: readonly T[]): ArgValue<T> => xs as readonly ArgValue<T>[];

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

/** sizes before and after each dim, outermost first; constant_pad_nd lists them from the last dim inwards */
function padsByDim<P>(rank: number, pad: readonly P[], none: P): { low: P; high: P }[] {
  return range(rank).map(d => {
    const i = 2 * (rank - 1 - d);
    return { low: pad[i] ?? none, high: pad[i + 1] ?? none };
  });
}

function constantPadMeta(m: MetaBuilder, t: TensorMeta, pad: readonly Dim[]): TensorMeta {
  const rank = t.shape.length;
  if (pad.length % 2 !== 0) return m.fail(`Length of pad must be even but instead it equals ${pad.length}`);
  if (pad.length > 2 * rank) {
    return m.fail(
      `Length of pad should be no more than twice the number of dimensions of the input. Pad length is ${pad.length} while the input has ${rank} dimensions.`,
    );
  }
  const shape = padsByDim(rank, pad, m.int(0)).map(({ low, high }, d) => {
    const size = m.add(at(t.shape, d), low, high);
    if (m.lt(size, 0)) {
      return m.fail(
        `The input size ${m.hint(at(t.shape, d))}, plus negative padding ${m.hint(low)} and ${m.hint(high)} resulted in a negative output size, which is invalid. Check dimension ${d} of your input.`,
      );
    }
    return size;
  });
  // what only cuts is a copy of a part
  if (pad.every(p => m.static(p) !== undefined && (m.static(p) ?? 0) <= 0)) {
    return m.tensor(shape, t, m.call("aten.clone.default", [{ ...t, shape }]).stride);
  }
  return m.tensor(shape, t, looksChannelsLast(m, t) ? m.channelsLast(shape) : undefined);
}

function lowerConstantPad<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  const x = a.tensor("self");
  const pad = a.dims("pad");
  const zero = (d: Dim): boolean => b.static(d) === 0;
  if (pad.every(zero)) return b.clone(x);
  const dtype = b.dtype(x);
  const value = scalarFor(a.scalar("value"), dtype);
  if (b.config("inplace_padding") !== false) {
    const padded = b.inplacePad(x, pad, value);
    if (padded !== null) return padded;
  }
  const size = b.size(x);
  const bounds = padsByDim(size.length, pad, b.int(0));
  const load = b.loader(x);
  const other =
    typeof value === "boolean" || typeof value === "number" || value instanceof PyFloat ? value : Number(value);
  return b.pointwise({
    size: size.map((s, d) => b.add(s, at(bounds, d).low, at(bounds, d).high)),
    dtype,
    device: b.device(x),
    body: (ops, index) => {
      const from = index.map((v, d) => (zero(at(bounds, d).low) ? v : b.sub(v, at(bounds, d).low)));
      const inside = from.flatMap((v, d) => {
        const { low, high } = at(bounds, d);
        const place = (): ReturnType<typeof ops.indexExpr> => ops.indexExpr(v, "int64");
        return [
          ...(zero(low) ? [] : [ops.op("ge", place(), ops.indexExpr(b.int(0), "int64"))]),
          ...(zero(high) ? [] : [ops.op("lt", place(), ops.indexExpr(at(size, d), "int64"))]),
        ];
      });
      const mask = inside.reduce((p, q) => ops.op("and_", p, q));
      return ops.masked(mask, () => load(ops, from), other);
    },
  });
}

/** pads as numbers, last dim first, turned to one pair a dim, outermost of the padded dims first */
const spatialPads = (pad: readonly number[]): { left: number; right: number }[] =>
  range(pad.length / 2)
    .map(i => ({ left: pad[2 * i] as number, right: pad[2 * i + 1] as number }))
    .reverse();

type EdgeMode = "reflection" | "replication";

/** reflection_pad and replication_pad: each padded dim read through a computed index */
function edgePad<T>(b: GraphBuilder<T>, x: T, pad: readonly number[], mode: EdgeMode): T {
  const t = b.meta(x);
  const pads = spatialPads(pad);
  const outer = t.shape.length - pads.length;
  let y = x;
  pads.forEach(({ left, right }, i) => {
    const size = at(t.shape, outer + i);
    const last = b.sub(size, 1);
    const n = b.static(last) ?? last;
    if (mode === "reflection" && (b.le(size, left) || b.le(size, right))) {
      b.fail(
        `Padding size should be less than the corresponding input dimension, but got: padding (${left}, ${right}) at dimension ${outer + i} of input ${b.hint(size)}`,
      );
    }
    const places = iota(b, b.add(size, left + right), t.device, 0 - left, 1);
    let index: T;
    if (mode === "reflection") {
      const fromLeft = b.call("aten.sub.Tensor", [n, b.call("aten.abs.default", [places])]);
      index = b.call("aten.sub.Tensor", [n, b.call("aten.abs.default", [fromLeft])]);
    } else {
      index = b.call("aten.clamp.default", [places, 0, n]);
    }
    const indices = range(t.shape.length).map(d => (d === outer + i ? index : null));
    y = b.call("aten._unsafe_index.Tensor", [y, indices]);
  });
  return y;
}

/** the gradient of a reflection: the centre and each mirrored border, added up */
function reflectionBackward<T>(b: GraphBuilder<T>, grad: T, x: T, pad: readonly number[]): T {
  const t = b.meta(x);
  const rank = t.shape.length;
  const pads = spatialPads(pad);
  const outer = rank - pads.length;
  const f = (op: string, ...args: ArgValue<T>[]): T => b.call(`aten.${op}`, args);
  const places = range(rank).map(d =>
    f(
      "view.default",
      iota(b, at(t.shape, d), t.device),
      range(rank).map(k => (k === d ? -1 : 1)),
    ),
  );
  const lasts = pads.map((_, i) => b.hint(at(t.shape, outer + i)) - 1);
  const lead = places.slice(0, outer);
  const inner = places.slice(outer);
  const centre = inner.map((p, i) => f("add.Tensor", p, at(pads, i).left));
  const left = inner.map((p, i) => f("sub.Tensor", at(pads, i).left, p));
  const right = inner.map((p, i) => f("sub.Tensor", 2 * at(lasts, i) + at(pads, i).left, p));
  interface Area {
    readonly from: T;
    readonly place: T;
    readonly low: number;
    readonly high: number;
  }
  const area = (i: number, side: -1 | 0 | 1): Area => {
    const { left: l, right: r } = at(pads, i);
    const last = at(lasts, i);
    if (side === 0) return { from: at(centre, i), place: at(centre, i), low: 0, high: last + l + r };
    if (side === -1) return { from: at(left, i), place: at(inner, i), low: 1, high: l };
    return { from: at(right, i), place: at(inner, i), low: last - r, high: last - 1 };
  };
  const take = (areas: readonly Area[]): T => {
    const inside = areas
      .map(r => f("logical_and.default", f("ge.Scalar", r.place, r.low), f("le.Scalar", r.place, r.high)))
      .reduce((p, q) => f("logical_and.default", p, q));
    return f(
      "_unsafe_masked_index.default",
      grad,
      inside,
      [...lead, ...areas.map(r => r.from)] as readonly ArgValue<T>[],
      new PyFloat(0),
    );
  };
  let sum = take(pads.map((_, i) => area(i, 0)));
  const sides: (-1 | 0 | 1)[][] = pads.reduce<(-1 | 0 | 1)[][]>(
    (all, _) => all.flatMap(s => ([-1, 0, 1] as const).map(v => [...s, v])),
    [[]],
  );
  for (const side of sides) {
    if (side.every(v => v === 0)) continue;
    const areas = side.map((v, i) => area(i, v));
    if (areas.some(r => r.high < r.low)) continue;
    sum = f("add.Tensor", sum, take(areas));
  }
  return sum;
}

const edgePads: OpRecord[] = (["reflection", "replication"] as const).flatMap(mode =>
  ([1, 2, 3] as const).flatMap(dims => {
    const name = `${mode}_pad${dims}d`;
    const backward = `aten.${name}_backward.default`;
    const schema = `${name}_backward(Tensor grad_output, Tensor self, SymInt[${2 * dims}] padding) -> Tensor`;
    const meta: OpRecord["meta"] = (m, a) => m.tensor(a.tensor("self").shape, a.tensor("self"));
    return [
      decomposed({
        name: `aten.${name}.default`,
        schema: `${name}(Tensor self, SymInt[${2 * dims}] padding) -> Tensor`,
        decompose: (b, a) => edgePad(b, a.tensor("self"), a.ints("padding"), mode),
        derivative: each({
          self: (b, c) => b.call(backward, [c.grad(), c.args.tensor("self"), c.args.raw("padding")]),
        }),
      }),
      mode === "reflection"
        ? {
            name: backward,
            schema,
            meta,
            decompose: <T>(b: GraphBuilder<T>, a: Args<T>): T =>
              reflectionBackward(b, a.tensor("grad_output"), a.tensor("self"), a.ints("padding")),
            derivative: NOT_DIFFERENTIABLE,
          }
        : {
            name: backward,
            schema,
            tags: ["extern"] as const,
            meta,
            derivative: NOT_DIFFERENTIABLE,
            lower: fallback(backward, ["grad_output", "self"], ["grad_output", "self", "padding"]),
          },
    ];
  }),
);

/** circular padding: the middle is copied, then each dim's ends from the opposite side (at::_pad_circular) */
function circularPad<T>(b: GraphBuilder<T>, x: T, pad: readonly number[]): T {
  const t = b.meta(x);
  const pads = spatialPads(pad);
  const outer = t.shape.length - pads.length;
  const shape = t.shape.map((s, d) => (d < outer ? s : b.add(s, at(pads, d - outer).left + at(pads, d - outer).right)));
  const out = b.call("aten.new_empty.default", [x, shape]);
  const slice = (y: T, d: number, from: Dim | number, to: Dim | number): T =>
    b.call("aten.slice.Tensor", [y, d, from, to, 1]);
  // innermost dim first, as the padding is listed
  let [target, source] = [out, x];
  for (let i = pads.length - 1; i >= 0; i--) {
    const d = outer + i;
    const { left, right } = at(pads, i);
    target = slice(target, d, Math.max(left, 0), b.sub(at(shape, d), Math.max(right, 0)));
    source = slice(source, d, Math.max(-left, 0), b.sub(at(t.shape, d), Math.max(-right, 0)));
  }
  b.call("aten.copy_.default", [target, source]);
  for (let i = pads.length - 1; i >= 0; i--) {
    const d = outer + i;
    const { left, right } = at(pads, i);
    const size = at(shape, d);
    if (left > 0) {
      const head = slice(out, d, 0, left);
      const tail = slice(out, d, b.sub(size, left + Math.max(right, 0)), b.sub(size, Math.max(right, 0)));
      b.call("aten.copy_.default", [head, tail]);
    }
    if (right > 0) {
      const tail = slice(out, d, b.sub(size, right), size);
      const head = slice(out, d, Math.max(left, 0), Math.max(left, 0) + right);
      b.call("aten.copy_.default", [tail, head]);
    }
  }
  return out;
}

const pads: OpRecord[] = [
  {
    name: "aten.constant_pad_nd.default",
    schema: "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    python: ["torch.constant_pad_nd"],
    meta: (m, a) => constantPadMeta(m, a.tensor("self"), a.dims("pad")),
    derivative: each({
      self: (b, c) =>
        b.call("aten.constant_pad_nd.default", [
          c.grad(),
          c.args.dims("pad").map(p => {
            const n = b.sub(0, p);
            return b.static(n) ?? n;
          }),
          0,
        ]),
    }),
    lower: lowerConstantPad,
  },
  ...edgePads,
  composed({
    name: "aten._pad_circular.default",
    schema: "_pad_circular(Tensor self, SymInt[] pad) -> Tensor",
    composite: (b, a) => circularPad(b, a.tensor("self"), a.ints("pad")),
  }),
  composed({
    name: "aten.pad.default",
    schema: 'pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor',
    python: ["torch.nn.functional.pad"],
    printedAs: "torch._C._nn.pad",
    composite: (b, a) => {
      const x = a.tensor("self");
      const mode = a.str("mode");
      if (mode === "constant") {
        return b.call("aten.constant_pad_nd.default", [x, a.raw("pad"), new PyFloat(a.optNumber("value") ?? 0)]);
      }
      if (a.has("value") && a.number("value") !== 0) {
        return b.fail(`Padding mode "${mode}" doesn't take in value argument`);
      }
      const pad = a.ints("pad");
      const rank = b.meta(x).shape.length;
      const dims = pad.length / 2;
      const fits =
        (dims === 1 && (rank === 2 || rank === 3)) ||
        (dims === 2 && (rank === 3 || rank === 4)) ||
        (dims === 3 && (rank === 4 || rank === 5));
      if (!fits) {
        return b.fail(
          "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now",
          "NotImplementedError",
        );
      }
      const ops: Readonly<Record<string, string>> = {
        reflect: `aten.reflection_pad${dims}d.default`,
        replicate: `aten.replication_pad${dims}d.default`,
        circular: "aten._pad_circular.default",
      };
      const op = Object.hasOwn(ops, mode) ? ops[mode] : undefined;
      return op === undefined
        ? b.fail(`Unrecognised padding mode ${mode}`, "NotImplementedError")
        : b.call(op, [x, pad]);
    },
  }),
];

function lowerRepeat<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  let x = a.tensor("self");
  const repeats = a.dims("repeats");
  const old = [...range(repeats.length - b.size(x).length).map(() => b.int(1)), ...b.size(x)];
  if (old.length > b.size(x).length) x = b.view(x, old);
  const size = old.map((s, i) => b.mul(s, at(repeats, i)));
  const like = { dtype: b.dtype(x), device: b.device(x) };
  if (repeats.some(r => b.static(r) === 0)) return b.empty(size, outMeta(b).stride, like.dtype, like.device);
  const one = (d: Dim): boolean => b.static(d) === 1;
  if (repeats.every((r, i) => one(r) || one(at(old, i)))) return b.clone(b.expand(x, size));
  const before = b.hint(b.product(old));
  if (before > 0) b.markReuse(x, Math.floor(b.hint(b.product(size)) / before));
  const load = b.loader(x);
  return b.pointwise({
    size,
    ...like,
    body: (ops, index) =>
      load(
        ops,
        index.map((v, i) => {
          if (one(at(repeats, i))) return v;
          return one(at(old, i)) ? b.int(0) : b.modularIndexing(v, 1, at(old, i));
        }),
      ),
  });
}

/** gradient of repeat: the repetitions get dims of their own and are summed */
function repeatBackward<T>(b: GraphBuilder<T>, grad: T, repeats: readonly Dim[], shape: readonly Dim[]): T {
  if (repeats.some(r => b.static(r) === 0)) {
    const m = b.meta(grad);
    return full(b, shape, 0, m.dtype, m.device);
  }
  const lead = repeats.length - shape.length;
  const sizes: Dim[] = repeats.slice(0, lead);
  const summed = range(lead);
  shape.forEach((s, i) => {
    const times = at(repeats, lead + i);
    if (b.static(times) !== 1) {
      summed.push(sizes.length);
      sizes.push(times);
    }
    sizes.push(s);
  });
  const split = sizes.length > repeats.length ? reshape(b, grad, sizes) : grad;
  return summed.length === 0 ? split : b.call("aten.sum.dim_IntList", [split, summed]);
}

const repetitions: OpRecord[] = [
  {
    name: "aten.repeat.default",
    schema: "repeat(Tensor self, SymInt[] repeats) -> Tensor",
    python: ["Tensor.repeat"],
    meta: (m, a) => {
      const t = a.tensor("self");
      const repeats = a.dims("repeats");
      const lead = repeats.length - t.shape.length;
      if (lead < 0) {
        return m.fail("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
      }
      return m.tensor(
        repeats.map((r, i) => (i < lead ? r : m.mul(r, at(t.shape, i - lead)))),
        t,
      );
    },
    derivative: each({
      self: (b, c) => repeatBackward(b, c.grad(), c.args.dims("repeats"), b.meta(c.args.tensor("self")).shape),
    }),
    lower: lowerRepeat,
  },
  composed({
    name: "aten.tile.default",
    schema: "tile(Tensor self, SymInt[] dims) -> Tensor",
    python: spell("tile"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const dims = a.dims("dims");
      const missing = Math.max(0, b.meta(x).shape.length - dims.length);
      return b.call("aten.repeat.default", [x, [...range(missing).map(() => b.int(1)), ...dims]]);
    },
  }),
  composed({
    name: "aten.repeat_interleave.self_int",
    schema:
      "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    python: spell("repeat_interleave"),
    composite: (b, a) => {
      const given = a.optInt("dim");
      const x = given === null ? flatten(b, a.tensor("self"), 0, -1) : a.tensor("self");
      const dim = b.wrapDim(given ?? 0, b.meta(x).shape.length);
      const wide = b.call("aten.unsqueeze.default", [x, dim + 1]);
      const shape = b.meta(wide).shape.map((s, i) => (i === dim + 1 ? a.dim("repeats") : s));
      const copies = b.call("aten.clone.default", [b.call("aten.expand.default", [wide, shape])], {
        memory_format: CONTIGUOUS,
      });
      return flatten(b, copies, dim, dim + 1);
    },
  }),
  composed({
    name: "aten.repeat_interleave.self_Tensor",
    schema:
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    python: spell("repeat_interleave"),
    composite: (b, a) => {
      const given = a.optInt("dim");
      const x = given === null ? flatten(b, a.tensor("self"), 0, -1) : a.tensor("self");
      const shape = b.meta(x).shape;
      const dim = b.wrapDim(given ?? 0, shape.length);
      let repeats = a.tensor("repeats");
      const r = b.meta(repeats).shape;
      if (r.length === 0 || (r.length === 1 && b.static(at(r, 0)) === 1)) {
        repeats = b.call("aten.expand.default", [reshape(b, repeats, [1]), [at(shape, dim)]]);
      }
      const index = b.call("aten.repeat_interleave.Tensor", [repeats], { output_size: a.raw("output_size") });
      return b.call("aten.index_select.default", [x, dim, index]);
    },
  }),
  {
    name: "aten.repeat_interleave.Tensor",
    schema: "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    python: ["torch.repeat_interleave"],
    tags: ["data_dependent"],
    meta: (m, a) => m.tensor([a.optDim("output_size") ?? m.unbacked()], a.tensor("repeats")),
    decompose: (b, a) => {
      const size = a.optDim("output_size");
      if (size === null) return undefined;
      const repeats = a.tensor("repeats");
      const t = b.meta(repeats);
      const ends = b.call("aten.cumsum.default", [repeats, 0]);
      const place = b.call("aten.searchsorted.Tensor", [ends, iota(b, size, t.device)], { right: true });
      const last = b.sub(at(t.shape, 0), 1);
      return b.call("aten.clamp_max.default", [place, b.static(last) ?? last]);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.repeat_interleave.Tensor", ["repeats"], ["repeats"], ["output_size"]),
  },
];

export const records: readonly OpRecord[] = [...joins, ...pads, ...repetitions];
