// Writes in place again where nobody can tell (fx_passes/reinplace.py). In: a functional graph with copy_ into its inputs
// at the end. Out: index_put and foreach operators that write their argument, scatters into views joined and written in
// place where both sides are in memory anyway. Promises: a value is overwritten only if nothing reads it, or a view of
// it, afterwards.
import { lookup } from "../aten/registry";
import { type FxGraph, FxNode } from "../fx/graph";
import type { Argument } from "../fx/types";
import { itemsOf, type Rewriter, replaceNode } from "./edit";
import { isViewTarget, storageOf } from "./storage";

const COPY = "aten.copy_.default";

/** view operator of each scatter */
const SCATTER_TO_VIEW: Readonly<Record<string, string>> = {
  "aten.diagonal_scatter.default": "aten.diagonal.default",
  "aten.select_scatter.default": "aten.select.int",
  "aten.slice_scatter.default": "aten.slice.Tensor",
  "aten.as_strided_scatter.default": "aten.as_strided.default",
};
const VIEW_TO_SCATTER: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SCATTER_TO_VIEW).map(([s, v]) => [v, s]),
);
const ALWAYS_MUTATING = new Set(["aten.as_strided.default", "aten.diagonal.default"]);

interface ViewOp {
  readonly target: string;
  readonly args: readonly Argument[];
}

/** a scatter into a chain of views of `input` */
interface GeneralizedScatter {
  readonly node: FxNode;
  readonly views: readonly ViewOp[];
}

const sameArgument = (a: Argument, b: Argument): boolean =>
  a === b ||
  (Array.isArray(a) &&
    Array.isArray(b) &&
    a.length === b.length &&
    a.every((x, i) => sameArgument(x as Argument, (b as readonly Argument[])[i] ?? null)));
const sameView = (a: ViewOp, b: ViewOp): boolean =>
  a.target === b.target &&
  a.args.length === b.args.length &&
  a.args.every((x, i) => sameArgument(x, b.args[i] ?? null));

/** what may be made to write in place */
const isCandidate = (n: FxNode): boolean =>
  Object.hasOwn(SCATTER_TO_VIEW, n.target) ||
  Object.hasOwn(INPLACE, n.target) ||
  foreachInplace(n.target) !== undefined;

export function reinplace(rw: Rewriter): void {
  if (!rw.graph.nodes.some(isCandidate)) return;
  const scatters = canonicalizeScatters(rw);
  const inplaceScatters = new Set<FxNode>();
  reinplaceCore(rw.graph, scatters, inplaceScatters);
  decomposeScatters(rw, scatters, inplaceScatters);
}

/** scatters of scatters into views of one base become one scatter into the chain of views */
function canonicalizeScatters(rw: Rewriter): Map<FxNode, GeneralizedScatter> {
  const scatters = new Map<FxNode, GeneralizedScatter>();
  const baseOf = new Map<FxNode, FxNode>();
  const chainOf = new Map<FxNode, readonly ViewOp[]>();
  const chain = (n: FxNode): readonly ViewOp[] => chainOf.get(n) ?? [];
  if (!rw.graph.nodes.some(n => Object.hasOwn(SCATTER_TO_VIEW, n.target))) return scatters;
  for (const node of [...rw.graph.nodes]) {
    if (node.op !== "call_function") continue;
    const input = node.args[0];
    if (isViewTarget(node.target) && input instanceof FxNode) {
      baseOf.set(node, baseOf.get(input) ?? input);
      chainOf.set(node, [...chain(input), { target: node.target, args: node.args.slice(1) }]);
      continue;
    }
    const view = Object.hasOwn(SCATTER_TO_VIEW, node.target) ? SCATTER_TO_VIEW[node.target] : undefined;
    const source = node.args[1];
    if (view === undefined || !(input instanceof FxNode) || !(source instanceof FxNode)) continue;
    const op: ViewOp = { target: view, args: node.args.slice(2) };
    const inner = scatters.get(source);
    const innerInput = source.args[0];
    const wanted = [...chain(input), op];
    const fuses =
      inner !== undefined &&
      innerInput instanceof FxNode &&
      (baseOf.get(input) ?? input) === (baseOf.get(innerInput) ?? innerInput) &&
      chain(innerInput).length === wanted.length &&
      chain(innerInput).every((v, i) => sameView(v, wanted[i] as ViewOp));
    const from = fuses ? (source.args[1] as FxNode) : source;
    const views = fuses ? [op, ...inner.views] : [op];
    const made = rw.node("generalized_scatter", [input, from], new Map(), node.meta.val ?? null, {
      before: fuses ? source : node,
    });
    replaceNode(rw.graph, node, made);
    if (fuses && source.users.size === 0) {
      rw.graph.erase(source);
      scatters.delete(source);
    }
    scatters.set(made, { node: made, views });
  }
  return scatters;
}

