// Scans and sorts (TritonKernel.scan, sort). In: values along the reduction dimension. Out: values of full shape.
// Promises: a looped scan carries its total from one block to the next; a sort needs the whole row in one block.
import type { DType } from "../../../aten/types";
import { isFloatDType } from "../../ir/dtypes";
import type { BodyNode, ScanCombine } from "../../ir/loop_body";
import { ceilDiv, type Expr, int, intValue, mul } from "../../symbolic/expr";
import { Cse, type CseVar, type Shape } from "./cse";
import type { TritonKernel } from "./kernel";
import { LineBuffer } from "./lines";
import { emitCall, emitConstant, emitToDType } from "./op_table";
import { configNumber, has } from "./options";
import { computeDType, tritonComputeType } from "./triton_types";

/** runs a combine function through the kernel's operations */
function combineInline(
  k: TritonKernel,
  combine: ScanCombine,
  left: readonly CseVar[],
  right: readonly CseVar[],
): CseVar[] {
  const values = new Map<BodyNode, CseVar>();
  combine.parameters.forEach((p, i) => {
    values.set(p, [...left, ...right][i] as CseVar);
  });
  const get = (n: BodyNode): CseVar => values.get(n) as CseVar;
  for (const n of combine.nodes) {
    if (n.op === "call") values.set(n, emitCall(k, n.fn, n.args.map(get)) as CseVar);
    else if (n.op === "constant") values.set(n, emitConstant(k, n.value, n.dtype));
    else if (n.op === "to_dtype") values.set(n, emitToDType(k, get(n.x), n.dtype, n.srcDtype));
  }
  return combine.results.map(get);
}

