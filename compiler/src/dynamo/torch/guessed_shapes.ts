// Shapes that were guessed: what an opaque operator gives is taken to be shaped like its first tensor, and an operator behind it
// may refuse that. In: the operator that refused, with its arguments. Out: the shape that it would have given, by its other
// arguments (the weight of a layer, the sizes of a view, the tensors that nothing was guessed of).
import { isExpr } from "../../aten/dim_math";
import type { ArgValue, Dim, OpRecord, TensorMeta } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import { int, intValue } from "../../inductor/symbolic/expr";
import type { Torch } from "./context";
import { isMeta } from "./convert";
import type { PyTensor } from "./objects";

const guessed = new WeakSet<FxNode>();

/** the shape of what this node gives is a guess */
export function noteGuessed(t: PyTensor): void {
  if (t.proxy) guessed.add(t.proxy.node);
}

/** tensors of frames that are over, whose shapes rest on guesses made there */
const carried = new WeakSet<PyTensor>();

/** at the end of a frame: what its tensors rest on is known where later ones read them */
export function carryGuesses(torch: Torch, nodes: readonly FxNode[], tensors: Iterable<PyTensor>): void {
  if (torch.opaqueOperators === 0 || !nodes.some(n => guessed.has(n))) return;
  const derived = new Set<FxNode>();
  for (const n of nodes) if (guessed.has(n) || n.inputs.some(i => derived.has(i))) derived.add(n);
  for (const t of tensors) if (t.proxy && derived.has(t.proxy.node)) carried.add(t);
}

/** the input of a frame that stands for a tensor of an earlier one */
export function noteCarried(t: PyTensor, input: FxNode): void {
  if (carried.has(t)) guessed.add(input);
}

/** whether a tensor's shape may rest on a guess: an opaque operator is among what it was computed from */
export function restsOnGuess(t: PyTensor): boolean {
  if (carried.has(t)) return true;
  const waiting = t.proxy ? [t.proxy.node] : [];
  const seen = new Set(waiting);
  for (let n = waiting.pop(); n; n = waiting.pop()) {
    if (guessed.has(n)) return true;
    for (const from of n.inputs) {
      if (seen.has(from)) continue;
      seen.add(from);
      waiting.push(from);
    }
  }
  return false;
}

type Bound = ReadonlyMap<string, ArgValue<TensorMeta>>;
type Shape = readonly Dim[];

/** what an operator that refused its tensors gives if one's shape was guessed; undefined: none was */
export function beyondGuess(
  torch: Torch,
  record: OpRecord,
  values: Bound,
  tensors: readonly PyTensor[],
): FakeTensor | readonly FakeTensor[] | undefined {
  const known = tensors.filter(t => !restsOnGuess(t));
  if (!torch.trace || known.length === tensors.length) return undefined;
  const first = values.get("input") ?? values.get("self");
  const like = isMeta(first) ? (first as FakeTensor) : tensors[0]?.meta;
  if (!like) return undefined;
  const made = (shape: Shape): FakeTensor =>
    torch.meta.tensor(shape, { dtype: like.dtype, device: like.device }) as FakeTensor;
  const parts = partsOf(values, like.shape);
  if (parts) return parts.map(made);
  return made(shapeOf(record, values, like.shape) ?? widest(known) ?? like.shape);
}

function widest(tensors: readonly PyTensor[]): Shape | undefined {
  const shapes = tensors.map(t => t.meta.shape);
  return shapes.reduce<Shape | undefined>((a, b) => (a && a.length >= b.length ? a : b), undefined);
}

const isDims = (x: unknown): x is readonly Dim[] => Array.isArray(x) && x.every(d => !isMeta(d) && d !== null);

function shapeOf(record: OpRecord, values: Bound, like: Shape): Shape | undefined {
  const weight = values.get("weight");
  if (isMeta(weight)) return layerShape(record.name, like, weight.shape);
  const sizes = values.get("size") ?? values.get("shape");
  if (isDims(sizes)) return sizes.map((d, i) => (isOpen(d) ? (like[i] ?? int(1)) : d));
  const order = values.get("dims");
  if (isDims(order)) return order.map((_, i) => like[i] ?? int(1));
  const other = values.get("mat2") ?? values.get("other");
  if (/mm|matmul/.test(record.name) && isMeta(other) && other.shape.length > 1)
    return [...like.slice(0, -1), ...other.shape.slice(-1)];
  return undefined;
}

/** -1 in a view's sizes */
const isOpen = (d: Dim): boolean => (typeof d === "number" ? d : isExpr(d) ? (intValue(d) ?? 0) : 0) < 0;

/** what a layer of this weight gives: as wide as the weight says */
function layerShape(name: string, like: Shape, weight: Shape): Shape | undefined {
  const at = (i: number): readonly Dim[] => weight.slice(i, i + 1);
  if (name.includes("linear")) return [...like.slice(0, -1), ...at(0)];
  if (name.includes("conv")) {
    const space = weight.slice(2).map((_, i) => like[i + 2] ?? int(1));
    return [...like.slice(0, 1), ...at(name.includes("transpose") ? 1 : 0), ...space];
  }
  if (name.includes("layer_norm") || name.includes("rms_norm"))
    return [...like.slice(0, Math.max(0, like.length - weight.length)), ...weight];
  return name.includes("norm") ? [...like.slice(0, 1), ...at(0), ...like.slice(2)] : undefined;
}

/** the parts that a split is told the sizes or the number of */
function partsOf(values: Bound, like: Shape): readonly Shape[] | undefined {
  const sizes = values.get("split_sizes") ?? values.get("split_size");
  const dim = values.get("dim");
  const at = typeof dim === "number" ? (dim < 0 ? dim + like.length : dim) : 0;
  if (!isDims(sizes)) return undefined;
  return sizes.map(size => like.map((d, i) => (i === at ? size : d)));
}
