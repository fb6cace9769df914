// State of one Triton kernel while its bodies are emitted (SIMDKernel and TritonKernel in torch/_inductor/codegen).
// In: tiling, numels, what kind of kernel. Out: lines. Promises: buffers of text are closed in Inductor's order; every
// line carries the operation it stems from. Loads and stores are in memory.ts, reductions in reductions.ts.
import type { DType } from "../../../aten/types";
import type { BodyNode } from "../../ir/loop_body";
import type { SchedulerNode } from "../../scheduler/types";
import {
  type Expr,
  floorDiv,
  freeSymbols,
  int,
  intValue,
  rebuild,
  replaceExpr,
  type SymExpr,
  substitute,
  sym,
} from "../../symbolic/expr";
import { printTriton } from "../../symbolic/print_triton";
import type { VarRanges } from "../../symbolic/ranges";
import { expandFloorDiv } from "../../symbolic/simplify";
import { blockOf, nestedNames, persistentBlock } from "./blocks";
import { Cse, type CseVar, type Shape, type ValueRange } from "./cse";
import type { GraphView } from "./graph_view";
import { KernelArgs } from "./kernel_args";
import type { KernelSpec } from "./kernel_spec";
import { LineBuffer } from "./lines";
import { type CodegenOptions, has } from "./options";
import {
  constructRangeTrees,
  type Prefix,
  type RangeEntry,
  type RangeTree,
  splitIterationRanges,
  type VariableSpace,
} from "./range_tree";

const MAX_BLOCK: Readonly<Record<Prefix, number>> = { x: 4096, y: 1024, z: 1024, r0_: 4096 * 16, r1_: 4096 * 16 };
const MAX_Y_GRID = 65535;

export class TritonKernel {
  readonly graph: GraphView;
  readonly options: CodegenOptions;
  readonly trees: readonly RangeTree[];
  readonly entries = new Map<SymExpr, RangeEntry>();
  readonly args: KernelArgs;
  readonly cse: Cse;
  readonly space: VariableSpace;

  readonly body = new LineBuffer();
  readonly indexing = new LineBuffer();
  readonly loads = new LineBuffer();
  readonly compute = new LineBuffer();
  readonly stores = new LineBuffer();
  readonly postLoopCombine = new LineBuffer();
  readonly postLoopStore = new LineBuffer();
  /** text of module-level helper functions (scan combines) */
  readonly helpers: string[] = [];

  insideReduction: boolean;
  /** set while a body over the groups of a nested reduction is emitted */
  domain: readonly RangeTree[] | null = null;
  loadMask: CseVar | null = null;
  loadOther: { readonly value: number | boolean; readonly isFloat: boolean } | null = null;
  node: SchedulerNode | null = null;
  op = "";
  /** casts to int64 of the body now emitted that are to int32 */
  narrowCasts: ReadonlySet<BodyNode> = new Set();
  readonly outsideLoopVars = new Set<CseVar>();
  readonly loadCounts = new Map<string, number>();
  readonly storedBuffers = new Set<string>();
  readonly mustKeep = new Set<string>();
  readonly inplaceUpdates = new Map<string, string>();
  readonly removed = new Set<string>();
  readonly inplacedToRemove = new Set<string>();
  readonly mutations = new Set<string>();
  numLoad = 0;
  numStore = 0;
  numReduction = 0;
  atomicAdd = false;
  minElemPerThread = 0;
  readonly autotuneHints = new Set<string>();
  /** trees of groups inside this kernel's blocks */
  readonly nestedTrees: RangeTree[] = [];
  /** nodes whose reductions run over the rows: their values are accumulated, not reduced here */
  readonly partialNodes = new Set<string>();
  /** column sums of a mix-order kernel: the reduced buffer and how its partial results combine */
  readonly partials: { buffer: string; type: string; value: CseVar; accumulator: string; op: string }[] = [];

  constructor(readonly spec: KernelSpec) {
    this.graph = spec.graph;
    this.options = spec.options;
    this.args = spec.shared?.args ?? new KernelArgs(n => this.graph.realName(n));
    this.cse = new Cse(spec.shared?.tmp ?? { next: 0 }, () => this.loadMask?.name ?? "");
    this.space = { sizevars: this.graph.sizevars, counter: spec.shared?.vars ?? { next: 0 }, entries: this.entries };
    this.insideReduction = spec.isReduction;
    this.trees = constructRangeTrees(spec.tiling, this.space, spec);
    this.writePrologue();
  }

