// Values of a kernel and the reuse of equal ones (CSE in torch/_inductor/codegen/common.py). In: right-hand sides as
// text. Out: variables tmpN. Promises: equal text under the same load mask gives the same variable as long as it is in
// scope; numbers are given in order of creation and never reused.

import { FloatParameter } from "../../../aten/float_parameter";
import type { DType } from "../../../aten/types";
import type { ConstantValue } from "../../ir/loop_body";
import type { Line, LineBuffer } from "./lines";

export interface ValueRange {
  readonly lower: number;
  readonly upper: number;
}
export const UNKNOWN: ValueRange = { lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };

/** Bounds that hang on a float parameter: asked for only where an index is made of the value, which fixes the number. */
class LateRange implements ValueRange {
  private known: ValueRange | null = null;

  constructor(private readonly make: () => ValueRange) {}

  private get range(): ValueRange {
    this.known ??= this.make();
    return this.known;
  }
  get lower(): number {
    return this.range.lower;
  }
  get upper(): number {
    return this.range.upper;
  }
}

export function rangeOfConstant(value: ConstantValue): ValueRange {
  if (value instanceof FloatParameter) return new LateRange(() => ({ lower: value.value, upper: value.value }));
  const v = Number(value);
  return Number.isNaN(v) ? UNKNOWN : { lower: v, upper: v };
}

/** the bounds that follow from those of operands, worked out now unless one of them is not known yet */
export function rangeFrom(operands: readonly ValueRange[], make: () => ValueRange): ValueRange {
  return operands.some(r => r instanceof LateRange) ? new LateRange(make) : make();
}

/** block sizes by tensor dimension: "XBLOCK", "1", ... */
export type Shape = readonly string[];

export class CseVar {
  /** masks that the value was made under; an index made of it is masked so too */
  maskVars = new Set<string>();
  /** it hangs on a loaded or reduced value: torch asks nothing about the bounds of such (BoundVars.unbounded_vars) */
  ofMemory = false;
  uses = 1;
  constructor(
    readonly name: string,
    public dtype: DType,
    public shape: Shape,
    public range: ValueRange = UNKNOWN,
  ) {}
}

function tighten(a: ValueRange, b: ValueRange): ValueRange {
  return rangeFrom([a, b], () => {
    const lower = Math.max(a.lower, b.lower);
    const upper = Math.min(a.upper, b.upper);
    return lower <= upper ? { lower, upper } : a;
  });
}

export class Cse {
  private cache = new Map<string, CseVar>();
  private readonly named = new Map<string, CseVar>();
  readonly storeCache = new Map<string, CseVar>();
  readonly reductions = new Map<string, readonly CseVar[]>();
  /** buffers whose stored value was forgotten at the end of a loop */
  readonly invalidatedStores = new Set<string>();

  constructor(
    private readonly counter: { next: number },
    /** added to every key: the mask that loads happen under */
    private readonly mask: () => string,
    private readonly prefix = "tmp",
  ) {}

  fresh(dtype: DType, shape: Shape, range: ValueRange = UNKNOWN): CseVar {
    const v = new CseVar(`${this.prefix}${this.counter.next++}`, dtype, shape, range);
    this.named.set(v.name, v);
    return v;
  }
  /** a variable with a name of its own (accumulators) */
  define(name: string, dtype: DType, shape: Shape): CseVar {
    const v = new CseVar(name, dtype, shape);
    this.named.set(name, v);
    return v;
  }
  byName(name: string): CseVar | undefined {
    return this.named.get(name);
  }

  private key(text: string): string {
    const m = this.mask();
    return m === "" ? text : `${m}\0${text}`;
  }
  has(text: string): boolean {
    return this.cache.has(this.key(text));
  }

  /** the variable for this text, with its line written to `buffer` if it is new */
  generate(
    buffer: LineBuffer,
    text: string,
    op: string,
    value: { dtype: DType; shape: Shape; range?: ValueRange },
    extra: Pick<Line, "late"> & { assign?: boolean } = {},
  ): CseVar {
    const key = this.key(text);
    const known = this.cache.get(key);
    if (known) {
      known.range = tighten(known.range, value.range ?? UNKNOWN);
      known.uses++;
      return known;
    }
    const v = this.fresh(value.dtype, value.shape, value.range);
    this.cache.set(key, v);
    buffer.write(extra.assign === false ? text : `${v.name} = ${text}`, op, { late: extra.late });
    return v;
  }

  put(text: string, v: CseVar): void {
    this.cache.set(this.key(text), v);
  }
  get(text: string): CseVar | undefined {
    return this.cache.get(this.key(text));
  }

  /** end of a loop: what was made inside is no longer known */
  invalidate(keep: ReadonlySet<CseVar>): void {
    for (const [name, v] of [...this.storeCache]) {
      if (keep.has(v)) continue;
      this.storeCache.delete(name);
      this.invalidatedStores.add(name);
    }
    this.cache = new Map([...this.cache].filter(([, v]) => keep.has(v)));
  }
}
