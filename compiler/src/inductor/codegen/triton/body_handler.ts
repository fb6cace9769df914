// A LoopBody's operations as Triton text: the handler that runBody drives. In: a kernel. Out: lines in the kernel's
// buffers. Promises: no operation is unknown; what has no Triton form throws and becomes a diagnostic at the boundary.
import type { DType } from "../../../aten/types";
import type { BodyHandler } from "../../ir/run_body";
import { type Expr, freeSymbols, intValue, type SymExpr, sym } from "../../symbolic/expr";
import { withCheapMath, withHalfMath } from "./cheap_math";
import { type CseVar, UNKNOWN, type ValueRange } from "./cse";
import type { TritonKernel } from "./kernel";
import {
  emitBoundsCheck,
  emitLoad,
  emitStore,
  emitStoreReduction,
  indexingOf,
  otherText,
  shapeOfIndex,
} from "./memory";
import { emitBitcast, emitCall, emitConstant, emitToDType } from "./op_table";
import { has } from "./options";
import { emitReduction } from "./reductions";
import { emitScan, emitSort } from "./scan_sort";

export function bodyHandler(k: TritonKernel): BodyHandler<CseVar> {
  const plain = plainHandler(k);
  if (!has(k.options, "cheap_math")) return plain;
  return k.spec.halves ? withHalfMath(k, plain) : withCheapMath(k, plain);
}

function plainHandler(k: TritonKernel): BodyHandler<CseVar> {
  let partialType = "sum";
  return {
    constant: (value, dtype) => emitConstant(k, value, dtype),
    indexExpr: (index, dtype) => emitIndexExpr(k, index, dtype),
    load: (buffer, index) => emitLoad(k, buffer, index),
    store: (buffer, index, value, mode) => emitStore(k, buffer, index, value, mode),
    storeReduction: (buffer, index, value) => {
      if (!k.partialNodes.has(k.op)) emitStoreReduction(k, buffer, index, value);
      else k.partials.push({ buffer, type: partialType, value, accumulator: `accum${k.partials.length}`, op: k.op });
    },
    toDtype: (x, dtype, src, node) => emitToDType(k, x, k.narrowCasts.has(node) ? "int32" : dtype, src),
    toDtypeBitcast: (x, dtype, src) => emitBitcast(k, x, dtype, src),
    indirectIndexing: (x, size, check, wrapNeg) => emitIndirect(k, x, size, check, wrapNeg),
    checkBounds: (index, size, lower, upper) => emitBoundsCheck(k, index, size, lower, upper),
    masked: (mask, body, other, otherIsFloat, block) => {
      const direct = block.result?.op === "load" && !k.graph.isUnspecified(k.graph.realName(block.result.buffer));
      return emitMasked(k, mask, body, { value: other, isFloat: otherIsFloat }, direct);
    },
    reduction: (dtype, src, type, value) => {
      if (k.partialNodes.has(k.op)) {
        partialType = type;
        return value;
      }
      const results = emitReduction(k, dtype, src, type, value);
      return results.length === 1 ? (results[0] as CseVar) : results;
    },
    scan: (dtypes, combine, values) => emitScan(k, dtypes, combine, values),
    sort: (dtypes, values, stable, descending) => emitSort(k, dtypes, values, stable, descending),
    loadSeed: (buffer, offset) => {
      const pointer = k.args.input(buffer);
      return k.value(`tl.load(${pointer} + ${k.args.seedOffset(offset)})`, "int64", []);
    },
    random: (kind, seed, offset) =>
      k.value(`tl.${kind}(${seed.name}, (${offset.name}).to(tl.uint32))`, "float32", offset.shape),
    randint64: (seed, offset, low, high) =>
      k.value(
        `triton_helpers.randint64(${seed.name}, (${offset.name}).to(tl.uint32), ${low.name}, ${high.name})`,
        "int64",
        offset.shape,
      ),
    call: (fn, args) => emitCall(k, fn, args),
  };
}

