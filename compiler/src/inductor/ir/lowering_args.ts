// Arguments of a graph node as a record's lowering takes them. In: an FX node and the values of the nodes before it.
// Out: bound arguments over boxes. Promises: arguments are bound by the operator's schema; what does not bind is a message.
import { makeArgs } from "../../aten/args";
import { bindArguments } from "../../aten/bind";
import { parseSchema } from "../../aten/schema";
import { type Args, type ArgValue, OpError, type OpRecord } from "../../aten/types";
import { FxNode } from "../../fx/graph";
import { type Argument, EllipsisArg, OpaqueArg, SliceArg, TupleArg } from "../../fx/types";
import type { TensorBox } from "./boxes";
import type { EnvValue, Lowering } from "./context";

/** an FX argument with nodes replaced by what they became; anything that only names an object becomes its text */
export function argValue(ctx: Lowering, a: Argument): EnvValue {
  if (a instanceof FxNode) {
    const v = ctx.env.get(a);
    if (v === undefined) throw new OpError(`${a.name} is used before it is defined`);
    return v;
  }
  if (a instanceof TupleArg) return a.items.map(x => argValue(ctx, x));
  if (a instanceof OpaqueArg) return a.text;
  if (a instanceof SliceArg || a instanceof EllipsisArg) throw new OpError("an operator takes no slice");
  if (Array.isArray(a)) return (a as readonly Argument[]).map(x => argValue(ctx, x));
  return a as ArgValue<TensorBox>;
}

const NO_KEYWORDS: ReadonlyMap<string, EnvValue> = new Map();

export function nodeArgs(
  ctx: Lowering,
  n: FxNode,
): { readonly args: readonly EnvValue[]; readonly kwargs: ReadonlyMap<string, EnvValue> } {
  return {
    args: n.args.map(a => argValue(ctx, a)),
    kwargs: n.kwargs.size === 0 ? NO_KEYWORDS : new Map([...n.kwargs].map(([k, v]) => [k, argValue(ctx, v)])),
  };
}

/** @throws OpError where the arguments don't fit the operator's schema */
export function bindNode(
  ctx: Lowering,
  record: OpRecord,
  args: readonly EnvValue[],
  kwargs: ReadonlyMap<string, EnvValue>,
): Args<TensorBox> {
  const { argsHost } = ctx;
  const bound = bindArguments(parseSchema(record.schema), args, kwargs, argsHost);
  if (!bound.ok) throw new OpError(bound.message, "TypeError");
  return makeArgs(bound.bound, argsHost);
}
