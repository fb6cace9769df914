// What a graph returns, and inputs that were replaced by new values (GraphLowering.output). In: the output node. Out:
// boxes in memory. Promises: outputs are buffers, or strides over them whose insignificant ones are as traced.

import { isExpr } from "../../aten/dim_math";
import type { FxNode } from "../../fx/graph";
import { type Expr, int } from "../symbolic/expr";
import { isLoops, isTensorBox, storageOf, type TensorBox } from "./boxes";
import { matchInsignificantStrides, realizeInput, tensorMeta } from "./constraints";
import type { EnvValue, Lowering } from "./context";
import { argValue } from "./lowering_args";
import { realizeIntoStorage } from "./mutation";
import { realize } from "./realize";

function isNode(x: unknown): x is FxNode {
  return typeof x === "object" && x !== null && "users" in x && "graph" in x;
}

export function lowerOutputs(ctx: Lowering, node: FxNode): (TensorBox | Expr | null)[] {
  const first = node.args[0];
  const items: readonly unknown[] = Array.isArray(first)
    ? (first as readonly unknown[])
    : typeof first === "object" && first !== null && "items" in first
      ? (first.items as readonly unknown[])
      : [first];
  const outputs = items.map((item): TensorBox | Expr | null => {
    const v: EnvValue = argValue(ctx, item as never);
    if (typeof v === "number") return int(v);
    if (!isTensorBox(v)) return isExpr(v) ? v : null;
    const r = realizeInput(ctx, v);
    // a whole buffer is returned as it lies in memory
    const traced = isNode(item) && v.data.kind !== "storage" ? tensorMeta(item) : undefined;
    return traced === undefined ? r : matchInsignificantStrides(ctx, r, traced.stride);
  });
  for (const [name, box] of ctx.inputs) {
    realize(ctx, box);
    const storage = storageOf(box);
    const b = storage.data;
    if (!isLoops(b) && b.kind === "input" && b.name === name) continue;
    // the input's box holds a new value: store it in the input
    const original = ctx.originalInputs.get(name) as TensorBox;
    realizeIntoStorage(ctx, storage, original, false);
    const at = outputs.findIndex(o => isTensorBox(o) && o.data === storage);
    if (at >= 0) outputs[at] = original;
  }
  return outputs;
}
