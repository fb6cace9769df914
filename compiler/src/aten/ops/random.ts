// Random numbers: uniform, normal, integer and Bernoulli draws, and permutations.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  MemoryFormatArg,
  type OpRecord,
  type TensorMeta,
} from "../types";
import { aten, each, fallback, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { deviceOf, likeLayout, newSize, OPTIONS, toFormat, writtenDevice } from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";
import { at, broadcastShapes, composed, decomposed } from "./helpers/shape";
import { full, toDtype } from "./helpers/trace";

const LIKE = `${OPTIONS}, MemoryFormat? memory_format=None`;

/** the options of a *_like constructor, without layout */
function likeOptions<T>(b: GraphBuilder<T>, a: Args<T>, like: TensorMeta): Record<string, ArgValue<T>> {
  return {
    dtype: new DTypeArg(a.dtype("dtype") ?? like.dtype),
    device: new DeviceArg(writtenDevice(b, a, like)),
    pin_memory: false,
  };
}

function drawLike<T>(b: GraphBuilder<T>, a: Args<T>, make: (shape: readonly Dim[]) => T): T {
  const x = a.tensor("self");
  const format = a.memoryFormat("memory_format") ?? "preserve_format";
  if (format !== "preserve_format") return toFormat(b, make(b.meta(x).shape), new MemoryFormatArg(format));
  return likeLayout(b, x, make, true);
}

/** torch.rand_like(x, dtype=...) */
export function uniformLike<T>(b: GraphBuilder<T>, x: T, dtype?: DType): T {
  return b.call("aten.rand_like.default", [x], dtype === undefined ? {} : { dtype: new DTypeArg(dtype) });
}

const draws: OpRecord[] = (["rand", "randn"] as const).flatMap(name => [
  {
    name: `aten.${name}.default`,
    schema: `${name}(SymInt[] size, ${OPTIONS}) -> Tensor`,
    python: [`torch.${name}`],
    tags: ["random", "factory"],
    meta: (m, a) => m.tensor(newSize(m, a), { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) }),
    decompose: (b, a) => {
      const options = pythonOptions(b, a);
      return options === null ? undefined : b.call(`aten.${name}.default`, [a.dims("size")], options);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback(`aten.${name}.default`, [], ["size"], ["dtype", "layout", "device", "pin_memory"]),
  } satisfies OpRecord,
  decomposed({
    name: `aten.${name}_like.default`,
    schema: `${name}_like(Tensor self, ${LIKE}) -> Tensor`,
    python: [`torch.${name}_like`],
    tags: ["random", "factory"],
    decompose: (b, a) => {
      const options = likeOptions(b, a, b.meta(a.tensor("self")));
      return drawLike(b, a, shape => b.call(`aten.${name}.default`, [shape], options));
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
]);

const integers: OpRecord[] = [
  {
    name: "aten.randint.low",
    schema: `randint.low(SymInt low, SymInt high, SymInt[] size, ${OPTIONS}) -> Tensor`,
    python: ["torch.randint"],
    tags: ["random", "factory"],
    meta: (m, a) => {
      if (!m.lt(a.dim("low"), a.dim("high"))) {
        return m.fail(
          `random_ expects 'from' to be less than 'to', but got from=${m.hint(a.dim("low"))} >= to=${m.hint(a.dim("high"))}`,
        );
      }
      return m.tensor(newSize(m, a), { dtype: a.dtype("dtype") ?? "int64", device: deviceOf(m, a) });
    },
    decompose: (b, a) => {
      const options = pythonOptions(b, a);
      if (options === null) return undefined;
      return b.call("aten.randint.low", [a.raw("low"), a.raw("high"), a.dims("size")], options);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.randint.low", [], ["low", "high", "size"], ["dtype", "layout", "device", "pin_memory"]),
  },
  decomposed({
    name: "aten.randint.default",
    schema: `randint(SymInt high, SymInt[] size, ${OPTIONS}) -> Tensor`,
    python: ["torch.randint"],
    tags: ["random", "factory"],
    decompose: (b, a) => {
      const options = pythonOptions(b, a) ?? {
        ...(a.has("dtype") ? { dtype: a.raw("dtype") } : {}),
        device: new DeviceArg(writtenDevice(b, a)),
        pin_memory: false,
      };
      return b.call("aten.randint.low", [0, a.raw("high"), a.dims("size")], options);
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
  ...(["default", "low_dtype"] as const).map(overload =>
    decomposed({
      name: `aten.randint_like.${overload}`,
      schema: `randint_like${overload === "default" ? "" : ".low_dtype"}(Tensor self, ${overload === "default" ? "" : "SymInt low, "}SymInt high, ${LIKE}) -> Tensor`,
      python: ["torch.randint_like"],
      tags: ["random", "factory"],
      decompose: (b, a) => {
        const options = likeOptions(b, a, b.meta(a.tensor("self")));
        const low = overload === "default" ? 0 : a.raw("low");
        return drawLike(b, a, shape => b.call("aten.randint.low", [low, a.raw("high"), shape], options));
      },
      derivative: NOT_DIFFERENTIABLE,
    }),
  ),
  {
    name: "aten.randperm.default",
    schema: `randperm(SymInt n, ${OPTIONS}) -> Tensor`,
    python: ["torch.randperm"],
    tags: ["random", "factory", "extern"],
    meta: (m, a) => m.tensor([a.dim("n")], { dtype: a.dtype("dtype") ?? "int64", device: deviceOf(m, a) }),
    decompose: (b, a) => {
      const options = pythonOptions(b, a);
      return options === null ? undefined : b.call("aten.randperm.default", [a.raw("n")], options);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.randperm.default", [], ["n"], ["dtype", "layout", "device", "pin_memory"]),
  },
];

const NORMAL_OPTIONS = "Generator? generator=None";

/** samples of the standard normal distribution, scaled and shifted */
function normal<T>(
  b: GraphBuilder<T>,
  shape: readonly Dim[],
  like: { dtype: DType; device: ArgValue<T> },
  mean: ArgValue<T>,
  std: ArgValue<T>,
): T {
  const samples = b.call("prims.normal.default", [shape], {
    mean: fl(0),
    std: fl(1),
    dtype: new DTypeArg(like.dtype),
    device: like.device,
    requires_grad: false,
  });
  const scaled = b.call("aten.mul.Tensor", b.isTensor(std) ? [std, samples] : [samples, std]);
  return b.call("aten.add.Tensor", [scaled, mean]);
}

const zerosFor = <T>(b: GraphBuilder<T>, grad: T, x: T): T =>
  full(b, b.meta(x).shape, 0, b.meta(grad).dtype, b.meta(grad).device);

const normals: OpRecord[] = [
  {
    name: "prims.normal.default",
    schema:
      "normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, bool requires_grad, Generator? generator=None) -> Tensor",
    tags: ["random", "factory", "extern"],
    meta: (m, a) => m.tensor(a.dims("shape"), { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) }),
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("prims.normal.default", [], ["shape"], ["mean", "std", "dtype", "device", "requires_grad"]),
  },
  decomposed({
    name: "aten.normal.float_float",
    schema: `normal.float_float(float mean, float std, SymInt[] size, *, ${NORMAL_OPTIONS}, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor`,
    python: ["torch.normal"],
    tags: ["random", "factory"],
    decompose: (b, a) => {
      const like = { dtype: a.dtype("dtype") ?? b.defaultDType(), device: new DeviceArg(writtenDevice(b, a)) };
      return normal(b, a.dims("size"), like, a.raw("mean"), a.raw("std"));
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.normal.Tensor_float",
    schema: `normal.Tensor_float(Tensor mean, float std=1, *, ${NORMAL_OPTIONS}) -> Tensor`,
    python: ["torch.normal"],
    tags: ["random"],
    decompose: (b, a) => {
      const mean = a.tensor("mean");
      const { shape, dtype, device } = b.meta(mean);
      return normal(b, shape, { dtype, device: new DeviceArg(device) }, mean, a.raw("std"));
    },
    derivative: each({ mean: (b, c) => zerosFor(b, c.grad(), c.args.tensor("mean")) }),
  }),
  decomposed({
    name: "aten.normal.float_Tensor",
    schema: `normal.float_Tensor(float mean, Tensor std, *, ${NORMAL_OPTIONS}) -> Tensor`,
    python: ["torch.normal"],
    tags: ["random"],
    decompose: (b, a) => {
      const std = a.tensor("std");
      const { shape, dtype, device } = b.meta(std);
      return normal(b, shape, { dtype, device: new DeviceArg(device) }, a.raw("mean"), std);
    },
    derivative: each({ std: (b, c) => zerosFor(b, c.grad(), c.args.tensor("std")) }),
  }),
  decomposed({
    name: "aten.normal.Tensor_Tensor",
    schema: `normal.Tensor_Tensor(Tensor mean, Tensor std, *, ${NORMAL_OPTIONS}) -> Tensor`,
    python: ["torch.normal"],
    tags: ["random"],
    decompose: (b, a) => {
      const [mean, std] = [a.tensor("mean"), a.tensor("std")];
      const { dtype, device } = b.meta(mean);
      const shape = broadcastShapes(b, b.meta(mean).shape, b.meta(std).shape);
      return normal(b, shape, { dtype, device: new DeviceArg(device) }, mean, std);
    },
    derivative: each({
      mean: (b, c) => zerosFor(b, c.grad(), c.args.tensor("mean")),
      std: (b, c) => zerosFor(b, c.grad(), c.args.tensor("std")),
    }),
  }),
];

export const noGradient = each({ self: (b, c) => zerosFor(b, c.grad(), c.grad()) });

const bernoulli: OpRecord[] = [
  decomposed({
    name: "aten.bernoulli.default",
    schema: "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    python: ["torch.bernoulli", "Tensor.bernoulli"],
    tags: ["random"],
    decompose: (b, a) => {
      const p = a.tensor("self");
      const hit = b.call("aten.lt.Tensor", [uniformLike(b, p, "float32"), p]);
      return toDtype(b, hit, b.meta(p).dtype);
    },
    derivative: noGradient,
  }),
  decomposed({
    name: "aten.bernoulli.p",
    schema: "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    python: ["torch.bernoulli", "Tensor.bernoulli"],
    tags: ["random"],
    decompose: (b, a) => {
      const x = a.tensor("self");
      const p = a.number("p");
      if (!(p >= 0 && p <= 1)) return b.fail(`bernoulli_ expects p to be in [0, 1], but got p=${p}`);
      return b.call("aten.lt.Scalar", [uniformLike(b, x, "float32"), a.raw("p")]);
    },
    derivative: noGradient,
  }),
  decomposed({
    name: "aten.bernoulli.Tensor",
    schema: "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    tags: ["random"],
    decompose: (b, a) => {
      const x = a.tensor("self");
      const hit = b.call("aten.lt.Tensor", [uniformLike(b, x, "float32"), a.tensor("p")]);
      return toDtype(b, hit, b.meta(x).dtype);
    },
    derivative: noGradient,
  }),
  ...(["float", "Tensor"] as const).map(
    (kind): OpRecord => ({
      name: `aten.bernoulli_.${kind}`,
      schema: `bernoulli_.${kind}(Tensor(a!) self, ${kind === "float" ? "float p=0.5" : "Tensor p"}, *, Generator? generator=None) -> Tensor(a!)`,
      python: ["Tensor.bernoulli_"],
      tags: ["random", "inplace"],
      functional: kind === "float" ? "aten.bernoulli.p" : "aten.bernoulli.Tensor",
      meta: (_, a) => a.tensor("self"),
    }),
  ),
];

const calls: OpRecord[] = [
  {
    name: "aten.multinomial.default",
    schema:
      "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    python: ["torch.multinomial", "Tensor.multinomial"],
    tags: ["random", "extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      const rank = x.shape.length;
      if (rank !== 1 && rank !== 2) return m.fail("prob_dist must be 1 or 2 dim");
      const n = a.dim("num_samples");
      if (m.le(n, 0)) return m.fail("cannot sample n_sample <= 0 samples");
      if (!a.bool("replacement") && m.lt(at(x.shape, rank - 1), n))
        return m.fail("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
      return m.tensor([...x.shape.slice(0, -1), n], { dtype: "int64", device: x.device });
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.multinomial.default", ["self"], ["self", "num_samples", "replacement"]),
  },
  {
    name: "aten.poisson.default",
    schema: "poisson(Tensor self, Generator? generator=None) -> Tensor",
    python: ["torch.poisson"],
    tags: ["random", "extern"],
    meta: (m, a) => m.call("aten.empty_like.default", [a.tensor("self")]),
    derivative: each({ self: (b, c) => zerosFor(b, c.args.tensor("self"), c.args.tensor("self")) }),
    lower: fallback("aten.poisson.default", ["self"], ["self"]),
  },
  composed({
    name: "torch.nn.functional.gumbel_softmax.default",
    schema: "gumbel_softmax(Tensor logits, Scalar tau=1, bool hard=False, Scalar eps=1e-10, int dim=-1) -> Tensor",
    python: ["torch.nn.functional.gumbel_softmax"],
    composite: (b, a) => {
      const f = aten(b);
      const logits = a.tensor("logits");
      const empty = b.call("aten.empty_like.default", [logits], {
        memory_format: new MemoryFormatArg("contiguous_format"),
      });
      const gumbels = f("neg.default", f("log.default", f("exponential_.default", empty)));
      const scaled = f("div.Tensor", f("add.Tensor", logits, gumbels), a.raw("tau"));
      const soft = f("softmax.int", scaled, a.raw("dim"));
      if (!a.bool("hard")) return soft;
      const [, index] = b.callMany("aten.max.dim", [soft, a.raw("dim"), true]);
      if (index === undefined) return b.fail("max has two results");
      const zeros = b.call("aten.zeros_like.default", [logits], {
        memory_format: new MemoryFormatArg("contiguous_format"),
      });
      const hard = f("scatter_.value", zeros, a.raw("dim"), index, fl(1));
      return f("add.Tensor", f("sub.Tensor", hard, f("detach.default", soft)), soft);
    },
  }),
];

export const records: readonly OpRecord[] = [...draws, ...integers, ...normals, ...bernoulli, ...calls];