  // --- shape of the kernel ---

  get isReduction(): boolean {
    return this.spec.isReduction;
  }
  /** a sub-kernel of a combo kernel */
  get isPart(): boolean {
    return this.spec.pidOffset !== undefined;
  }
  get sizevars(): GraphView["sizevars"] {
    return this.graph.sizevars;
  }
  get lastTree(): RangeTree {
    return this.trees[this.trees.length - 1] as RangeTree;
  }
  get reductionTrees(): readonly RangeTree[] {
    return this.trees.filter(t => t.isReduction);
  }
  /** whether work inside the reduction happens in a loop */
  get isLooped(): boolean {
    return this.isReduction && this.lastTree.isLoop;
  }
  /** the trees that the body now emitted runs over: the kernel's, or the groups of a nested reduction */
  domainTrees(): readonly RangeTree[] {
    return this.domain ?? this.trees;
  }
  activeTrees(): readonly RangeTree[] {
    return this.domainTrees().filter(t => !t.isReduction || this.insideReduction);
  }
  tensorDims(): readonly RangeTree[] {
    return this.domainTrees().filter(t => t.tensorDim !== null);
  }
  get ndim(): number {
    return this.tensorDims().length;
  }
  /** block sizes of all tensor dimensions, 1 where the tree is not active */
  denseShape(): Shape {
    return this.tensorDims().map(t => (!t.isReduction || this.insideReduction ? t.block : "1"));
  }
  onesShape(): Shape {
    return this.tensorDims().map(() => "1");
  }
  dense(): string {
    return `[${this.denseShape().join(", ")}]`;
  }
  get indexType(): string {
    return `tl.${this.spec.indexDtype}`;
  }

  // --- index variables ---

  varRanges(): VarRanges {
    const ranges = new Map<SymExpr, Expr>();
    for (const t of new Set([...this.trees, ...this.domainTrees()]))
      for (const e of t.entries) ranges.set(e.symbol, e.length);
    return ranges;
  }

  /** index expressions for a node's (iteration, reduction) loops; undefined: its sizes do not fit this kernel */
  splitAndSetRanges(lengths: readonly (readonly Expr[])[]): Expr[][] | undefined {
    const trees = this.domainTrees();
    const groups = trees.map(t => (t.isReduction && !this.insideReduction ? (1 as const) : t.numel));
    const sv = this.sizevars;
    const exprs = groups.map(g => (g === 1 ? sv.simplify(1) : g));
    if (
      lengths.length === exprs.length &&
      lengths.every((l, i) => sv.simplify(sv.numel(l)) === sv.simplify(exprs[i] as Expr))
    ) {
      return lengths.map((l, i) => (trees[i] as RangeTree).construct(l));
    }
    const split = splitIterationRanges(exprs, lengths, sv);
    if (!split) return undefined;
    const vars = split.ranges.flatMap((l, i) => (trees[i] as RangeTree).construct(l));
    return split.index(vars);
  }

  simplifyIndexing(index: Expr): Expr {
    let e = this.sizevars.simplifyWithRanges(index, this.varRanges());
    for (const t of this.domainTrees()) {
      const quotient = expandFloorDiv(e, this.sizevars);
      e = quotient ? floorDiv(t.combineContiguous(quotient[0]), quotient[1]) : t.combineContiguous(e);
    }
    return this.combineModularPairs(e);
  }

  /** (x0 % 32) of a variable that is itself xindex % 64 becomes one remainder of the whole index */
  private combineModularPairs(e: Expr): Expr {
    if (e.kind !== "modular" || e.args[0].kind !== "sym") return e;
    const entry = this.entries.get(e.args[0]);
    if (!entry) return e;
    const whole = this.sizevars.combineModularIndexingPairs(substitute(e, new Map([[entry.symbol, entry.expr]])));
    return substitute(whole, new Map([[entry.tree.symbol, entry.tree.lookup(int(1), entry.tree.numel).symbol]]));
  }

  /** the index simplified, with the definitions of its variables written */
  prepareIndexing(index: Expr): Expr {
    let e = replaceExpr(this.simplifyIndexing(index), this.sizevars.precomputedReplacements);
    e = this.simplifyIndexing(e);
    if (e.kind === "identity") e = e.args[0];
    e = this.sizevars.simplifyWithRanges(e, this.varRanges());
    if (has(this.options, "drop_unit_tree_variables")) {
      const zero = new Map<SymExpr, Expr>();
      for (const s of freeSymbols(e)) {
        const entry = this.entries.get(s);
        if (entry && intValue(entry.tree.numel) === 1) zero.set(s, this.sizevars.simplify(0));
      }
      if (zero.size) e = substitute(e, zero);
    }
    this.writeDefinitions(e);
    return e;
  }

