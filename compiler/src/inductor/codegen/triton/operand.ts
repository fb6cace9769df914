// One operand of a matrix product inside the loop over the depth. In: a view in memory, or the pointwise operations that
// compute it. Out: lines before the loop, and those that give a tile of it in every step. Promises: what is beyond the depth
// is zero; rows beyond the edge are computed on wrapped data; a computed operand is rounded as its buffer would be.
import { isHalf } from "../../ir/dtypes";
import { runBody } from "../../ir/run_body";
import type { BufferView } from "../../ir/types";
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, int } from "../../symbolic/expr";
import type { OperandTile } from "../../templates/prologue";
import { bodyHandler } from "./body_handler";
import { withHalfMath } from "./cheap_math";
import type { CseVar } from "./cse";
import { rangesOf } from "./generate";
import { TritonKernel } from "./kernel";
import type { KernelSpec } from "./kernel_spec";
import type { Line, LineBuffer } from "./lines";
import type { RangeTree } from "./range_tree";
import { tritonType } from "./triton_types";

/** an operand that is computed: how its tiles lie, and by what, in fused order */
export interface ComputedOperand {
  readonly tile: OperandTile;
  readonly nodes: readonly SchedulerNode[];
}

const DEPTH = "KBLOCK";

/** The bodies of an operand's operations over one tile of it. */
class TileKernel extends TritonKernel {
  readonly tiles = new Map<string, CseVar>();

  constructor(
    spec: KernelSpec,
    private readonly deep: boolean,
  ) {
    super(spec);
  }

  /** where a tile lies is written by the loop around it */
  override writeHeader(): void {}
  override hasConstantMask(t: RangeTree): boolean {
    return t.block !== DEPTH || this.deep;
  }
  override storeTile(buffer: string, _pointer: string, _index: Expr, value: CseVar): boolean {
    this.tiles.set(buffer, value);
    return true;
  }
}

export interface OperandPlace {
  /** "a", "b", "b1" */
  readonly name: string;
  /** the block of the result's dimension that is the operand's own, and the one-dimensional text of its indices */
  readonly block: "YBLOCK" | "XBLOCK";
  readonly own: string;
  /** one-dimensional text of the depth's indices, koffset included */
  readonly depth: string;
  /** the depth is the operand's last dimension, as in a product's first operand */
  readonly depthLast: boolean;
  /** the depth is a multiple of every block, so nothing is masked */
  readonly deep: boolean;
}

export interface OperandLines {
  readonly before: readonly Line[];
  readonly inside: readonly Line[];
  /** after the product of the step */
  readonly after: readonly Line[];
}

interface Pointers {
  readonly pointer: string;
  /** distance between matrices; null: no batch */
  readonly batch: string | null;
  /** distances between rows and columns */
  readonly steps: readonly [string, string];
  /** indices of the first step's depth */
  readonly first: string;
  readonly op: string;
}

/** Lines that load a tile through pointers, which move with the depth. */
export function loadedTile(place: Omit<OperandPlace, "depth">, from: Pointers): OperandLines {
  const { name, own, depthLast } = place;
  const line = (text: string): Line => ({ text, indent: 0, op: from.op });
  const [rows, columns] = from.steps;
  const at = `${name}_at`;
  const batch = from.batch === null ? "" : ` + zindex * ${from.batch}`;
  const across = depthLast ? "[None, :]" : "[:, None]";
  const mask = place.deep ? "" : `, kindex${across} < knumel - koffset, other=0.0`;
  const index = depthLast ? [`${name}_own`, `${from.first}${across}`] : [`${from.first}${across}`, `${name}_own`];
  return {
    before: [
      line(`${name}_own = (${own})${depthLast ? "[:, None]" : "[None, :]"}`),
      line(`${at} = ${from.pointer}${batch} + (${index[0]} * ${rows} + ${index[1]} * ${columns})`),
    ],
    inside: [line(`${name} = tl.load(${at}${mask})`)],
    after: [line(`${at} += KBLOCK * ${depthLast ? columns : rows}`)],
  };
}

