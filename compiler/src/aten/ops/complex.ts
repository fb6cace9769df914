// Complex tensors: making them, taking them apart, conjugation. Inductor writes no kernels for them: each is an ATen call.
import {
  DeviceArg,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  PyComplex,
  type TensorMeta,
} from "../types";
import { aten, each, fallback, fl, isComplexDType, pointwise, spell } from "./helpers/define";
import { composed } from "./helpers/shape";
import { where, zerosLike } from "./helpers/trace";

const COMPLEX_OF: Partial<Record<DType, DType>> = { float32: "complex64", float64: "complex128" };
const REAL_OF: Partial<Record<DType, DType>> = { complex64: "float32", complex128: "float64" };

/** real (0) or imaginary (1) part of a complex tensor: one slice of its view as pairs */
function part<T>(b: GraphBuilder<T>, x: T, which: 0 | 1): T {
  const f = aten(b);
  const rank = b.meta(x).shape.length;
  return f("select.int", f("view_as_real.default", x), rank, which);
}

/** an operator of two real tensors with a complex result */
function complexOf(packet: string, first: string, second: string, derivative: OpRecord["derivative"]): OpRecord {
  const names = [first, second];
  return {
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor ${first}, Tensor ${second}) -> Tensor`,
    python: [`torch.${packet}`],
    meta: (m, a) => {
      const [x, y] = names.map(n => a.tensor(n)) as [TensorMeta, TensorMeta];
      const dtype = COMPLEX_OF[x.dtype];
      if (dtype === undefined || x.dtype !== y.dtype) {
        return m.fail(`Expected both inputs to be Half, Float or Double tensors but got ${x.dtype} and ${y.dtype}`);
      }
      return m.elementwise(dtype, x, y);
    },
    lower: fallback(`aten.${packet}.default`, names, names),
    ...(derivative ? { derivative } : {}),
  };
}

const makers: OpRecord[] = [
  complexOf(
    "complex",
    "real",
    "imag",
    each({ imag: (b, c) => part(b, c.grad(), 1), real: (b, c) => part(b, c.grad(), 0) }),
  ),
  complexOf("polar", "abs", "angle", {
    kind: "joint",
    of: ["abs", "angle"],
    grads: (b, c) => {
      const f = aten(b);
      const result = c.result();
      const conjugate = f("_conj.default", c.grad());
      const along = (t: typeof result): typeof result => part(b, f("mul.Tensor", f("clone.default", conjugate), t), 0);
      const abs = c.needs("abs") ? along(f("sgn.default", result)) : null;
      const angle = c.needs("angle") ? along(f("mul.Scalar", result, new PyComplex(0, 1))) : null;
      return { abs, angle };
    },
  }),
];

const views: OpRecord[] = [
  {
    name: "aten.view_as_real.default",
    schema: "view_as_real(Tensor(a) self) -> Tensor(a)",
    python: ["torch.view_as_real"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const x = a.tensor("self");
      const dtype = REAL_OF[x.dtype];
      if (dtype === undefined) return m.fail("view_as_real is only supported for complex tensors");
      const stride = [...x.stride.map(s => m.mul(s, 2)), m.int(1)];
      const t = m.tensor([...x.shape, 2], { dtype, device: x.device }, stride);
      return { ...t, storageOffset: m.mul(x.storageOffset, 2) };
    },
    lower: fallback("aten.view_as_real.default", ["self"], ["self"]),
    derivative: each({
      self: (b, c) => b.call("aten.view_as_complex.default", [b.call("aten.contiguous.default", [c.grad()])]),
    }),
  },
  {
    name: "aten.view_as_complex.default",
    schema: "view_as_complex(Tensor(a) self) -> Tensor(a)",
    python: ["torch.view_as_complex"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const x = a.tensor("self");
      const dtype = COMPLEX_OF[x.dtype];
      const [size, step] = [x.shape[x.shape.length - 1], x.stride[x.stride.length - 1]];
      if (dtype === undefined || size === undefined || step === undefined) {
        return m.fail(
          "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: " +
            x.dtype,
        );
      }
      if (!m.eq(size, 2)) return m.fail("Tensor must have a last dimension of size 2");
      if (!m.eq(step, 1)) return m.fail("Tensor must have a last dimension with stride 1");
      const stride = x.stride.slice(0, -1).map(s => m.floordiv(s, 2));
      const t = m.tensor(x.shape.slice(0, -1), { dtype, device: x.device }, stride);
      return { ...t, storageOffset: m.floordiv(x.storageOffset, 2) };
    },
    lower: (b, a) =>
      b.extern({
        kind: "fallback",
        kernel: "torch.ops.aten.view_as_complex.default",
        op: "aten.view_as_complex.default",
        inputs: [a.tensor("self")],
        args: [a.tensor("self")],
        strides: "contiguous",
      }),
    derivative: each({
      self: (b, c) => b.call("aten.view_as_real.default", [b.call("aten.contiguous.default", [c.grad()])]),
    }),
  },
  {
    name: "aten._conj.default",
    schema: "_conj(Tensor(a) self) -> Tensor(a)",
    tags: ["view"],
    viewOf: "self",
    meta: (_m, a) => a.tensor("self"),
    lower: fallback("aten._conj.default", ["self"], ["self"]),
    derivative: each({ self: (b, c) => b.call("aten._conj.default", [c.grad()]) }),
  },
  composed({
    name: "aten.conj.default",
    schema: "conj(Tensor(a) self) -> Tensor(a)",
    python: spell("conj"),
    composite: (b, a) => {
      const x = a.tensor("self");
      return isComplexDType(b.meta(x).dtype) ? b.call("aten._conj.default", [x]) : x;
    },
  }),
  ...(["real", "imag"] as const).map((name, which) =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor(a) self) -> Tensor(a)`,
      python: [`torch.${name}`, `Tensor.${name}`],
      composite: (b, a) => {
        const x = a.tensor("self");
        if (isComplexDType(b.meta(x).dtype)) return part(b, x, which === 0 ? 0 : 1);
        return which === 0 ? x : b.fail("imag is not implemented for tensors with non-complex dtypes.");
      },
    }),
  ),
];

const angle = pointwise({
  name: "aten.angle.default",
  schema: "angle(Tensor self) -> Tensor",
  python: spell("angle"),
  meta: (m, a) => {
    const x = a.tensor("self");
    return m.elementwise(REAL_OF[x.dtype] ?? m.promote("int_to_float", x), x);
  },
  decompose: (b, a) => {
    const f = aten(b);
    const x = a.tensor("self");
    const { dtype, device } = b.meta(x);
    if (isComplexDType(dtype)) {
      const isNan = f("isnan.default", part(b, x, 0));
      const [imag, real] = [part(b, x, 1), part(b, x, 0)];
      return where(b, isNan, fl(Number.NaN), f("atan2.default", imag, real));
    }
    const pi = b.call("aten.scalar_tensor.default", [fl(Math.PI)], {
      dtype: new DTypeArg(b.promote("int_to_float", b.meta(x))),
      device: new DeviceArg(device),
      pin_memory: false,
    });
    const signed = where(b, f("lt.Scalar", x, 0), pi, fl(0));
    return where(b, f("isnan.default", x), fl(Number.NaN), signed);
  },
  derivative: each({
    self: (b, c) => {
      if (!isComplexDType(b.meta(c.args.tensor("self")).dtype)) return zerosLike(b, c.args.tensor("self"));
      return b.fail("the gradient of angle of a complex tensor is not supported", "NotImplementedError");
    },
  }),
});

export const records: readonly OpRecord[] = [...makers, ...views, angle];
