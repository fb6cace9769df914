// A whole reduction cut into two stages while scheduling. In: a reduction's node, the number of pieces. Out: a node that
// reduces pieces into a new buffer; the given node reads that buffer from then on. Promises: names, users, dependencies and
// positions are what they would be had lowering cut the reduction; the graph that is changed belongs to this schedule.
import type { DType, PyFloat, ReductionType } from "../../aten/types";
import type { BodyOps } from "../ir/body_ops";
import { type BodySizes, buildBody } from "../ir/build_body";
import { isHalf } from "../ir/dtypes";
import type { LoopBody } from "../ir/loop_body";
import { opsHandler } from "../ir/replay";
import { runBody } from "../ir/run_body";
import { defaultValue, secondStepHint } from "../ir/split_reduction";
import { bodySizes, loopVars } from "../ir/transform";
import type { Buffer, ComputedOperation, LoopsKind, Operation } from "../ir/types";
import { add, type Expr, floorDiv, int, intValue, modularIndexing, mul, substitute } from "../symbolic";
import { refreshGroup } from "./groups";
import { createNode, refreshDependencies } from "./nodes";
import { unionOf } from "./op_set";
import { isGroup, type SchedulerState } from "./state";
import { elements, wholeBody } from "./transpose_frame";
import type { AnyNode, SchedulerNode } from "./types";

type ReductionLoops = Extract<LoopsKind, { type: ReductionType }>;

const CUTTABLE: ReadonlySet<ReductionType> = new Set(["sum", "prod", "max", "min", "any", "xor_sum"]);

/** the loops of a whole reduction that can be cut: one value, stored as it is; null for anything else */
export function cuttable(n: SchedulerNode): { readonly op: ComputedOperation; readonly loops: ReductionLoops } | null {
  const op = n.operation;
  if (op.kind !== "computed" || op.loops.kind !== "Reduction" || op.loops.split || !CUTTABLE.has(op.loops.type))
    return null;
  const stores = op.body.block.nodes.filter(x => x.op === "store_reduction");
  const [store] = stores;
  if (stores.length !== 1 || store?.op !== "store_reduction" || store.value.op !== "reduction") return null;
  return { op, loops: op.loops };
}

export interface Cut {
  readonly pieces: number;
  /** reduced elements per piece; the last piece may be shorter */
  readonly block: number;
}

/** Runs the body with its reduction's value handed back in place of being reduced and stored. */
function reducedValue<V>(ops: BodyOps<V>, body: LoopBody, iter: readonly Expr[], reduce: readonly Expr[]): V {
  let value: V | undefined;
  runBody(
    body,
    {
      ...opsHandler(ops),
      reduction: (_dtype, _src, _type, v) => {
        value = v as V;
        return v;
      },
      storeReduction: () => {},
    },
    iter,
    reduce,
  );
  if (value === undefined) throw new Error("a reduction's body reduces nothing");
  return value;
}

const pieceDtype = (d: DType): DType => (isHalf(d) ? "float32" : d);

/** The first stage: `whole`'s loops over one piece each, stored at `flat` (over its kept loops) plus a piece's distance. */
function pieceBody(whole: LoopBody, cut: Cut, buffer: string, flat: Expr, sizes: BodySizes): LoopBody {
  const reduced = whole.reduceSizes.map(e => intValue(e) ?? 0);
  const numel = elements(whole.iterSizes.map(e => intValue(e) ?? 0));
  const rnumel = elements(reduced);
  const reduction = whole.block.nodes.find(x => x.op === "reduction");
  if (reduction?.op !== "reduction") throw new Error("a reduction's body reduces nothing");
  const { dtype, srcDtype, type } = reduction;
  const iterSizes = [...whole.iterSizes, int(cut.pieces)];
  const [iterVars, blockVars] = loopVars(iterSizes, [int(cut.block)]);
  const keptVars = iterVars.slice(0, -1);
  const piece = iterVars[iterVars.length - 1] as Expr;
  const at = add(mul(piece, cut.block), blockVars[0] as Expr);
  const fits = cut.pieces * cut.block === rnumel;
  const width = rnumel > 2 ** 31 - 1 ? "int64" : "int32";
  return buildBody(iterVars, iterSizes, blockVars, [int(cut.block)], sizes, ops => {
    const value = <V>(o: BodyOps<V>): V => reducedValue(o, whole, keptVars, unflatten(at, reduced));
    const v = fits
      ? value(ops)
      : ops.masked(
          ops.op("lt", ops.indexExpr(at, width), ops.constant(rnumel, width)) as never,
          () => value(ops),
          defaultValue(type, srcDtype) as number | boolean | PyFloat,
        );
    const [r] = ops.reduction(pieceDtype(dtype), srcDtype, type, v);
    ops.storeReduction(buffer, add(flat, mul(piece, numel)), r as never);
  });
}

