// Loads, stores and the indices they use (TritonKernel.indexing, load, store, check_bounds in
// torch/_inductor/codegen/triton.py). In: a kernel, a buffer and an index. Out: lines and values.
import { isFloatDType } from "../../ir/dtypes";
import { type Expr, freeSymbols, int, intValue, isInt, mul, type SymExpr, sub, substitute } from "../../symbolic/expr";
import { ADDS_TOGETHER } from "./blocks";
import type { CseVar, Shape } from "./cse";
import type { TritonKernel } from "./kernel";
import type { LineBuffer } from "./lines";
import { has } from "./options";
import { isReductionPrefix } from "./range_tree";
import { computeDType, constantText } from "./triton_types";

export interface Indexing {
  readonly text: string;
  readonly masks: ReadonlySet<string>;
  /** shape that the text was broadcast to */
  readonly expand: Shape | null;
  readonly hasRIndex: boolean;
  readonly index: Expr;
}

export const maskText = (i: Indexing): string => (i.masks.size === 0 ? "None" : [...i.masks].sort().join(" & "));
const hasTmpMask = (i: Indexing): boolean => [...i.masks].some(m => m.startsWith("tmp"));
const hasRMask = (i: Indexing): boolean => [...i.masks].some(m => m.startsWith("r"));
const isIndirectIndex = (e: Expr): boolean => [...freeSymbols(e)].some(s => s.name.startsWith("tmp"));

/** text and masks of an index; its variables' definitions are written as a side effect */
export function indexingOf(k: TritonKernel, original: Expr, opts: { dense?: boolean } = {}): Indexing {
  const index = k.prepareIndexing(original);
  const vars = freeSymbols(index);
  const masks = new Set<string>();
  let hasRIndex = false;
  for (const s of [...vars].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const entry = k.entries.get(s);
    if (entry) {
      hasRIndex ||= entry.tree.isReduction;
      masks.add(entry.tree.mask);
    } else for (const m of k.cse.byName(s.name)?.maskVars ?? []) masks.add(m);
  }
  const constant = isInt(index);
  const needDense = (opts.dense === true || k.loadMask !== null) && !(constant && index.value === 0);
  let haveDense = true;
  const denseMasks = new Set<string>();
  for (const t of k.activeTrees()) {
    if (![...vars].some(s => k.entries.get(s)?.tree === t)) haveDense = false;
    denseMasks.add(t.mask);
  }
  if (constant) {
    const shape = k.ndim === 1 ? k.denseShape() : k.onesShape();
    const own = k.isPart ? k.trees.filter(t => !t.isReduction && !k.hasConstantMask(t)) : [];
    const only = new Set(own.map(t => t.mask));
    if (k.loadMask) only.add(k.loadMask.name);
    return {
      text: `tl.full([${shape.join(", ")}], ${k.printIndex(index)}, tl.int32)`,
      masks: only,
      expand: shape,
      hasRIndex,
      index,
    };
  }
  let text = k.printIndex(index);
  let expand: Shape | null = null;
  let chosen = masks;
  if (needDense && !haveDense) {
    chosen = denseMasks;
    expand = k.denseShape();
    text = `tl.broadcast_to(${text}, ${k.dense()})`;
  }
  if (k.loadMask) chosen.add(k.loadMask.name);
  k.filterMasks(chosen);
  return { text, masks: chosen, expand, hasRIndex, index };
}

/** block shape that an index over these variables has */
export function shapeOfIndex(k: TritonKernel, index: Expr): Shape {
  let shape: Shape = [];
  for (const s of freeSymbols(index)) {
    const entry = k.entries.get(s);
    if (entry) {
      const own = k.tensorDims().map(t => (t === entry.tree ? t.block : "1"));
      shape = broadcastShapes(shape, own);
    } else {
      const v = k.cse.byName(s.name);
      if (v) shape = broadcastShapes(shape, v.shape);
    }
  }
  return shape;
}

export function broadcastShapes(a: Shape, b: Shape): Shape {
  const n = Math.max(a.length, b.length);
  const at = (s: Shape, i: number): string => s[i - (n - s.length)] ?? "1";
  return Array.from({ length: n }, (_, i) => (at(a, i) === "1" ? at(b, i) : at(a, i)));
}

