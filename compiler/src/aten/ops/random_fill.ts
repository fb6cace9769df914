// Random numbers written over a tensor: uniform_ and its kin, whose functional forms Inductor decomposes.
// Distributions that have no generator of their own are arithmetic on uniform draws.
import type { Args, DType, GraphBuilder, OpRecord } from "../types";
import { aten, fallback, fl, isFloatDType } from "./helpers/define";
import { scalarTensor } from "./helpers/trace";
import { noGradient, uniformLike } from "./random";

interface Filling {
  readonly packet: string;
  /** name of the functional operator */
  readonly functional: string;
  /** of both; left out: default */
  readonly overload?: string;
  /** what the functional form's schema says after `self` */
  readonly parameters: string;
  readonly decompose?: OpRecord["decompose"];
}

/** exponential draws: -log of uniform ones, kept away from log(1) = 0 */
function exponential<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const f = aten(b);
  const x = a.tensor("self");
  const { dtype, device } = b.meta(x);
  const rate = a.number("lambd");
  if (!isFloatDType(dtype))
    return b.fail(
      `Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified ${dtype}`,
    );
  if (rate <= 0) return b.fail(`exponential_ expects lambda > 0.0, but found lambda=${rate}`);
  const draw = uniformLike(b, x);
  const epsilon = EPSILON[dtype] ?? EPSILON_32;
  const close = f("ge.Scalar", draw, fl(1 - epsilon / 2));
  const log = f("log.default", draw);
  const least = scalarTensor(b, fl(-epsilon / 2), dtype, device);
  return f("mul.Tensor", f("where.self", close, least, log), fl(-1 / rate));
}

const EPSILON_32 = 2 ** -23;
const EPSILON: Partial<Record<DType, number>> = {
  float64: 2 ** -52,
  float32: EPSILON_32,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
};

const fillings: readonly Filling[] = [
  { packet: "random_", functional: "random", parameters: "" },
  { packet: "random_", functional: "random", overload: "from", parameters: "int from, int? to" },
  { packet: "random_", functional: "random", overload: "to", parameters: "int to" },
  { packet: "uniform_", functional: "uniform", parameters: "float from=0, float to=1" },
  { packet: "normal_", functional: "normal_functional", parameters: "float mean=0, float std=1" },
  { packet: "exponential_", functional: "exponential", parameters: "float lambd=1", decompose: exponential },
  {
    packet: "geometric_",
    functional: "geometric",
    parameters: "float p",
    decompose: (b, a) => {
      const f = aten(b);
      const p = a.number("p");
      if (!(p > 0 && p < 1)) return b.fail(`geometric_ expects p to be in (0, 1), but got p=${p}`);
      const log = f("log1p.default", f("neg.default", uniformLike(b, a.tensor("self"))));
      return f("add.Tensor", f("floor.default", f("div.Tensor", log, fl(Math.log1p(-p)))), 1);
    },
  },
  {
    packet: "cauchy_",
    functional: "cauchy",
    parameters: "Scalar median=0, Scalar sigma=1",
    decompose: (b, a) => {
      const f = aten(b);
      const centred = f("sub.Tensor", uniformLike(b, a.tensor("self")), fl(0.5));
      const tan = f("tan.default", f("mul.Tensor", centred, fl(Math.PI)));
      return f("add.Tensor", f("mul.Tensor", tan, a.raw("sigma")), a.raw("median"));
    },
  },
  {
    packet: "log_normal_",
    functional: "log_normal",
    parameters: "Scalar mean=1, Scalar std=2",
    decompose: (b, a) => {
      const f = aten(b);
      const draw = b.call("aten.randn_like.default", [a.tensor("self")]);
      return f("exp.default", f("add.Tensor", f("mul.Tensor", draw, a.raw("std")), a.raw("mean")));
    },
  },
];

/** x.uniform_() and kin: what is in x does not matter, only its layout */
const filled: OpRecord[] = fillings.flatMap(({ packet, functional, overload, parameters, decompose }): OpRecord[] => {
  const listed = parameters === "" ? [] : parameters.split(", ");
  const names = listed.map(p => p.split(" ")[1]?.split("=")[0] ?? "");
  const name = `aten.${functional}.${overload ?? "default"}`;
  const suffix = overload === undefined ? "" : `.${overload}`;
  const taken = listed.map(p => `${p}, `).join("");
  return [
    {
      name,
      schema: `${functional}${suffix}(Tensor self, ${taken}*, Generator? generator=None) -> Tensor`,
      tags: ["random"],
      meta: (m, a) => m.call("aten.empty_like.default", [a.tensor("self")]),
      derivative: noGradient,
      ...(decompose ? { decompose } : { lower: fallback(name, ["self"], ["self", ...names]) }),
    },
    {
      name: `aten.${packet}.${overload ?? "default"}`,
      schema: `${packet}${suffix}(Tensor(a!) self, ${taken}*, Generator? generator=None) -> Tensor(a!)`,
      python: [`Tensor.${packet}`],
      tags: ["random", "inplace"],
      functional: name,
      meta: (_, a) => a.tensor("self"),
    },
  ];
});

export const records: readonly OpRecord[] = [...filled];
