// The body of a computed buffer: its store function captured, loops ordered by how memory is stepped through
// (ComputedBuffer.get_default_sizes_body, simplify_and_reorder). In: loops, a buffer name, an indexer. Out: LoopBody over
// p0.. and its sizes. Promises: loops of one element are gone; iteration and reduction loops are ordered apart; on a GPU
// they are not merged (the scheduler does that after fusion).
import { type Expr, int, intValue, type SymExpr, sym } from "../symbolic/expr";
import { preventReordering } from "../symbolic/simplify";
import type { SizeVars } from "../symbolic/size_vars";
import { type BodyOps, type StoreFn, single } from "./body_ops";
import { idsOf } from "./body_shape";
import { isReduction, type Loops } from "./boxes";
import { buildBody } from "./build_body";
import type { Block, BodyNode, LoopBody } from "./loop_body";
import { pickLoopOrder } from "./loop_order";
import { bodySizes, withKnownLoops, withLoops } from "./transform";

type Indexer = (index: readonly Expr[]) => Expr;

/** what the node writes (get_store_function) */
function storeFunction(l: Loops, buffer: string, indexer: Indexer): StoreFn {
  return <V>(ops: BodyOps<V>, index: readonly Expr[], rindex: readonly Expr[]): void => {
    switch (l.kind) {
      case "Pointwise": {
        const at = indexer(index);
        ops.store(buffer, at, l.inner(ops, index), null);
        return;
      }
      case "Scatter": {
        const at = indexer(l.outputIndexer(ops, index));
        ops.store(buffer, at, l.inner(ops, index), l.mode === "atomic_add" ? "atomic_add" : null);
        return;
      }
      case "Reduction":
      case "WelfordReduction":
      case "MultiOutputReduction": {
        const results = ops.reduction(l.dtype, l.srcDtype, l.type, l.inner(ops, index, rindex));
        ops.storeReduction(buffer, indexer(index), results[l.outputIndex] as V);
        return;
      }
      case "Scan":
      case "SplitScan": {
        const at = l.reindex(index, rindex);
        const values = l.inners.map(inner => single(inner(ops, at)));
        const results = ops.scan(l.dtypes, l.combine, values);
        ops.store(buffer, indexer(at), results[l.outputIndex] as V, null);
        return;
      }
      case "Sort": {
        const at = l.reindex(index, rindex);
        const values = l.inners.map(inner => single(inner(ops, at)));
        const results = ops.sort(l.dtypes, values, l.stable, l.descending);
        ops.store(buffer, indexer(at), results[l.outputIndex] as V, null);
        return;
      }
      default: {
        const never: never = l;
        return never;
      }
    }
  };
}

/** variables for the loops of more than one element; the others are at 0 */
function squeeze(
  sizes: readonly Expr[],
  start: number,
  sizevars: SizeVars,
): { readonly index: Expr[]; readonly vars: SymExpr[]; readonly kept: Expr[] } {
  const index: Expr[] = [];
  const vars: SymExpr[] = [];
  const kept: Expr[] = [];
  for (const s of sizes) {
    const size = sizevars.simplify(s);
    if (intValue(size) === 1) index.push(int(0));
    else {
      const v = sym(`q${start + vars.length}`);
      index.push(v);
      vars.push(v);
      kept.push(size);
    }
  }
  return { index, vars, kept };
}

/** memory accesses in the order they were captured: loads, then stores */
function accesses(body: LoopBody): Expr[] {
  const loads: Expr[] = [];
  const stores: Expr[] = [];
  const at = (n: BodyNode): Expr => body.indexing.get(n.op === "get_index" ? n.index : "") as Expr;
  const visit = (b: Block): void => {
    for (const n of b.nodes) {
      if (n.op === "load") loads.push(at(n.at));
      else if (n.op === "store" || n.op === "store_reduction") stores.push(at(n.at));
      else if (n.op === "masked") visit(body.subblocks.get(n.subblock) as Block);
    }
  };
  visit(body.block);
  return [...loads, ...stores];
}

export interface OrderedBody {
  readonly sizes: readonly [readonly Expr[], readonly Expr[]];
  readonly body: LoopBody;
}

function orderedBody(
  ranges: readonly Expr[],
  reductionRanges: readonly Expr[],
  store: StoreFn,
  sizevars: SizeVars,
  mergesLoops: boolean,
): OrderedBody {
  const iter = squeeze(ranges, 0, sizevars);
  const reduce = squeeze(reductionRanges, iter.vars.length, sizevars);
  const captured = buildBody(iter.vars, iter.kept, reduce.vars, reduce.kept, bodySizes(sizevars), ops =>
    store(ops, iter.index, reduce.index),
  );
  const addresses = accesses(captured);
  const support = [...iter.vars, ...reduce.vars];
  const formulas = [...captured.indexing.values()];
  const order = (vars: readonly SymExpr[], sizes: readonly Expr[]): LoopPlan => {
    const strides = addresses.map(e => sizevars.strideHints(e, vars, support));
    const outerFirst = pickLoopOrder(
      strides,
      sizes.map(s => intValue(s)),
    ).reverse();
    const ordered = outerFirst.map(i => sizes[i] as Expr);
    const reindex = (values: readonly Expr[]): Expr[] => vars.map((_, old) => values[outerFirst.indexOf(old)] as Expr);
    if (!mergesLoops) return { sizes: ordered, reindex };
    const orderedVars = outerFirst.map(i => vars[i] as SymExpr);
    const merged = sizevars.simplifyLoops(orderedVars, ordered, preventReordering(formulas, orderedVars, ordered));
    return { sizes: merged.sizes, reindex: values => reindex(merged.reindex(values)) };
  };
  const body = withKnownLoops(captured, "ordered_loops", `${mergesLoops};${idsOf(addresses)}`, () => {
    const i = order(iter.vars, iter.kept);
    const r = order(reduce.vars, reduce.kept);
    return withLoops(captured, i.sizes, r.sizes, (iv, rv) => [i.reindex(iv), r.reindex(rv)], sizevars);
  });
  return { sizes: [body.iterSizes, body.reduceSizes], body };
}

interface LoopPlan {
  readonly sizes: readonly Expr[];
  readonly reindex: (values: readonly Expr[]) => Expr[];
}

/** body of loops that a buffer stores */
export function bodyOf(
  l: Loops,
  buffer: string,
  indexer: Indexer,
  sizevars: SizeVars,
  mergesLoops: boolean,
): OrderedBody {
  const inner = isReduction(l)
    ? l.reductionRanges
    : l.kind === "Scan" || l.kind === "SplitScan"
      ? l.scanRanges
      : l.kind === "Sort"
        ? l.sortRanges
        : [];
  return orderedBody(l.ranges, inner, storeFunction(l, buffer, indexer), sizevars, mergesLoops);
}
