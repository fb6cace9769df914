// Reductions as Triton text, persistent and looped (TritonKernel.reduction in torch/_inductor/codegen/triton.py). In: a
// kernel, a reduction type and values. Out: the reduced values, of shape [XBLOCK, 1]. Promises: numbers of temporaries
// are given in Inductor's order; the same reduction of the same value is done once.
import type { DType, ReductionType } from "../../../aten/types";
import { isFloatDType, isHalf } from "../../ir/dtypes";
import { intValue } from "../../symbolic/expr";
import { cheapExp } from "./cheap_math";
import type { CseVar, Shape } from "./cse";
import type { TritonKernel } from "./kernel";
import type { LineBuffer } from "./lines";
import { isReductionMask, reductionMasks } from "./memory";
import { emitCall, emitToDType } from "./op_table";
import { has } from "./options";
import { accumulatorType, computeDType, integerLimit, tritonComputeType } from "./triton_types";

/** what masked-off elements count as, per value of the reduction */
export function defaultValue(type: ReductionType, d: DType): string {
  switch (type) {
    case "max":
    case "argmax":
    case "online_softmax_reduce":
      return isFloatDType(d) ? 'float("-inf")' : d === "bool" ? "False" : integerLimit(d, "min");
    case "min":
    case "argmin":
      return isFloatDType(d) ? 'float("inf")' : d === "bool" ? "True" : integerLimit(d, "max");
    case "prod":
      return d === "bool" ? "True" : "1";
    case "sum":
    case "any":
    case "xor_sum":
    case "welford_reduce":
    case "welford_combine":
    case "dot":
      return d === "bool" ? "False" : "0";
    default: {
      const never: never = type;
      return never;
    }
  }
}

class Reducer {
  readonly dim: number;
  readonly resultShape: Shape;
  readonly masks: readonly string[];
  readonly cond: string;

  constructor(
    readonly k: TritonKernel,
    readonly dtype: DType,
    readonly srcDtype: DType,
    readonly type: ReductionType,
  ) {
    this.dim = k.ndim - k.reductionTrees.length;
    this.resultShape = k.denseShape().map((s, i) => (i >= this.dim ? "1" : s));
    this.masks = reductionMasks(k);
    this.cond = this.masks.join(" & ");
  }

  where(then: string, otherwise: string): string {
    return this.cond === "" ? then : `tl.where(${this.cond}, ${then}, ${otherwise})`;
  }
  result(dtype: DType): CseVar {
    const v = this.k.cse.fresh(dtype, this.resultShape);
    for (const m of this.masks) if (!isReductionMask(m)) v.maskVars.add(m);
    return v;
  }
  /** a reduced value with its reduction dimension back, as 1 */
  resize(text: string): string {
    const { k } = this;
    if (k.ndim === 1) return `triton_helpers.promote_to_tensor(${text})`;
    const colons = Array.from({ length: k.ndim - k.reductionTrees.length }, () => ":");
    return `${text}[${[...colons, "None"].join(", ")}]`;
  }
  final(value: string): string {
    const helper = this.type === "any" || this.type === "max" || this.type === "min" || this.type === "prod";
    const name = this.type === "max" || this.type === "min" ? `${this.type}2` : this.type;
    return this.resize(`${helper ? "triton_helpers" : "tl"}.${name}(${value}, ${this.dim})`);
  }
  temp(to: LineBuffer, text: string, dtype: DType, shape: Shape = this.k.denseShape()): CseVar {
    return this.k.cse.generate(to, text, this.k.op, { dtype, shape });
  }
  line(to: LineBuffer, text: string, indent = 0): void {
    to.write(text, this.k.op, { indent });
  }
}

/** one value, three for Welford, two for online softmax */
export function emitReduction(
  k: TritonKernel,
  dtype0: DType,
  srcDtype0: DType,
  type: ReductionType,
  value0: CseVar | readonly CseVar[],
): readonly CseVar[] {
  k.numReduction++;
  const given = Array.isArray(value0) ? (value0 as readonly CseVar[]) : [value0 as CseVar];
  const half = isHalf(srcDtype0);
  const srcDtype = half ? "float32" : srcDtype0;
  const dtype = isHalf(dtype0) ? "float32" : dtype0;
  const r = new Reducer(k, dtype, srcDtype, type);
  const values = given.map(v => r.temp(k.compute, `tl.broadcast_to(${v.name}, ${k.dense()})`, v.dtype));
  const key = `${srcDtype} ${type} ${values.map(v => v.name).join(" ")}`;
  const known = k.cse.reductions.get(key);
  if (known) return known;
  const result = r.result(computeDType(srcDtype));
  const results = k.spec.persistent ? persistent(r, values, result) : looped(r, values, result);
  k.cse.reductions.set(key, results);
  for (const v of results) k.outsideLoopVars.add(v);
  return results;
}

