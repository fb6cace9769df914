// torch.autocast inside a traced program. In: enter and exit nodes. Out: calls as the autocast dispatch key makes them.
// Promises: nothing is cast outside a region, and nothing behind a call that has been cast.
import { autocastCall } from "../aten/autocast";
import type { Bound } from "../aten/bind";
import { type DType, DTypeArg, type GraphBuilder, type OpRecord } from "../aten/types";
import type { Computed } from "./computed";
import { isValue, metaOf, type Value } from "./value";

/** what casts are made with, and who asks about each call */
interface AutocastHost {
  readonly builder: GraphBuilder<Value>;
  ambientAutocast: boolean;
  autocast: Autocast | null;
}

export class Autocast {
  private readonly regions: { readonly dtype: DType; readonly enabled: boolean; readonly caches: boolean }[] = [];
  private readonly cached = new Map<Value, Value>();

  constructor(private readonly dispatcher: AutocastHost) {
    dispatcher.autocast = this;
  }

  /** the region that the compiled call stands in: its graph has no node for it */
  ambient(dtype: DType): void {
    this.regions.push({ dtype, enabled: true, caches: false });
    this.dispatcher.ambientAutocast = true;
  }

  /** _enter_autocast(device_type, dtype, enabled, cache_enabled) */
  enter(args: readonly Computed[]): null {
    const [device, dtype, enabled, cache] = args;
    const low = dtype instanceof DTypeArg ? dtype.dtype : device === "cpu" ? "bfloat16" : "float16";
    // torch traces with the cache of casts off; a region that was told to has it on
    this.regions.push({ dtype: low, enabled: enabled !== false, caches: cache === true });
    return null;
  }
  exit(): null {
    this.regions.pop();
    if (this.regions.length === 0) this.cached.clear();
    return null;
  }

  /** the call as the region makes it; undefined: the region does nothing to it */
  call(record: OpRecord, bound: Bound<Value>): Bound<Value> | undefined {
    const region = this.regions[this.regions.length - 1];
    if (region === undefined || !region.enabled) return undefined;
    const cast = (v: Value, dtype: DType): Value => this.outside(() => this.cast(v, dtype, region.caches));
    return autocastCall(record, bound, region.dtype, { device: "cuda", isTensor: isValue, meta: metaOf, cast });
  }

  /** runs what is behind a call that has been cast */
  outside<R>(body: () => R): R {
    this.regions.push({ dtype: "float32", enabled: false, caches: false });
    try {
      return body();
    } finally {
      this.regions.pop();
    }
  }

  private cast(v: Value, target: DType, caches: boolean): Value {
    // Leaves are cast once per region.
    const leaf = caches && v.edge !== null && "leaf" in v.edge && target !== "float32";
    const known = leaf ? this.cached.get(v) : undefined;
    if (known !== undefined) return known;
    const r = this.dispatcher.builder.call("aten._to_copy.default", [v], { dtype: new DTypeArg(target) });
    if (leaf) this.cached.set(v, r);
    return r;
  }
}