/** what runs outside of generated kernels: its result is in memory */
function isBuffer(n: FxNode): boolean {
  if (n.target === "operator.getitem" && n.args[0] instanceof FxNode) return isBuffer(n.args[0]);
  return n.op === "placeholder" || n.op === "output" || lookup(n.target)?.tags?.includes("extern") === true;
}
const REALIZES_INPUTS = new Set(
  (
    "aten.as_strided.default aten.as_strided_copy.default aten.avg_pool2d.default aten.avg_pool2d_backward.default aten.bmm.default " +
    "aten.convolution.default aten.convolution_backward.default aten.max_pool2d_with_indices.default aten.max_pool2d_with_indices_backward.default " +
    "aten.mm.default aten.upsample_nearest2d.default aten._upsample_nearest_exact2d.default aten._int_mm.default"
  ).split(" "),
);
function isRealized(n: FxNode): boolean {
  if (isBuffer(n)) return true;
  return [...n.users].some(
    u => u.op === "output" || REALIZES_INPUTS.has(u.target) || lookup(u.target)?.tags?.includes("extern") === true,
  );
}

function shouldReinplaceScatter(node: FxNode, scatter: GeneralizedScatter): boolean {
  const input = node.args[0] as FxNode;
  if (scatter.views.some(v => ALWAYS_MUTATING.has(v.target))) return true;
  if (isRealized(input) && isRealized(node)) return true;
  return (
    (input.op === "placeholder" || input.op === "get_attr") &&
    [...node.users].some(u => u.target === COPY && u.args[0] === input)
  );
}

/** in-place form of each functional operator that may be reinplaced, with the position of what it writes */
const INPLACE: Readonly<Record<string, string>> = {
  "aten.index_put.default": "aten.index_put_.default",
  "aten._unsafe_index_put.default": "prims._unsafe_index_put_.default",
};

/** those that Inductor lowers in place (register_foreach_inplace); others stay functional and are copied back */
function foreachInplace(target: string): string | undefined {
  if (!target.startsWith("aten._foreach_")) return undefined;
  const m = /^aten\._foreach_(?:(add|mul|div)\.(List|Scalar)|(copy)\.(default))$/.exec(target);
  return m ? `aten._foreach_${m[1] ?? m[3]}_.${m[2] ?? m[4]}` : undefined;
}

