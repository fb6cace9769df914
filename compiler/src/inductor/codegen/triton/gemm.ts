// A matrix product with what follows it, as one Triton kernel. In: one or two products of the same first operand, and
// the operations on their results. Out: the kernel's lines. Promises: sums are kept in float32 and what follows reads
// them unrounded; rows and columns beyond the edge are computed on wrapped or zero data and never stored; nothing is
// added atomically.
import type { DType } from "../../../aten/types";
import { runBody } from "../../ir/run_body";
import type { BufferView } from "../../ir/types";
import type { SchedulerNode } from "../../scheduler/types";
import { add, type Expr, int, mul, type SymExpr, stepsOver } from "../../symbolic/expr";
import { denseDimension, type GemmForm, hasDescriptor, isPersistent } from "../../templates/forms";
import { type Gemm, isFloat8, viewIndex } from "../../templates/gemm";
import { bodyHandler } from "./body_handler";
import { withHalfMath } from "./cheap_math";
import type { CseVar } from "./cse";
import { type Features, indexDtype } from "./features";
import { type EmittedKernel, finishKernel, givesHalves, type KernelContext, rangesOf } from "./generate";
import { TritonKernel } from "./kernel";
import { KernelArgs } from "./kernel_args";
import type { KernelSpec } from "./kernel_spec";
import { type Line, LineBuffer } from "./lines";
import { emitLoad, emitStore } from "./memory";
import { emitCall, emitConstant } from "./op_table";
import { type ComputedOperand, computedTile, loadedTile, type OperandLines } from "./operand";
import type { RangeTree } from "./range_tree";
import { tritonType } from "./triton_types";

export interface GemmGroup {
  /** template nodes; several multiply the same first operand */
  readonly products: readonly { readonly node: SchedulerNode; readonly gemm: Gemm }[];
  /** in fused order */
  readonly epilogue: readonly SchedulerNode[];
  /** operands that are computed on the way in, by buffer; one product then */
  readonly operands: ReadonlyMap<string, ComputedOperand>;
}

/** every tile's sides divide this, so that sizes that are multiples of it need no mask */
const WIDEST_TILE = 256;
const DEEPEST_TILE = 256;

/** the product's dimensions, and their loop variables once they are known */
interface ResultTiles {
  readonly size: readonly Expr[];
  place: readonly SymExpr[];
}

class GemmKernel extends TritonKernel {
  /** descriptors of the tiles that are stored, before the walk */
  readonly outputs = new LineBuffer();

  constructor(
    spec: KernelSpec,
    /** null: tiles are stored through pointers */
    private readonly tiles: ResultTiles | null,
  ) {
    super({ ...spec, constants: ["KBLOCK", "GROUP"] });
  }

  /**
   * A dense tile goes out through the copy engine, which also cuts what is beyond the edge. Whatever shape the graph gives
   * the result, it is stored as [batch, m, n] if it lies so, turned if columns lie together.
   */
  override storeTile(buffer: string, pointer: string, index: Expr, value: CseVar): boolean {
    const l = this.graph.tensorLayout(buffer);
    const out =
      this.tiles && l.kind !== "mutation" ? resultView(this.simplifyIndexing(index), this.tiles, l.dtype) : null;
    if (out === null || !hasDescriptor(out, this.sizevars)) return false;
    const batch = out.size.length === 3;
    const turned = denseDimension(out) === "first";
    const order = descriptorOrder(out);
    const pick = (xs: readonly string[]): string => `[${order.map(i => xs[i]).join(", ")}]`;
    const list = (xs: readonly Expr[]): string => pick(xs.map(e => this.printIndex(e)));
    const block = pick([...(batch ? ["1"] : []), "YBLOCK", "XBLOCK"]);
    const name = pointer.replace("ptr", "tiles");
    const offset = this.printIndex(out.offset);
    const base = offset === "0" ? pointer : `${pointer} + ${offset}`;
    this.outputs.write(
      `${name} = tl.make_tensor_descriptor(${base}, ${list(out.size)}, ${list(out.stride)}, ${block})`,
      this.op,
      { buffer },
    );
    const full = value.shape.join() === this.denseShape().join();
    const spread = full ? value.name : `tl.broadcast_to(${value.name}, ${this.dense()})`;
    const typed = `${spread}.to(${tritonType(l.dtype)})${turned ? ".T" : ""}`;
    const at = pick([...(batch ? ["zindex.to(tl.int32)"] : []), "yoffset", "xoffset"]);
    this.stores.write(`${name}.store(${at}, ${batch ? `${typed}.reshape(${block})` : typed})`, this.op, { buffer });
    return true;
  }

  /** where a program's tile lies is written with the walk over tiles */
  override writeHeader(): void {}
  override hasConstantMask(t: RangeTree): boolean {
    if (t.tensorDim === null) return true;
    return this.sizevars.knownMultipleOf(t.numel, WIDEST_TILE);
  }
}

