// Padding in all modes: constant, reflection, replication, circular.

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
import { each, fallback, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed, decomposed, looksChannelsLast, range } from "./helpers/shape";
import { iota, scalarFor } from "./helpers/trace";

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

export const records: readonly OpRecord[] = [...pads];