const flatten = (vars: readonly Expr[], sizes: readonly number[]): Expr =>
  vars.reduce<Expr>((at, v, i) => add(mul(at, sizes[i] as number), v), int(0));

/** the loops of `sizes` at a position counted through all of them */
function unflatten(at: Expr, sizes: readonly number[]): Expr[] {
  let divisor = elements(sizes);
  return sizes.map((size, i) => {
    divisor /= size;
    return i === 0 ? floorDiv(at, divisor) : modularIndexing(at, divisor, size);
  });
}

/**
 * Cuts `node` (see `cuttable`) into pieces. Sizes must be numbers. Returns the first stage; `node` becomes the second.
 */
export function cutReduction(s: SchedulerState, node: SchedulerNode, cut: Cut, all: readonly AnyNode[]): SchedulerNode {
  const found = cuttable(node);
  const { body } = node;
  if (!found || !body) throw new Error(`${node.name} can't be cut`);
  const { op, loops } = found;
  const sizes = bodySizes(s.sizevars);
  const kept = body.iterSizes.map(e => s.sizevars.sizeHint(e));
  const numel = elements(kept);
  const number = s.graph.operations.length;
  const name = `op${number}`;
  const buffer = `buf${number}`;
  const whole = body.block.nodes.find(x => x.op === "reduction");
  const final = body.block.nodes.find(x => x.op === "store_reduction");
  if (whole?.op !== "reduction" || final?.op !== "store_reduction") throw new Error(`${node.name} reduces nothing`);
  const dtype = pieceDtype(whole.dtype);

  const [keptVars, pieceVars] = loopVars(body.iterSizes, [int(cut.pieces)]);
  const piece = pieceVars[0] as Expr;
  const firstIter = [...body.iterSizes, int(cut.pieces)];
  const first = pieceBody(body, cut, buffer, flatten(keptVars, kept), sizes);
  const original = (): LoopBody =>
    buildBody(keptVars, body.iterSizes, ...wholeLoops(body), sizes, ops => {
      const [, reduceVars] = loopVars(body.iterSizes, body.reduceSizes);
      const [r] = ops.reduction(whole.dtype, whole.srcDtype, whole.type, reducedValue(ops, body, keptVars, reduceVars));
      ops.storeReduction(buffer, flatten(keptVars, kept), r as never);
    });
  const storeIndex = indexOf(body, final.at);
  const second = buildBody(keptVars, body.iterSizes, pieceVars, [int(cut.pieces)], sizes, ops => {
    const part = ops.load(buffer, add(flatten(keptVars, kept), mul(piece, numel)));
    const [r] = ops.reduction(whole.dtype, whole.srcDtype, whole.type, part);
    // the kept loops are p0.. in both bodies
    ops.storeReduction(final.buffer, storeIndex, r as never);
  });

  const stored: Buffer = {
    name: buffer,
    irClass: "ComputedBuffer",
    layout: {
      kind: "fixed",
      device: op.device,
      dtype,
      size: firstIter,
      stride: [...contiguous(kept).map(int), int(numel)],
      offset: int(0),
    },
    operation: name,
    originNode: null,
  };
  (s.graph.buffers as Map<string, Buffer>).set(buffer, stored);
  const firstOp: ComputedOperation = {
    ...op,
    name,
    outputs: [buffer],
    originNode: null,
    loops: {
      ...loops,
      split: { size: cut.pieces, ranges: body.iterSizes, reductionRanges: body.reduceSizes, original },
    },
    ranges: firstIter,
    reductionRanges: [int(cut.block)],
    sizes: [first.iterSizes, first.reduceSizes],
    body: first,
  };
  const secondOp: ComputedOperation = {
    ...op,
    loops: { ...loops, hint: secondStepHint(cut.pieces, numel, loops.hint) },
    ranges: body.iterSizes,
    reductionRanges: [int(cut.pieces)],
    sizes: [second.iterSizes, second.reduceSizes],
    body: second,
  };
  const operations = s.graph.operations as Operation[];
  operations.splice(operations.indexOf(op), 1, firstOp, secondOp);
  const firstNode = createNode(s, firstOp);
  s.nodeRenames.set(firstNode, s.nodeRenames.get(node) ?? new Map());
  refreshDependencies(s, firstNode, false);
  Object.assign(firstNode, {
    ancestors: node.ancestors,
    minOrder: node.minOrder,
    maxOrder: node.maxOrder,
    minInputDistance: node.minInputDistance,
    maxInputDistance: node.maxInputDistance,
  });
  for (const b of firstNode.outputs) {
    b.users = [{ node, canInplace: false, isWeak: false }];
    s.buffers.set(b.name, b);
  }
  s.fusedNode.set(name, firstNode);
  const moved = new Set(node.readWrites.reads.map(d => d.name));
  for (const read of moved) {
    const b = s.buffers.get(read);
    if (b) b.users = b.users.map(u => (u.node === node ? { ...u, node: firstNode, canInplace: false } : u));
  }
  // the second stage reads nothing that was added to the first by hand
  node.readWrites = { ...node.readWrites, reads: [] };
  Object.assign(node, {
    operation: secondOp,
    body: second,
    sizes: [second.iterSizes, second.reduceSizes],
    group: [int(numel), int(cut.pieces)],
  });
  refreshDependencies(s, node, false);
  for (const n of all) if (n !== firstNode && descends(n, node)) n.ancestors = unionOf([n.ancestors], [name]);
  return firstNode;
}

