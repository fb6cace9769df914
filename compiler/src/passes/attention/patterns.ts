// Hand-written attention in the forms that Inductor recognises (fx_passes/fuse_attention.py). Each pattern is the program
// that is looked for and the call of scaled_dot_product_attention that replaces it. The numbers are torch's.
import { type ArgValue, DTypeArg, type GraphBuilder, PyFloat } from "../../aten/types";

export interface AttentionPattern {
  /** torch's number of the pattern */
  readonly number: number;
  readonly inputs: readonly ("query" | "key" | "value" | "mask")[];
  /** rank of the inputs, 4 or 3 */
  readonly rank: 4 | 3;
  /** shape of a mask, over the symbols below */
  readonly mask?: readonly (1 | "B" | "H" | "Q" | "K")[];
  /** inputs are [batch, sequence, head, size] and permuted inside */
  readonly permuted: boolean;
  /** dtypes that torch traces it with */
  readonly dtypes: readonly ("float32" | "float16")[];
  /** numbers that are matched, whatever they are */
  readonly scalars: readonly ("scale" | "dropout")[];
  readonly search: <T>(b: GraphBuilder<T>, x: AttentionInputs<T>) => T;
  readonly replace: <T>(b: GraphBuilder<T>, x: AttentionInputs<T>) => T;
}

export interface AttentionInputs<T> {
  readonly query: T;
  readonly key: T;
  readonly value: T;
  readonly mask: T | null;
  readonly scale: number;
  readonly dropout: number;
}

const swap = <T>(b: GraphBuilder<T>, x: T, d0 = -2, d1 = -1): T => b.call("aten.transpose.int", [x, d0, d1]);
const matmul = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.matmul.default", [x, y]);
const softmax = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.softmax.int", [x, -1]);
const dropout = <T>(b: GraphBuilder<T>, x: T, p: number): T =>
  b.call("aten.dropout.default", [x, new PyFloat(p), true]);
const heads = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.permute.default", [x, [0, 2, 1, 3]]);
const div = <T>(b: GraphBuilder<T>, x: T, by: ArgValue<T>): T => b.call("aten.div.Tensor", [x, by]);
const contiguous = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.contiguous.default", [x]);
const headSize = <T>(b: GraphBuilder<T>, x: T): PyFloat => {
  const shape = b.meta(x).shape;
  return new PyFloat(Math.sqrt(b.hint(shape[shape.length - 1] ?? 1)));
};

function sdpa<T>(b: GraphBuilder<T>, q: T, k: T, v: T, mask: T | null, p: number, scale?: number): T {
  return b.call(
    "aten.scaled_dot_product_attention.default",
    [q, k, v, mask, new PyFloat(p), false],
    scale === undefined ? {} : { scale: new PyFloat(scale) },
  );
}

/** the mask in the query's dtype */
function maskLike<T>(b: GraphBuilder<T>, x: AttentionInputs<T>): T | null {
  if (x.mask === null) return null;
  const dtype = b.meta(x.query).dtype;
  return b.meta(x.mask).dtype === dtype
    ? x.mask
    : b.call("aten._to_copy.default", [x.mask], { dtype: new DTypeArg(dtype) });
}

type Spec = Omit<AttentionPattern, "inputs" | "rank" | "permuted" | "scalars" | "dtypes"> & Partial<AttentionPattern>;

function pattern(spec: Spec): AttentionPattern {
  const inputs: AttentionPattern["inputs"] = spec.mask ? ["query", "key", "value", "mask"] : ["query", "key", "value"];
  return { rank: 4, permuted: false, scalars: [], dtypes: ["float32", "float16"], ...spec, inputs };
}

/** the same with dropout on the weights */
function pair(
  plain: number,
  dropped: number,
  make: (weights: <T>(b: GraphBuilder<T>, x: T, p: number) => T, number: number) => AttentionPattern,
): AttentionPattern[] {
  const first = make((_b, x) => x, plain);
  const second = make(dropout, dropped);
  return [first, { ...second, scalars: [...second.scalars, "dropout"] }];
}