  private writeDefinitions(e: Expr): void {
    const symbols = [...freeSymbols(e)].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const s of symbols) {
      const entry = this.entries.get(s);
      if (!entry || entry.written) continue;
      entry.written = true;
      entry.expr = this.hoistSizes(entry.expr);
      const line = `${entry.name} = ${this.printIndex(entry.expr)}`;
      const { tree } = entry;
      if (!tree.headerWritten) {
        tree.headerWritten = true;
        for (const h of tree.header) (tree.isLoop ? this.indexing : this.body).write(h, this.op);
      }
      const inLoop = entry.tree.isLoop || (this.spec.mixOrder === true && entry.tree.prefix === "x");
      (inLoop ? this.indexing : this.body).write(line, this.op);
    }
  }

  /** divisors and moduli that are more than a symbol are worked out by the host */
  private hoistSizes(e: Expr): Expr {
    const hoist = (x: Expr): Expr =>
      x.args.length > 0 && freeSymbols(x).size > 0 ? this.sizevars.lookupPrecomputedSize(x) : x;
    if (e.kind !== "floordiv" && e.kind !== "modular") return e;
    const [, ...sizes] = e.args;
    const replaced = sizes.map(hoist);
    return replaced.every((r, i) => r === sizes[i]) ? e : rebuild(e, [e.args[0], ...replaced]);
  }

  /** Triton text; size symbols become arguments ks0, ks1, ... */
  printIndex(index: Expr): string {
    const e = this.sizevars.simplify(index);
    const replace = new Map<SymExpr, Expr>();
    const symbols = [...freeSymbols(e)].filter(
      s => s.symKind === "size" || s.symKind === "unbacked" || s.symKind === "float",
    );
    for (const s of symbols.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      replace.set(s, sym(this.args.size(s), { kind: s.symKind, positive: false, nonnegative: s.nonnegative }));
    }
    return printTriton(substitute(e, replace));
  }

  // --- masks ---

  hasConstantMask(t: RangeTree, inHeader = false): boolean {
    if (this.spec.optimizeMask === false || t.header.length > 0) return false;
    const { options } = this;
    const persistentR = t.isReduction && this.spec.persistent;
    const keepUnit = this.spec.mixOrder === true && t.prefix === "x" && has(options, "mix_order_masks_single_row");
    // a sub-kernel's program ids may lie beyond its only element
    if (!persistentR && !this.isPart && this.sizevars.knownEquals(t.numel, 1)) return !keepUnit;
    let block = t.tensorDim === null && !inHeader ? 1 : MAX_BLOCK[t.prefix];
    if (persistentR) {
      block = persistentBlock(this, t.numel);
      if (has(options, "masks_below_warp_size") && block < options.target.warpSize) return false;
    }
    if (!this.sizevars.knownMultipleOf(t.numel, block)) return false;
    return t.gridDim !== 1 || t.hasZ || this.sizevars.knownLeq(t.numel, MAX_Y_GRID);
  }

  filterMasks(masks: Set<string>): void {
    for (const t of this.domainTrees()) if (this.hasConstantMask(t)) masks.delete(t.mask);
    masks.delete("None");
  }

  // --- text ---

  /** text of one operation, once */
  value(text: string, dtype: DType, shape: Shape, range?: ValueRange): CseVar {
    return this.cse.generate(this.compute, text, this.op, { dtype, shape, range });
  }

  /** a value per group, spread over the group's elements, where the body runs over all elements */
  fromOtherDomain(v: CseVar): CseVar {
    const { nested } = this.spec;
    const at = nested ? v.shape.indexOf(nestedNames(nested.prefix).reduced) : -1;
    if (!nested || at < 0 || this.domain !== null) return v;
    const names = nestedNames(nested.prefix);
    const subscript = v.shape.flatMap((_, i) => (i === at ? [":", "None"] : [":"])).join(", ");
    const wide = v.shape.flatMap((s, i) => (i === at ? [names.reduced, names.local] : [s]));
    const spread = this.value(`tl.broadcast_to(${v.name}[${subscript}], [${wide.join(", ")}])`, v.dtype, wide);
    const dense = v.shape.map((s, i) => (i === at ? blockOf(nested.prefix) : s));
    return this.value(`tl.reshape(${spread.name}, [${dense.join(", ")}])`, v.dtype, dense);
  }

  private writePrologue(): void {
    const { body } = this;
    if (this.isReduction) {
      const rs = this.reductionTrees;
      body.write(
        `rnumel = ${rs
          .map(t => `${t.prefix}numel`)
          .sort()
          .join(" * ")}`,
        "",
      );
      body.write(`RBLOCK: tl.constexpr = ${rs.map(t => blockOf(t.prefix)).join("*")}`, "");
    }
    if (this.spec.order === "paired") {
      const pid = "tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)";
      body.write(`x_tile, y_tile = paired_tiles(${pid}, tl.num_programs(0))`, "");
    }
    for (const t of this.trees) {
      if (!t.isLoop) {
        if (!t.isReduction || this.isReduction) this.writeHeader(t, body, 0);
      } else if (this.isReduction) body.write(`${t.prefix}base = ${this.rangeText(t)}`, "");
    }
    if (!this.isReduction) return;
    if (this.isLooped) body.write(`rbase = ${this.flattened("base")}`, "");
    else this.writeReductionIndices(body, 0);
  }

  private rangeText(t: RangeTree): string {
    const subscript = this.tensorDims()
      .map(d => (d === t ? ":" : "None"))
      .join(", ");
    const cast = this.spec.indexDtype === "int64" ? ".to(tl.int64)" : "";
    return `tl.arange(0, ${blockOf(t.prefix)})[${subscript}]${cast}`;
  }

  programId(t: RangeTree): string {
    const { order } = this.spec;
    if (order === "paired") return `${t.prefix}_tile${this.spec.indexDtype === "int64" ? ".to(tl.int64)" : ""}`;
    const given = this.givenProgramId(t);
    return order === "mirrored" ? `mirrored(${given}, tl.cdiv(${t.prefix}numel, ${blockOf(t.prefix)}))` : given;
  }

  private givenProgramId(t: RangeTree): string {
    const cast = this.spec.indexDtype === "int64" ? ".to(tl.int64)" : "";
    if (this.spec.pidOffset === "pid_offset" && t.gridDim === 0) return "pid_offset";
    if (this.spec.pidOffset === "x_pid_offset") return `${t.prefix}_pid_offset`;
    const dim = t.gridDim;
    if (dim === 1 && !t.hasZ && !this.sizevars.knownLeq(t.numel, MAX_Y_GRID)) {
      const text = "(tl.program_id(1) + tl.program_id(2) * tl.num_programs(1))";
      return cast ? `${text}${cast}` : text;
    }
    return `tl.program_id(${dim})${cast}`;
  }

  /** offset, index and mask of one tree */
  writeHeader(t: RangeTree, to: LineBuffer, indent: number): void {
    const x = t.prefix;
    const at = { indent };
    if (t.isLoop) to.write(`${t.name} = ${x}offset + ${x}base`, "", at);
    else if (t.gridDim === null) {
      to.write(`${t.name} = ${this.rangeText(t)}`, "", at);
      to.write(`${x}offset = 0`, "", at);
    } else {
      const block = this.spec.mixOrder && x === "x" ? "RSPLIT_SIZE" : blockOf(x);
      to.write(`${x}offset = ${this.programId(t)} * ${block}`, "", at);
      const index =
        t.tensorDim === null
          ? `tl.full([${this.onesShape().join(", ")}], ${x}offset, ${this.indexType})`
          : `${x}offset + ${this.rangeText(t)}`;
      to.write(`${t.name} = ${index}`, "", at);
    }
    // written before Inductor knows that the tile has no such dimension
    if (this.hasConstantMask(t, true)) {
      const subscript = this.tensorDims()
        .map(d => (d === t ? ":" : "None"))
        .join(", ");
      if (t.tensorDim === null) to.write(`${x}mask = tl.full(${this.dense()}, True, tl.int1)`, "", at);
      else to.write(`${x}mask = tl.full([${blockOf(x)}], True, tl.int1)[${subscript}]`, "", at);
    } else if (!(x === "x" && this.spec.mixOrder)) to.write(`${x}mask = ${t.name} < ${x}numel`, "", at);
  }

  private flattened(what: "base" | "offset" | "index"): string {
    const rs = this.reductionTrees;
    const name = (t: RangeTree): string => `${t.prefix}${what}`;
    const [first, second] = rs;
    if (first && !second) return name(first);
    if (!first || !second) return "0";
    return `${name(second)} + ${name(first)}*${second.prefix}numel`;
  }

  writeReductionIndices(to: LineBuffer, indent: number): void {
    to.write(`roffset = ${this.flattened("offset")}`, "", { indent });
    to.write(`rindex = ${this.flattened("index")}`, "", { indent });
  }

  /** closes what has been collected: writes the reduction loop, if the kernel has one, around it */
  flush(): void {
    const { body } = this;
    const all = [this.indexing, this.loads, this.compute, this.stores];
    if ([...all, this.postLoopCombine, this.postLoopStore].every(b => b.empty)) return;
    const loops = this.trees.filter(t => t.isLoop);
    if (this.spec.mixOrder) this.writeMixOrderLoop();
    else if (this.insideReduction && loops.length > 0) {
      for (const [level, t] of loops.entries()) {
        const x = t.prefix;
        body.write(`for ${x}offset in tl.range(0, ${x}numel, ${blockOf(x)}):`, "", { indent: level });
        this.writeHeader(t, body, level + 1);
      }
      this.writeReductionIndices(body, loops.length);
      for (const b of all) body.splice(b, loops.length);
      this.cse.invalidate(this.outsideLoopVars);
      for (const t of [...loops, ...this.nestedTrees]) if (t.isLoop) t.resetWritten();
    } else for (const b of all) body.splice(b);
    body.splice(this.postLoopCombine);
    body.splice(this.postLoopStore);
    for (const b of [...all, this.postLoopCombine, this.postLoopStore]) b.clear();
  }

  private writeMixOrderLoop(): void {
    const { body } = this;
    const x = this.trees.find(t => t.prefix === "x");
    for (const p of this.partials) {
      const start = p.type === "prod" ? 1 : 0;
      body.write(`${p.accumulator} = tl.full([R0_BLOCK], ${start}, tl.float32)[None, :]`, p.op);
    }
    body.write("split_size = min(RSPLIT_SIZE, xnumel - xoffset)", "");
    body.write("for _ in tl.range(0, split_size, XBLOCK, num_stages=NUM_STAGES):", "");
    if (x && !this.hasConstantMask(x)) body.write("xmask = xindex < xnumel", "", { indent: 1 });
    body.splice(this.indexing, 1);
    body.write("xindex += XBLOCK", "", { indent: 1 });
    for (const b of [this.loads, this.compute, this.stores, this.postLoopStore]) body.splice(b, 1);
    const masked = x && !this.hasConstantMask(x);
    const sums = new LineBuffer();
    for (const p of this.partials) {
      const prod = p.type === "prod";
      const out = { dtype: p.value.dtype, shape: ["1", "R0_BLOCK"] };
      const put = (text: string): CseVar => this.cse.generate(sums, text, p.op, out);
      const v = masked ? put(`tl.where(xmask, ${p.value.name}, ${prod ? 1 : 0})`) : p.value;
      const part = put(`${prod ? "triton_helpers.prod" : "tl.sum"}(${v.name}, 0)`);
      const next = put(`${p.accumulator} ${prod ? "*" : "+"} ${part.name}`);
      sums.write(`${p.accumulator} = ${next.name}`, p.op);
    }
    body.splice(sums, 1);
    for (const [i, p] of this.partials.entries()) {
      body.write(
        `tl.store(ws_ptr + (tl.program_id(0) + ${i} * tl.num_programs(0)) * r0_numel + r0_index, ${p.accumulator}, r0_mask)`,
        p.op,
      );
    }
    this.postLoopStore.clear();
  }

  /** stores a block as a whole, where the kernel has a way to; false: it has none */
  storeTile(_buffer: string, _pointer: string, _index: Expr, _value: CseVar): boolean {
    return false;
  }

  /** `output` overwrites `input` */
  takeOver(input: string, output: string): void {
    this.args.makeInplace(input, output);
    this.mutations.add(input);
    this.mutations.add(output);
    this.inplaceUpdates.set(output, input);
  }

  /** runs `f` with the reduction closed */
  disableReduction(f: () => void): void {
    if (!this.isReduction) {
      f();
      return;
    }
    const loops = this.isLooped;
    if (loops) this.flush();
    this.insideReduction = false;
    f();
    if (loops) this.flush();
    this.insideReduction = true;
  }
}
