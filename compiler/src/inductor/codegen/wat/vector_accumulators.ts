// Reductions over four elements at a time, each lane on its own; after the loop the lanes join the scalar accumulator,
// which the elements that are left over feed too.
import type { DType, ReductionType } from "../../../aten/types";
import type { VectorAccumulator } from "./accumulators";
import { arithmeticDtype } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { onlineSoftmax } from "./online_softmax";
import { convertVector, widened } from "./vector_convert";
import { constant4, lane, NotVectorizable, type Shape, shapeOf, splat, type VecValue } from "./vector_types";
import { computeType, isFloat, isUnsigned, literal, type WatValue } from "./wat_types";

/** `powersRow`: where an online softmax keeps the exponentials that it works out, null if nobody asks for them again */
export function vectorAccumulator(
  type: ReductionType,
  srcDtype: DType,
  f: FunctionBuilder,
  powersRow: string | null = null,
): VectorAccumulator {
  switch (type) {
    case "sum":
    case "prod":
    case "xor_sum":
    case "any":
    case "max":
    case "min":
      return simple(type, srcDtype, f);
    case "argmax":
    case "argmin":
      return argument(type, srcDtype, f);
    case "welford_reduce":
      return moments(srcDtype, f);
    case "online_softmax_reduce":
      if (arithmeticDtype(srcDtype) !== "float32") throw new NotVectorizable(`${type} of ${srcDtype}`);
      return onlineSoftmax(f, powersRow);
    case "welford_combine":
    case "dot":
      throw new NotVectorizable(type);
    default: {
      const never: never = type;
      return never;
    }
  }
}

type Simple = "sum" | "prod" | "xor_sum" | "any" | "max" | "min";

/** the number that a reduction starts from, in all lanes */
export function neutral(kind: Simple, dtype: DType): string {
  const type = computeType(dtype);
  if (kind === "max" || kind === "min") {
    if (isFloat(dtype)) return `(${type}.const ${kind === "max" ? "-inf" : "inf"})`;
    if (isUnsigned(dtype)) return literal(kind === "max" ? 0 : 255, type);
    const [least, most] =
      type === "i64" ? ["-9223372036854775808", "9223372036854775807"] : ["-2147483648", "2147483647"];
    return `(${type}.const ${kind === "max" ? least : most})`;
  }
  return literal(kind === "prod" ? 1 : 0, type);
}

/** one step of a simple reduction over lanes */
export function combineVectors(kind: Simple, shape: Shape, dtype: DType, a: string, x: string): string {
  switch (kind) {
    case "sum":
      return `(${shape}.add ${a} ${x})`;
    case "prod":
      return `(${shape}.mul ${a} ${x})`;
    case "xor_sum":
      return `(v128.xor ${a} ${x})`;
    case "any":
      return `(v128.or ${a} ${x})`;
    case "max":
    case "min":
      if (shape === "mask") return kind === "max" ? `(v128.or ${a} ${x})` : `(v128.and ${a} ${x})`;
      if (shape === "f32x4" || shape === "f64x2") return `(${shape}.${kind} ${a} ${x})`;
      if (shape === "i32x4") return `(i32x4.${kind}_${isUnsigned(dtype) ? "u" : "s"} ${a} ${x})`;
      return `(v128.bitselect ${a} ${x} (i64x2.${kind === "max" ? "gt" : "lt"}_s ${a} ${x}))`;
    default: {
      const never: never = kind;
      return never;
    }
  }
}

/** the dtype that a simple reduction accumulates in */
export function accumulatesIn(kind: Simple, srcDtype: DType): DType {
  const dtype = kind === "any" ? "bool" : arithmeticDtype(srcDtype);
  const unsupported =
    dtype === "uint32" ||
    dtype === "uint64" ||
    (dtype === "bool" && kind !== "any" && kind !== "max" && kind !== "min");
  if (unsupported) throw new NotVectorizable(`${kind} of ${dtype}`);
  return dtype;
}

