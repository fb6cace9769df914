// Sums along both axes of a matrix and copies of it, over square tiles. In: members with bodies over (kept, reduced)
// loops. Out: a looped kernel with one more grid dimension: each program walks a stretch of the reduced elements for its
// columns, stores copies tile by tile (transposed ones through shared memory, which Triton does where a store's order is
// not the load's) and leaves a partial result per sum. Promises: no atomics, so results do not depend on chance; every
// partial result is written, by programs without work too.
import type { ReductionType } from "../../../aten/types";
import { runBody } from "../../ir/run_body";
import type { TritonConfig } from "../../plan/types";
import type { FrameMember } from "../../scheduler/transpose_frame";
import { add, type Expr, floorDiv, modularIndexing, mul, product } from "../../symbolic/expr";
import { bodyHandler } from "./body_handler";
import type { CseVar } from "./cse";
import { TritonKernel } from "./kernel";
import type { KernelSpec } from "./kernel_spec";
import { indexingOf, maskText } from "./memory";
import { defaultValue } from "./reductions";

export interface TransposeSpec extends KernelSpec {
  /** reduced elements per program */
  readonly walk: number;
}

export class TransposeKernel extends TritonKernel {
  constructor(private readonly transpose: TransposeSpec) {
    super({ ...transpose, constants: ["NUM_STAGES"] });
  }

  /** the one loop, over this program's stretch */
  override flush(): void {
    const { body } = this;
    const r = this.lastTree;
    body.write(`rsplit_start = tl.program_id(1) * ${this.transpose.walk}`, "");
    body.write(`rsplit_end = min(rsplit_start + ${this.transpose.walk}, r0_numel)`, "");
    body.write("for r0_offset in tl.range(rsplit_start, rsplit_end, R0_BLOCK, num_stages=NUM_STAGES):", "");
    this.writeHeader(r, body, 1);
    this.writeReductionIndices(body, 1);
    for (const b of [this.indexing, this.loads, this.compute, this.stores]) body.splice(b, 1);
    body.splice(this.postLoopCombine);
    body.splice(this.postLoopStore);
    for (const b of [this.indexing, this.loads, this.compute, this.stores, this.postLoopCombine, this.postLoopStore])
      b.clear();
  }
}

/** members in order, those that feed others first */
export function emitTranspose(k: TransposeKernel, members: readonly FrameMember[]): void {
  const sized = members.map(m => [m.body.iterSizes, m.body.reduceSizes] as const);
  // in two passes, as variables are numbered before any text is written
  for (const sizes of sized) k.splitAndSetRanges(sizes);
  for (const [i, m] of members.entries()) {
    const ranges = k.splitAndSetRanges(sized[i] ?? []);
    if (!ranges) throw new Error(`${m.node.name} does not fit the tiles`);
    k.node = m.node;
    k.op = m.node.name;
    const handler = bodyHandler(k);
    let type: ReductionType = "sum";
    runBody(
      m.body,
      {
        ...handler,
        reduction: (dtype, src, t, value) => {
          type = t;
          return m.role === "cross" ? value : handler.reduction(dtype, src, t, value);
        },
        storeReduction: (buffer, index, value) => {
          if (m.role === "cross") storeAcross(k, m, index, value, type);
          else if (isPartial(m)) storePartial(k, m, index, value);
          else handler.storeReduction(buffer, index, value);
        },
      },
      ranges[0] ?? [],
      ranges[1] ?? [],
    );
    k.node = null;
    k.op = "";
  }
}

const isPartial = (m: FrameMember): boolean => {
  const op = m.node.operation;
  return op.kind === "computed" && "split" in op.loops && op.loops.split !== undefined;
};

/**
 * Where piece 0's result of a kept element lies in the buffer of partial results, and how far the next piece's is: null where
 * one piece holds it all and the buffer has no dimension for pieces.
 */
