// F.multi_head_attention_forward: projections, masks, attention with or without its weights, output projection.
import { type Args, type ArgValue, DeviceArg, type Dim, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { aten, fl, isFloatDType } from "./helpers/define";
import { at, composed } from "./helpers/shape";
import { CONTIGUOUS } from "./helpers/trace";

type Three<T> = readonly [T, T, T];

/** one product for several projections of the same input, taken apart along a new first dim */
function packed<T>(b: GraphBuilder<T>, x: T, weight: T, bias: T | null, parts: number, width: Dim): T[] {
  const f = aten(b);
  const y = f("linear.default", x, weight, bias);
  const apart = f("unsqueeze.default", f("unflatten.int", y, -1, [parts, width]), 0);
  const first = f("squeeze.dim", f("transpose.int", apart, 0, -2), -2);
  const whole = b.call("aten.contiguous.default", [first], { memory_format: CONTIGUOUS });
  return Array.from({ length: parts }, (_, i) => f("select.int", whole, 0, i));
}

function projections<T>(b: GraphBuilder<T>, a: Args<T>, q: T, k: T, v: T): Three<T> {
  const f = aten(b);
  const bias = a.optTensor("in_proj_bias");
  const thirds = (t: T): Three<T> => b.callMany("aten.chunk.default", [t, 3]) as unknown as Three<T>;
  const linear = (x: T, w: T, c: T | null): T => f("linear.default", x, w, c);
  if (a.bool("use_separate_proj_weight")) {
    const [bq, bk, bv] = bias === null ? [null, null, null] : thirds(bias);
    const weights = ["q_proj_weight", "k_proj_weight", "v_proj_weight"].map(n => a.tensor(n)) as unknown as Three<T>;
    return [linear(q, weights[0], bq), linear(k, weights[1], bk), linear(v, weights[2], bv)];
  }
  const weight = a.tensor("in_proj_weight");
  const width = at(b.meta(q).shape, 2);
  if (k === v && q === k) return packed(b, q, weight, bias, 3, width) as unknown as Three<T>;
  if (k === v) {
    const sizes = [width, b.mul(width, 2)];
    const split = (t: T): readonly [T, T] =>
      b.callMany("aten.split_with_sizes.default", [t, sizes]) as unknown as readonly [T, T];
    const [wq, wkv] = split(weight);
    const [bq, bkv] = bias === null ? [null, null] : split(bias);
    const first = linear(q, wq, bq);
    const [second, third] = packed(b, k, wkv, bkv, 2, width) as [T, T];
    return [first, second, third];
  }
  const [wq, wk, wv] = thirds(weight);
  const [bq, bk, bv] = bias === null ? [null, null, null] : thirds(bias);
  return [linear(q, wq, bq), linear(k, wk, bk), linear(v, wv, bv)];
}

/** True where attention is not allowed, as numbers to add */
function additive<T>(b: GraphBuilder<T>, mask: T, name: string, like: T): T {
  const { dtype } = b.meta(mask);
  if (isFloatDType(dtype)) return mask;
  if (dtype !== "bool") return b.fail(`only bool and floating types of ${name} are supported`, "AssertionError");
  const zeros = b.call("aten.zeros_like.default", [mask], { dtype: new DTypeArg(b.meta(like).dtype) });
  return b.call("aten.masked_fill_.Scalar", [zeros, mask, fl(Number.NEGATIVE_INFINITY)]);
}

function attend<T>(b: GraphBuilder<T>, a: Args<T>): (T | null)[] {
  const f = aten(b);
  let [query, key, value] = ["query", "key", "value"].map(n => a.tensor(n)) as [T, T, T];
  const needWeights = a.bool("need_weights");
  const ranks = [query, key, value].map(x => b.meta(x).shape.length);
  const batched = ranks[0] === 3;
  if (ranks.some(n => n !== (batched ? 3 : 2)))
    return b.fail(
      `query, key and value take 2 dimensions, or 3 with a batch; these have ${ranks.join(", ")}`,
      "AssertionError",
    );
  let padding = a.optTensor("key_padding_mask");
  if (!batched) {
    // the same tensor stays the same, which decides how it is projected
    const wide = new Map<T, T>();
    const widen = (x: T): T => {
      const known = wide.get(x) ?? f("unsqueeze.default", x, 1);
      wide.set(x, known);
      return known;
    };
    [query, key, value] = [widen(query), widen(key), widen(value)];
    if (padding !== null) padding = f("unsqueeze.default", padding, 0);
  }
  const [rows, batch, width] = b.meta(query).shape as [Dim, Dim, Dim];
  const heads = a.int("num_heads");
  const inner = b.floordiv(width, heads);
  if (!b.eq(width, a.dim("embed_dim_to_check"))) {
    return b.fail(
      `was expecting embedding dimension of ${b.hint(a.dim("embed_dim_to_check"))}, but got ${b.hint(width)}`,
      "AssertionError",
    );
  }
  if (!b.eq(b.mul(inner, heads), width))
    return b.fail(`embed_dim ${b.hint(width)} not divisible by num_heads ${heads}`, "AssertionError");
  if (padding !== null) padding = additive(b, padding, "key_padding_mask", query);
  let mask = a.optTensor("attn_mask");
  let causal = a.bool("is_causal");
  if (causal && mask === null) {
    return b.fail(
      "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` to create this mask.",
    );
  }
  if (causal && padding === null && !needWeights) mask = null;
  else {
    if (mask !== null) mask = additive(b, mask, "attn_mask", query);
    if (padding !== null) causal = false;
  }
  let [q, k, v] = projections(b, a, query, key, value) as [T, T, T];
  if (mask !== null) {
    const rank = b.meta(mask).shape.length;
    if (rank === 2) mask = f("unsqueeze.default", mask, 0);
    else if (rank !== 3) return b.fail(`attn_mask's dimension ${rank} is not supported`);
  }
  const biases = [a.optTensor("bias_k"), a.optTensor("bias_v")];
  const widenMasks = (): void => {
    const pad = (t: T): T => f("pad.default", t, [0, 1]);
    if (mask !== null) mask = pad(mask);
    if (padding !== null) padding = pad(padding);
  };
  const [biasK, biasV] = biases;
  if (biasK && biasV) {
    k = f("cat.default", [k, f("repeat.default", biasK, [1, batch, 1])]);
    v = f("cat.default", [v, f("repeat.default", biasV, [1, batch, 1])]);
    widenMasks();
  }
  const all = b.mul(batch, heads);
  const intoHeads = (x: T): T => f("transpose.int", f("view.default", x, [at(b.meta(x).shape, 0), all, inner]), 0, 1);
  q = intoHeads(q);
  k = a.optTensor("static_k") ?? intoHeads(k);
  v = a.optTensor("static_v") ?? intoHeads(v);
  if (a.bool("add_zero_attn")) {
    const withZeros = (x: T): T => {
      const { dtype, device } = b.meta(x);
      const options: Record<string, ArgValue<T>> = { dtype: new DTypeArg(dtype), device: new DeviceArg(device) };
      return f("cat.default", [x, b.call("aten.zeros.default", [[all, 1, inner]], options)], 1);
    };
    k = withZeros(k);
    v = withZeros(v);
    widenMasks();
  }
  const length = at(b.meta(k).shape, 1);
  if (padding !== null) {
    const wide = f("expand.default", f("view.default", padding, [batch, 1, 1, length]), [-1, heads, -1, -1]);
    const forAll = f("reshape.default", wide, [all, 1, length]);
    mask = mask === null ? forAll : f("add.Tensor", mask, forAll);
  }
  const dropout = a.bool("training") ? a.number("dropout_p") : 0;
  const project = (x: T): T => {
    const y = f("linear.default", x, a.tensor("out_proj_weight"), a.optTensor("out_proj_bias"));
    return f("view.default", y, [rows, batch, at(b.meta(y).shape, 1)]);
  };
  const flat = [b.mul(rows, batch), width];
  const whole = (x: T): T => b.call("aten.contiguous.default", [x], { memory_format: CONTIGUOUS });
  if (!needWeights) {
    if (mask !== null) {
      const m = b.meta(mask).shape;
      const shared = m.length === 3 && b.eq(at(m, 0), 1);
      mask = shared ? f("unsqueeze.default", mask, 0) : f("view.default", mask, [batch, heads, -1, length]);
    }
    q = f("view.default", q, [batch, heads, rows, inner]);
    k = f("view.default", k, [batch, heads, length, inner]);
    v = f("view.default", v, [batch, heads, length, inner]);
    const out = f("scaled_dot_product_attention.default", q, k, v, mask, fl(dropout), causal);
    const result = project(f("view.default", whole(f("permute.default", out, [2, 0, 1, 3])), flat));
    return [batched ? result : f("squeeze.dim", result, 1), null];
  }
  const scaled = f("mul.Tensor", q, fl(Math.sqrt(1 / b.hint(inner))));
  const turned = f("transpose.int", k, -2, -1);
  const scores = mask === null ? f("bmm.default", scaled, turned) : f("baddbmm.default", mask, scaled, turned);
  let weights = f("softmax.int", scores, -1);
  if (dropout > 0) weights = f("dropout.default", weights, fl(dropout), true);
  const out = f("bmm.default", weights, v);
  const result = project(f("view.default", whole(f("transpose.int", out, 0, 1)), flat));
  let seen = f("view.default", weights, [batch, heads, rows, length]);
  if (a.bool("average_attn_weights")) seen = f("mean.dim", seen, [1]);
  if (batched) return [result, seen];
  return [f("squeeze.dim", result, 1), f("squeeze.dim", seen, 0)];
}

export const records: readonly OpRecord[] = [
  composed({
    name: "torch.nn.functional.multi_head_attention_forward.default",
    schema:
      "multi_head_attention_forward(Tensor query, Tensor key, Tensor value, SymInt embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor?)",
    python: ["torch.nn.functional.multi_head_attention_forward"],
    composite: attend,
  }),
];