/** whether some tile dimension does not move the index (is_broadcasted); never for indirect ones */
function isBroadcasted(k: TritonKernel, index: Expr): boolean {
  if (isIndirectIndex(index)) return false;
  const trees = k.domainTrees();
  const covered: Expr[] = trees.map(() => int(1));
  const inGridOrder = has(k.options, "broadcast_test_in_grid_order");
  const activeOnly = !inGridOrder && !k.insideReduction;
  for (const s of freeSymbols(index)) {
    const entry = k.entries.get(s);
    if (!entry) continue;
    const at = inGridOrder ? (entry.tree.gridDim ?? trees.indexOf(entry.tree)) : trees.indexOf(entry.tree);
    covered[at] = mul(covered[at] as Expr, entry.length);
  }
  const sv = k.sizevars;
  return trees.some(
    (t, i) => !(activeOnly && t.isReduction) && sv.simplify(covered[i] as Expr) !== sv.simplify(t.numel),
  );
}

/** how far one step of each tile moves the index (get_strides_of_load) */
function tileStrides(k: TritonKernel, index: Expr): Expr[] {
  const definitions = new Map<SymExpr, Expr>();
  for (const s of freeSymbols(index)) {
    const entry = k.entries.get(s);
    if (entry) definitions.set(s, entry.expr);
  }
  const e = substitute(index, definitions);
  return k
    .domainTrees()
    .map(t => sub(substitute(e, new Map([[t.symbol, int(1)]])), substitute(e, new Map([[t.symbol, int(0)]]))));
}

export function emitLoad(k: TritonKernel, buffer: string, index: Expr): CseVar {
  if (k.cse.invalidatedStores.has(buffer)) k.mustKeep.add(buffer);
  const indirect = isIndirectIndex(index);
  if (!indirect) {
    const stored = k.cse.storeCache.get(buffer);
    if (stored) return k.fromOtherDomain(stored);
  }
  const { value, fresh } = loadFromMemory(k, buffer, index, indirect);
  value.ofMemory = true;
  if (fresh && !indirect) k.numLoad++;
  return value;
}

function loadFromMemory(
  k: TritonKernel,
  buffer: string,
  index: Expr,
  indirect: boolean,
): { value: CseVar; fresh: boolean } {
  const pointer = k.args.input(buffer);
  const real = k.graph.realName(buffer);
  k.loadCounts.set(real, (k.loadCounts.get(real) ?? 0) + 1);
  const count = (): number => k.loadCounts.get(real) ?? 0;
  const at = indexingOf(k, index);
  const inLoop = k.insideReduction && k.lastTree.isLoop;
  const inReduction =
    k.insideReduction &&
    (k.lastTree.isLoop || (k.spec.persistent && has(k.options, "evict_first_in_persistent_reductions")));
  let eviction = "";
  let late: (() => string) | undefined;
  if (isBroadcasted(k, index)) eviction = ", eviction_policy='evict_last'";
  else if (!tileStrides(k, index).some(s => intValue(s) === 1)) eviction = ", eviction_policy='evict_last'";
  else if (inReduction) {
    const expected = count();
    const loadedAgainCounts = at.hasRIndex || indirect;
    eviction = ", eviction_policy='<EP>'";
    late = () => (count() > expected && loadedAgainCounts ? "evict_last" : "evict_first");
  }
  let other = "";
  if ((hasTmpMask(at) || at.hasRIndex) && at.masks.size > 0) {
    other = k.loadOther && Number(k.loadOther.value) !== 0 ? `, other=${otherText(k.loadOther)}` : ", other=0.0";
  }
  const dtype = k.graph.dtype(buffer);
  let text: string;
  let shape: Shape = at.expand ?? shapeOfIndex(k, at.index);
  let broadcast = false;
  if (k.graph.isUnspecified(real)) {
    text = pointer;
    shape = [];
  } else {
    if (isInt(index)) {
      text = `tl.load(${pointer} + (${index.value}))`;
      broadcast = true;
      shape = [];
    } else text = `tl.load(${pointer} + (${at.text}), ${maskText(at)}${eviction}${other})`;
    if (computeDType(dtype) !== dtype) text += ".to(tl.float32)";
    if (dtype === "bool") text += ".to(tl.int1)";
  }
  const to = chooseBuffer(k, at, indirect, inLoop);
  if (has(k.options, "barrier_before_read_back") && k.cse.invalidatedStores.has(buffer) && !k.cse.has(text))
    to.write("tl.debug_barrier()", k.op);
  const known = k.cse.has(text);
  let value = k.cse.generate(to, text, k.op, { dtype: computeDType(dtype), shape }, { late });
  if (known) k.loadCounts.set(real, count() - 1);
  value.maskVars = new Set(at.masks);
  let fresh = !known;
  if (broadcast) {
    const full = at.expand ?? k.onesShape();
    const widen = `tl.broadcast_to(${value.name}, [${full.join(", ")}])`;
    fresh = !k.cse.has(widen);
    value = k.cse.generate(to, widen, k.op, { dtype: computeDType(dtype), shape: full });
    if (at.masks.size > 0) {
      const zero = isFloatDType(dtype) ? "0.0" : dtype === "bool" ? "True" : "0";
      const fill = k.loadOther && Number(k.loadOther.value) !== 0 ? otherText(k.loadOther) : zero;
      value = k.cse.generate(to, `tl.where(${maskText(at)}, ${value.name}, ${fill})`, k.op, {
        dtype: computeDType(dtype),
        shape: full,
      });
    }
  }
  if (!k.insideReduction || (!hasRMask(at) && !at.hasRIndex)) k.outsideLoopVars.add(value);
  return { value, fresh };
}

