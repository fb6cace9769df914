// xlogy and xlog1py: x * log(y) that is 0 where x is, also with a number on either side.
import { DeviceArg, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { aten, each, fallback, fl, NOT_DIFFERENTIABLE, numberOf, pointwise, spell } from "./helpers/define";
import { fillWhere, maskedFill, toDtype, where } from "./helpers/trace";

const BOTH = ["self", "other"] as const;

function xlogyNodes<T>(b: GraphBuilder<T>, x: T, y: T, log: string): T {
  const f = aten(b);
  const isZero = f("eq.Scalar", x, 0);
  const value = where(b, isZero, 0, f("mul.Tensor", x, f(log, y)));
  return where(b, f("isnan.default", y), fl(Number.NaN), value);
}

/** x * log(y), 0 where x is 0 and NaN where y is (xlogy, xlog1py) */
function xlog(packet: "xlogy" | "special_xlog1py"): OpRecord {
  const shifted = packet === "special_xlog1py";
  return pointwise({
    name: shifted ? "aten.special_xlog1py.default" : "aten.xlogy.Tensor",
    schema: shifted
      ? "special_xlog1py(Tensor self, Tensor other) -> Tensor"
      : "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    python: shifted ? ["torch.special.xlog1py"] : [...spell("xlogy"), "torch.special.xlogy"],
    ...(shifted ? { printedAs: "torch._C._special.special_xlog1py" } : {}),
    operands: BOTH,
    promotion: "int_to_float",
    decompose: (b, a) => xlogyNodes(b, a.tensor("self"), a.tensor("other"), shifted ? "log1p.default" : "log.default"),
    derivative: each({
      other: (b, c) => {
        const f = aten(b);
        const y = c.args.tensor("other");
        const divisor = shifted ? f("add.Scalar", y, 1) : y;
        return f("div.Tensor", f("mul.Tensor", c.grad(), c.args.tensor("self")), divisor);
      },
      self: (b, c) => {
        const f = aten(b);
        const [x, y] = [c.args.tensor("self"), c.args.tensor("other")];
        const g = f(shifted ? "special_xlog1py.default" : "xlogy.Tensor", c.grad(), y);
        const low = f("le.Scalar", y, fl(shifted ? -1 : 0));
        const mask = f("bitwise_and.Tensor", f("eq.Scalar", x, fl(0)), low);
        return fillWhere(b, g, mask, 0);
      },
    }),
  });
}

/** a 0-d tensor, as the primitive operators make it; Inductor leaves it to ATen */
const scalarPrim: OpRecord = {
  name: "prims.scalar_tensor.default",
  schema: "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) =>
    m.tensor([], {
      dtype: a.dtype("dtype") ?? m.promote("default", a.scalar("s")),
      device: a.device("device") ?? m.defaultDevice(),
    }),
  lower: fallback("prims.scalar_tensor.default", [], ["s"], ["dtype", "device"]),
};

/** xlogy with a number on one side: the number becomes a 0-d tensor first */
function xlogyNumber(number: "self" | "other"): OpRecord {
  const overload = number === "self" ? "Scalar_Self" : "Scalar_Other";
  const tensor = number === "self" ? "other" : "self";
  const parameters = number === "self" ? "Scalar self, Tensor other" : "Tensor self, Scalar other";
  return pointwise({
    name: `aten.xlogy.${overload}`,
    schema: `xlogy.${overload}(${parameters}) -> Tensor`,
    python: [...spell("xlogy"), "torch.special.xlogy"],
    operands: BOTH,
    promotion: "int_to_float",
    decompose: (b, a) => {
      const given = b.meta(a.tensor(tensor));
      const dtype = b.promote("int_to_float", given, a.scalar(number));
      const x = toDtype(b, a.tensor(tensor), dtype);
      const value = b.call("prims.scalar_tensor.default", [fl(numberOf(a.scalar(number)))], {
        dtype: new DTypeArg(dtype),
        device: new DeviceArg(given.device),
      });
      return xlogyNodes(b, number === "self" ? value : x, number === "self" ? x : value, "log.default");
    },
    derivative: each({
      [tensor]: (b, c) => {
        const f = aten(b);
        const [g, x, value] = [c.grad(), c.args.tensor(tensor), c.args.scalar(number)];
        if (number === "self") return f("div.Tensor", f("mul.Tensor", g, value), x);
        const grad = f("xlogy.Scalar_Other", g, value);
        return numberOf(value) > 0 ? grad : maskedFill(b, grad, f("eq.Scalar", x, fl(0)), fl(0));
      },
    }),
  });
}

export const records: readonly OpRecord[] = [
  xlog("xlogy"),
  xlogyNumber("self"),
  xlogyNumber("other"),
  scalarPrim,
  xlog("special_xlog1py"),
];