/** the second stage of a cut reduction: the one reader of its partial results, over one loop of pieces */
export function secondStage(first: SchedulerNode): SchedulerNode | null {
  const [user, ...more] = first.outputs[0]?.users ?? [];
  const node = user?.node;
  if (more.length > 0 || !node?.body || node.body.reduceVars.length !== 1) return null;
  return node.operation.kind === "computed" && "type" in node.operation.loops ? node : null;
}

/** where a partial result lies, counted through the kept elements, if pieces lie outermost or innermost; else null */
function flatPart(index: Expr, first: SchedulerNode, second: SchedulerNode): Expr | null {
  const layout = first.outputs[0]?.buffer.layout;
  const [r] = second.body?.reduceVars ?? [];
  if (!layout || !("size" in layout) || !r) return null;
  const kept = layout.size.slice(0, -1).map(e => intValue(e) ?? 0);
  const strides = layout.stride.map(e => intValue(e) ?? 0);
  const numel = elements(kept);
  const pieces = intValue(layout.size[layout.size.length - 1] ?? int(0)) ?? 0;
  const at = substitute(index, new Map([[r, int(0)]]));
  const tight = contiguous(kept);
  if (strides[strides.length - 1] === numel && tight.every((n, i) => n === strides[i] || kept[i] === 1)) return at;
  if (strides[strides.length - 1] === 1 && tight.every((n, i) => n * pieces === strides[i] || kept[i] === 1))
    return floorDiv(at, pieces);
  return null;
}

export function canCutAgain(first: SchedulerNode): boolean {
  const second = secondStage(first);
  const buffer = first.outputs[0]?.name;
  const whole = wholeBody(first);
  if (!second?.body || buffer === undefined || !whole) return false;
  const loads = second.body.block.nodes.filter(n => n.op === "load" && n.buffer === buffer);
  const [load] = loads;
  if (loads.length !== 1 || load?.op !== "load" || second.body.subblocks.size > 0) return false;
  return flatPart(indexOf(second.body, load.at), first, second) !== null;
}