function partialPlace(
  k: TransposeKernel,
  m: FrameMember,
  flat: Expr,
): { readonly buffer: string; readonly at: Expr; readonly next: string | null } {
  const buffer = m.node.outputs[0]?.name;
  if (buffer === undefined) throw new Error(`${m.node.name} writes nothing`);
  const { size, stride } = k.graph.tensorLayout(buffer);
  const pieces = isPartial(m);
  const kept = pieces ? size.slice(0, -1) : size;
  let at: Expr = k.sizevars.simplify(0);
  for (const [i, s] of kept.entries()) {
    const step = product(kept.slice(i + 1));
    const coordinate = i === 0 ? floorDiv(flat, step) : modularIndexing(flat, step, s);
    at = add(at, mul(coordinate, stride[i] as Expr));
  }
  return { buffer, at, next: pieces ? k.printIndex(stride[stride.length - 1] as Expr) : null };
}

function writePartial(k: TransposeKernel, m: FrameMember, flat: Expr, text: string, axis: 0 | 1): void {
  const { buffer, at, next } = partialPlace(k, m, flat);
  k.storedBuffers.add(buffer);
  k.mustKeep.add(buffer);
  k.numStore++;
  const inside = k.insideReduction;
  k.insideReduction = axis === 0;
  const index = indexingOf(k, at);
  k.insideReduction = inside;
  const pointer = k.args.output(buffer);
  const to = axis === 0 ? k.stores : k.postLoopStore;
  const place = next === null ? index.text : `${index.text} + ${next}*tl.program_id(${axis})`;
  to.write(`tl.store(${pointer} + (${place}), ${text}, ${maskText(index)})`, k.op);
}

/** a sum over this program's stretch */
function storePartial(k: TransposeKernel, m: FrameMember, flat: Expr, value: CseVar): void {
  writePartial(k, m, flat, value.name, 1);
}

const OVER_TILE: Readonly<Partial<Record<ReductionType, string>>> = {
  sum: "tl.sum",
  prod: "triton_helpers.prod",
  max: "triton_helpers.max2",
  min: "triton_helpers.min2",
};

/** a sum over this tile's columns, complete for its rows */
function storeAcross(k: TransposeKernel, m: FrameMember, flat: Expr, value: CseVar, type: ReductionType): void {
  const [x] = k.trees;
  const fn = OVER_TILE[type];
  if (!x || !fn) throw new Error(`no ${type} over a tile`);
  const shape = k.denseShape();
  let v = k.value(`tl.broadcast_to(${value.name}, ${k.dense()})`, value.dtype, shape);
  if (!k.hasConstantMask(x))
    v = k.value(`tl.where(xmask, ${v.name}, ${defaultValue(type, value.dtype)})`, value.dtype, shape);
  const part = k.value(`${fn}(${v.name}, 0)[None, :]`, value.dtype, ["1", shape[1] ?? "1"]);
  k.numReduction++;
  writePartial(k, m, flat, part.name, 0);
}

/**
 * `itemsize`: bytes of the widest input. `fixedColumns`: a sum across tiles has one partial result per 64 columns. `walk`:
 * reduced elements per program, which a block divides.
 */
export function transposeConfigs(itemsize: number, fixedColumns: boolean, walk: number): TritonConfig[] {
  const make = (x: number, r: number, numWarps: number, stages: number): TritonConfig => ({
    kwargs: { XBLOCK: x, R0_BLOCK: r, NUM_STAGES: stages },
    numWarps,
    numStages: 1,
  });
  const square = [make(64, 64, 4, 1), make(64, 64, 8, 1), make(64, 128, 4, 1), make(64, 128, 8, 1)];
  const narrow = [make(32, 64, 4, 1), make(32, 128, 4, 1), make(128, 128, 8, 1), make(128, 64, 8, 1)];
  const wide = [make(32, 128, 4, 1), make(32, 64, 4, 2), make(128, 64, 4, 2), make(64, 64, 8, 2)];
  const all = fixedColumns ? [...square, make(64, 64, 8, 2)] : [...square, ...(itemsize <= 2 ? narrow : wide)];
  return all.filter(c => walk % (c.kwargs.R0_BLOCK ?? 1) === 0);
}