function persistent(r: Reducer, values: readonly CseVar[], result: CseVar): readonly CseVar[] {
  const { k, type, srcDtype } = r;
  const fill = defaultValue(type, srcDtype);
  // the two-pass form of a softmax masks in its own reductions
  const plain = r.cond === "" || type === "online_softmax_reduce";
  const masked = values.map(v => (plain ? v : r.temp(k.compute, r.where(v.name, fill), v.dtype)));
  const [value, masked0] = [values[0] as CseVar, masked[0] as CseVar];
  switch (type) {
    case "argmax":
    case "argmin": {
      const index = r.temp(k.compute, `tl.broadcast_to(rindex, ${masked0.name}.shape)`, k.spec.indexDtype);
      argResult(r, k.compute, result, masked0.name, index.name);
      return [castArg(r, k.postLoopCombine, result, value.dtype)];
    }
    case "welford_reduce":
      return twoPassWelford(r, value);
    case "welford_combine": {
      const raw = Array.from({ length: 3 }, () => k.cse.fresh(r.dtype, r.resultShape.slice(0, r.dim)));
      r.line(
        k.compute,
        `${raw.map(v => v.name).join(", ")} = triton_helpers.welford(${masked.map(m => m.name).join(", ")}, ${r.dim})`,
      );
      return raw.map(v => r.temp(k.compute, r.resize(v.name), r.dtype, r.resultShape));
    }
    case "online_softmax_reduce": {
      const [max] = emitReduction(k, r.dtype, r.dtype, "max", value) as [CseVar];
      const below = emitCall(k, "sub", [value, max]) as CseVar;
      const exp = cheapExp(k, below) ?? (emitCall(k, "exp", [below]) as CseVar);
      const [sum] = emitReduction(k, r.dtype, r.dtype, "sum", exp) as [CseVar];
      return [max, sum];
    }
    default: {
      const v = r.temp(
        k.compute,
        `${r.final(masked0.name)}.to(${tritonComputeType(r.dtype)})`,
        computeDType(r.dtype),
        r.resultShape,
      );
      v.maskVars = new Set(result.maskVars);
      return [v];
    }
  }
}

function looped(r: Reducer, values: readonly CseVar[], result: CseVar): readonly CseVar[] {
  const { k, type, srcDtype } = r;
  const { body, compute, postLoopCombine } = k;
  const acc = `_${result.name}`;
  const accType = accumulatorType(srcDtype);
  const value = values[0] as CseVar;
  switch (type) {
    case "argmax":
    case "argmin": {
      r.line(body, `${acc} = tl.full(${k.dense()}, ${defaultValue(type, srcDtype)}, ${accType})`);
      r.line(body, `${acc}_index = tl.full(${k.dense()}, ${integerLimit(k.spec.indexDtype, "max")}, ${k.indexType})`);
      const fn = type === "argmax" ? "maximum" : "minimum";
      r.line(compute, `${acc}_next, ${acc}_index_next = triton_helpers.${fn}_with_index(`);
      r.line(compute, `${acc}, ${acc}_index, ${value.name}, rindex`, 1);
      r.line(compute, ")");
      r.line(compute, `${acc} = ${r.where(`${acc}_next`, acc)}`);
      r.line(compute, `${acc}_index = ${r.where(`${acc}_index_next`, `${acc}_index`)}`);
      argResult(r, postLoopCombine, result, acc, `${acc}_index`);
      return [result];
    }
    case "welford_reduce":
    case "welford_combine":
      return loopedWelford(r, values, result);
    case "online_softmax_reduce":
      return loopedSoftmax(r, value, result);
    default: {
      r.line(body, `${acc} = tl.full(${k.dense()}, ${defaultValue(type, srcDtype)}, ${accType})`);
      const accumulator = k.cse.byName(acc) ?? k.cse.define(acc, computeDType(srcDtype), k.denseShape());
      const updated = emitCall(k, COMBINE[type] ?? "add", [accumulator, value]) as CseVar;
      r.line(compute, `${acc} = ${r.where(updated.name, acc)}`);
      let last = acc;
      if (srcDtype === "bool") last = r.temp(postLoopCombine, `${acc}.to(tl.int8)`, "int8").name;
      r.line(postLoopCombine, `${result.name} = ${r.final(last)}`);
      if (srcDtype === "bool") result.dtype = "bool";
      return [result];
    }
  }
}

const COMBINE: Readonly<
  Partial<Record<ReductionType, "add" | "mul" | "maximum" | "minimum" | "logical_or" | "bitwise_xor">>
> = {
  sum: "add",
  prod: "mul",
  max: "maximum",
  min: "minimum",
  any: "logical_or",
  xor_sum: "bitwise_xor",
};

