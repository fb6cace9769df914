// A row sorted in a thread's scratch memory. In: per element its values, the first of which is the key. Out: after
// order(), the values at each place of the sorted row. Promises: stable; NaN counts as the largest.
import type { DType } from "../../../aten/types";
import { changeType, convert } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { computeType, isFloat, isUnsigned, type WatValue } from "./wat_types";

const KEY_BYTES = 8;
const PLACE_BYTES = 4;
const VALUE_BYTES = 8;

/** scratch bytes per element of the row */
export const sortBytes = (values: number): number => KEY_BYTES + 2 * PLACE_BYTES + VALUE_BYTES * values;

export class SortScratch {
  /** `base`: i32 text of the area's address; `length`: i32 text of the row's length */
  constructor(
    private readonly base: string,
    private readonly length: string,
  ) {}

  /** address of element `at` in the area's column that starts `bytesBefore` bytes per element after its base */
  private element(bytesBefore: number, width: number, at: string): string {
    const column =
      bytesBefore === 0 ? this.base : `(i32.add ${this.base} (i32.mul ${this.length} (i32.const ${bytesBefore})))`;
    return `(i32.add ${column} (i32.mul ${at} (i32.const ${width})))`;
  }
  private value(i: number, at: string): string {
    return this.element(KEY_BYTES + VALUE_BYTES * i, VALUE_BYTES, at);
  }
  private places(count: number): number {
    return KEY_BYTES + VALUE_BYTES * count;
  }

  collect(
    dtypes: readonly DType[],
    values: readonly WatValue[],
    descending: boolean,
    position: string,
    f: FunctionBuilder,
  ): void {
    dtypes.forEach((d, i) => {
      const { code, type } = convert(values[i] as WatValue, d);
      f.lines.add(`(${type}.store ${this.value(i, position)} ${code})`);
    });
    const [key] = values;
    const [dtype] = dtypes;
    if (!key || !dtype) return;
    const ordered = f.keep(sortKey(convert(key, dtype).code, dtype, f), "i64", "key");
    const code = descending ? `(i64.xor ${ordered} (i64.const -1))` : ordered;
    f.lines.add(`(i64.store ${this.element(0, KEY_BYTES, position)} ${code})`);
  }

  order(values: number, f: FunctionBuilder): void {
    const order = this.element(this.places(values), PLACE_BYTES, "(i32.const 0)");
    const spare = this.element(this.places(values) + PLACE_BYTES, PLACE_BYTES, "(i32.const 0)");
    f.lines.add(`(call ${f.use("sort_order")} ${this.base} ${order} ${spare} ${this.length})`);
  }

  sorted(dtypes: readonly DType[], position: string, f: FunctionBuilder): WatValue[] {
    const from = f.keep(`(i32.load ${this.element(this.places(dtypes.length), PLACE_BYTES, position)})`, "i32", "from");
    return dtypes.map((dtype, i): WatValue => {
      const type = computeType(dtype);
      return { code: f.keep(`(${type}.load ${this.value(i, from)})`, type), type, dtype };
    });
  }
}

/** an i64 that orders as the value does */
function sortKey(code: string, dtype: DType, f: FunctionBuilder): string {
  const type = computeType(dtype);
  if (!isFloat(dtype)) {
    const wide = changeType(code, type, "i64", dtype);
    return isUnsigned(dtype) && type === "i64" ? `(i64.xor ${wide} (i64.const -9223372036854775808))` : wide;
  }
  // bits of a float ascend with it, and descend below zero; adding zero makes -0 equal to 0
  const x = f.keep(`(f64.add (f64.const 0) ${changeType(code, type, "f64", dtype)})`, "f64");
  const bits = f.keep(`(i64.reinterpret_f64 ${x})`, "i64");
  const ordered = `(i64.xor ${bits} (i64.shr_u (i64.shr_s ${bits} (i64.const 63)) (i64.const 1)))`;
  return `(select (i64.const 9223372036854775807) ${ordered} (f64.ne ${x} ${x}))`;
}
