// softmax and log_softmax with their gradients, and prepare_softmax_online, which Inductor rewrites them to.
import { type Args, type ArgValue, type DType, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { aten, each, NOT_DIFFERENTIABLE } from "./helpers/define";
import { reducedMeta } from "./helpers/reduce";
import { composed } from "./helpers/shape";
import { opmath, toDtype, withOpmath } from "./helpers/trace";

/** the ATen kernels: _softmax and _log_softmax */
function kernel(packet: "_softmax" | "_log_softmax"): OpRecord {
  return {
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, int dim, bool half_to_float) -> Tensor`,
    meta: (m, a) => {
      const x = a.tensor("self");
      m.wrapDim(a.int("dim"), x.shape.length);
      const dtype = a.bool("half_to_float") ? "float32" : x.dtype;
      return m.tensor(x.shape, { dtype, device: x.device });
    },
    decompose: (b, a) => {
      const f = aten(b);
      const { dtype, shape } = b.meta(a.tensor("self"));
      const dim = a.int("dim");
      const result: DType = a.bool("half_to_float") ? "float32" : dtype;
      // the kernels' results are contiguous
      const x = toDtype(b, f("contiguous.default", a.tensor("self")), opmath(dtype));
      const empty = shape.some(s => b.static(s) === 0);
      const shifted = empty ? x : f("sub.Tensor", x, f("amax.default", x, [dim], true));
      const e = f("exp.default", shifted);
      const total = f("sum.dim_IntList", e, [dim], true);
      const value =
        packet === "_softmax" ? f("div.Tensor", e, total) : f("sub.Tensor", shifted, f("log.default", total));
      return toDtype(b, value, result);
    },
    derivative: each({
      self: (b, c) => {
        const result = c.result();
        const { dtype } = b.meta(c.args.tensor("self"));
        return b.call(`aten.${packet}_backward_data.default`, [
          c.grad(),
          result,
          c.args.raw("dim"),
          new DTypeArg(dtype),
        ]);
      },
    }),
  };
}

/** gradients of the kernels, given their output */
function kernelBackward(packet: "_softmax" | "_log_softmax"): OpRecord {
  return {
    name: `aten.${packet}_backward_data.default`,
    schema: `${packet}_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor`,
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => {
      const g = a.tensor("grad_output");
      const dtype = a.dtype("input_dtype") ?? g.dtype;
      if (packet === "_softmax") return m.tensor(g.shape, { dtype, device: g.device });
      return m.elementwise(dtype, g, a.tensor("output"));
    },
    decompose: (b, a) => {
      const f = aten(b);
      const dim = a.int("dim");
      const [grad, output] = [a.tensor("grad_output"), a.tensor("output")];
      const wanted = a.dtype("input_dtype") ?? b.meta(grad).dtype;
      if (packet === "_log_softmax") {
        // only the arithmetic is cast up; the result goes to the input's dtype directly
        const compute = opmath(b.promote("default", b.meta(grad), b.meta(output)));
        const [g, y] = [toDtype(b, grad, compute), toDtype(b, output, compute)];
        const e = f("exp.default", y);
        const value = f("sub.Tensor", g, f("mul.Tensor", e, f("sum.dim_IntList", g, [dim], true)));
        return toDtype(b, value, wanted);
      }
      return withOpmath(b, [grad, output], (g, y) => {
        const scaled = f("mul.Tensor", g, y);
        const total = f("sum.dim_IntList", scaled, [dim], true);
        const value = b.call("prims.fma.default", [f("neg.default", y), total, scaled]);
        return f("contiguous.default", toDtype(b, value, wanted));
      });
    },
  };
}

const online: OpRecord = {
  name: "prims.prepare_softmax_online.default",
  schema: "prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor)",
  tags: ["reduction"],
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const one = reducedMeta(m, a.tensor("a"), [a.int("dim")], true);
    return [one, one];
  },
  lower: (b, a) => {
    const { max, sum } = b.onlineSoftmax(a.tensor("a"), a.int("dim"));
    return [max, sum];
  },
};

/** casts to `dtype` first, except that half to float is left to the kernel */
function callKernel<T>(
  b: GraphBuilder<T>,
  packet: "_softmax" | "_log_softmax",
  x: T,
  dim: ArgValue<T>,
  dtype: DType | null,
): T {
  const own = b.meta(x);
  const halfToFloat = own.dtype === "float16" && dtype === "float32" && own.device.type === "cuda";
  const cast =
    dtype === null || halfToFloat || dtype === own.dtype ? x : b.call("aten.to.dtype", [x, new DTypeArg(dtype)]);
  return b.call(`aten.${packet}.default`, [cast, dim, halfToFloat]);
}

const TENSOR_FORM = { softmax: "_softmax", log_softmax: "_log_softmax" } as const;

/** the dim that F.softmax takes when none is given */
function impliedDim(rank: number): number {
  return rank === 0 || rank === 1 || rank === 3 ? 0 : 1;
}

const forms: OpRecord[] = (["softmax", "log_softmax"] as const).flatMap(name => [
  composed({
    name: `aten.${name}.int`,
    schema: `${name}.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor`,
    python: [`torch.${name}`, `Tensor.${name}`],
    composite: (b, a) => callKernel(b, TENSOR_FORM[name], a.tensor("self"), a.raw("dim"), a.dtype("dtype")),
  }),
  composed({
    name: `aten.special_${name}.default`,
    schema: `special_${name}(Tensor self, int dim, ${name === "softmax" ? "" : "*, "}ScalarType? dtype=None) -> Tensor`,
    python: [`torch.special.${name}`],
    printedAs: `torch._C._special.special_${name}`,
    composite: (b, a) => callKernel(b, TENSOR_FORM[name], a.tensor("self"), a.raw("dim"), a.dtype("dtype")),
  }),
  composed({
    name: `torch.nn.functional.${name}.default`,
    schema: `${name}(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor`,
    python: [`torch.nn.functional.${name}`],
    composite: (b, a) => callFunctional(b, TENSOR_FORM[name], a, a.tensor("input")),
  }),
]);

function callFunctional<T>(b: GraphBuilder<T>, packet: "_softmax" | "_log_softmax", a: Args<T>, x: T): T {
  const dim = a.optInt("dim") ?? impliedDim(b.meta(x).shape.length);
  return callKernel(b, packet, x, dim, a.dtype("dtype"));
}

const softmin = composed({
  name: "torch.nn.functional.softmin.default",
  schema: "softmin(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
  python: ["torch.nn.functional.softmin"],
  composite: (b, a) => callFunctional(b, "_softmax", a, b.call("aten.neg.default", [a.tensor("input")])),
});

export const records: readonly OpRecord[] = [
  kernel("_softmax"),
  kernel("_log_softmax"),
  kernelBackward("_softmax"),
  kernelBackward("_log_softmax"),
  online,
  ...forms,
  softmin,
];