/** float32 products: what the tensor core is told */
export type InputPrecision = "ieee" | "tf32" | "bf16x6";

export interface GemmOptions {
  readonly form: GemmForm;
  readonly precision: InputPrecision;
  /** results go out through tensor descriptors where they lie densely */
  readonly storesTiles: boolean;
}

export function emitGemm(
  c: KernelContext,
  group: GemmGroup,
  { form, precision, storesTiles }: GemmOptions,
): EmittedKernel {
  const [lead] = group.products;
  if (!lead) throw new Error("a template needs a product");
  const { gemm } = lead;
  const before = [...group.operands.values()].flatMap(o => o.nodes);
  const nodes = [...group.products.map(p => p.node), ...group.epilogue];
  const features: Features = { nodes: [...before, ...nodes], numel: lead.node.group[0], rnumel: int(1) };
  const tiling = new Map([
    ...(gemm.batch === null ? [] : [["z", gemm.batch] as const]),
    ["y", gemm.m] as const,
    ["x", gemm.n] as const,
    ["r0_", int(1)] as const,
  ]);
  const size = [...(gemm.batch === null ? [] : [gemm.batch]), gemm.m, gemm.n];
  const tiles: ResultTiles | null = isPersistent(form) && storesTiles ? { size, place: [] } : null;
  const k = new GemmKernel(
    {
      graph: c.graph,
      options: c.options,
      tiling,
      isReduction: false,
      persistent: false,
      indexDtype: indexDtype(features, c.graph),
      scalarTrees: new Set(["z"]),
      // what computes operands has values and variables of its own, and the same arguments
      shared: { args: new KernelArgs(n => c.graph.realName(n)), tmp: { next: 0 }, vars: { next: 0 } },
    },
    tiles,
  );
  // variables are numbered before any text is written
  const place = rangesOf(k, lead.node)[0] ?? [];
  if (tiles) tiles.place = place as SymExpr[];
  for (const m of group.epilogue) rangesOf(k, m);
  const head = new LineBuffer();
  const writer = new ProductWriter(k, group, form, precision, head);
  writer.walk();
  writer.products();
  writeTileIndices(k);
  for (const [i, p] of group.products.entries()) storeProduct(k, p, i, group.products.length, place as SymExpr[]);
  const plain = bodyHandler(k);
  const handler = givesHalves(c.graph, nodes) ? withHalfMath(k, plain) : plain;
  for (const m of group.epilogue) {
    const [iter = [], reduce = []] = rangesOf(k, m);
    if (!m.body) throw new Error(`${m.name} has no body`);
    k.node = m;
    k.op = m.name;
    runBody(m.body, handler, iter, reduce);
  }
  k.node = null;
  k.op = "";
  finishKernel(k);
  const outer = new LineBuffer();
  outer.splice(k.outputs);
  outer.splice(head);
  const inner = new LineBuffer();
  inner.lines = k.body.lines;
  k.body.lines = [];
  k.body.splice(outer);
  k.body.splice(inner, isPersistent(form) ? 1 : 0);
  return { kernel: k, features, hint: "DEFAULT", scores: null, schedule: [] };
}

const accumulator = (i: number, of: number): string => (of === 1 ? "acc" : `acc${i}`);

/** the walk over tiles, and the loop over the depth */
class ProductWriter {
  private readonly lead: Gemm;
  private readonly op: string;
  private readonly wraps: { readonly y: boolean; readonly x: boolean };
  private readonly deep: boolean;

  constructor(
    private readonly k: GemmKernel,
    private readonly group: GemmGroup,
    private readonly form: GemmForm,
    private readonly precision: InputPrecision,
    private readonly head: LineBuffer,
  ) {
    const [first] = group.products;
    if (!first) throw new Error("a template needs a product");
    this.lead = first.gemm;
    this.op = first.node.name;
    const sv = k.sizevars;
    this.wraps = {
      y: !sv.knownMultipleOf(this.lead.m, WIDEST_TILE),
      x: !sv.knownMultipleOf(this.lead.n, WIDEST_TILE),
    };
    this.deep = sv.knownMultipleOf(this.lead.k, DEEPEST_TILE);
  }

  private text(e: Expr): string {
    return this.k.printIndex(e);
  }
  private body(line: string, indent = 0): void {
    this.k.body.write(line, this.op, { indent });
  }
  private get wide(): string {
    return this.k.spec.indexDtype === "int64" ? ".to(tl.int64)" : "";
  }

