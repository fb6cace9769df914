// Dropout in all forms: of elements, of channels, with SELU's statistics kept.
import { type Args, DTypeArg, type GraphBuilder, MemoryFormatArg, type OpRecord } from "../types";
import { aten, fl, isFloatDType, NOT_DIFFERENTIABLE } from "./helpers/define";
import { composed, decomposed } from "./helpers/shape";
import { toDtype } from "./helpers/trace";
import { uniformLike } from "./random";

const BOOL = new DTypeArg("bool");

/** the default forms draw a mask in one operator */
const kernels: OpRecord[] = [
  decomposed({
    name: "aten.native_dropout.default",
    schema: "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    python: ["torch.native_dropout"],
    tags: ["random"],
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("input");
      const p = a.number("p");
      const bool = (value: "zeros_like" | "ones_like") => b.call(`aten.${value}.default`, [x], { dtype: BOOL });
      if (a.optBool("train") === false || p === 0) return [x, bool("ones_like")];
      if (p === 1) return [f("zeros_like.default", x), bool("zeros_like")];
      if (!isFloatDType(b.meta(x).dtype))
        return b.fail(`result type Float can't be cast to the desired output type ${b.meta(x).dtype}`);
      const mask = f("gt.Scalar", uniformLike(b, x), a.raw("p"));
      return [f("mul.Tensor", f("mul.Tensor", mask, x), fl(1 / (1 - p))), mask];
    },
    derivative: {
      kind: "each",
      grads: {
        input: (b, c) => {
          const p = c.args.number("p");
          const scale = c.args.optBool("train") !== true ? 1 : p === 1 ? 0 : 1 / (1 - p);
          return b.call("aten.native_dropout_backward.default", [c.grad(), c.result(1), fl(scale)]);
        },
      },
    },
  }),
  decomposed({
    name: "aten.native_dropout_backward.default",
    schema: "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    decompose: (b, a) => {
      const f = aten(b);
      const grad = a.tensor("grad_output");
      const mask = toDtype(b, a.tensor("mask"), b.meta(grad).dtype);
      const r = f("mul.Tensor", grad, f("mul.Tensor", mask, a.raw("scale")));
      return b.call("aten.clone.default", [r], { memory_format: new MemoryFormatArg("contiguous_format") });
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
];

interface Kind {
  /** whole channels are dropped */
  readonly feature: boolean;
  /** dropped elements get SELU's negative limit, and mean and variance are kept */
  readonly alpha: boolean;
  readonly inplace: boolean;
}

const SELU = 1.7580993408473766;

/** at::_dropout: a noise tensor is drawn and multiplied in */
function noisy<T>(b: GraphBuilder<T>, a: Args<T>, kind: Kind): T {
  const f = aten(b);
  const x = a.tensor("input");
  const t = b.meta(x);
  const p = a.number("p");
  if (!(p >= 0 && p <= 1)) return b.fail(`dropout probability has to be between 0 and 1, but got ${p}`);
  if (p === 0 || !a.bool("train") || b.static(b.product(t.shape)) === 0) return x;
  const times = (y: T, z: T): T => f(kind.inplace ? "mul_.Tensor" : "mul.Tensor", y, z);
  if (p === 1) return times(x, b.call("aten.new_zeros.default", [x, []]));
  if (kind.feature && t.shape.length < 2) return b.fail("Feature dropout requires at least 2 dimensions in the input");
  const noise = kind.feature
    ? b.call("aten.new_empty.default", [x, t.shape.map((s, i) => (i < 2 ? s : 1))])
    : f("empty_like.default", x);
  f("bernoulli_.float", noise, fl(1 - p));
  if (!kind.alpha) return times(x, f("div_.Scalar", noise, fl(1 - p)));
  const scale = 1 / Math.sqrt((SELU * SELU * p + 1) * (1 - p));
  let shift = f("add.Scalar", noise, -1);
  shift = f("mul_.Scalar", shift, fl(SELU * scale));
  shift = f("add_.Scalar", shift, fl(SELU * scale * p));
  const scaled = f("mul_.Scalar", noise, fl(scale));
  return f("add_.Tensor", times(x, scaled), shift);
}

const PACKETS: readonly (readonly [packet: string, feature: boolean, alpha: boolean])[] = [
  ["dropout", false, false],
  ["feature_dropout", true, false],
  ["alpha_dropout", false, true],
  ["feature_alpha_dropout", true, true],
];

const operators: OpRecord[] = PACKETS.flatMap(([packet, feature, alpha]) => [
  composed({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor input, float p, bool train) -> Tensor`,
    python: [`torch.${packet}`],
    tags: ["random"],
    composite: (b, a) => {
      if (feature || alpha) return noisy(b, a, { feature, alpha, inplace: false });
      const x = a.tensor("input");
      const p = a.number("p");
      if (!(p >= 0 && p <= 1)) return b.fail(`dropout probability has to be between 0 and 1, but got ${p}`);
      if (p === 0 || !a.bool("train")) return b.call("aten.clone.default", [x]);
      const [dropped] = b.callMany("aten.native_dropout.default", [x, a.raw("p"), true]);
      return dropped ?? x;
    },
  }),
  composed({
    name: `aten.${packet}_.default`,
    schema: `${packet}_(Tensor(a!) input, float p, bool train) -> Tensor(a!)`,
    python: [`torch.${packet}_`],
    tags: ["random"],
    composite: (b, a) => noisy(b, a, { feature, alpha, inplace: true }),
  }),
]);

/** how many spatial dims a batch of a function's input has; null: any input */
const FUNCTIONS: readonly (readonly [name: string, packet: string, spatial: number | null, training: boolean])[] = [
  ["dropout", "dropout", null, true],
  ["alpha_dropout", "alpha_dropout", null, false],
  ["feature_alpha_dropout", "feature_alpha_dropout", null, false],
  ["dropout1d", "feature_dropout", 1, true],
  ["dropout2d", "feature_dropout", null, true],
  ["dropout3d", "feature_dropout", 3, true],
];

const functions: OpRecord[] = FUNCTIONS.map(([name, packet, spatial, training]) =>
  composed({
    name: `torch.nn.functional.${name}.default`,
    schema: `${name}(Tensor input, float p=0.5, bool training=${training ? "True" : "False"}, bool inplace=False) -> Tensor`,
    python: [`torch.nn.functional.${name}`],
    tags: ["random"],
    composite: (b, a) => {
      const p = a.number("p");
      if (!(p >= 0 && p <= 1))
        return b.fail(`dropout probability has to be between 0 and 1, but got ${p}`, "ValueError");
      const inplace = a.bool("inplace");
      const rank = b.meta(a.tensor("input")).shape.length;
      if (name === "dropout1d" && rank !== 2 && rank !== 3) {
        return b.fail(
          `dropout1d: Expected 2D or 3D input, but received a ${rank}D input. Note that dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).`,
        );
      }
      const single = spatial !== null && rank !== spatial + 2;
      const x = single
        ? b.call(`aten.unsqueeze${inplace ? "_" : ""}.default`, [a.tensor("input"), 0])
        : a.tensor("input");
      const y = b.call(`aten.${packet}${inplace ? "_" : ""}.default`, [x, a.raw("p"), a.raw("training")]);
      return single ? b.call(`aten.squeeze${inplace ? "_" : ""}.dim`, [y, 0]) : y;
    },
  }),
);

export const records: readonly OpRecord[] = [...kernels, ...operators, ...functions];
