// Removal of operators that do nothing (post_grad.remove_noop_ops). In: a graph. Out: the same graph without them.
// Promises: only where size, stride, dtype and device stay, and where no new alias between inputs and outputs arises.
import type { Dim } from "../aten/types";
import { DeviceArg, DTypeArg } from "../aten/types";
import { type FxGraph, FxNode } from "../fx/graph";
import { dimOf, intsOf, itemsOf, type Rewriter, replaceNode } from "./edit";
import { storageOf } from "./storage";

interface Noop {
  /** which argument the result equals */
  readonly source: (node: FxNode) => unknown;
  readonly holds: (rw: Rewriter, node: FxNode) => boolean;
}

/** an end that lies past every dimension */
const WHOLE = 2n ** 63n - 1n;

const first = (n: FxNode): unknown => n.args[0];
const always = (): boolean => true;
const isInteger = (rw: Rewriter, n: FxNode): boolean => /^(u?int|bool)/.test(rw.tensor(n)?.dtype ?? "float");

/** start 0, end at or past the size, step 1, over the argument `sized` */
function coversAll(rw: Rewriter, sized: unknown, dim: unknown, start: unknown, end: unknown, step: unknown): boolean {
  if (!(sized instanceof FxNode) || start === null || start === undefined || end === null || end === undefined)
    return false;
  const t = rw.tensor(sized);
  const size = t?.shape[typeof dim === "number" ? (dim < 0 ? dim + (t?.shape.length ?? 0) : dim) : 0];
  if (size === undefined) return false;
  const from = dimOf(start as never);
  if (from === undefined || !rw.math.knownEq(from, 0)) return false;
  if (step !== undefined && step !== 1) return false;
  if (typeof end === "bigint") return true;
  const to = dimOf(end as never);
  if (to === undefined) return false;
  if (rw.math.knownEq(to, size)) return true;
  const a = rw.math.static(to);
  const b = rw.math.static(size);
  return a !== undefined && b !== undefined && a >= b;
}

const NOOPS: Readonly<Record<string, Noop>> = {
  "aten.slice.Tensor": {
    source: first,
    holds: (rw, n) => coversAll(rw, n.args[0], n.args[1] ?? 0, n.args[2], n.args[3], n.args[4]),
  },
  "aten.slice_scatter.default": {
    source: n => n.args[1],
    // bounds that are left out are the whole dimension's
    holds: (rw, n) => coversAll(rw, n.args[0], n.args[2] ?? 0, n.args[3] ?? 0, n.args[4] ?? WHOLE, n.args[5]),
  },
  "aten.repeat.default": { source: first, holds: (_rw, n) => intsOf(n.args[1])?.every(r => r === 1) ?? false },
  "aten.constant_pad_nd.default": { source: first, holds: (_rw, n) => intsOf(n.args[1])?.every(p => p === 0) ?? false },
  "prims.convert_element_type.default": {
    source: first,
    holds: (rw, n) => n.args[1] instanceof DTypeArg && sourceTensor(rw, n)?.dtype === n.args[1].dtype,
  },
  "prims.device_put.default": {
    source: first,
    holds: (rw, n) =>
      n.args[1] instanceof DeviceArg &&
      sourceTensor(rw, n)?.device.type === n.args[1].device.type &&
      sourceTensor(rw, n)?.device.index === n.args[1].device.index,
  },
  "aten.ceil.default": { source: first, holds: isInteger },
  "aten.floor.default": { source: first, holds: isInteger },
  "aten.round.default": { source: first, holds: isInteger },
  "aten.trunc.default": { source: first, holds: isInteger },
  "aten.pow.Tensor_Scalar": { source: first, holds: (_rw, n) => n.args[1] === 1 },
  "aten.cat.default": { source: n => itemsOf(n.args[0])[0], holds: (_rw, n) => itemsOf(n.args[0]).length === 1 },
  "aten.view.default": { source: first, holds: viewsSame },
  "aten.view.dtype": {
    source: first,
    holds: (rw, n) => n.args[1] instanceof DTypeArg && sourceTensor(rw, n)?.dtype === n.args[1].dtype,
  },
  "aten.copy.default": { source: n => n.args[1], holds: always },
  "aten.alias.default": { source: first, holds: always },
  "aten.clone.default": { source: first, holds: always },
};

function sourceTensor(rw: Rewriter, n: FxNode) {
  return n.args[0] instanceof FxNode ? rw.tensor(n.args[0]) : undefined;
}

function viewsSame(rw: Rewriter, n: FxNode): boolean {
  const t = sourceTensor(rw, n);
  const sizes = itemsOf(n.args[1]).map(dimOf);
  return (
    t !== undefined &&
    sizes.every((s): s is Dim | number => s !== undefined) &&
    sizes.length === t.shape.length &&
    // a size of -1 is the one that is left
    sizes.every((s, i) => rw.math.static(s) === -1 || rw.math.knownEq(s, t.shape[i] as Dim))
  );
}

/**
 * Where each input's memory is first written. A copy of the input that is still read after that is more than nothing, as it
 * holds the value from before; torch 2.11 takes it away all the same (its users then read what was written).
 */
function firstWrites(graph: FxGraph): ReadonlyMap<FxNode, number> {
  const writes = new Map<FxNode, number>();
  graph.nodes.forEach((n, at) => {
    const target = n.args[0];
    if (n.target !== "aten.copy_.default" || !(target instanceof FxNode)) return;
    const storage = storageOf(target);
    if (storage.op === "placeholder" && !writes.has(storage)) writes.set(storage, at);
  });
  return writes;
}

/** the place of the last node that reads the value, through views of it too */
function lastRead(node: FxNode, place: ReadonlyMap<FxNode, number>): number {
  let last = 0;
  for (const user of node.users) {
    last = Math.max(last, place.get(user) ?? 0, storageOf(user) === storageOf(node) ? lastRead(user, place) : 0);
  }
  return last;
}

export function removeNoopOps(rw: Rewriter): void {
  const { graph } = rw;
  const writes = rw.config("keeps_copies_of_written_inputs") === true ? firstWrites(graph) : null;
  const place = writes?.size ? new Map(graph.nodes.map((n, at) => [n, at] as const)) : null;
  const inputStorages = new Set(graph.placeholders().map(storageOf));
  const outputStorages = new Set(graph.output.inputs.map(storageOf));
  for (const node of [...graph.nodes]) {
    const noop = node.op === "call_function" && Object.hasOwn(NOOPS, node.target) ? NOOPS[node.target] : undefined;
    const source = noop?.source(node);
    if (noop === undefined || !(source instanceof FxNode)) continue;
    const mine = storageOf(node);
    const theirs = storageOf(source);
    if (mine !== theirs && outputStorages.has(mine) && (inputStorages.has(theirs) || outputStorages.has(theirs)))
      continue;
    const written = mine === theirs ? undefined : writes?.get(theirs);
    if (written !== undefined && place && lastRead(node, place) > written) continue;
    if (sameMeta(rw, node, source) && noop.holds(rw, node)) replaceNode(graph, node, source);
  }
}

function sameMeta(rw: Rewriter, a: FxNode, b: FxNode): boolean {
  const x = rw.tensor(a);
  const y = rw.tensor(b);
  if (x === undefined || y === undefined || x.dtype !== y.dtype) return false;
  if (x.device.type !== y.device.type || x.device.index !== y.device.index) return false;
  return rw.sameSizes(x.shape, y.shape) && rw.sameSizes(x.stride, y.stride);
}