  /** which tile a program computes: bands of GROUP rows of tiles, so that neighbours share operands in the cache */
  walk(): void {
    const { lead, head, op } = this;
    const persistent = isPersistent(this.form);
    head.write(`knumel = ${this.text(lead.k)}`, op);
    head.write("ytiles = tl.cdiv(ynumel, YBLOCK)", op);
    head.write("xtiles = tl.cdiv(xnumel, XBLOCK)", op);
    if (isPersistent(this.form)) this.descriptors();
    if (persistent) {
      const count = lead.batch === null ? "ytiles * xtiles" : "ytiles * xtiles * znumel";
      const how = this.form === "flattened" ? ", flatten=True" : "";
      head.write(`for tile in tl.range(tl.program_id(0), ${count}, tl.num_programs(0)${how}):`, op);
    } else head.write("tile = tl.program_id(0)", op);
    if (lead.batch === null) this.body("within = tile % (GROUP * xtiles)");
    else {
      this.body(`zindex = (tile // (ytiles * xtiles))${this.wide}`);
      this.body("matrix_tile = tile % (ytiles * xtiles)");
      this.body("within = matrix_tile % (GROUP * xtiles)");
    }
    const tile = lead.batch === null ? "tile" : "matrix_tile";
    this.body(`band = ${tile} // (GROUP * xtiles) * GROUP`);
    this.body("height = min(ytiles - band, GROUP)");
    this.body("yoffset = (band + within % height) * YBLOCK");
    this.body("xoffset = within // height * XBLOCK");
  }

  private pointer(v: BufferView): string {
    const p = this.k.args.input(v.buffer);
    const offset = this.text(v.offset);
    return offset === "0" ? p : `${p} + ${offset}`;
  }

  private descriptors(): void {
    this.head.write(this.descriptor("a_tiles", this.lead.a, "YBLOCK", "KBLOCK"), this.op);
    for (const [i, p] of this.group.products.entries())
      this.head.write(this.descriptor(`b_tiles${this.suffix(i)}`, p.gemm.b, "KBLOCK", "XBLOCK"), this.op);
  }

  private descriptor(name: string, v: BufferView, rows: string, columns: string): string {
    const order = descriptorOrder(v);
    const blocks = v.size.length === 3 ? ["1", rows, columns] : [rows, columns];
    const pick = (xs: readonly string[]): string => order.map(i => xs[i]).join(", ");
    const size = pick(v.size.map(e => this.text(e)));
    const stride = pick(v.stride.map(e => this.text(e)));
    return `${name} = tl.make_tensor_descriptor(${this.pointer(v)}, [${size}], [${stride}], [${pick(blocks)}])`;
  }

  private suffix(i: number): string {
    return this.group.products.length === 1 ? "" : String(i);
  }

  products(): void {
    const many = this.group.products.length;
    this.group.products.forEach((_, i) => {
      this.body(`${accumulator(i, many)} = tl.zeros([YBLOCK, XBLOCK], tl.float32)`);
    });
    if (isPersistent(this.form)) this.descriptorLoop();
    else this.pointerLoop();
  }

  private descriptorLoop(): void {
    this.body("for koffset in tl.range(0, knumel, KBLOCK):");
    this.body(`a = ${fetched("a_tiles", this.lead.a, "yoffset", "koffset", "YBLOCK, KBLOCK")}`, 1);
    this.group.products.forEach((p, i) => {
      const tiles = `b_tiles${this.suffix(i)}`;
      this.body(`b = ${fetched(tiles, p.gemm.b, "koffset", "xoffset", "KBLOCK, XBLOCK")}`, 1);
      this.dot(i, "b");
    });
  }

  private pointerLoop(): void {
    const { piece } = this.lead;
    this.body(`kindex = tl.arange(0, KBLOCK)${this.wide}`);
    if (piece) this.body(`kfirst = zindex * ${piece.depth}`);
    const bs = this.group.products.map((p, i) => this.operand(`b${this.suffix(i)}`, p.gemm.b, "XBLOCK"));
    const operands = [this.operand("a", this.lead.a, "YBLOCK"), ...bs];
    for (const o of operands) this.k.body.splice(linesOf(o.before));
    const range = piece ? `kfirst, min(kfirst + ${piece.depth}, knumel)` : "0, knumel";
    this.body(`for koffset in tl.range(${range}, KBLOCK):`);
    for (const o of operands) this.k.body.splice(linesOf(o.inside), 1);
    this.group.products.forEach((_, i) => {
      this.dot(i, `b${this.suffix(i)}`);
    });
    for (const o of operands) this.k.body.splice(linesOf(o.after), 1);
  }