export const PATTERNS: readonly AttentionPattern[] = [
  ...pair(1, 3, (drop, number) =>
    pattern({
      number,
      scalars: ["scale"],
      search: (b, x) => {
        const scores = div(b, matmul(b, x.query, swap(b, x.key)), new PyFloat(x.scale));
        return matmul(b, drop(b, softmax(b, scores), x.dropout), x.value);
      },
      replace: (b, x) =>
        sdpa(
          b,
          contiguous(b, x.query),
          contiguous(b, x.key),
          contiguous(b, x.value),
          null,
          number === 3 ? x.dropout : 0,
          1 / x.scale,
        ),
    }),
  ),
  ...pair(2, 4, (drop, number) =>
    pattern({
      number,
      scalars: ["scale"],
      search: (b, x) => {
        const scores = b.call("aten.mul.Tensor", [matmul(b, x.query, swap(b, x.key)), new PyFloat(x.scale)]);
        return matmul(b, drop(b, softmax(b, scores), x.dropout), x.value);
      },
      replace: (b, x) =>
        sdpa(
          b,
          contiguous(b, x.query),
          contiguous(b, x.key),
          contiguous(b, x.value),
          null,
          number === 4 ? x.dropout : 0,
          x.scale,
        ),
    }),
  ),
  ...pair(5, 6, (drop, number) =>
    pattern({
      number,
      mask: [1, 1, "Q", "K"],
      search: (b, x) => {
        const scores = div(b, matmul(b, x.query, swap(b, x.key)), headSize(b, x.query));
        return matmul(b, drop(b, softmax(b, b.call("aten.add.Tensor", [scores, x.mask])), x.dropout), x.value);
      },
      replace: (b, x) =>
        sdpa(
          b,
          contiguous(b, x.query),
          contiguous(b, x.key),
          contiguous(b, x.value),
          maskLike(b, x),
          number === 6 ? x.dropout : 0,
        ),
    }),
  ),
  ...pair(8, 7, (drop, number) =>
    pattern({
      number,
      dtypes: ["float16"],
      permuted: true,
      search: (b, x) => {
        const [q, k, v] = [heads(b, x.query), heads(b, x.key), heads(b, x.value)];
        const scores = toFloat(b, div(b, matmul(b, q, swap(b, k)), headSize(b, q)));
        return matmul(b, toHalf(b, drop(b, softmax(b, scores), x.dropout)), v);
      },
      replace: (b, x) =>
        sdpa(b, heads(b, x.query), heads(b, x.key), heads(b, x.value), null, number === 7 ? x.dropout : 0),
    }),
  ),
  ...pair(10, 9, (drop, number) =>
    pattern({
      number,
      dtypes: ["float16"],
      permuted: true,
      search: (b, x) => {
        const [q, k, v] = [heads(b, x.query), heads(b, x.key), heads(b, x.value)];
        const scores = toFloat(b, matmul(b, div(b, q, headSize(b, q)), swap(b, k)));
        return matmul(b, toHalf(b, drop(b, softmax(b, scores), x.dropout)), v);
      },
      replace: (b, x) =>
        sdpa(b, heads(b, x.query), heads(b, x.key), heads(b, x.value), null, number === 9 ? x.dropout : 0),
    }),
  ),
  ...pair(11, 12, (drop, number) =>
    pattern({
      number,
      permuted: true,
      scalars: ["scale"],
      search: (b, x) => {
        const [q, k, v] = [heads(b, x.query), heads(b, x.key), heads(b, x.value)];
        const scores = div(b, matmul(b, q, swap(b, k)), new PyFloat(x.scale));
        return matmul(b, drop(b, softmax(b, scores), x.dropout), v);
      },
      replace: (b, x) =>
        sdpa(
          b,
          heads(b, x.query),
          heads(b, x.key),
          heads(b, x.value),
          null,
          number === 12 ? x.dropout : 0,
          1 / x.scale,
        ),
    }),
  ),
  ...pair(-13, 13, (drop, number) =>
    pattern({
      number,
      rank: 3,
      search: (b, x) => {
        const weights = softmax(b, b.call("aten.bmm.default", [x.query, swap(b, x.key, 1, 2)]));
        return b.call("aten.bmm.default", [drop(b, weights, x.dropout), x.value]);
      },
      replace: (b, x) => {
        const up = (t: typeof x.query): typeof x.query => b.call("aten.unsqueeze.default", [t, 0]);
        return b.call("aten.squeeze.dim", [
          sdpa(b, up(x.query), up(x.key), up(x.value), null, number === 13 ? x.dropout : 0, 1),
          0,
        ]);
      },
    }),
  ),
  ...pair(14, 16, (drop, number) =>
    pattern({
      number,
      permuted: true,
      scalars: ["scale"],
      mask: ["B", 1, 1, "K"],
      search: (b, x) => {
        const [q, k, v] = [heads(b, x.query), heads(b, x.key), heads(b, x.value)];
        const scores = div(b, matmul(b, q, swap(b, k)), new PyFloat(x.scale));
        return matmul(b, drop(b, softmax(b, b.call("aten.add.Tensor", [scores, x.mask])), x.dropout), v);
      },
      replace: (b, x) =>
        sdpa(
          b,
          heads(b, x.query),
          heads(b, x.key),
          heads(b, x.value),
          maskLike(b, x),
          number === 16 ? x.dropout : 0,
          1 / x.scale,
        ),
    }),
  ),
];

const toFloat = <T>(b: GraphBuilder<T>, x: T): T => to(b, x, "float32");
const toHalf = <T>(b: GraphBuilder<T>, x: T): T => to(b, x, "float16");
function to<T>(b: GraphBuilder<T>, x: T, dtype: "float32" | "float16"): T {
  return b.meta(x).dtype === dtype ? x : b.call("aten._to_copy.default", [x], { dtype: new DTypeArg(dtype) });
}
