// Operands that lowering copies because a matrix must have one step from row to row, as where a permuted tensor is flattened
// to rows: a batched product reads them as they lie. In: a product, the operation that copies its first operand. Out: the
// operand as a view of what is copied, [rows, depth] or [batch, rows, depth]. Promises: null where the copy does anything but
// move, or moves in another pattern.
import type { BodyNode, LoopBody } from "../ir/loop_body";
import type { BufferView, ComputedOperation } from "../ir/types";
import { type Expr, int, intValue, stepsOver } from "../symbolic";
import type { SizeVars } from "../symbolic/size_vars";
import { denseDimension } from "../templates/forms";

/** a loop of a copy: its length, and how far apart its turns lie in what is written and in what is read */
interface Loop {
  readonly size: number;
  readonly to: number;
  readonly from: number;
}

interface Move {
  readonly source: string;
  readonly offset: Expr;
  /** outermost first by where they write; loops that step through both sides as one are one */
  readonly loops: readonly Loop[];
}

/** the copied operand, read where it comes from */
export function asItLies(v: BufferView, copy: ComputedOperation, sv: SizeVars): BufferView | null {
  const move = moveOf(copy, sv);
  const [rows, depth] = v.size.map(intValue);
  const pitch = intValue(v.stride[0] as Expr);
  if (v.size.length !== 2 || intValue(v.stride[1] as Expr) !== 1 || intValue(v.offset) !== 0) return null;
  if (move === null || rows === undefined || depth === undefined || pitch === undefined) return null;
  const inRow = move.loops[move.loops.length - 1];
  const between = move.loops.slice(0, -1);
  if (inRow?.to !== 1 || inRow.size !== depth || between.length === 0 || between.length > 2) return null;
  let next = pitch;
  for (const l of [...between].reverse()) {
    if (l.to !== next) return null;
    next *= l.size;
  }
  if (next !== pitch * rows) return null;
  const view = {
    buffer: move.source,
    size: move.loops.map(l => int(l.size)),
    stride: move.loops.map(l => int(l.from)),
    offset: move.offset,
    dtype: v.dtype,
    whole: false,
  };
  return denseDimension(view) === null ? null : view;
}

/** the load and the store of an operation that does nothing else */
export function movedBy({ body }: ComputedOperation): { readonly load: Load; readonly store: Store } | null {
  const [load, store, ...others] = body.block.nodes.filter(n => n.op !== "get_index");
  if (load?.op !== "load" || store?.op !== "store" || others.length > 0) return null;
  return store.value === load && store.mode === null && body.reduceVars.length === 0 ? { load, store } : null;
}

type Load = Extract<BodyNode, { readonly op: "load" }>;
type Store = Extract<BodyNode, { readonly op: "store" }>;

function moveOf(op: ComputedOperation, sv: SizeVars): Move | null {
  const { body } = op;
  const moved = movedBy(op);
  if (moved === null) return null;
  const { load, store } = moved;
  const [to, from] = [linear(body, store.at, sv), linear(body, load.at, sv)];
  if (to === null || from === null || intValue(to.offset) !== 0) return null;
  const sizes = body.iterSizes.map(intValue);
  if (sizes.some(s => s === undefined)) return null;
  const loops = sizes
    .map((size, i) => ({ size: size as number, to: to.steps[i] as number, from: from.steps[i] as number }))
    .sort((a, b) => b.to - a.to);
  return { source: load.buffer, offset: from.offset, loops: merged(loops) };
}

function merged(loops: readonly Loop[]): readonly Loop[] {
  const out: Loop[] = [];
  for (const l of loops) {
    const outer = out[out.length - 1];
    if (outer && outer.to === l.to * l.size && outer.from === l.from * l.size)
      out[out.length - 1] = { ...l, size: outer.size * l.size };
    else out.push(l);
  }
  return out;
}

/** an index as steps over the loops; null where it is more than that */
export function linear(body: LoopBody, at: BodyNode, sv: SizeVars): { steps: readonly number[]; offset: Expr } | null {
  const index = body.indexing.get(at.op === "get_index" ? at.index : "");
  if (index === undefined) return null;
  const lies = stepsOver(index, body.iterVars);
  const steps = lies?.steps.map(intValue);
  if (!lies || !steps || steps.some(s => s === undefined)) return null;
  return { steps: steps as number[], offset: sv.simplify(lies.offset) };
}