/** Lines that compute a tile: those that no step changes stand before the loop. */
export function computedTile(
  kernel: TritonKernel,
  view: BufferView,
  from: ComputedOperand,
  place: OperandPlace,
): { readonly before: readonly Line[]; readonly inside: readonly Line[] } {
  const { tile } = from;
  const { name, deep } = place;
  const depthInner = place.depthLast !== tile.turned;
  const [outer, inner] = depthInner ? [place.block, DEPTH] : [DEPTH, place.block];
  const names = new Map([
    ["y", { index: `${name}_outer`, mask: depthInner ? "" : `${name}_mask`, block: outer }],
    ["x", { index: `${name}_inner`, mask: depthInner ? `${name}_mask` : "", block: inner }],
  ] as const);
  const t = new TileKernel(
    {
      graph: kernel.graph,
      options: kernel.options,
      tiling: new Map([
        ...(tile.batch === null ? [] : [["z", tile.batch.count] as const]),
        ["y", tile.outer] as const,
        ["x", tile.inner] as const,
        ["r0_", int(1)] as const,
      ]),
      isReduction: false,
      persistent: false,
      indexDtype: kernel.spec.indexDtype,
      scalarTrees: new Set(["z"]),
      shared: kernel.spec.shared,
      treeNames: names,
    },
    deep,
  );
  const op = from.nodes[from.nodes.length - 1]?.name ?? "";
  const own = `(${place.own})${depthInner ? "[:, None]" : "[None, :]"}`;
  const depth = `(${place.depth})${depthInner ? "[None, :]" : "[:, None]"}`;
  t.body.write(`${depthInner ? `${name}_outer` : `${name}_inner`} = ${own}`, op);
  const depthName = depthInner ? `${name}_inner` : `${name}_outer`;
  t.body.write(`${depthName} = ${depth}`, op);
  if (!deep) t.body.write(`${name}_mask = ${depthName} < knumel`, op);
  for (const n of from.nodes) rangesOf(t, n);
  const plain = bodyHandler(t);
  const handler = isHalf(view.dtype) ? withHalfMath(t, plain) : plain;
  for (const n of from.nodes) {
    const [iter = [], reduce = []] = rangesOf(t, n);
    if (!n.body) throw new Error(`${n.name} has no body`);
    t.node = n;
    t.op = n.name;
    runBody(n.body, handler, iter, reduce);
  }
  t.flush();
  const value = t.tiles.get(view.buffer);
  if (!value) throw new Error(`nothing computes ${view.buffer}`);
  for (const b of t.tiles.keys()) kernel.storedBuffers.add(b);
  kernel.numStore += t.tiles.size;
  kernel.numLoad += t.numLoad;
  const shape = t.denseShape();
  const full = value.shape.join() === shape.join() ? value.name : `tl.broadcast_to(${value.name}, ${t.dense()})`;
  const masked = deep ? full : `tl.where(${name}_mask, ${full}, 0.0)`;
  const typed = `${masked}.to(${tritonType(view.dtype)})`;
  t.body.write(`${name} = ${tile.turned ? `tl.trans(${typed})` : typed}`, op);
  return hoisted(t.body, "koffset");
}

/** lines in order, those that depend on a name apart from those that do not */
function hoisted(
  { lines }: LineBuffer,
  changes: string,
): { readonly before: readonly Line[]; readonly inside: readonly Line[] } {
  const changed = new Set([changes]);
  const before: Line[] = [];
  const inside: Line[] = [];
  for (const l of lines) {
    const [, target] = /^(\w+) = /.exec(l.text) ?? [];
    const depends = target === undefined || (l.text.match(/[A-Za-z_]\w*/g) ?? []).some(w => changed.has(w));
    if (depends && target !== undefined) changed.add(target);
    (depends ? inside : before).push(l);
  }
  return { before, inside };
}
