// Inputs as programs write them down: `# fuselens: x=f32[8,128]@cuda, n=4` comments and jaxtyping annotations. In: text or
// annotation. Out: choices that nothing replaces; sizes that have names may still become others.
import type { DType } from "../../../aten/types";
import type { Arguments, Expr } from "../../../python/ast";
import { numberFor, sizeFor } from "../choices/names";
import { splitTop, stringOf } from "../syntax";
import { bool, type Choice, NONE, number, str } from "../types";

export type Written = ReadonlyMap<string, Choice>;

const DTYPE_NAMES: Readonly<Record<string, DType>> = {
  f64: "float64",
  f32: "float32",
  f16: "float16",
  bf16: "bfloat16",
  f8e4m3fn: "float8_e4m3fn",
  f8e5m2: "float8_e5m2",
  i64: "int64",
  i32: "int32",
  i16: "int16",
  i8: "int8",
  u8: "uint8",
  b8: "bool",
  bool: "bool",
  c64: "complex64",
  c128: "complex128",
  float32: "float32",
  float16: "float16",
  bfloat16: "bfloat16",
  int64: "int64",
  int32: "int32",
};

/** sizes by name: one that stands at several places is the same everywhere */
type Sizes = Map<string, number>;

/** `x=f32[8,128]@cuda, n=4`; undefined for a comment that is none of ours */
export function parseComment(comment: string): Written | undefined {
  const m = /^#\s*fuselens:\s*(.*)$/.exec(comment);
  if (!m) return undefined;
  const out = new Map<string, Choice>();
  const sizes: Sizes = new Map();
  for (const part of splitTop(m[1] ?? "", ",")) {
    const at = part.indexOf("=");
    const choice = at < 0 ? undefined : parseValue(part.slice(at + 1).trim(), sizes);
    if (choice) out.set(part.slice(0, at).trim(), choice);
  }
  return out;
}

function parseValue(text: string, sizes: Sizes): Choice | undefined {
  const t = /^(\w+)\s*\[([^\]]*)\]\s*(?:@\s*(?:cuda|cpu)(?::\d+)?)?$/.exec(text);
  if (t) {
    const dtype = Object.hasOwn(DTYPE_NAMES, t[1] ?? "") ? DTYPE_NAMES[t[1] ?? ""] : undefined;
    return dtype && sized(dtype, splitTop(t[2] ?? "", ","), sizes);
  }
  if (/^-?\d+$/.test(text)) return number(Number(text));
  if (/^-?\d*\.?\d+(e-?\d+)?$/i.test(text)) return number(Number(text), true);
  if (text === "True" || text === "False") return bool(text === "True");
  if (text === "None") return NONE;
  const s = /^(["'])(.*)\1$/.exec(text);
  return s ? str(s[2] ?? "") : undefined;
}

/** numbers stay as they are, a name gets a likely size */
function sized(dtype: DType, dims: readonly string[], sizes: Sizes): Choice {
  const fixed = dims.flatMap((d, i) => (/^\d+$/.test(d) ? [i] : []));
  const sizeOf = (d: string): number => {
    const size = sizes.get(d) ?? sizeFor(d) ?? numberFor(d) ?? [8, 512, 768, 64][sizes.size % 4] ?? 8;
    sizes.set(d, size);
    return size;
  };
  return { kind: "tensor", dtype, dims: dims.map((d, i) => (fixed.includes(i) ? Number(d) : sizeOf(d))), fixed };
}

const JAXTYPING: Readonly<Record<string, DType>> = {
  Float: "float32",
  Float32: "float32",
  Float16: "float16",
  BFloat16: "bfloat16",
  Float64: "float64",
  Inexact: "float32",
  Num: "float32",
  Real: "float32",
  Shaped: "float32",
  Int: "int64",
  Int64: "int64",
  Int32: "int32",
  Int8: "int8",
  Integer: "int64",
  UInt8: "uint8",
  Bool: "bool",
  Complex: "complex64",
  Complex64: "complex64",
};

/** parameters that are annotated like Float[Tensor, "batch seq dim"] */
export function jaxtyped(signature: Arguments): Written {
  const sizes: Sizes = new Map();
  return new Map(
    [...signature.posonlyargs, ...signature.args, ...signature.kwonlyargs].flatMap(a => {
      const c = a.annotation && parseJaxtyping(a.annotation, sizes);
      return c ? [[a.arg, c] as const] : [];
    }),
  );
}

function parseJaxtyping(annotation: Expr, sizes: Sizes): Choice | undefined {
  if (annotation.kind !== "Subscript" || annotation.slice.kind !== "Tuple") return undefined;
  const { value } = annotation;
  const head = value.kind === "Attribute" ? value.attr : value.kind === "Name" ? value.id : "";
  const dtype = Object.hasOwn(JAXTYPING, head) ? JAXTYPING[head] : undefined;
  const shape = stringOf(annotation.slice.elts[1]);
  if (!dtype || shape === undefined) return undefined;
  const dims = shape
    .split(/\s+/)
    .filter(d => d !== "")
    .map(d => (d === "..." || d.startsWith("*") ? "lead" : d.replace(/^[#?_]+/, "").replace(/=.*$/, "") || "any"));
  return sized(dtype, dims, sizes);
}
