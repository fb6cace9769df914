// Input shapes as programs write them down: `# fuselens: x=f32[8,128]@cuda, n=4` comments and jaxtyping annotations. In:
// text or annotation. Out: what each parameter is.
import type { DType } from "../../../aten/types";
import type { Expr } from "../../../python/ast";

export interface TensorSpec {
  readonly kind: "tensor";
  readonly dtype: DType;
  /** a name stands for a size that all uses of it share; `name*` is symbolic, a trailing "?" too */
  readonly dims: readonly (number | string)[];
  readonly device: "cuda" | "cpu";
}
export type Spec =
  | TensorSpec
  | { readonly kind: "number"; readonly value: number; readonly float: boolean }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "str"; readonly value: string }
  | { readonly kind: "none" };

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

/** `x=f32[8,128]@cuda, n=4`; undefined for a comment that is none of ours */
export function parseComment(comment: string): Map<string, Spec> | undefined {
  const m = /^#\s*fuselens:\s*(.*)$/.exec(comment);
  if (!m) return undefined;
  const out = new Map<string, Spec>();
  for (const part of splitTop(m[1] ?? "")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const spec = parseSpec(part.slice(at + 1).trim());
    if (spec) out.set(part.slice(0, at).trim(), spec);
  }
  return out;
}

function splitTop(s: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= s.length; i++) {
    const c = s[i];
    if (c === "[" || c === "(") depth++;
    else if (c === "]" || c === ")") depth--;
    else if ((c === "," && depth === 0) || c === undefined) {
      out.push(s.slice(start, i).trim());
      start = i + 1;
    }
  }
  return out.filter(p => p !== "");
}

export function parseSpec(text: string): Spec | undefined {
  const t = /^(\w+)\s*\[([^\]]*)\]\s*(?:@\s*(cuda|cpu)(?::\d+)?)?$/.exec(text);
  if (t) {
    const dtype = Object.hasOwn(DTYPE_NAMES, t[1] ?? "") ? DTYPE_NAMES[t[1] ?? ""] : undefined;
    if (!dtype) return undefined;
    const dims = (t[2] ?? "")
      .split(",")
      .map(d => d.trim())
      .filter(d => d !== "")
      .map(d => (/^\d+$/.test(d) ? Number(d) : d));
    return { kind: "tensor", dtype, dims, device: t[3] === "cpu" ? "cpu" : "cuda" };
  }
  if (/^-?\d+$/.test(text)) return { kind: "number", value: Number(text), float: false };
  if (/^-?\d*\.?\d+(e-?\d+)?$/i.test(text)) return { kind: "number", value: Number(text), float: true };
  if (text === "True" || text === "False") return { kind: "bool", value: text === "True" };
  if (text === "None") return { kind: "none" };
  const s = /^(["'])(.*)\1$/.exec(text);
  return s ? { kind: "str", value: s[2] ?? "" } : undefined;
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

/** Float[Tensor, "batch seq dim"]; undefined for any other annotation */
export function parseJaxtyping(annotation: Expr): TensorSpec | undefined {
  if (annotation.kind !== "Subscript" || annotation.slice.kind !== "Tuple") return undefined;
  const head =
    annotation.value.kind === "Attribute"
      ? annotation.value.attr
      : annotation.value.kind === "Name"
        ? annotation.value.id
        : "";
  const dtype = Object.hasOwn(JAXTYPING, head) ? JAXTYPING[head] : undefined;
  const shape = annotation.slice.elts[1];
  if (!dtype || shape?.kind !== "Constant" || shape.value.type !== "str") return undefined;
  const dims = shape.value.value
    .split(/\s+/)
    .filter(d => d !== "")
    .flatMap((d): (number | string)[] => {
      if (/^\d+$/.test(d)) return [Number(d)];
      if (d === "..." || d.startsWith("*")) return ["lead"];
      return [d.replace(/^[#?_]+/, "").replace(/=.*$/, "") || "any"];
    });
  return { kind: "tensor", dtype, dims, device: "cuda" };
}