export const otherText = (o: { readonly value: number | boolean; readonly isFloat: boolean }): string =>
  constantText(o.value, typeof o.value === "boolean" ? "bool" : o.isFloat ? "float32" : "int64");

function chooseBuffer(k: TritonKernel, at: Indexing, indirect: boolean, inLoop: boolean): LineBuffer {
  // a masked or indirect load needs values that are computed first
  if (indirect || hasTmpMask(at)) return k.compute;
  // what every row reads again comes from the L2: past a reduction it need not be held in registers before that
  if (
    k.insideReduction &&
    k.spec.persistent &&
    !k.spec.mixOrder &&
    k.numReduction > 0 &&
    has(k.options, "late_loads") &&
    isBroadcasted(k, at.index)
  )
    return k.compute;
  // what no reduction variable moves is loaded once, before the loop
  if (inLoop && !at.hasRIndex && !hasRMask(at)) return k.body;
  return k.loads;
}

export function emitStore(
  k: TritonKernel,
  buffer: string,
  index: Expr,
  value: CseVar,
  mode: "atomic_add" | null,
): void {
  k.storedBuffers.add(buffer);
  if (mode === null) rememberStore(k, buffer, value);
  if (k.graph.removedBuffers.has(buffer)) return;
  const pointer = k.args.output(buffer);
  if (mode === null && k.storeTile(buffer, pointer, index, value)) {
    k.numStore++;
    return;
  }
  const at = indexingOf(k, index, { dense: true });
  const inplace = k.args.inplace.has(k.graph.realName(buffer));
  if (
    inplace &&
    isBroadcasted(k, index) &&
    (has(k.options, "barrier_before_reduced_inplace_store") || k.insideReduction || !k.isReduction)
  ) {
    k.stores.write("tl.debug_barrier()", k.op, { buffer });
  }
  let text = at.text;
  text += spreadOver(k, index, value);
  if (mode === null)
    k.stores.write(`tl.store(${pointer} + (${text}), ${value.name}, ${maskText(at)})`, k.op, { buffer });
  else {
    k.atomicAdd = true;
    const row = k.spec.constants?.includes(ADDS_TOGETHER) ? rowOf(k, index, value) : null;
    if (row) {
      const mask = at.masks.size === 0 ? `tl.full([${row.shape.join(", ")}], True, tl.int1)` : maskText(at);
      const args = [pointer, row.name, text, value.name, mask, ADDS_TOGETHER];
      k.stores.write(`add_rows(${args.join(", ")})`, k.op, { buffer });
      k.numStore++;
      return;
    }
    const fn = value.dtype === "bool" ? "tl.atomic_or" : "tl.atomic_add";
    k.stores.write(`${fn}(${pointer} + (${text}), ${value.name}, ${maskText(at)}, sem='relaxed')`, k.op, { buffer });
  }
  if (!k.insideReduction) k.outsideLoopVars.add(value);
  k.numStore++;
}

