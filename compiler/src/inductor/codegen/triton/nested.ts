// A reduction over groups inside the blocks of another one (_codegen_nested_reduction in torch/_inductor/codegen/simd.py).
// In: an outer kernel whose own reductions are done, and the members that come after. Out: their lines in the same
// kernel. Promises: a group never straddles blocks, since a block holds a whole number of groups.
import { type BodyHandler, runBody } from "../../ir/run_body";
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, floorDiv, int, replaceExpr } from "../../symbolic/expr";
import { nestedNames } from "./blocks";
import { bodyHandler } from "./body_handler";
import type { CseVar } from "./cse";
import type { TritonKernel } from "./kernel";
import type { NestedSpec } from "./kernel_spec";
import { emitStore } from "./memory";
import { isReductionNode } from "./node_schedule";
import { RangeTree } from "./range_tree";

/** the kernel's trees with one of them replaced by its groups */
function groupTrees(k: TritonKernel, spec: NestedSpec): readonly RangeTree[] {
  const { reduced, local } = nestedNames(spec.prefix);
  return k.trees.map(t => {
    if (t.prefix !== spec.prefix) return t;
    const index = `reduced_${spec.prefix}index`;
    const names = { index, mask: `${index}_mask`, block: reduced };
    const numel = floorDiv(t.numel, spec.group);
    const tree = new RangeTree(t.prefix, numel, t.tensorDim, null, t.isLoop, t.hasZ, k.space, names);
    const subscript = k.trees
      .filter(d => d.tensorDim !== null)
      .map(d => (d === t ? ":" : "None"))
      .join(", ");
    tree.header = [
      `${index} = ${t.prefix}offset // ${local} + tl.arange(0, ${reduced})[${subscript}]`,
      `${names.mask} = ${index} < ${k.printIndex(numel)}`,
    ];
    k.nestedTrees.push(tree);
    return tree;
  });
}

interface Mapped {
  readonly iter: readonly Expr[];
  readonly reduce: readonly Expr[];
  /** iteration expressions over the groups, for what a grouped reduction writes */
  readonly groups: readonly Expr[] | null;
}

/** index expressions of a member, by the part of the kernel that it runs in */
function mapNested(k: TritonKernel, n: SchedulerNode, spec: NestedSpec, trees: readonly RangeTree[]): Mapped {
  const fail = (): never => {
    throw new Error(`${n.name} does not fit the groups of its kernel`);
  };
  const [iter, reduce] = n.sizes;
  if (isReductionNode(n)) {
    // along r a group's elements vary fastest, along x the rest of the row does
    const alongX = !spec.prefix.startsWith("r");
    const lengths = alongX ? [...iter.slice(0, -1), ...reduce, ...iter.slice(-1)] : [...iter, ...reduce];
    const flat = k.splitAndSetRanges([lengths, []])?.[0] ?? fail();
    const r = reduce.length;
    const own = alongX ? [...flat.slice(0, iter.length - 1), ...flat.slice(-1)] : flat.slice(0, iter.length);
    const inner = alongX ? flat.slice(iter.length - 1, iter.length - 1 + r) : flat.slice(iter.length);
    const groups = inDomain(k, trees, () => k.splitAndSetRanges([iter, []])?.[0] ?? fail());
    return { iter: own, reduce: inner, groups };
  }
  const sv = k.sizevars;
  const numel = sv.simplify(n.group[0]);
  const full = sv.simplify(sv.numel(k.trees.map(t => t.numel)));
  if (numel === full) return { iter: k.splitAndSetRanges(n.sizes)?.[0] ?? fail(), reduce: [], groups: null };
  return { iter: inDomain(k, trees, () => k.splitAndSetRanges(n.sizes)?.[0] ?? fail()), reduce: [], groups: [] };
}

function inDomain<T>(k: TritonKernel, trees: readonly RangeTree[], f: () => T): T {
  const before = k.domain;
  k.domain = trees;
  try {
    return f();
  } finally {
    k.domain = before;
  }
}

/** emits the members that come after the outer reduction */
export function emitNested(k: TritonKernel, nodes: readonly SchedulerNode[], spec: NestedSpec): void {
  const trees = groupTrees(k, spec);
  for (const n of nodes) mapNested(k, n, spec, trees);
  const plain = bodyHandler(k);
  for (const n of nodes) {
    if (!n.body) throw new Error(`${n.name} has no body`);
    const m = mapNested(k, n, spec, trees);
    k.node = n;
    k.op = n.name;
    if (m.groups === null) runBody(n.body, plain, m.iter, m.reduce);
    else if (isReductionNode(n)) runBody(n.body, groupedHandler(k, plain, m, spec, trees), m.iter, m.reduce);
    else {
      const { body } = n;
      inDomain(k, trees, () => runBody(body, plain, m.iter, m.reduce));
    }
    k.node = null;
    k.op = "";
  }
}

/** reduces each group inside the block, and stores one value per group */
function groupedHandler(
  k: TritonKernel,
  plain: BodyHandler<CseVar>,
  m: Mapped,
  spec: NestedSpec,
  trees: readonly RangeTree[],
): BodyHandler<CseVar> {
  const { reduced, local } = nestedNames(spec.prefix);
  const toGroups = new Map<Expr, Expr>(m.iter.map((e, i) => [e, m.groups?.[i] ?? int(0)]));
  return {
    ...plain,
    reduction: (dtype, _src, type, value) => {
      k.numReduction++;
      let v = (Array.isArray(value) ? value[0] : value) as CseVar;
      const dense = k.denseShape();
      if (v.shape.join() !== dense.join()) v = k.value(`tl.broadcast_to(${v.name}, ${k.dense()})`, v.dtype, dense);
      const at = k.tensorDims().findIndex(t => t.prefix === spec.prefix);
      const split = dense.flatMap((s, i) => (i === at ? [reduced, local] : [s]));
      const grouped = k.value(`tl.reshape(${v.name}, [${split.join(", ")}])`, v.dtype, split);
      const helper = type === "any" || type === "max" || type === "min" || type === "prod";
      const fn = `${helper ? "triton_helpers" : "tl"}.${type === "max" || type === "min" ? `${type}2` : type}`;
      const shape = dense.map((s, i) => (i === at ? reduced : s));
      void dtype;
      return k.value(`${fn}(${grouped.name}, ${at + 1})`, v.dtype, shape);
    },
    storeReduction: (buffer, index, value) =>
      inDomain(k, trees, () => emitStore(k, buffer, replaceExpr(index, toGroups), value, null)),
  };
}