/** numeric bounds of an index over the kernel's loops and what is known of its indirect values */
function indexRange(k: TritonKernel, index: Expr): ValueRange {
  const symbols = [...freeSymbols(index)];
  if (symbols.some(s => k.cse.byName(s.name) !== undefined)) return UNKNOWN;
  return k.sizevars.bounds(index, k.varRanges());
}

function emitIndexExpr(k: TritonKernel, index: Expr, dtype: DType): CseVar {
  const at = indexingOf(k, index);
  const shape = at.expand ?? shapeOfIndex(k, at.index);
  const wantsIndex = dtype === "int32" || dtype === "int64";
  const own = k.spec.indexDtype;
  const casts = has(k.options, "index_expr_casts");
  const text = casts && wantsIndex && intValue(at.index) === undefined ? `(${at.text}).to(${k.indexType})` : at.text;
  let v = k.value(text, wantsIndex ? own : own, shape, indexRange(k, index));
  if (!wantsIndex) v = emitToDType(k, v, dtype, null);
  else if (!casts) {
    const wider = [...freeSymbols(index)].some(s => k.cse.byName(s.name)?.dtype === "int64");
    if (wider && own !== "int64") v = k.value(`${v.name}.to(${k.indexType})`, own, v.shape, v.range);
  }
  v.maskVars = new Set(at.masks);
  return v;
}

/** a loaded value as an index: negatives wrap, bounds are asserted where they are not proven */
function emitIndirect(k: TritonKernel, x0: CseVar, size: Expr, check: boolean, wrapNeg: boolean): SymExpr {
  let x = x0;
  const n = intValue(size);
  if (x.range.lower < 0) {
    let wrapped: CseVar = x;
    if (wrapNeg) {
      wrapped = emitCall(k, "add", [x, emitIndexExpr(k, size, "int64")]) as CseVar;
      if (x.range.upper >= 0)
        wrapped = emitCall(k, "where", [emitCall(k, "lt", [x, 0]) as CseVar, wrapped, x]) as CseVar;
    }
    let range: ValueRange = UNKNOWN;
    if (n !== undefined && (Number.isFinite(x.range.lower) || Number.isFinite(x.range.upper))) {
      const negative = { lower: x.range.lower + n, upper: Math.min(x.range.upper, -1) + n };
      range =
        x.range.upper >= 0
          ? { lower: Math.min(negative.lower, 0), upper: Math.max(negative.upper, x.range.upper) }
          : negative;
    }
    wrapped.range = {
      lower: Math.max(wrapped.range.lower, range.lower),
      upper: Math.min(wrapped.range.upper, range.upper),
    };
    x = wrapped;
  }
  const symbol = sym(x.name, { kind: "indirect" });
  if (check && k.options.config.get("assert_indirect_indexing") !== false) {
    emitBoundsCheck(k, symbol, size, !(x.range.lower >= 0), n === undefined || !(x.range.upper < n));
  }
  return symbol;
}

function emitMasked(
  k: TritonKernel,
  mask0: CseVar,
  body: () => CseVar,
  other: { value: number | boolean; isFloat: boolean },
  direct: boolean,
): CseVar {
  const prior = k.loadMask;
  const priorOther = k.loadOther;
  const mask = prior ? (emitCall(k, "logical_and", [mask0, prior]) as CseVar) : mask0;
  k.loadMask = mask;
  k.loadOther = direct ? other : null;
  const result = body();
  k.loadMask = prior;
  k.loadOther = priorOther;
  let out = result;
  if (!direct) {
    const fill = result.dtype === "bool" ? { value: Boolean(other.value), isFloat: false } : other;
    const v = Number(fill.value);
    const filled = k.value(
      `tl.full(${result.name}.shape, ${otherText(fill)}, ${result.name}.dtype)`,
      result.dtype,
      result.shape,
      { lower: v, upper: v },
    );
    out = emitCall(k, "where", [mask, result, filled]) as CseVar;
  }
  out.maskVars.delete(mask.name);
  return out;
}
