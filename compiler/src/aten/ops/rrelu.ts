// rrelu: a leaky ReLU whose slopes are drawn at random while it trains.
import type { Args, GraphBuilder, OpRecord } from "../types";
import { aten, each, elementwiseMeta, F, fl } from "./helpers/define";
import { decomposed } from "./helpers/shape";
import { where } from "./helpers/trace";

const meanSlope = <T>(a: Args<T>): number => (a.number("lower") + a.number("upper")) / 2;
const LIMITS = "Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False";

/** as many slopes as numbers; the second result is what each was multiplied by */
const withNoise = decomposed({
  name: "aten.rrelu_with_noise_functional.default",
  schema: `rrelu_with_noise_functional(Tensor self, Tensor noise, ${LIMITS}, Generator? generator=None) -> (Tensor, Tensor noise_out)`,
  tags: ["random"],
  nonDifferentiable: [1],
  decompose: (b, a) => {
    const f = aten(b);
    const [x, noise] = [a.tensor("self"), a.tensor("noise")];
    if (!a.bool("training")) return [f("leaky_relu.default", x, fl(meanSlope(a))), noise];
    const low = f("le.Scalar", x, 0);
    const slopes = f("uniform.default", x, a.raw("lower"), a.raw("upper"));
    return [f("where.self", low, f("mul.Tensor", x, slopes), x), where(b, low, slopes, 1)];
  },
  derivative: each({
    self: (b, c) =>
      b.call("aten.rrelu_with_noise_backward.default", [
        c.grad(0),
        c.args.tensor("self"),
        c.result(1),
        c.args.raw("lower"),
        c.args.raw("upper"),
        c.args.raw("training"),
        false,
      ]),
  }),
});

const backward = decomposed({
  name: "aten.rrelu_with_noise_backward.default",
  schema:
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor",
  decompose: (b, a) => {
    const f = aten(b);
    const [g, x] = [a.tensor("grad_output"), a.tensor("self")];
    if (a.bool("training") && a.number("upper") - a.number("lower") > 1e-6)
      return f("mul.Tensor", g, a.tensor("noise"));
    return f("leaky_relu_backward.default", g, x, fl(meanSlope(a)), a.raw("self_is_result"));
  },
});

function rrelu<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const x = a.tensor("input");
  const limits = [a.raw("lower"), a.raw("upper"), a.raw("training")];
  const noise = b.call("aten.empty_like.default", [x]);
  const r = b.callMany("aten.rrelu_with_noise_functional.default", [x, noise, ...limits])[0] as T;
  return a.bool("inplace") ? b.call("aten.copy_.default", [x, r]) : r;
}

export const records: readonly OpRecord[] = [
  withNoise,
  backward,
  {
    name: `${F}rrelu.default`,
    schema:
      "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor",
    python: [`${F}rrelu`],
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, ["input"]),
    composite: rrelu,
  },
];
