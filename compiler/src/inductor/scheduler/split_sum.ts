// A whole reduction cut into two stages while scheduling. In: a reduction's node, the number of pieces. Out: a node that
// reduces pieces into a new buffer; the given node reads that buffer from then on. Promises: names, users, dependencies and
// positions are what they would be had lowering cut the reduction; the graph that is changed belongs to this schedule.
import type { PyFloat, ReductionType } from "../../aten/types";
import type { BodyOps } from "../ir/body_ops";
import { buildBody } from "../ir/build_body";
import { isHalf } from "../ir/dtypes";
import type { LoopBody } from "../ir/loop_body";
import { opsHandler } from "../ir/replay";
import { runBody } from "../ir/run_body";
import { defaultValue, secondStepHint } from "../ir/split_reduction";
import { bodySizes, loopVars } from "../ir/transform";
import type { Buffer, ComputedOperation, LoopsKind, Operation } from "../ir/types";
import { add, type Expr, floorDiv, int, modularIndexing, mul } from "../symbolic";
import { createNode, refreshDependencies } from "./nodes";
import type { SchedulerState } from "./state";
import { elements } from "./transpose_frame";
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
  const reduced = body.reduceSizes.map(e => s.sizevars.sizeHint(e));
  const [numel, rnumel] = [elements(kept), elements(reduced)];
  const number = s.graph.operations.length;
  const name = `op${number}`;
  const buffer = `buf${number}`;
  const whole = body.block.nodes.find(x => x.op === "reduction");
  const final = body.block.nodes.find(x => x.op === "store_reduction");
  if (whole?.op !== "reduction" || final?.op !== "store_reduction") throw new Error(`${node.name} reduces nothing`);
  const dtype = isHalf(whole.dtype) ? "float32" : whole.dtype;
  const fill = defaultValue(whole.type, whole.srcDtype);

  const [keptVars, pieceVars] = loopVars(body.iterSizes, [int(cut.pieces)]);
  const piece = pieceVars[0] as Expr;
  const firstIter = [...body.iterSizes, int(cut.pieces)];
  const [firstVars, blockVars] = loopVars(firstIter, [int(cut.block)]);
  const at = add(mul(piece, cut.block), blockVars[0] as Expr);
  const first = buildBody(firstVars, firstIter, blockVars, [int(cut.block)], sizes, ops => {
    const value = <V>(o: BodyOps<V>): V => reducedValue(o, body, keptVars, unflatten(at, reduced));
    const fits = cut.pieces * cut.block === rnumel;
    const width = rnumel > 2 ** 31 - 1 ? "int64" : "int32";
    const v = fits
      ? value(ops)
      : ops.masked(
          ops.op("lt", ops.indexExpr(at, width), ops.constant(rnumel, width)) as never,
          () => value(ops),
          fill as number | boolean | PyFloat,
        );
    const [r] = ops.reduction(dtype, whole.srcDtype, whole.type, v);
    ops.storeReduction(buffer, add(flatten(keptVars, kept), mul(piece, numel)), r as never);
  });
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
  for (const n of all) if (n !== firstNode && descends(n, node)) n.ancestors = new Set([...n.ancestors, name]);
  return firstNode;
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
