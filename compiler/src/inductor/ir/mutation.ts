// Writes into existing storage (mutate_to, MutationLayoutSHOULDREMOVE.realize_into, mark_buffer_mutated, Scatter, foreach).
// In: a target box and a value. Out: the target. Promises: whatever still has to read the old value is put in memory
// first; an intermediate is replaced, only a graph input or a view of one is written to.
import type { Dim, Loader, Ops } from "../../aten/types";
import type { Expr } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf } from "./access";
import {
  bufferOf,
  type ComputedBuffer,
  isLoops,
  type StorageBox,
  storageOf,
  type TensorBox,
  type Value,
} from "./boxes";
import type { Lowering } from "./context";
import { countOf } from "./op_count";
import { createPointwise, expand, toDtype } from "./pointwise";
import { realize, realizeHint } from "./realize";

/** buffers whose loads a value's loops hold (get_read_names) */
export function readNames(x: Value): ReadonlySet<string> {
  const d = storageOf(x).data;
  if (isLoops(d)) return new Set(countOf(d).reads);
  return d.kind === "computed" ? new Set(countOf(d.data).reads) : new Set([d.name]);
}

/** remembers that a value reads these buffers, in case they are written to later */
export function registerUsers(ctx: Lowering, x: TensorBox): void {
  for (const name of readNames(x)) {
    const list = ctx.nameToUsers.get(name);
    if (list === undefined) ctx.nameToUsers.set(name, [x]);
    else list.push(x);
  }
}

export function markBufferMutated(ctx: Lowering, name: string): void {
  ctx.mutatedBuffers.add(name);
  for (const user of ctx.nameToUsers.get(name) ?? []) realize(ctx, user);
}

/**
 * Writes `src` into the storage that `dst` shows. `alias`: src's own buffer becomes that storage (no copy), allowed only
 * if nothing reads dst afterwards.
 */
export function realizeIntoStorage(ctx: Lowering, src: Value, dst: TensorBox, alias: boolean): ComputedBuffer {
  const target = realize(ctx, dst);
  markBufferMutated(ctx, target.name);
  realizeHint(ctx, src);
  let value: Value = src;
  if (!alias) {
    const copy = createPointwise(ctx, {
      size: sizeOf(dst),
      dtype: dtypeOf(src),
      device: deviceOf(src),
      inner: loaderOf(ctx, src),
    });
    for (const [i, s] of sizeOf(src).entries()) ctx.sizevars.guardEquals(s, sizeOf(dst)[i] as Expr);
    value = copy;
  }
  const b = realize(ctx, value);
  if (b.kind !== "computed" || b.layout.kind !== "flexible") return realizeIntoStorage(ctx, src, dst, false);
  b.layout = { kind: "mutation", target: dst };
  return b;
}

const isGraphInput = (s: StorageBox): boolean => !isLoops(s.data) && s.data.kind === "input";
const isNop = (s: StorageBox): boolean => !isLoops(s.data) && s.data.kind === "concat";

export function mutateTo(ctx: Lowering, changed: TensorBox, val: TensorBox, alias = false): TensorBox {
  let source = val.data;
  if (source.kind !== "storage") {
    const copy = createPointwise(ctx, {
      size: sizeOf(changed),
      dtype: dtypeOf(changed),
      device: deviceOf(changed),
      inner: loaderOf(ctx, val),
    });
    source = storageOf(copy);
  }
  const { data } = changed;
  if (data.kind === "storage" && !isGraphInput(data) && !isNop(data)) {
    realize(ctx, source);
    data.data = source.data;
    return changed;
  }
  realizeIntoStorage(ctx, source, ctx.box(data), alias);
  return changed;
}

/** aten.copy_ */
export function copyInto(ctx: Lowering, dst: TensorBox, src: TensorBox): TensorBox {
  if (dst === src) return dst;
  return mutateTo(ctx, dst, expand(ctx, toDtype(ctx, src, dtypeOf(dst)), sizeOf(dst)));
}

export interface ScatterSpec {
  readonly target: TensorBox;
  readonly size: readonly Expr[];
  readonly index: <V>(ops: Ops<V>, index: readonly Dim[]) => readonly Dim[];
  readonly value: Loader;
  readonly mode: "store" | "atomic_add";
  /** values that the scatter computes from: put in memory if they read the target */
  readonly reads: readonly TensorBox[];
}

/** Stores at computed positions of the target. */
export function scatter(ctx: Lowering, s: ScatterSpec): TensorBox {
  const before = bufferOf(s.target);
  if (before !== undefined) for (const r of s.reads) if (readNames(r).has(before.name)) realize(ctx, r);
  const target = realize(ctx, s.target);
  const outputIndexer = <V>(ops: Ops<V>, index: readonly Expr[]): readonly Expr[] =>
    s.index(ops, index) as readonly Expr[];
  markBufferMutated(ctx, target.name);
  ctx.registerComputed(
    {
      kind: "Scatter",
      device: deviceOf(s.target),
      dtype: dtypeOf(s.target),
      ranges: s.size,
      inner: s.value,
      outputIndexer,
      mode: s.mode,
      origins: ctx.origins,
      originNode: null,
    },
    { kind: "mutation", target: ctx.box(s.target.data) },
    ctx.origins,
  );
  return s.target;
}

/** Elementwise lists: members that end here or feed other operators are put in memory and stay together. */
export function foreach(
  ctx: Lowering,
  members: readonly (() => TensorBox)[],
  inplace: boolean,
  targets: readonly TensorBox[],
): TensorBox[] {
  const node = ctx.currentNode;
  const users = [...(node?.users ?? [])];
  const onlyForeach = users.every(item =>
    [...item.users].every(u => u.op === "call_function" && u.target.startsWith("aten._foreach_")),
  );
  const realizes = users.length === 0 || inplace || !onlyForeach;
  const groups = new Map<string, string[]>();
  const results = members.map(member => {
    const out = member();
    const device = deviceOf(out);
    const dynamic = sizeOf(out).some(s => s.kind !== "int");
    if (device.type === "cuda" && !dynamic && realizes) {
      const b = realize(ctx, out);
      const key = `${device.type}:${device.index}`;
      const list = groups.get(key) ?? [];
      if (b.kind !== "input") list.push(b.operation);
      groups.set(key, list);
    }
    return out;
  });
  for (const list of groups.values()) if (list.length > 0) ctx.foreachLists.push(list);
  return inplace ? results.map((r, i) => mutateTo(ctx, targets[i] as TensorBox, r, true)) : results;
}
