// Seeds of random operations (inductor_seeds, inductor_lookup_seed). In: how many. Out: a buffer of seeds made once per
// call, and scalars that read it. Promises: one seeds buffer per device and graph pass; a scalar is computed in place.
import type { Device, Ops } from "../../aten/types";
import { int } from "../symbolic/expr";
import { bufferOf, type TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { createPointwise } from "./pointwise";

export function seeds(ctx: Lowering, count: number, device: Device): TensorBox {
  const b = ctx.registerExtern({
    irClass: "RandomSeeds",
    kernel: "aten.randint.low_out",
    op: "aten.randint.low_out",
    inputs: [],
    args: [-(2n ** 63n), 2n ** 63n - 1n, [count]],
    kwargs: {},
    mutates: [],
    layout: { kind: "fixed", device, dtype: "int64", size: [int(count)], stride: [int(1)], offset: int(0) },
  });
  return ctx.boxOf(b);
}

export function lookupSeed(ctx: Lowering, x: TensorBox, index: number): TensorBox {
  const b = bufferOf(x);
  if (b === undefined || b.layout.kind === "multi_output" || b.layout.kind === "none")
    throw new Error("seeds are a buffer");
  const device = "device" in b.layout ? b.layout.device : { type: "cuda" as const, index: 0 };
  return createPointwise(ctx, {
    size: [],
    dtype: "int64",
    device,
    inner: <V>(ops: Ops<V>): V => ops.loadSeed(b.name, index),
  });
}
