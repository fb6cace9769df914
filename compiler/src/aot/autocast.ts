// torch.autocast inside a traced program. In: enter and exit nodes. Out: arguments cast as the autocast dispatch key
// does. Promises: lists are PyTorch's for CUDA; nothing is cast outside a region.
import { autocastTarget } from "../aten/autocast";
import { isFloatDType } from "../aten/ops/helpers/dtypes";
import { packetOf } from "../aten/registry";
import { type DType, DTypeArg, type OpRecord } from "../aten/types";
import type { Computed } from "./computed";
import type { Dispatcher } from "./dispatch";
import { isValue, type Value } from "./value";

export class Autocast {
  private readonly regions: { readonly dtype: DType; readonly enabled: boolean }[] = [];
  private readonly cached = new Map<Value, Value>();

  constructor(private readonly dispatcher: Dispatcher) {}

  /** the region that the compiled call stands in: its graph has no node for it */
  ambient(dtype: DType): void {
    this.regions.push({ dtype, enabled: true });
    this.dispatcher.ambientAutocast = true;
  }

  /** _enter_autocast(device_type, dtype, enabled, cache_enabled) */
  enter(args: readonly Computed[]): null {
    const [device, dtype, enabled] = args;
    const low = dtype instanceof DTypeArg ? dtype.dtype : device === "cpu" ? "bfloat16" : "float16";
    this.regions.push({ dtype: low, enabled: enabled !== false });
    return null;
  }
  exit(): null {
    this.regions.pop();
    if (this.regions.length === 0) this.cached.clear();
    return null;
  }

  /** a call's arguments, cast if the operator is on one of the lists */
  arguments(
    records: readonly OpRecord[],
    args: readonly Computed[],
    kwargs: ReadonlyMap<string, Computed>,
  ): { args: readonly Computed[]; kwargs: ReadonlyMap<string, Computed> } {
    const region = this.regions[this.regions.length - 1];
    const first = records[0];
    if (region === undefined || !region.enabled || first === undefined) return { args, kwargs };
    const packet = packetOf(first.name).split(".").pop() ?? "";
    const target = this.targetOf(packet, region.dtype, [...args, ...kwargs.values()]);
    if (target === undefined) return { args, kwargs };
    const cast = (c: Computed): Computed => {
      if (isValue(c)) return this.cast(c, target);
      return Array.isArray(c) ? (c as readonly Computed[]).map(cast) : c;
    };
    // The last argument is cast first: so C++ evaluates the arguments of the redispatched call.
    const lastFirst = <C>(cs: readonly C[], f: (c: C) => C): C[] =>
      cs.map((_, i) => f(cs[cs.length - 1 - i] as C)).reverse();
    const named = lastFirst([...kwargs], ([k, v]) => [k, cast(v)] as [string, Computed]);
    return { args: lastFirst(args, cast), kwargs: new Map(named) };
  }

  private targetOf(packet: string, low: DType, values: readonly Computed[]): DType | undefined {
    return autocastTarget(
      packet,
      low,
      values.some(v => isValue(v) && v.tensor.meta.dtype === "float32"),
    );
  }

  private cast(v: Value, target: DType): Value {
    const { dtype, device } = v.tensor.meta;
    if (!isFloatDType(dtype) || dtype === "float64" || dtype === target || device.type !== "cuda") return v;
    // Leaves are cast once per region.
    const leaf = v.edge !== null && "leaf" in v.edge && target !== "float32";
    const known = leaf ? this.cached.get(v) : undefined;
    if (known !== undefined) return known;
    const r = this.dispatcher.builder.call("aten._to_copy.default", [v], { dtype: new DTypeArg(target) });
    if (leaf) this.cached.set(v, r);
    return r;
  }
}
