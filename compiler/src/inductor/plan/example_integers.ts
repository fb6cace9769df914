// Which integers a graph's inputs may hold when no program gives them. In: an ATen graph after Inductor's passes. Out: for
// each integer or bool input the bound that example values stay under, 0 <= v < bound, where one can be told.
// Promises: what indexes a dimension stays within it; an input whose use isn't understood has no bound, and is filled with 0.
import { categoryOf, isFloatDType, isIntegralDType } from "../../aten/ops/helpers/dtypes";
import { lookup } from "../../aten/registry";
import { type FxGraph, FxNode } from "../../fx/graph";
import { isFakeTensor } from "../../fx/print";
import type { FakeTensor } from "../../fx/types";
import type { Expr } from "../symbolic/expr";

/** integers that index nothing are 0, 1, 2 and 3 */
const SMALL = 4;

/** operators whose results hold elements of these arguments alone, or those held within constants */
const KEEPS_ELEMENTS: Readonly<Record<string, readonly number[]>> = {
  "aten.clone.default": [0],
  "aten.clamp.default": [0],
  "aten.clamp_min.default": [0],
  "aten.clamp_max.default": [0],
  "aten.where.self": [1, 2],
  "aten.index.Tensor": [0],
  "aten._unsafe_index.Tensor": [0],
  "aten.embedding.default": [0],
  "aten.gather.default": [0],
  "prims.convert_element_type.default": [0],
};

interface IndexUse {
  readonly self: number;
  readonly index: number;
  /** the dimension's place among the arguments; a number: always this dimension */
  readonly dim: { readonly argument: number } | number;
}

/**
 * Operators that read or add up at an index of one dimension. Those that overwrite stay out: where two indices are equal, any
 * of the two values may be the last.
 */
const ONE_DIMENSION: Readonly<Record<string, IndexUse>> = {
  "aten.embedding.default": { self: 0, index: 1, dim: 0 },
  "aten.gather.default": { self: 0, index: 2, dim: { argument: 1 } },
  "aten.index_select.default": { self: 0, index: 2, dim: { argument: 1 } },
  "aten.scatter.value": { self: 0, index: 2, dim: { argument: 1 } },
  "aten.scatter_add.default": { self: 0, index: 2, dim: { argument: 1 } },
};

/** operators with an index for each dimension; index_put only where it adds up */
const EVERY_DIMENSION = new Set(["aten.index.Tensor", "aten._unsafe_index.Tensor", "aten.index_put.default"]);

/** By input name. `hint` is a size's example value, if it has one. */
export function exampleBounds(graph: FxGraph, hint: (size: Expr) => number | undefined): Map<string, number> {
  const bounds = new Map<string, number>();
  for (const input of graph.placeholders()) {
    const tensor = tensorOf(input);
    if (!tensor || !isIntegralDType(tensor.dtype)) continue;
    const bound = new Uses(hint).boundOf(input);
    if (bound !== null) bounds.set(input.name, tensor.dtype === "bool" ? Math.min(bound, 2) : bound);
  }
  return bounds;
}

/** follows one input to all of its uses */
class Uses {
  /** values that hold the input's elements (true) or are computed from them (false) */
  private readonly seen = new Map<FxNode, boolean>();
  private bound: number | null = null;

  constructor(private readonly hint: (size: Expr) => number | undefined) {}

  boundOf(input: FxNode): number | null {
    const open: FxNode[] = [];
    const follow = (node: FxNode, same: boolean): void => {
      const known = this.seen.get(node);
      if (known !== undefined && (known === same || !known)) return;
      this.seen.set(node, same);
      open.push(node);
    };
    follow(input, true);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const same = this.seen.get(node) ?? false;
      for (const user of node.users) {
        if (user.op === "output") continue;
        const next = this.use(node, user, same);
        if (next === "unknown") return null;
        if (next !== "ends") follow(user, next === "elements");
      }
    }
    return this.bound ?? SMALL;
  }

  /** what a use makes of a value: its elements again, something computed of them, nothing that could be an index */
  private use(node: FxNode, user: FxNode, same: boolean): "elements" | "computed" | "ends" | "unknown" {
    const from = tensorOf(node);
    const to = tensorOf(user);
    if (!from || !to) return "unknown";
    const indexed = indexedSizes(node, user);
    if (indexed === null) return "unknown";
    if (indexed.length > 0) {
      if (!same || from.dtype === "bool") return "unknown";
      for (const size of indexed) {
        const value = this.hint(size);
        if (value === undefined || value < 1) return "unknown";
        this.bound = Math.min(this.bound ?? value, value);
      }
      // a table that is its own index
      return user.args[0] === node ? "unknown" : "ends";
    }
    // floats are not indices; a value that other floats went into is as arbitrary as they are
    const others = user.inputs.filter(n => n !== node && isFloat(n) && !this.seen.has(n));
    if (isFloatDType(from.dtype) && isFloatDType(to.dtype) && others.length > 0) return "ends";
    const tags = lookup(user.target)?.tags ?? [];
    const kept = Object.hasOwn(KEEPS_ELEMENTS, user.target) ? KEEPS_ELEMENTS[user.target] : undefined;
    if (tags.includes("view") || kept?.some(i => user.args[i] === node)) return same ? "elements" : "computed";
    if (!tags.includes("pointwise") && !tags.includes("reduction")) return "unknown";
    // whether something holds of an element
    if (to.dtype === "bool" && from.dtype !== "bool") return "ends";
    return isFloatDType(to.dtype) && others.length > 0 ? "ends" : "computed";
  }
}

/** sizes that `node` indexes in `user`: none where it is no index, null where that can't be told */
function indexedSizes(node: FxNode, user: FxNode): Expr[] | null {
  const table = tensorOf(user.args[0]);
  const target = user.target.replace(/_(\.\w+)$/, "$1"); // one that writes in place is used alike
  if (EVERY_DIMENSION.has(target)) {
    const indices = user.args[1];
    if (!table || !Array.isArray(indices)) return null;
    const dims = indices.flatMap((index: unknown, dim) => (index === node ? [dim] : []));
    if (target === "aten.index_put.default" && user.args[3] !== true) return null;
    return dims.flatMap(dim => table.shape[dim] ?? []);
  }
  const use = Object.hasOwn(ONE_DIMENSION, target) ? ONE_DIMENSION[target] : undefined;
  if (!use) return [];
  if (user.args[use.index] !== node) return [];
  const dim = typeof use.dim === "number" ? use.dim : user.args[use.dim.argument];
  if (!table || typeof dim !== "number") return null;
  const size = table.shape[dim < 0 ? dim + table.shape.length : dim];
  return size === undefined ? null : [size];
}

const tensorOf = (x: unknown): FakeTensor | null =>
  x instanceof FxNode && isFakeTensor(x.meta.val) ? x.meta.val : null;

function isFloat(n: FxNode): boolean {
  const t = tensorOf(n);
  return t !== null && categoryOf(t.dtype) !== "int" && categoryOf(t.dtype) !== "bool";
}