  /** an operand's tiles: loaded through pointers that move with the depth, or computed where they would be loaded */
  private operand(name: string, v: BufferView, block: "YBLOCK" | "XBLOCK"): OperandLines {
    const axis = block === "YBLOCK" ? "y" : "x";
    const at = `(${axis}offset + tl.arange(0, ${block}))${this.wide}`;
    const own = this.wraps[axis] ? `${at} % ${axis}numel` : at;
    const place = { name, block, own, depthLast: axis === "y", deep: this.deep };
    const from = this.group.operands.get(v.buffer);
    if (from) return { after: [], ...computedTile(this.k, v, from, { ...place, depth: "koffset + kindex" }) };
    const [rows, columns] = v.stride.slice(-2).map(s => factor(this.text(s as Expr))) as [string, string];
    return loadedTile(place, {
      pointer: this.pointer(v),
      batch: v.size.length === 3 ? factor(this.text(v.stride[0] as Expr)) : null,
      steps: [rows, columns],
      first: this.lead.piece ? "(kfirst + kindex)" : "kindex",
      op: this.op,
    });
  }

  private dot(i: number, b: string): void {
    const acc = accumulator(i, this.group.products.length);
    const p = this.group.products[i]?.gemm;
    const { dtype } = this.lead.a;
    if (isFloat8(dtype) && p?.fastAccumulation !== true) this.body(`${acc} += tl.dot(a, ${b})`, 1);
    else {
      const how = dtype === "float32" ? `, input_precision="${this.precision}"` : "";
      this.body(`${acc} = tl.dot(a, ${b}, ${acc}${how})`, 1);
    }
  }
}

/** where a result is stored, as a view of the product's dimensions; null where it does not lie in steps of them */
function resultView(index: Expr, { size, place }: ResultTiles, dtype: DType): BufferView | null {
  const lies = stepsOver(index, place);
  return lies && { buffer: "", size, stride: lies.steps, offset: lies.offset, dtype, whole: false };
}

function linesOf(lines: readonly Line[]): LineBuffer {
  const buffer = new LineBuffer();
  buffer.lines = [...lines];
  return buffer;
}

const factor = (text: string): string => (/^\w+$/.test(text) ? text : `(${text})`);

/** a descriptor's last dimension is the dense one */
function descriptorOrder(v: BufferView): readonly number[] {
  const all = v.size.map((_, i) => i);
  if (denseDimension(v) === "last") return all;
  const [row, column] = all.slice(-2) as [number, number];
  return [...all.slice(0, -2), column, row];
}

/** a tile of a matrix, turned if the matrix lies the other way */
function fetched(tiles: string, v: BufferView, row: string, column: string, block: string): string {
  const turned = denseDimension(v) === "first";
  const at = turned ? [column, row] : [row, column];
  const sides = turned ? block.split(", ").reverse().join(", ") : block;
  const whole = v.size.length === 3 ? ["zindex.to(tl.int32)", ...at] : at;
  const loaded = `${tiles}.load([${whole.join(", ")}])${v.size.length === 3 ? `.reshape([${sides}])` : ""}`;
  return turned ? `${loaded}.T` : loaded;
}

function writeTileIndices(k: GemmKernel): void {
  for (const t of k.trees) {
    if (t.tensorDim === null || t.isReduction) continue;
    const subscript = t.prefix === "y" ? "[:, None]" : "[None, :]";
    const cast = k.spec.indexDtype === "int64" ? ".to(tl.int64)" : "";
    k.body.write(`${t.name} = ${t.prefix}offset + tl.arange(0, ${t.block})${subscript}${cast}`, "");
    if (!k.hasConstantMask(t)) k.body.write(`${t.mask} = ${t.name} < ${t.prefix}numel`, "");
  }
}

/** the sum scaled, with what is added to it, as the value of the product's buffer */
function storeProduct(
  k: GemmKernel,
  p: GemmGroup["products"][number],
  i: number,
  of: number,
  place: readonly SymExpr[],
): void {
  const { gemm, node } = p;
  k.node = node;
  k.op = node.name;
  let value = k.cse.define(accumulator(i, of), "float32", k.denseShape());
  const call = (fn: "mul" | "add", x: CseVar, y: CseVar): CseVar => emitCall(k, fn, [x, y]) as CseVar;
  const load = (v: BufferView): CseVar => emitLoad(k, v.buffer, viewIndex(v, place));
  if (gemm.scales) value = call("mul", value, call("mul", load(gemm.scales.a), load(gemm.scales.b)));
  if (gemm.alpha !== 1) value = call("mul", value, emitConstant(k, gemm.alpha, "float32"));
  if (gemm.added && gemm.added.beta !== 0) {
    const { view, beta } = gemm.added;
    const other = load(view);
    value = call("add", value, beta === 1 ? other : call("mul", other, emitConstant(k, beta, "float32")));
  }
  const out = node.outputs[0]?.name;
  if (out === undefined) throw new Error(`${node.name} writes nothing`);
  const l = k.graph.tensorLayout(out);
  let at: Expr = l.offset;
  for (const [d, s] of l.stride.entries()) at = add(at, mul(s, place[d] as Expr));
  emitStore(k, out, at, value, null);
  k.node = null;
  k.op = "";
}
