// Activation functions of ATen and what torch.nn.functional makes of them, with in-place forms. Their gradients are
// operators of their own (gelu_backward, ...), which stand in activation_backward.ts.
import type { Args, Derivative, GraphBuilder, OpRecord, Scalar } from "../types";
import {
  aten,
  each,
  elementwiseMeta,
  F,
  fl,
  inplace,
  numberOf,
  type PointwiseSpec,
  pointwise,
  spell,
  withInplace,
} from "./helpers/define";
import { softplus as softplusNodes } from "./helpers/formulas";
import { where, withOpmath } from "./helpers/trace";

const SELU_ALPHA = 1.6732632423543772;
const SELU_SCALE = 1.0507009873554805;

/** an activation that Inductor decomposes, worked out in float32 for half types */
function activation(
  packet: string,
  parameters: string,
  nodes: <T>(b: GraphBuilder<T>, x: T, a: Args<T>) => T,
  spec: Partial<PointwiseSpec> = {},
): OpRecord {
  return pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self${parameters}) -> Tensor`,
    decompose: (b, a) => withOpmath(b, [a.tensor("self")], x => nodes(b, x, a)),
    ...spec,
  });
}

/** clamp of the shifted input to 0..6, which hardswish and hardsigmoid scale */
function relu6Shifted<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  return f("clamp_max.default", f("clamp_min.default", f("add.Tensor", x, 3), 0), 6);
}

const relu = pointwise({
  name: "aten.relu.default",
  schema: "relu(Tensor self) -> Tensor",
  python: spell("relu"),
  op: "relu",
  derivative: each({ self: (b, c) => b.call("aten.threshold_backward.default", [c.grad(), c.result(), 0]) }),
});

const gelu = activation(
  "gelu",
  ', *, str approximate="none"',
  (b, x, a) => {
    const f = aten(b);
    if (a.str("approximate") === "tanh") {
      const cube = f("mul.Tensor", f("mul.Tensor", x, x), x);
      const inner = f("mul.Tensor", f("add.Tensor", x, f("mul.Tensor", cube, fl(0.044715))), fl(0.7978845608028654));
      const half = f("mul.Tensor", x, fl(0.5));
      return f("mul.Tensor", half, f("add.Tensor", f("tanh.default", inner), 1));
    }
    const half = f("mul.Tensor", x, fl(0.5));
    const erf = f("erf.default", f("mul.Tensor", x, fl(Math.SQRT1_2)));
    return f("mul.Tensor", half, f("add.Tensor", erf, 1));
  },
  {
    python: [`${F}gelu`],
    printedAs: "torch._C._nn.gelu",
    derivative: each({
      self: (b, c) => {
        const approximate = c.args.str("approximate");
        const kwargs: Record<string, string> = approximate === "none" ? {} : { approximate };
        return b.call("aten.gelu_backward.default", [c.grad(), c.args.tensor("self")], kwargs);
      },
    }),
  },
);

const silu = activation(
  "silu",
  "",
  (b, x) => {
    const f = aten(b);
    return f("div.Tensor", x, f("add.Tensor", f("exp.default", f("neg.default", x)), 1));
  },
  { derivative: each({ self: (b, c) => b.call("aten.silu_backward.default", [c.grad(), c.args.tensor("self")]) }) },
);

const mish = activation("mish", "", (b, x) => aten(b)("mul.Tensor", x, aten(b)("tanh.default", softplusNodes(b, x))), {
  derivative: each({ self: (b, c) => b.call("aten.mish_backward.default", [c.grad(), c.args.tensor("self")]) }),
});

const hardswish = activation(
  "hardswish",
  "",
  (b, x) => aten(b)("div.Tensor", aten(b)("mul.Tensor", x, relu6Shifted(b, x)), 6),
  {
    derivative: each({ self: (b, c) => b.call("aten.hardswish_backward.default", [c.grad(), c.args.tensor("self")]) }),
    tags: [],
  },
);

const hardsigmoid = activation("hardsigmoid", "", (b, x) => aten(b)("div.Tensor", relu6Shifted(b, x), 6), {
  derivative: each({ self: (b, c) => b.call("aten.hardsigmoid_backward.default", [c.grad(), c.args.tensor("self")]) }),
});

const hardtanh = activation(
  "hardtanh",
  ", Scalar min_val=-1, Scalar max_val=1",
  (b, x, a) => {
    const f = aten(b);
    return f("clamp_max.default", f("clamp_min.default", x, a.raw("min_val")), a.raw("max_val"));
  },
  {
    derivative: each({
      self: (b, c) =>
        b.call("aten.hardtanh_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.raw("min_val"),
          c.args.raw("max_val"),
        ]),
    }),
  },
);

const elu = activation(
  "elu",
  ", Scalar alpha=1, Scalar scale=1, Scalar input_scale=1",
  (b, x, a) => {
    const f = aten(b);
    const [alpha, scale, inputScale] = [a.number("alpha"), a.number("scale"), a.number("input_scale")];
    const positive = f("gt.Scalar", x, 0);
    const above = f("mul.Tensor", x, fl(scale));
    const below = f("mul.Tensor", f("expm1.default", f("mul.Tensor", x, fl(inputScale))), fl(alpha * scale));
    return f("where.self", positive, above, below);
  },
  {
    derivative: each({
      self: (b, c) =>
        b.call("aten.elu_backward.default", [c.grad(), ...eluScales(c.args), false, c.args.tensor("self")]),
    }),
  },
);

const eluScales = <T>(a: Args<T>): Scalar[] => ["alpha", "scale", "input_scale"].map(name => a.scalar(name));
const celuScales = <T>(a: Args<T>): Scalar[] => [a.scalar("alpha"), 1, fl(1 / numberOf(a.scalar("alpha")))];

/** derivatives of the in-place forms, by the result: the value before the write is gone */
const BY_RESULT = {
  elu: each({
    self: (b, c) => b.call("aten.elu_backward.default", [c.grad(), ...eluScales(c.args), true, c.result()]),
  }),
  celu: each({
    self: (b, c) => b.call("aten.elu_backward.default", [c.grad(), ...celuScales(c.args), true, c.result()]),
  }),
  leakyRelu: each({
    self: (b, c) =>
      b.call("aten.leaky_relu_backward.default", [c.grad(), c.result(), c.args.raw("negative_slope"), true]),
  }),
};

const celu = activation(
  "celu",
  ", Scalar alpha=1.",
  (b, x, a) => {
    const f = aten(b);
    const alpha = a.number("alpha");
    const below =
      alpha === 1
        ? f("expm1.default", x)
        : f("mul.Tensor", f("expm1.default", f("div.Tensor", x, a.raw("alpha"))), a.raw("alpha"));
    return f("where.self", f("gt.Scalar", x, 0), x, below);
  },
  {
    python: ["torch.celu"],
    derivative: each({
      self: (b, c) =>
        b.call("aten.elu_backward.default", [c.grad(), ...celuScales(c.args), false, c.args.tensor("self")]),
    }),
  },
);

const selu = pointwise({
  name: "aten.selu.default",
  schema: "selu(Tensor self) -> Tensor",
  python: ["torch.selu"],
  composite: (b, a) => b.call("aten.elu.default", [a.tensor("self"), fl(SELU_ALPHA), fl(SELU_SCALE)]),
});

const leakyRelu = activation(
  "leaky_relu",
  ", Scalar negative_slope=0.01",
  (b, x, a) => {
    const f = aten(b);
    const positive = f("gt.Scalar", x, 0);
    return f("where.self", positive, x, f("mul.Tensor", x, a.raw("negative_slope")));
  },
  {
    tags: [],
    derivative: each({
      self: (b, c) =>
        b.call("aten.leaky_relu_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.raw("negative_slope"),
          false,
        ]),
    }),
  },
);

const softplus = activation(
  "softplus",
  ", Scalar beta=1, Scalar threshold=20",
  (b, x, a) => softplusNodes(b, x, a.scalar("beta"), a.scalar("threshold")),
  {
    python: [`${F}softplus`],
    printedAs: "torch._C._nn.softplus",
    derivative: each({
      self: (b, c) =>
        b.call("aten.softplus_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.raw("beta"),
          c.args.raw("threshold"),
        ]),
    }),
  },
);

const threshold = pointwise({
  name: "aten.threshold.default",
  schema: "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
  python: ["torch.threshold", `${F}threshold`],
  printedAs: "torch.threshold",
  decompose: (b, a) => {
    return withOpmath(b, [a.tensor("self")], x =>
      where(b, aten(b)("le.Scalar", x, a.raw("threshold")), a.scalar("value"), x),
    );
  },
  derivative: each({
    self: (b, c) =>
      b.call("aten.threshold_backward.default", [c.grad(), c.args.tensor("self"), c.args.raw("threshold")]),
  }),
});

const relu6 = pointwise({
  name: "aten.relu6.default",
  schema: "relu6(Tensor self) -> Tensor",
  composite: (b, a) => b.call("aten.hardtanh.default", [a.tensor("self"), 0, 6]),
});

/** softshrink and hardshrink: composed before autograd */
const shrinks: OpRecord[] = [
  pointwise({
    name: "aten.softshrink.default",
    schema: "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    python: [`${F}softshrink`],
    printedAs: "torch._C._nn.softshrink",
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const outside = f("gt.Scalar", f("abs.default", x), a.raw("lambd"));
      const shrunk = f("sub.Tensor", x, f("mul.Tensor", f("sign.default", x), a.raw("lambd")));
      return f("where.self", outside, shrunk, f("mul.Tensor", x, 0));
    },
  }),
  pointwise({
    name: "aten.hardshrink.default",
    schema: "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    python: [...spell("hardshrink"), `${F}hardshrink`],
    printedAs: "torch.hardshrink",
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      return where(b, f("le.Scalar", f("abs.default", x), a.raw("lambd")), 0, x);
    },
  }),
];

/** F.relu(x, inplace=True) and its kin: one node before autograd, the plain or the in-place operator in it */
function functional(packet: string, parameters = "", pass: readonly string[] = [], name = packet): OpRecord {
  return {
    name: `${F}${name}.default`,
    schema: `${name}(Tensor input${parameters}, bool inplace=False) -> Tensor`,
    python: [`${F}${name}`],
    tags: ["pointwise"],
    meta: (m, a) => (a.bool("inplace") ? a.tensor("input") : elementwiseMeta(m, a, ["input"])),
    composite: (b, a) =>
      b.call(`aten.${packet}${a.bool("inplace") ? "_" : ""}.default`, [a.tensor("input"), ...pass.map(p => a.raw(p))]),
  };
}

const functionals: OpRecord[] = [
  functional("relu"),
  functional("relu6"),
  functional("silu"),
  functional("mish"),
  functional("hardswish"),
  functional("hardsigmoid"),
  functional("selu"),
  functional("hardtanh", ", float min_val=-1.0, float max_val=1.0", ["min_val", "max_val"]),
  functional("elu", ", float alpha=1.0", ["alpha"]),
  functional("celu", ", float alpha=1.0", ["alpha"]),
  functional("leaky_relu", ", float negative_slope=0.01", ["negative_slope"]),
  {
    name: `${F}softsign.default`,
    schema: "softsign(Tensor input) -> Tensor",
    python: [`${F}softsign`],
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, ["input"], "int_to_float"),
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("input");
      return f("div.Tensor", x, f("add.Tensor", f("abs.default", x), 1));
    },
  },
  {
    name: `${F}tanhshrink.default`,
    schema: "tanhshrink(Tensor input) -> Tensor",
    python: [`${F}tanhshrink`],
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, ["input"], "int_to_float"),
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("input");
      return f("sub.Tensor", x, f("tanh.default", x));
    },
  },
];

/** in-place forms that torch.nn.functional also has as functions of their own */
function named(record: OpRecord, name: string, derivative?: Derivative): OpRecord[] {
  const written = inplace(record, [`${F}${name}`], `torch._C._nn.${name}`);
  return [record, derivative === undefined ? written : { ...written, derivative }];
}

export const records: readonly OpRecord[] = [
  relu,
  inplace(relu, ["torch.relu_", `${F}relu_`]),
  gelu,
  inplace(gelu),
  ...withInplace(silu),
  ...withInplace(mish),
  ...withInplace(hardswish),
  ...withInplace(hardsigmoid),
  ...named(hardtanh, "hardtanh_"),
  ...named(elu, "elu_", BY_RESULT.elu),
  celu,
  { ...inplace(celu, ["torch.celu_", `${F}celu_`]), derivative: BY_RESULT.celu },
  selu,
  {
    ...inplace(selu, ["torch.selu_", `${F}selu_`]),
    composite: (b, a) => b.call("aten.elu_.default", [a.tensor("self"), fl(SELU_ALPHA), fl(SELU_SCALE)]),
  },
  ...named(leakyRelu, "leaky_relu_", BY_RESULT.leakyRelu),
  softplus,
  threshold,
  inplace(threshold, ["torch.threshold_", `${F}threshold_`]),
  relu6,
  { ...inplace(relu6), composite: (b, a) => b.call("aten.hardtanh_.default", [a.tensor("self"), 0, 6]) },
  ...shrinks,
  ...functionals,
];