/**
 * The value that says, for each line of a tile [y, x], which row of the target it goes to: the one indirect index of a
 * pointwise kernel's store that y moves, with nothing else that does. Null for anything else.
 */
function rowOf(k: TritonKernel, original: Expr, value: CseVar): CseVar | null {
  const [y, x, ...more] = k.tensorDims();
  if (k.isReduction || !y || !x || more.length > 0 || value.dtype !== "float32" || k.loadMask) return null;
  const symbols = [...freeSymbols(k.prepareIndexing(original))];
  const [row, ...others] = symbols.filter(s => !k.entries.has(s)).flatMap(s => k.cse.byName(s.name) ?? []);
  if (!row || others.length > 0 || row.shape[0] !== y.block || row.shape[1] !== "1") return null;
  const within = symbols.flatMap(s => k.entries.get(s) ?? []);
  return within.length > 0 && within.every(e => e.tree === x) ? row : null;
}

export function emitStoreReduction(k: TritonKernel, buffer: string, index: Expr, value: CseVar): void {
  k.storedBuffers.add(buffer);
  rememberStore(k, buffer, value);
  if (k.graph.removedBuffers.has(buffer)) return;
  k.numStore++;
  k.insideReduction = false;
  const at = indexingOf(k, index);
  k.insideReduction = true;
  const pointer = k.args.output(buffer);
  let text = at.text;
  text += spreadOver(k, index, value);
  k.postLoopStore.write(`tl.store(${pointer} + (${text}), ${value.name}, ${maskText(at)})`, k.op, { buffer });
}

/** a pointer that is the same for all is spread to the shape of what is stored, in a sub-kernel to that of its mask */
function spreadOver(k: TritonKernel, index: Expr, value: CseVar): string {
  if (!isInt(index)) return "";
  if (k.isPart) return `.broadcast_to(${k.dense()})`;
  return value.shape.some(s => s !== "1") ? `.broadcast_to(${value.shape.join(", ")})` : "";
}

function rememberStore(k: TritonKernel, buffer: string, value: CseVar): void {
  k.cse.storeCache.set(buffer, value);
  const own = k.node?.outputs.find(o => o.name === buffer);
  for (const other of own?.mutations ?? []) k.cse.storeCache.set(other, value);
}

/** asserts 0 <= e < size, each side only if asked for */
export function emitBoundsCheck(k: TritonKernel, e: Expr, size: Expr, lower: boolean, upper: boolean): void {
  if (!lower && !upper) return;
  const at = indexingOf(k, e);
  const size1 = k.printIndex(size);
  const indirect = isIndirectIndex(e);
  const cond =
    lower && upper
      ? `(0 <= ${at.text}) & (${at.text} < ${size1})`
      : lower
        ? `0 <= ${at.text}`
        : `${at.text} < ${size1}`;
  const message = lower && upper ? `0 <= ${at.text} < ${size1}` : cond;
  const mask = maskText(at);
  const guarded = mask === "None" ? cond : `(${cond}) | ~(${mask})`;
  const to =
    indirect || hasTmpMask(at) ? k.compute : chooseBuffer(k, at, false, k.insideReduction && k.lastTree.isLoop);
  k.cse.generate(
    to,
    `tl.device_assert(${guarded}, "index out of bounds: ${message}")`,
    k.op,
    { dtype: "bool", shape: [] },
    { assign: false },
  );
}

/** masks that hold for every element of the reduction, for its where() */
export function reductionMasks(k: TritonKernel): string[] {
  const masks = new Set(k.trees.map(t => `${t.prefix}mask`));
  k.filterMasks(masks);
  const list = [...masks].sort();
  if (k.loadMask) list.push(k.loadMask.name);
  return list;
}
export const isReductionMask = (m: string): boolean => isReductionPrefix(m);