function simple(kind: Simple, srcDtype: DType, f: FunctionBuilder): VectorAccumulator {
  const dtype = accumulatesIn(kind, srcDtype);
  const shape = shapeOf(dtype);
  const wide = shape === "f64x2" || shape === "i64x2";
  const names = Array.from({ length: wide ? 2 : 1 }, () => f.local("v128", kind));
  const get = (i: number): string => `(local.get ${names[i]})`;
  return {
    start: () => {
      const type = computeType(dtype);
      const zero = splat({ code: neutral(kind, dtype), type, dtype }, shape)[0] ?? "";
      for (const n of names) f.set(n, zero);
    },
    step: ([v]) => {
      if (!v) return;
      const x = widened(convertVector(v, dtype, f), f);
      names.forEach((n, i) => {
        f.set(n, combineVectors(kind, shape, dtype, get(i), x.codes[i] ?? ""));
      });
    },
    flush: to => {
      const all: VecValue = { shape, dtype, codes: names.map((_, i) => get(i)) };
      for (let k = 0; k < 4; k++) to.step([lane(all, k)], "(i32.const 0)");
    },
  };
}

/** first places of the extreme value in each lane */
function argument(kind: "argmax" | "argmin", srcDtype: DType, f: FunctionBuilder): VectorAccumulator {
  const dtype = arithmeticDtype(srcDtype);
  const shape = shapeOf(dtype);
  if ((shape !== "f32x4" && shape !== "i32x4") || isUnsigned(dtype)) throw new NotVectorizable(`${kind} of ${dtype}`);
  const best = f.local("v128", "best");
  const at = f.local("v128", "at");
  const get = (n: string): string => `(local.get ${n})`;
  const sign = shape === "i32x4" ? "_s" : "";
  return {
    start: () => {
      f.set(
        best,
        splat({ code: neutral(kind === "argmax" ? "max" : "min", dtype), type: computeType(dtype), dtype }, shape)[0] ??
          "",
      );
      f.set(at, constant4("i32x4", [-1, -1, -1, -1]));
    },
    step: ([v, given], position) => {
      if (!v || given) throw new NotVectorizable("places that come with the values");
      const x = convertVector(v, dtype, f).codes[0];
      const here = f.keep(`(i32x4.add (i32x4.splat ${position}) ${constant4("i32x4", [0, 1, 2, 3])})`, "v128", "here");
      const better = `(${shape}.${kind === "argmax" ? "gt" : "lt"}${sign} ${x} ${get(best)})`;
      const first = `(i32x4.lt_s ${get(at)} (v128.const i32x4 0 0 0 0))`;
      const nan = `(v128.and (f32x4.ne ${x} ${x}) (f32x4.eq ${get(best)} ${get(best)}))`;
      const conditions = shape === "f32x4" ? [better, first, nan] : [better, first];
      const take = f.local("v128", "take");
      f.set(
        take,
        conditions.reduce((a, b) => `(v128.or ${a} ${b})`),
      );
      f.set(best, `(v128.bitselect ${x} ${get(best)} ${get(take)})`);
      f.set(at, `(v128.bitselect ${here} ${get(at)} ${get(take)})`);
    },
    flush: to => {
      const values: VecValue = { shape, dtype, codes: [get(best)] };
      const places: VecValue = { shape: "i32x4", dtype: "int32", codes: [get(at)] };
      for (let k = 0; k < 4; k++) {
        // a lane that saw nothing has no place
        const place = lane(places, k);
        f.branch(`(i32.ge_s ${place.code} (i32.const 0))`, () => to.step([lane(values, k), place], "(i32.const 0)"));
      }
    },
  };
}

/**
 * Mean and m2 from the sums of differences to the first value and of their squares. A turn's differences are summed in
 * f32, turns in f64: what the shift leaves of the mean is no larger than the spread, so little is lost.
 */
