// Reductions as accumulators in locals: a start value, a step per element, a result after the loop.
import type { DType, ReductionType } from "../../../aten/types";
import { arithmeticDtype, convert, rounded } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { extremeHelper } from "./pointwise_code";
import type { Value } from "./vector_types";
import { computeType, isFloat, isUnsigned, literal, type WasmType, type WatValue } from "./wat_types";

export interface Accumulator {
  /** before the loop */
  start(): void;
  /** inside the loop; `position` is the flat reduction index as i32 text */
  step(values: readonly WatValue[], position: string): void;
  /** takes in another accumulator's results: (mean, m2, weight), or (max, sum); where it matters at all */
  merge(values: readonly WatValue[]): void;
  /** after the loop: the results, one or (Welford) three or (online softmax) two */
  finish(): WatValue[];
}

/** the same over four elements at a time */
export interface VectorAccumulator {
  /** one for all fours of an unrolled turn, which end() takes in together */
  readonly shared?: boolean;
  start(): void;
  /** `position`: the first element's flat reduction index */
  step(values: readonly Value[], position: string): void;
  /** after the last four of a turn */
  end?(): void;
  flush(to: Accumulator): void;
  /** after the loop: what each kept exponential is multiplied by to be e^(value - maximum), a vector's text */
  factor?(maximum: string): string;
}

export function accumulator(type: ReductionType, dtype: DType, srcDtype: DType, f: FunctionBuilder): Accumulator {
  switch (type) {
    case "sum":
    case "prod":
    case "xor_sum":
    case "any":
    case "max":
    case "min":
      return simple(type, dtype, srcDtype, f);
    case "argmax":
    case "argmin":
      return argument(type, srcDtype, f);
    case "welford_reduce":
      return welford(dtype, f, false);
    case "welford_combine":
      return welford(dtype, f, true);
    case "online_softmax_reduce":
      return onlineSoftmax(dtype, f);
    case "dot":
      return dot(dtype, srcDtype, f);
    default: {
      const never: never = type;
      throw new Error(`no reduction ${String(never)}`);
    }
  }
}

function lowest(type: WasmType, dtype: DType): string {
  if (type === "f32" || type === "f64") return `(${type}.const -inf)`;
  if (isUnsigned(dtype)) return literal(0, type);
  return type === "i64" ? "(i64.const -9223372036854775808)" : "(i32.const -2147483648)";
}

function highest(type: WasmType, _dtype: DType): string {
  if (type === "f32" || type === "f64") return `(${type}.const inf)`;
  return type === "i64" ? "(i64.const 9223372036854775807)" : "(i32.const 2147483647)";
}

/** sums of f32 accumulate in f64: a sequential sum then errs less than the GPU's tree */
function simple(
  kind: "sum" | "prod" | "xor_sum" | "any" | "max" | "min",
  dtype: DType,
  srcDtype: DType,
  f: FunctionBuilder,
): Accumulator {
  const source: DType = kind === "any" ? "bool" : arithmeticDtype(srcDtype);
  const wide = (kind === "sum" || kind === "prod") && source === "float32";
  const type: WasmType = wide ? "f64" : computeType(source);
  const acc = f.local(type, kind);
  const get = `(local.get ${acc})`;
  const start = {
    sum: literal(0, type),
    prod: literal(1, type),
    xor_sum: literal(0, type),
    any: literal(0, type),
    max: lowest(type, source),
    min: highest(type, source),
  }[kind];
  return {
    start: () => f.set(acc, start),
    step: ([v]) => {
      if (!v) return;
      const x = wide ? `(f64.promote_f32 ${convert(v, "float32").code})` : convert(v, source).code;
      f.set(acc, combineScalars(kind, type, source, get, x, f));
    },
    merge: () => undefined,
    finish: () => {
      const code = wide ? f.keep(`(f32.demote_f64 ${get})`, "f32") : get;
      const value: WatValue = { code, type: wide ? "f32" : type, dtype: source };
      const out = convert(value, dtype);
      return [{ code: f.keep(rounded(out.code, dtype, f), out.type), type: out.type, dtype }];
    },
  };
}