function argResult(r: Reducer, to: LineBuffer, result: CseVar, value: string, index: string): void {
  const fn = r.type === "argmax" ? "max" : "min";
  r.line(to, `${result.name}_val, ${result.name}_idx = triton_helpers.${fn}_with_index(${value}, ${index}, ${r.dim})`);
  r.line(to, `${result.name} = ${r.resize(`${result.name}_idx`)}`);
  result.dtype = r.k.spec.indexDtype;
}

/** torch 2.11 compares the index's dtype with that of what is compared and converts it */
function castArg(r: Reducer, to: LineBuffer, result: CseVar, source: DType): CseVar {
  if (!has(r.k.options, "argreduce_casts_to_source") || source === result.dtype) return result;
  r.line(to, `${result.name} = ${result.name}.to(${tritonComputeType(source)})`);
  result.dtype = source;
  return result;
}

/** in registers anyway: mean first, then squared differences */
function twoPassWelford(r: Reducer, value: CseVar): readonly CseVar[] {
  const { k, dtype } = r;
  const [sum] = emitReduction(k, dtype, dtype, "sum", value) as [CseVar];
  const rnumel = k.reductionTrees.reduce((n, t) => n * (intValue(t.numel) ?? Number.NaN), 1);
  const count = Number.isNaN(rnumel)
    ? k.value(k.printIndex(k.lastTree.numel), k.spec.indexDtype, [])
    : k.value(
        `tl.full([${(k.ndim === 1 ? k.denseShape() : k.onesShape()).join(", ")}], ${rnumel}, tl.int32)`,
        k.spec.indexDtype,
        k.onesShape(),
      );
  const n = emitToDType(k, count, dtype, null);
  const mean = emitCall(k, "truediv", [sum, n]) as CseVar;
  const d = emitCall(k, "sub", [value, mean]) as CseVar;
  const [m2] = emitReduction(k, dtype, dtype, "sum", emitCall(k, "mul", [d, d]) as CseVar) as [CseVar];
  return [mean, m2, n];
}

function loopedWelford(r: Reducer, values: readonly CseVar[], result: CseVar): readonly CseVar[] {
  const { k, dtype } = r;
  const accType = accumulatorType(r.srcDtype);
  const names = ["mean", "m2", "weight"].map(s => `${result.name}_${s}`);
  for (const n of names) r.line(k.body, `${n} = tl.zeros(${k.dense()}, ${accType})`);
  const next = names.map(n => `${n}_next`).join(", ");
  if (r.type === "welford_combine") {
    r.line(k.compute, `${next} = triton_helpers.welford_combine(`);
    r.line(k.compute, `${names.join(", ")},`, 1);
    r.line(k.compute, values.map(v => v.name).join(", "), 1);
  } else {
    r.line(k.compute, `${next} = triton_helpers.welford_reduce(`);
    r.line(k.compute, `${(values[0] as CseVar).name}, ${names.join(", ")}, roffset == 0`, 1);
  }
  r.line(k.compute, ")");
  for (const n of names) r.line(k.compute, `${n} = ${r.where(`${n}_next`, n)}`);
  const to = k.postLoopCombine;
  const raw = names.map(() => k.cse.fresh(dtype, r.resultShape.slice(0, r.dim)));
  r.line(to, `${raw.map(v => v.name).join(", ")} = triton_helpers.welford(${names.join(", ")}, ${r.dim})`);
  r.line(to, `${result.name} = ${r.resize((raw[0] as CseVar).name)}`);
  const rest = raw.slice(1).map(v => {
    const out = r.result(dtype);
    r.line(to, `${out.name} = ${r.resize(v.name)}`);
    return out;
  });
  return [result, ...rest];
}

function loopedSoftmax(r: Reducer, value: CseVar, max: CseVar): readonly CseVar[] {
  const { k } = r;
  const [accMax, accSum] = [`_${max.name}_max`, `_${max.name}_sum`];
  const accType = accumulatorType(r.srcDtype);
  r.line(k.body, `${accMax} = tl.full(${k.dense()}, float('-inf'), ${accType})`);
  r.line(k.body, `${accSum} = tl.zeros(${k.dense()}, ${accType})`);
  const to = k.compute;
  r.line(to, "");
  r.line(to, `${accMax}_next, ${accSum}_next = triton_helpers.online_softmax_combine(`);
  r.line(to, `${accMax}, ${accSum}, ${value.name}, False`, 1);
  r.line(to, ")");
  r.line(to, "");
  r.line(to, `${accMax} = ${r.where(`${accMax}_next`, accMax)}`);
  r.line(to, `${accSum} = ${r.where(`${accSum}_next`, accSum)}`);
  r.line(to, "");
  const sum = r.result(r.dtype);
  const end = k.postLoopCombine;
  r.line(end, `${max.name}, ${sum.name} = triton_helpers.online_softmax_reduce(`);
  r.line(end, `${accMax}, ${accSum}, ${r.dim}, False)`, 1);
  for (const v of [max, sum]) r.line(end, `${v.name} = ${r.resize(v.name)}`);
  return [max, sum];
}
