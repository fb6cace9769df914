// What families of elementwise operators of one tensor are built with.

import type { OpName, OpRecord, PromotionKind } from "../../types";
import {
  aten,
  each,
  type GradFormula,
  inplace,
  isIntegralDType,
  type PointwiseSpec,
  pointwise,
  spell,
  withInplace,
} from "./define";
import { conj, zerosLike } from "./trace";

export const ZERO: GradFormula = (b, c) => zerosLike(b, c.grad());

/** grad * result.conj(), and the like: the second factor is worked out first */
export const timesResult: GradFormula = (b, c) => aten(b)("mul.Tensor", c.grad(), conj(b, c.result()));

/** An operator lowered to one loop operation. */
export function unary(
  packet: string,
  promotion: PromotionKind,
  op: OpName,
  grad: GradFormula,
  extra: Partial<PointwiseSpec> = {},
): OpRecord[] {
  return withInplace(
    pointwise({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self) -> Tensor`,
      python: spell(packet),
      promotion,
      op,
      derivative: each({ self: grad }),
      ...extra,
    }),
    [`torch.${packet}_`],
  );
}

/** Rounding is the identity on integers, and has no slope. */
export function rounding(packet: "floor" | "ceil" | "round" | "trunc", extra: Partial<PointwiseSpec> = {}): OpRecord[] {
  return unary(packet, "default", packet, ZERO, {
    lower: (b, a) => {
      const x = a.tensor("self");
      return isIntegralDType(b.dtype(x)) ? b.clone(x) : b.elementwise(packet, [x]);
    },
    ...extra,
  });
}

/** A second name of an operator: PyTorch composes it before autograd. */
export function alias(packet: string, of: string, python: readonly string[] = spell(packet)): OpRecord[] {
  const record = pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self) -> Tensor`,
    python,
    promotion: INT_TO_FLOAT_ALIASES.has(of) ? "int_to_float" : of === "abs" ? "complex_to_float" : "default",
    composite: (b, a) => b.call(`aten.${of}.default`, [a.tensor("self")]),
    tags: [],
  });
  return packet.startsWith("special_") ? [record] : [record, inplaceAlias(record, of)];
}

/** absolute_ writes what abs computes */
function inplaceAlias(record: OpRecord, of: string): OpRecord {
  return { ...inplace(record), functional: `aten.${of}.default` };
}

const INT_TO_FLOAT_ALIASES: ReadonlySet<string> = new Set([
  "asin",
  "acos",
  "atan",
  "asinh",
  "acosh",
  "atanh",
  "sigmoid",
  "erf",
  "erfc",
  "erfinv",
  "exp2",
  "expm1",
  "log1p",
  "digamma",
  "lgamma",
  "i0",
  "sinc",
]);

/** torch.special.NAME, printed by its C name */
export function special(name: string): { python: string[]; printedAs: string } {
  return { python: [`torch.special.${name}`], printedAs: `torch._C._special.special_${name}` };
}
