// Type promotion (c10::promoteTypes, at::result_type, elementwise_dtypes). In: operand dtypes by category of operand.
// Out: the result dtype. Promises: dimensioned tensors decide before 0-d tensors, those before Python numbers.
import { isComplexDType, isFloatDType, isIntDType, itemSize } from "./ops/helpers/dtypes";
import { type DType, type PromotionKind, PyComplex, PyFloat, type Scalar, type TensorMeta } from "./types";

const SIGNED: readonly DType[] = ["int8", "int16", "int32", "int64"];

/** c10::promoteTypes */
export function promoteTypes(a: DType, b: DType): DType {
  if (a === b) return a;
  if (isComplexDType(a) || isComplexDType(b)) {
    return [a, b].some(d => d === "complex128" || d === "float64") ? "complex128" : "complex64";
  }
  const fa = isFloatDType(a);
  const fb = isFloatDType(b);
  if (fa && fb) {
    if (a === "float64" || b === "float64") return "float64";
    if (a.startsWith("float8") && !b.startsWith("float8")) return b;
    if (b.startsWith("float8") && !a.startsWith("float8")) return a;
    return "float32"; // float16 with bfloat16, or one of them with float32
  }
  if (fa) return a;
  if (fb) return b;
  if (a === "bool") return b;
  if (b === "bool") return a;
  const sa = SIGNED.includes(a);
  const sb = SIGNED.includes(b);
  if (sa === sb) return itemSize(a) >= itemSize(b) ? a : b;
  const signed = sa ? a : b;
  const unsigned = sa ? b : a;
  if (itemSize(signed) > itemSize(unsigned)) return signed;
  // int8 with uint8 needs the next wider signed type
  return SIGNED.find(d => itemSize(d) > itemSize(unsigned)) ?? "int64";
}

function scalarDType(s: Scalar, defaultFloat: DType): DType {
  if (typeof s === "boolean") return "bool";
  if (s instanceof PyFloat) return defaultFloat;
  if (s instanceof PyComplex) return defaultFloat === "float64" ? "complex128" : "complex64";
  return "int64";
}

function combine(higher: DType | null, lower: DType | null): DType | null {
  if (higher === null || lower === null) return higher ?? lower;
  if (isComplexDType(higher)) return higher;
  if (isFloatDType(higher)) return isComplexDType(lower) ? (higher === "float64" ? "complex128" : "complex64") : higher;
  if (higher === "bool" || isFloatDType(lower) || isComplexDType(lower)) return promoteTypes(higher, lower);
  return higher;
}

const isMeta = (x: TensorMeta | Scalar): x is TensorMeta => typeof x === "object" && "shape" in x;

/** at::result_type */
export function resultType(operands: readonly (TensorMeta | Scalar)[], defaultFloat: DType = "float32"): DType {
  let dim: DType | null = null;
  let zero: DType | null = null;
  let wrapped: DType | null = null;
  const join = (a: DType | null, b: DType): DType => (a === null ? b : promoteTypes(a, b));
  for (const x of operands) {
    if (!isMeta(x)) wrapped = join(wrapped, scalarDType(x, defaultFloat));
    else if (x.shape.length > 0) dim = join(dim, x.dtype);
    else zero = join(zero, x.dtype);
  }
  return combine(dim, combine(zero, wrapped)) ?? defaultFloat;
}

/** Result dtype of an elementwise operator. */
export function promoteElementwise(
  kind: PromotionKind,
  operands: readonly (TensorMeta | Scalar)[],
  defaultFloat: DType = "float32",
): DType {
  const common = resultType(operands, defaultFloat);
  switch (kind) {
    case "default":
    case "no_opmath":
      return common;
    case "int_to_float":
      return common === "bool" || isIntDType(common) ? defaultFloat : common;
    case "always_bool":
      return "bool";
    case "complex_to_float":
      return common === "complex64" ? "float32" : common === "complex128" ? "float64" : common;
    case "bool_to_long":
      return common === "bool" ? "int64" : common;
    default: {
      const never: never = kind;
      return never;
    }
  }
}
