// Layout of an extern kernel's result given its inputs' real strides (FallbackKernel.process_kernel, conv_layout).
// In: an operator and boxes in memory. Out: the result's meta. Promises: the traced value if no stride changed; else the
// operator's meta rule over the strides that the inputs have now.
import { makeArgs } from "../../aten/args";
import { bindArguments } from "../../aten/bind";
import { guardsOf, isExpr } from "../../aten/dim_math";
import { makeMetaBuilder } from "../../aten/meta_builder";
import { lookup } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import { type ArgValue, OpError, type Result, type TensorMeta } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import { type Expr, int } from "../symbolic/expr";
import { deviceOf, dtypeOf, sizeOf, valueLayout } from "./access";
import { isTensorBox, type TensorBox } from "./boxes";
import { tensorMeta } from "./constraints";
import type { Lowering } from "./context";
import { contiguousStrides } from "./layouts";

const isTensorMeta = (x: unknown): x is TensorMeta => typeof x === "object" && x !== null && "shape" in x;

export function metaOf(x: TensorBox): TensorMeta {
  const size = sizeOf(x);
  const l = valueLayout(x);
  return {
    shape: size,
    stride: l?.stride ?? contiguousStrides(size),
    storageOffset: l?.offset ?? int(0),
    dtype: dtypeOf(x),
    device: deviceOf(x),
    requiresGrad: false,
  };
}

function toMeta(a: ArgValue<TensorBox>): ArgValue<TensorMeta> {
  if (isTensorBox(a)) return metaOf(a);
  if (Array.isArray(a)) return (a as readonly ArgValue<TensorBox>[]).map(toMeta);
  return a as ArgValue<TensorMeta>;
}

/** traced results of a node: one tensor, or several (null where there is none) */
export function tracedResults(node: FxNode | null): Result<TensorMeta<Expr>> | undefined {
  const one = tensorMeta(node);
  if (one !== undefined) return one;
  const v = node?.meta.val;
  if (!Array.isArray(v)) return undefined;
  return v.map(x => (x !== null && typeof x === "object" && "shape" in x ? (x as TensorMeta<Expr>) : null));
}

/** whether every tensor argument has the strides that it was traced with */
export function stridesAsTraced(ctx: Lowering, pairs: readonly (readonly [TensorBox, FxNode])[]): boolean {
  return pairs.every(([box, node]) => {
    const traced = tensorMeta(node);
    const stride = metaOf(box).stride as readonly Expr[];
    return traced?.stride.every((s, i) => ctx.sizevars.knownEquals(s, stride[i] as Expr));
  });
}

/** the operator's meta rule over the inputs as they are; undefined if it has none or refuses */
export function rerunMeta(
  ctx: Lowering,
  op: string,
  args: readonly ArgValue<TensorBox>[],
  kwargs: Readonly<Record<string, ArgValue<TensorBox>>>,
): Result<TensorMeta<Expr>> | undefined {
  const record = lookup(op);
  if (record === undefined) return undefined;
  const builder = makeMetaBuilder(guardsOf(ctx.sizevars.shapeEnv, () => op));
  const host = {
    isTensor: isTensorMeta,
    isDim: isExpr,
    int: (n: number) => int(n),
    specialize: (d: unknown) => ctx.sizevars.guardInt(d as Expr) ?? 0,
  };
  const named = new Map(Object.entries(kwargs).map(([k, v]): [string, ArgValue<TensorMeta>] => [k, toMeta(v)]));
  const bound = bindArguments(parseSchema(record.schema), args.map(toMeta), named, host);
  if (!bound.ok) return undefined;
  try {
    return record.meta(builder, makeArgs(bound.bound, host)) as Result<TensorMeta<Expr>>;
  } catch (e) {
    if (e instanceof OpError) return undefined;
    throw e;
  }
}