function reinplaceCore(
  graph: FxGraph,
  scatters: ReadonlyMap<FxNode, GeneralizedScatter>,
  inplaceScatters: Set<FxNode>,
): void {
  const order = new Map(graph.nodes.map((n, i) => [n, i]));
  const at = (n: FxNode): number => order.get(n) ?? -1;
  const sharing = new Map<FxNode, FxNode[]>();
  /** as traced: a node that writes in place from here on still has a storage of its own */
  const roots = new Map(graph.nodes.map(n => [n, storageOf(n)]));
  const rootOf = (n: FxNode): FxNode => roots.get(n) ?? n;
  const copies = new Map<FxNode, Map<FxNode, FxNode>>();
  /** the copy_ that writes an input at the end, whatever it copies */
  const copyInto = new Map<FxNode, FxNode>();
  for (const node of [...graph.nodes].reverse()) {
    const root = rootOf(node);
    const shared = sharing.get(root);
    if (shared) shared.push(node);
    else sharing.set(root, [node]);
    const [target, source] = node.args;
    if (node.target !== COPY || !(target instanceof FxNode) || !(source instanceof FxNode)) continue;
    if (target.op !== "placeholder" && target.op !== "get_attr") continue;
    copyInto.set(target, node);
    let from = source;
    if (from.target === "operator.getitem" && from.args[0] instanceof FxNode && foreachInplace(from.args[0].target))
      from = from.args[0];
    const byTarget = copies.get(from) ?? new Map<FxNode, FxNode>();
    byTarget.set(target, node);
    copies.set(from, byTarget);
  }
  const usedAfter = (node: FxNode, views: readonly FxNode[], written: FxNode, copy: FxNode | undefined): boolean =>
    views.some(v =>
      [...v.users].some(u => {
        if (at(u) <= at(node)) return false;
        if (copy !== undefined && at(copy) <= at(u)) return false;
        if (isMetadataOnly(u)) return false;
        return !(u.target === COPY && u.args[0] === written);
      }),
    );
  const canWrite = (node: FxNode, written: FxNode): boolean => {
    const views = sharing.get(rootOf(written)) ?? [];
    if (written.op === "placeholder" || written.op === "get_attr") {
      const copy = copyInto.get(written);
      return copy !== undefined && !usedAfter(node, views, written, copy);
    }
    if (views.some(v => v.op === "placeholder" || v.op === "get_attr")) return false;
    return !usedAfter(node, views, written, undefined);
  };
  const dropped: [FxNode, FxNode][] = [];
  for (const node of graph.nodes) {
    const scatter = scatters.get(node);
    const inplace = Object.hasOwn(INPLACE, node.target) ? INPLACE[node.target] : undefined;
    const written = node.args[0];
    if ((scatter || inplace) && written instanceof FxNode) {
      if (!canWrite(node, written) || (scatter && !shouldReinplaceScatter(node, scatter))) continue;
      const copy = copies.get(node)?.get(written);
      if (copy) dropped.push([copy, written]);
      if (scatter) inplaceScatters.add(node);
      else if (inplace) node.target = inplace;
      continue;
    }
    const each = foreachInplace(node.target);
    const targets = itemsOf(written);
    if (
      each === undefined ||
      targets.length === 0 ||
      !targets.every((t): t is FxNode => t instanceof FxNode && copies.get(node)?.has(t) === true)
    )
      continue;
    if (new Set(targets.map(rootOf)).size !== targets.length || !targets.every(t => canWrite(node, t))) continue;
    for (const t of targets) dropped.push([copies.get(node)?.get(t) as FxNode, t]);
    node.target = each;
  }
  for (const [copy, by] of dropped) replaceNode(graph, copy, by);
}

const METADATA_ONLY = /^aten\.(sym_size|sym_stride|sym_numel|sym_storage_offset)\b/;
function isMetadataOnly(n: FxNode): boolean {
  if (isViewTarget(n.target)) return [...n.users].every(isMetadataOnly);
  return METADATA_ONLY.test(n.target);
}

/** back to view scatters, or to a copy_ into the view where that is the better */
function decomposeScatters(
  rw: Rewriter,
  scatters: ReadonlyMap<FxNode, GeneralizedScatter>,
  inplace: ReadonlySet<FxNode>,
): void {
  const all = [...scatters.values()];
  const inOrder = [...all.filter(s => !inplace.has(s.node)), ...all.filter(s => inplace.has(s.node))];
  for (const { node, views } of inOrder) {
    const [input, source] = node.args as [FxNode, FxNode];
    const at = { before: node };
    const mutate = inplace.has(node) || views.some(v => ALWAYS_MUTATING.has(v.target));
    if (!mutate) {
      replaceNode(rw.graph, node, scatterInto(rw, input, source, views, node));
      continue;
    }
    const target = inplace.has(node)
      ? input
      : rw.node("aten.clone", [input], new Map(), rw.valueOf("aten.clone.default", [input], new Map()), at);
    let view = target;
    for (const v of views) view = rw.call(v.target, [view, ...v.args], {}, at);
    rw.call(COPY, [view, source], {}, at);
    replaceNode(rw.graph, node, target);
  }
}

function scatterInto(rw: Rewriter, input: FxNode, source: FxNode, views: readonly ViewOp[], before: FxNode): FxNode {
  const [first, ...rest] = views as [ViewOp, ...ViewOp[]];
  let from = source;
  if (rest.length > 0) {
    const view = rw.call(first.target, [input, ...first.args], {}, { before });
    from = scatterInto(rw, view, source, rest, before);
  }
  return rw.call(VIEW_TO_SCATTER[first.target] as string, [input, from, ...first.args], {}, { before });
}