/** Cuts a reduction that is cut already (see `canCutAgain`) into another number of pieces; both nodes stay. */
export function cutAgain(s: SchedulerState, first: SchedulerNode, cut: Cut): void {
  const second = secondStage(first);
  const whole = wholeBody(first);
  const op = first.operation;
  const laterOp = second?.operation;
  const output = first.outputs[0];
  if (!second?.body || !whole || !output || op.kind !== "computed" || laterOp?.kind !== "computed")
    throw new Error(`${first.name} can't be cut again`);
  if (!("split" in op.loops) || !op.loops.split || output.buffer.layout.kind !== "fixed")
    throw new Error(`${first.name} is not cut`);
  const sizes = bodySizes(s.sizevars);
  const { split } = op.loops;
  const kept = split.ranges.map(e => intValue(e) ?? 0);
  const numel = elements(kept);
  const stored = whole.block.nodes.find(x => x.op === "store_reduction");
  if (stored?.op !== "store_reduction") throw new Error(`${first.name} stores nothing`);
  const body = pieceBody(whole, cut, output.name, indexOf(whole, stored.at), sizes);
  const layout = {
    ...output.buffer.layout,
    size: [...split.ranges, int(cut.pieces)],
    stride: [...contiguous(kept).map(int), int(numel)],
  };
  const buffer: Buffer = { ...output.buffer, layout };
  const { body: laterBody } = second;
  const [iterVars, pieceVars] = loopVars(laterBody.iterSizes, [int(cut.pieces)]);
  const piece = pieceVars[0] as Expr;
  const later = buildBody(iterVars, laterBody.iterSizes, pieceVars, [int(cut.pieces)], sizes, ops => {
    const handler = opsHandler(ops);
    const place = (index: Expr): Expr => {
      const flat = flatPart(index, first, second);
      if (flat === null) throw new Error(`${second.name} reads ${output.name} in another order`);
      return add(flat, mul(piece, numel));
    };
    // the old loop variable of the pieces stays in the index until it is replaced
    runBody(
      laterBody,
      { ...handler, load: (b, index) => ops.load(b, b === output.name ? place(index) : index) },
      iterVars,
      laterBody.reduceVars,
    );
  });
  const { graph } = s;
  (graph.buffers as Map<string, Buffer>).set(output.name, buffer);
  Object.assign(output, { buffer });
  replaceOperation(s, first, {
    ...op,
    loops: { ...op.loops, split: { ...split, size: cut.pieces } },
    ranges: layout.size,
    reductionRanges: [int(cut.block)],
    sizes: [body.iterSizes, body.reduceSizes],
    body,
  });
  replaceOperation(s, second, {
    ...laterOp,
    reductionRanges: [int(cut.pieces)],
    sizes: [later.iterSizes, later.reduceSizes],
    body: later,
  });
  const group = s.fusedNode.get(second.name);
  if (group && isGroup(group)) {
    group.group = second.group;
    refreshGroup(group);
  }
}

function replaceOperation(s: SchedulerState, node: SchedulerNode, op: ComputedOperation): void {
  const operations = s.graph.operations as Operation[];
  operations[operations.indexOf(node.operation)] = op;
  Object.assign(node, {
    operation: op,
    body: op.body,
    sizes: op.sizes,
    group: [s.sizevars.numel(op.sizes[0]), s.sizevars.numel(op.sizes[1])],
  });
  refreshDependencies(s, node, false);
}

const descends = (n: AnyNode, from: SchedulerNode): boolean => n === from || n.ancestors.has(from.name);

function wholeLoops(body: LoopBody): readonly [readonly ReturnType<typeof loopVars>[1][number][], readonly Expr[]] {
  return [loopVars(body.iterSizes, body.reduceSizes)[1], body.reduceSizes];
}

function indexOf(body: LoopBody, at: LoopBody["block"]["nodes"][number]): Expr {
  const index = at.op === "get_index" ? body.indexing.get(at.index) : undefined;
  if (!index) throw new Error("a store without an index");
  return index;
}

function contiguous(sizes: readonly number[]): number[] {
  let step = elements(sizes);
  return sizes.map(n => {
    step /= n;
    return step;
  });
}