function moments(srcDtype: DType, f: FunctionBuilder): VectorAccumulator {
  const dtype = arithmeticDtype(srcDtype);
  if (!isFloat(dtype)) throw new NotVectorizable(`moments of ${dtype}`);
  const wide = dtype === "float64";
  const shape = wide ? "f64x2" : "f32x4";
  const [first, second] = [0, 1].map(() => [f.local("v128", "sums"), f.local("v128", "squares")]) as [
    [string, string],
    [string, string],
  ];
  const shift = f.local("v128", "shift");
  const count = f.local("i32", "count");
  const pending: VecValue[] = [];
  const get = (n: string): string => `(local.get ${n})`;
  const keep = (code: string): string => f.keep(code, "v128", "d");
  const total = (a: string, b: string): string => {
    const both = f.keep(`(f64x2.add ${get(a)} ${get(b)})`, "v128");
    return f.keep(`(f64.add (f64x2.extract_lane 0 ${both}) (f64x2.extract_lane 1 ${both}))`, "f64");
  };
  const sumOf = (terms: readonly string[]): string => terms.reduce((a, b) => keep(`(${shape}.add ${a} ${b})`));
  const squaresOf = (terms: readonly string[]): string =>
    terms.reduce((sum, x) => {
      if (sum === "") return keep(`(${shape}.mul ${x} ${x})`);
      return keep(wide ? `(f64x2.add ${sum} (f64x2.mul ${x} ${x}))` : `(f32x4.relaxed_madd ${x} ${x} ${sum})`);
    }, "");
  return {
    shared: true,
    start: () => {
      for (const n of [...first, ...second, shift]) f.set(n, "(v128.const i32x4 0 0 0 0)");
      f.set(count, "(i32.const 0)");
    },
    step: ([v]) => {
      if (v) pending.push(convertVector(v, dtype, f));
    },
    end: () => {
      const turn = pending.splice(0);
      const [leader] = turn;
      if (!leader) return;
      f.branch(`(i32.eqz ${get(count)})`, () => {
        const all = f.keep(`(${shape}.splat (${shape}.extract_lane 0 ${leader.codes[0]}))`, "v128", "first");
        // what is not finite shifts nothing
        f.set(shift, `(v128.and ${all} (${shape}.eq (${shape}.sub ${all} ${all}) (v128.const i32x4 0 0 0 0)))`);
      });
      const parts = wide ? [0, 1] : [0];
      const sums = parts.map(i => {
        const d = turn.map(v => keep(`(${shape}.sub ${v.codes[i]} ${get(shift)})`));
        return { d: sumOf(d), q: squaresOf(d) };
      });
      const halves = (x: "d" | "q"): readonly string[] =>
        wide ? sums.map(s => s[x]) : convertVector({ shape, dtype, codes: [sums[0]?.[x] ?? ""] }, "float64", f).codes;
      const [d, q] = [halves("d"), halves("q")];
      [first, second].forEach(([sum, squares], i) => {
        f.set(sum, `(f64x2.add ${get(sum)} ${d[i]})`);
        f.set(squares, `(f64x2.add ${get(squares)} ${q[i]})`);
      });
      f.set(count, `(i32.add ${get(count)} (i32.const ${4 * turn.length}))`);
    },
    flush: to => {
      f.branch(`(i32.ne ${get(count)} (i32.const 0))`, () => {
        const n = f.keep(`(f64.convert_i32_u ${get(count)})`, "f64", "n");
        const sum = total(first[0], second[0]);
        const squares = total(first[1], second[1]);
        const above = f.keep(`(f64.div ${sum} ${n})`, "f64", "above");
        const base = lane({ shape, dtype, codes: [get(shift)] }, 0).code;
        const mean = f.keep(`(f64.add ${wide ? base : `(f64.promote_f32 ${base})`} ${above})`, "f64", "mean");
        // NaN must stay: the larger of it and 0 is NaN
        const m2 = f.keep(`(f64.max (f64.sub ${squares} (f64.mul ${sum} ${above})) (f64.const 0))`, "f64", "m2");
        const value = (code: string): WatValue => ({ code, type: "f64", dtype: "float64" });
        to.merge([value(mean), value(m2), value(n)]);
      });
    },
  };
}