/** one step of a simple reduction */
export function combineScalars(
  kind: "sum" | "prod" | "xor_sum" | "any" | "max" | "min",
  type: WasmType,
  dtype: DType,
  a: string,
  x: string,
  f: FunctionBuilder,
): string {
  switch (kind) {
    case "sum":
      return `(${type}.add ${a} ${x})`;
    case "prod":
      return `(${type}.mul ${a} ${x})`;
    case "xor_sum":
      return `(${type}.xor ${a} ${x})`;
    case "any":
      return `(i32.or ${a} ${x})`;
    case "max":
    case "min":
      if (type === "f32" || type === "f64") return `(${type}.${kind} ${a} ${x})`;
      return `(call ${f.use(extremeHelper(kind, type, dtype))} ${a} ${x})`;
    default: {
      const never: never = kind;
      return never;
    }
  }
}

/** sum of products */
function dot(dtype: DType, srcDtype: DType, f: FunctionBuilder): Accumulator {
  const sum = simple("sum", dtype, srcDtype, f);
  const source = arithmeticDtype(srcDtype);
  return {
    ...sum,
    step: ([a, b], position) => {
      if (!a || !b) return;
      const type = computeType(source);
      const code = f.keep(`(${type}.mul ${convert(a, source).code} ${convert(b, source).code})`, type);
      sum.step([{ code, type, dtype: source }], position);
    },
  };
}

/** first position of the extreme value; NaN wins over everything, the first NaN over later ones */
function argument(kind: "argmax" | "argmin", srcDtype: DType, f: FunctionBuilder): Accumulator {
  const source = arithmeticDtype(srcDtype);
  const type = computeType(source);
  const best = f.local(type, "best");
  const at = f.local("i64", "at");
  return {
    start: () => {
      f.set(best, `${kind === "argmax" ? lowest(type, source) : highest(type, source)}`);
      f.set(at, `(i64.const -1)`);
    },
    step: ([v, given], position) => {
      if (!v) return;
      const x = f.keep(convert(v, source).code, type);
      const index = given ? convert(given, "int64").code : `(i64.extend_i32_u ${position})`;
      const sign = isFloat(source) ? "" : isUnsigned(source) ? "_u" : "_s";
      const bestNow = `(local.get ${best})`;
      const better = `(${type}.${kind === "argmax" ? "gt" : "lt"}${sign} ${x} ${bestNow})`;
      const nan = `(i32.and (${type}.ne ${x} ${x}) (${type}.eq ${bestNow} ${bestNow}))`;
      // positions that come with the values (later stages of a split) need not ascend
      const same = isFloat(source)
        ? `(i32.or (${type}.eq ${x} ${bestNow}) (i32.and (${type}.ne ${x} ${x}) (${type}.ne ${bestNow} ${bestNow})))`
        : `(${type}.eq ${x} ${bestNow})`;
      const first = `(i64.lt_s (local.get ${at}) (i64.const 0))`;
      const earlier = given ? `(i32.and ${same} (i64.lt_s ${index} (local.get ${at})))` : null;
      const conditions = [better, ...(isFloat(source) ? [nan] : []), first, ...(earlier ? [earlier] : [])];
      f.branch(
        conditions.reduce((a, b) => `(i32.or ${a} ${b})`),
        () => {
          f.set(best, x);
          f.set(at, index);
        },
      );
    },
    merge: () => undefined,
    finish: () => [{ code: `(local.get ${at})`, type: "i64", dtype: "int64" }],
  };
}