/** a @triton.jit function of the combine's operations; the name of an equal one that is there already */
function liftHelper(k: TritonKernel, combine: ScanCombine, dtypes: readonly DType[]): string {
  const n = dtypes.length;
  const params = [0, 1].flatMap(side => dtypes.map((_, i) => `arg${side}_${i}`));
  const text = new LineBuffer();
  const inner = Object.create(k) as TritonKernel;
  const cse = new Cse({ next: 0 }, () => "");
  Object.defineProperties(inner, { compute: { value: text }, cse: { value: cse } });
  const args = params.map((p, i) => cse.define(p, computeDType(dtypes[i % n] as DType), k.denseShape()));
  const results = combineInline(inner, combine, args.slice(0, n), args.slice(n));
  const body = [...text.lines.map(l => `    ${l.text}`), `    return ${results.map(r => r.name).join(", ")}`].join(
    "\n",
  );
  const base = `_triton_helper_fn_${combine.opNames.length ? combine.opNames.join("_") : "scan"}`;
  for (const h of k.helpers) {
    const m = /^@triton\.jit\ndef (\w+)\(/.exec(h);
    if (m?.[1] && h === `@triton.jit\ndef ${m[1]}(${params.join(", ")}):\n${body}`) return m[1];
  }
  const name = `${base}${k.helpers.length}`;
  k.helpers.push(`@triton.jit\ndef ${name}(${params.join(", ")}):\n${body}`);
  return name;
}

const scanShape = (k: TritonKernel, dim: number): Shape => k.denseShape().map((s, i) => (i >= dim ? "1" : s));

export function emitScan(
  k: TritonKernel,
  dtypes0: readonly DType[],
  combine: ScanCombine,
  values: readonly CseVar[],
): readonly CseVar[] {
  const dtypes = dtypes0.map(computeDType);
  if (k.spec.splitScan) return splitScan(k, dtypes, combine, values);
  const dim = k.ndim - k.reductionTrees.length;
  const dense = k.denseShape();
  const generate = (text: string, d: DType, shape: Shape = dense): CseVar => k.value(text, d, shape);
  const inputs = values.map((v, i) => {
    const d = dtypes[i] as DType;
    const wide = generate(`${v.name}.to(${tritonComputeType(d)})`, d, v.shape);
    return generate(`tl.broadcast_to(${wide.name}, ${k.dense()})`, d);
  });
  const carries = k.spec.persistent
    ? []
    : dtypes.map(d => {
        const shape = scanShape(k, dim);
        const fill = isFloatDType(d) ? "float('nan')" : d === "bool" ? "False" : "-1";
        const v = k.cse.fresh(d, shape);
        k.body.write(`${v.name} = tl.full([${shape.join(", ")}], ${fill}, ${tritonComputeType(d)})`, k.op);
        return v;
      });
  const helper = liftHelper(k, combine, dtypes);
  const several = (text: string, ds: readonly DType[]): CseVar[] => {
    const keys = ds.map((_, i) => `${text}, ${i}`);
    const known = keys.map(key => k.cse.get(key));
    if (known.every(v => v !== undefined)) return known as CseVar[];
    const fresh = ds.map(d => k.cse.fresh(d, dense));
    fresh.forEach((v, i) => {
      k.cse.put(keys[i] as string, v);
    });
    k.compute.write(`${fresh.map(v => `${v.name},`).join(" ")} = ${text}`, k.op);
    return fresh;
  };
  const tuple = (vs: readonly CseVar[]): string => `(${vs.map(v => `${v.name},`).join(" ")})`;
  const partial = several(`tl.associative_scan(${tuple(inputs)}, ${dim}, ${helper})`, dtypes);
  if (k.spec.persistent) return maskedByAll(k, partial);
  const partialReduce = partial.map(v =>
    generate(
      `triton_helpers.select_one((${v.name}), rbase == (RBLOCK - 1), dim=-1, keep_dims=True)`,
      v.dtype,
      scanShape(k, dim),
    ),
  );
  const total = combineInline(k, combine, carries, partialReduce);
  const full = combineInline(k, combine, carries, partial);
  const result = full.map((v, i) =>
    generate(`tl.where(roffset > 0, ${v.name}, ${(partial[i] as CseVar).name})`, v.dtype),
  );
  for (const [i, c] of carries.entries()) {
    k.compute.write(
      `${c.name} = tl.where(roffset > 0, ${(total[i] as CseVar).name}, ${(partialReduce[i] as CseVar).name})`,
      k.op,
    );
  }
  return maskedByAll(k, result);
}

/** an index made of a scan's or a sort's result is masked as the kernel's loops are */
function maskedByAll(k: TritonKernel, results: readonly CseVar[]): readonly CseVar[] {
  const masks = k.trees.filter(t => !k.hasConstantMask(t)).map(t => `${t.prefix}mask`);
  for (const v of results) v.maskVars = new Set(masks);
  return results;
}

/** a 64-bit value is published beside its flag; a narrower one in the same word */
const scratchOf = (bits: number): { readonly word: string; readonly words: number; readonly bytes: number } =>
  bits === 64
    ? { word: "tl.uint64", words: 3, bytes: 24 }
    : bits > 16
      ? { word: "tl.uint64", words: 1, bytes: 8 }
      : { word: "tl.uint32", words: 1, bytes: 4 };

const BITS: Readonly<Partial<Record<DType, number>>> = {
  float64: 64,
  int64: 64,
  uint64: 64,
  int16: 16,
  int8: 8,
  bool: 1,
};

/** Programs scan stretches of one row; each looks back through what earlier ones published (TritonSplitScanKernel). */
function splitScan(
  k: TritonKernel,
  dtypes: readonly DType[],
  combine: ScanCombine,
  values: readonly CseVar[],
): readonly CseVar[] {
  const [dtype] = dtypes;
  const [value] = values;
  if (dtype === undefined || !value || values.length > 1) throw new Error("a split scan has one value");
  const bits = BITS[dtype] ?? 32;
  const { word, words, bytes } = scratchOf(bits);
  const last = k.lastTree;
  const rows = k.trees.filter(t => !t.isReduction).reduce<Expr>((n, t) => mul(n, t.numel), int(1));
  const least = configNumber(k.options, "triton.min_split_scan_rblock", 256);
  const size = k.sizevars.simplify(mul(mul(rows, ceilDiv(last.numel, least)), bytes));
  const { pointer, offset } = k.args.scratch(size, k.spec.nextWorkspace ?? (() => "workspace"));
  const first = intValue(offset) === 0;
  const behind = `${pointer} + ${k.printIndex(offset)}`;
  const dense = k.denseShape();
  const put = (text: string, shape: Shape = dense): CseVar => k.value(text, dtype, shape);
  const programs = `tl.num_programs(${last.gridDim ?? 0})`;
  const base = (start: string, count: string): string =>
    `${start}.to(tl.pointer_type(${word})) + xoffset * ${words} * ${count}`;
  let scratch: string;
  if (has(k.options, "scan_inlines_scratch")) scratch = base(first ? pointer : `(${behind})`, programs);
  else {
    const load = (text: string): string => k.cse.generate(k.loads, text, k.op, { dtype, shape: value.shape }).name;
    const start = first ? pointer : load(behind);
    scratch = load(base(start, load(programs)));
  }
  const own = put(`${value.name}.to(${tritonComputeType(dtype)})`, value.shape);
  const wide = put(`tl.broadcast_to(${own.name}, ${k.dense()})`);
  const helper = liftHelper(k, combine, dtypes);
  const total = put(`tl.reduce(${wide.name}, 0, ${helper})`, []);
  const prefix = k.cse.fresh(dtype, []);
  const line = (text: string, indent = 0): void => k.compute.write(text, k.op, { indent });
  line(`${prefix.name} = triton_helpers.exclusive_scan_decoupled_lookback${bits === 64 ? "_64" : ""}(`);
  for (const arg of [scratch, total.name, k.programId(last), helper]) line(`${arg},`, 1);
  if (bits < 64) {
    line(`DTYPE_VALUE_AS_UINT=tl.uint${bits},`, 1);
    line(`DTYPE_PACK=${word},`, 1);
  }
  line(")");
  const block = put(`tl.associative_scan(${wide.name}, 0, ${helper})`);
  const all = put(`${helper}(${prefix.name}, ${block.name})`);
  return [put(`tl.where(roffset == 0, ${block.name}, ${all.name})`)];
}

export function emitSort(
  k: TritonKernel,
  dtypes0: readonly DType[],
  values: readonly CseVar[],
  stable: boolean,
  descending: boolean,
): readonly CseVar[] {
  const dtypes = dtypes0.map(computeDType);
  const dim = k.ndim - k.reductionTrees.length;
  const dense = k.denseShape();
  const inputs = values.map((v, i) => k.value(`tl.broadcast_to(${v.name}, ${k.dense()})`, dtypes[i] as DType, dense));
  const rmask = [...new Set(k.reductionTrees.filter(t => !k.hasConstantMask(t)).map(t => `${t.prefix}mask`))];
  const rnumel = rmask.length === 0 ? "None" : "rnumel";
  const [a, b] = inputs as [CseVar, CseVar];
  const text = `triton_helpers.sort_with_index(${a.name}, ${b.name}, ${rnumel}, ${dim}, stable=${stable ? "True" : "False"}, descending=${descending ? "True" : "False"})`;
  const known = [0, 1].map(i => k.cse.get(`${text} ${i}`));
  if (known.every(v => v !== undefined)) return known as CseVar[];
  const results = inputs.map((_, i) => k.cse.fresh(dtypes[i] as DType, dense));
  results.forEach((v, i) => {
    k.cse.put(`${text} ${i}`, v);
  });
  k.compute.write(`${results.map(v => `${v.name},`).join(" ")} = ${text}`, k.op);
  return maskedByAll(k, results);
}