/** mean, m2 and weight in f64 */
function welford(dtype: DType, f: FunctionBuilder, combining: boolean): Accumulator {
  const mean = f.local("f64", "mean");
  const m2 = f.local("f64", "m2");
  const weight = f.local("f64", "weight");
  const delta = f.local("f64", "delta");
  const total = f.local("f64", "total");
  const get = (name: string): string => `(local.get ${name})`;
  const wide = (v: WatValue): string => convert(v, "float64").code;
  const out: DType = dtype === "float64" ? "float64" : "float32";
  const combine = (a: WatValue, b: WatValue, c: WatValue): void => {
    f.set(delta, `(f64.sub ${wide(a)} ${get(mean)})`);
    f.set(total, `(f64.add ${get(weight)} ${wide(c)})`);
    f.branch(`(f64.gt ${get(total)} (f64.const 0))`, () => {
      const share = `(f64.div ${wide(c)} ${get(total)})`;
      f.set(
        m2,
        `(f64.add (f64.add ${get(m2)} ${wide(b)}) (f64.mul (f64.mul ${get(delta)} ${get(delta)}) (f64.mul ${get(weight)} ${share})))`,
      );
      f.set(mean, `(f64.add ${get(mean)} (f64.mul ${get(delta)} ${share}))`);
      f.set(weight, get(total));
    });
  };
  return {
    start: () => {
      for (const name of [mean, m2, weight]) f.set(name, `(f64.const 0)`);
    },
    step: ([a, b, c]) => {
      if (!a) return;
      if (combining && b && c) return combine(a, b, c);
      f.set(delta, `(f64.sub ${wide(a)} ${get(mean)})`);
      f.set(weight, `(f64.add ${get(weight)} (f64.const 1))`);
      f.set(mean, `(f64.add ${get(mean)} (f64.div ${get(delta)} ${get(weight)}))`);
      f.set(m2, `(f64.add ${get(m2)} (f64.mul ${get(delta)} (f64.sub ${wide(a)} ${get(mean)})))`);
    },
    merge: ([a, b, c]) => {
      if (a && b && c) combine(a, b, c);
    },
    finish: () =>
      [mean, m2, weight].map(name => {
        const { code, type } = convert({ code: get(name), type: "f64", dtype: "float64" }, out);
        return { code: f.keep(code, type), type, dtype: out };
      }),
  };
}

/** running maximum and sum of exponentials, rescaled when the maximum grows */
function onlineSoftmax(dtype: DType, f: FunctionBuilder): Accumulator {
  const max = f.local("f64", "max");
  const sum = f.local("f64", "sum");
  const next = f.local("f64", "next");
  const get = (name: string): string => `(local.get ${name})`;
  const exp = f.use("exp");
  const out: DType = dtype === "float64" ? "float64" : "float32";
  /** x, or several numbers with maximum x whose exponentials less it sum to `count` */
  const take = (x: string, count: string | null): void => {
    f.set(next, `(f64.max ${get(max)} ${x})`);
    f.branch(`(f64.ne ${get(next)} (f64.const -inf))`, () => {
      const own = `(call ${exp} (f64.sub ${x} ${get(next)}))`;
      f.set(
        sum,
        `(f64.add (f64.mul ${get(sum)} (call ${exp} (f64.sub ${get(max)} ${get(next)}))) ${count === null ? own : `(f64.mul ${count} ${own})`})`,
      );
      f.set(max, get(next));
    });
  };
  return {
    start: () => {
      f.set(max, `(f64.const -inf)`);
      f.set(sum, `(f64.const 0)`);
    },
    step: ([v]) => {
      if (v) take(f.keep(convert(v, "float64").code, "f64"), null);
    },
    merge: ([m, s]) => {
      if (m && s) take(f.keep(convert(m, "float64").code, "f64"), f.keep(convert(s, "float64").code, "f64"));
    },
    finish: () =>
      [max, sum].map(name => {
        const { code, type } = convert({ code: get(name), type: "f64", dtype: "float64" }, out);
        return { code: f.keep(code, type), type, dtype: out };
      }),
  };
}
