// Rules of the post-grad passes (fx_passes/post_grad.py). Each is tried at its anchor node. Promises: nodes are named and
// placed as torch's pattern matcher names and places them.

import { lookup } from "../aten/registry";
import { DeviceArg, type Dim, DTypeArg } from "../aten/types";
import { FxNode } from "../fx/graph";
import type { Argument } from "../fx/types";
import { eraseUnused, intsOf, itemsOf, type MakeOptions, type Rewriter, replacedFrames, replaceNode } from "./edit";
import { callAt } from "./joint_rules";
import type { Rule } from "./rules";
import { hasAliasInfo } from "./storage";

const AMAX = "aten.amax.default";
const MM = "aten.mm.default";
const ADDMM = "aten.addmm.default";

/** whether a user is pointwise, looking through views and tuples */
export function isPointwiseUse(use: FxNode, also: (target: string) => boolean = () => false): boolean {
  if (use.op !== "call_function") return false;
  if (use.target === "operator.getitem" || hasAliasInfo(use.target))
    return [...use.users].every(u => isPointwiseUse(u, also));
  return lookup(use.target)?.tags?.includes("pointwise") === true || also(use.target);
}

export const SECOND_PASS: readonly Rule[] = [
  {
    // cumsum over a constant counts
    name: "pointless_cumsum",
    targets: ["aten.cumsum.default"],
    apply: (rw, node) => {
      const full = callAt(node, 0, "aten.full.default", false);
      const dim = node.args[1];
      const t = rw.tensor(node);
      const dtypeArg = full?.kwargs.get("dtype");
      if (
        full === undefined ||
        typeof dim !== "number" ||
        t === undefined ||
        node.kwargs.size > 0 ||
        !(dtypeArg instanceof DTypeArg)
      )
        return false;
      const shape = itemsOf(full.args[0]);
      const d = dim < 0 ? dim + shape.length : dim;
      const length = shape[d];
      if (length === undefined || !/^(u?int|bool)/.test(dtypeArg.dtype)) return false;
      const at: MakeOptions = { before: node, like: node };
      const index = rw.call(
        "prims.iota.default",
        [length],
        { start: 1, step: 1, dtype: new DTypeArg("int64"), device: new DeviceArg(t.device), requires_grad: false },
        at,
      );
      const scaled = rw.call("aten.mul.Tensor", [index, full.args[1] as Argument], {}, at);
      const viewed = rw.call("aten.view.default", [scaled, shape.map((_, i) => (i === d ? length : 1))], {}, at);
      replaceNode(rw.graph, node, rw.call("aten.expand.default", [viewed, shape], {}, at));
      return true;
    },
  },
  {
    // maximum and sum of a softmax in one pass over the row
    name: "online_softmax",
    targets: [AMAX],
    apply: (rw, node) => {
      const x = node.args[0];
      const dims = intsOf(node.args[1]);
      if (rw.config("online_softmax") === false || !(x instanceof FxNode) || rw.tensor(x)?.device.type !== "cuda")
        return false;
      if (dims?.length !== 1 || node.args[2] !== true) return false;
      for (const sub of node.users) {
        if (sub.target !== "aten.sub.Tensor" || sub.args[0] !== x || sub.args[1] !== node || sub.kwargs.size > 0)
          continue;
        for (const exp of sub.users) {
          if (exp.target !== "aten.exp.default") continue;
          for (const sum of exp.users) {
            if (sum.target !== "aten.sum.dim_IntList" || sum.args[2] !== true || sum.kwargs.size > 0) continue;
            const over = intsOf(sum.args[1]);
            if (over?.length !== 1 || over[0] !== dims[0]) continue;
            fuseSoftmax(rw, { amax: node, sub, exp, sum }, x, dims[0] as number);
            return true;
          }
        }
      }
      return false;
    },
  },
];

function fuseSoftmax(
  rw: Rewriter,
  m: { amax: FxNode; sub: FxNode; exp: FxNode; sum: FxNode },
  x: FxNode,
  dim: number,
): void {
  const at: MakeOptions = { before: m.amax, traced: replacedFrames([m.amax, m.sub, m.exp, m.sum]) };
  const values = [m.amax.meta.val ?? null, m.sum.meta.val ?? null];
  const pair = rw.node("prims.prepare_softmax_online.default", [x, dim], new Map(), values, at);
  const max = rw.getitem(pair, 0, at);
  const sum = rw.getitem(pair, 1, at);
  const sub = rw.call("aten.sub.Tensor", [x, max], {}, at);
  const exp = rw.call("aten.exp.default", [sub], {}, at);
  for (const [old, by] of [
    [m.amax, max],
    [m.sum, sum],
    [m.sub, sub],
    [m.exp, exp],
  ] as const)
    old.replaceAllUsesWith(by);
  eraseUnused(rw.graph, [m.sum, m.exp, m.sub, m.amax]);
}

export const THIRD_PASS: readonly Rule[] = [
  {
    // parts of a split, put together again
    name: "splitwithsizes_cat",
    targets: ["aten.cat.default"],
    apply: (rw, node) => {
      const parts = itemsOf(node.args[0]);
      const split = parts[0] instanceof FxNode && parts[0].target === "operator.getitem" ? parts[0].args[0] : undefined;
      if (!(split instanceof FxNode) || split.target !== "aten.split_with_sizes.default") return false;
      const inOrder = parts.every(
        (p, i) => p instanceof FxNode && p.target === "operator.getitem" && p.args[0] === split && p.args[1] === i,
      );
      if (!inOrder || parts.length !== itemsOf(split.args[1]).length || (split.args[2] ?? 0) !== (node.args[1] ?? 0))
        return false;
      replaceNode(rw.graph, node, split.args[0] as FxNode);
      eraseUnused(rw.graph, [split, ...(parts as FxNode[])]);
      return true;
    },
  },
  {
    // a concatenation, split into the same parts again
    name: "cat_splitwithsizes",
    targets: ["aten.split_with_sizes.default"],
    apply: (rw, node) => {
      const cat = callAt(node, 0, "aten.cat.default");
      if (cat === undefined || (node.args[2] ?? 0) !== (cat.args[1] ?? 0)) return false;
      const dim = node.args[2] ?? 0;
      const parts = itemsOf(cat.args[0]);
      const sizes = itemsOf(node.args[1]);
      if (typeof dim !== "number" || parts.length !== sizes.length) return false;
      const same = parts.every((p, i) => {
        const t = p instanceof FxNode ? rw.tensor(p) : undefined;
        const size = t?.shape[dim < 0 ? dim + t.shape.length : dim];
        return size !== undefined && typeof sizes[i] === "number" && rw.math.knownEq(size, sizes[i] as number);
      });
      const items = [...node.users];
      if (!same || !items.every(u => u.target === "operator.getitem" && typeof u.args[1] === "number")) return false;
      for (const item of items) replaceNode(rw.graph, item, parts[item.args[1] as number] as FxNode);
      eraseUnused(rw.graph, [node, cat]);
      return true;
    },
  },
  {
    // a bias that only pointwise operators follow joins their kernel
    name: "unfuse_bias_add_to_pointwise",
    targets: [ADDMM],
    apply: (rw, node) => {
      const [bias, a, b] = node.args;
      if (!(bias instanceof FxNode && a instanceof FxNode && b instanceof FxNode) || !prefersUnfused(rw, bias, node))
        return false;
      const at: MakeOptions = { before: node, like: node };
      let product = rw.call(MM, [a, b], {}, at);
      const alpha = node.kwargs.get("alpha");
      const beta = node.kwargs.get("beta");
      if (alpha !== undefined && alpha !== 1) product = rw.call("aten.mul.Tensor", [product, alpha], {}, at);
      const scaled = beta !== undefined && beta !== 1 ? rw.call("aten.mul.Tensor", [bias, beta], {}, at) : bias;
      replaceNode(rw.graph, node, rw.call("aten.add.Tensor", [scaled, product], {}, at));
      return true;
    },
  },
  {
    name: "addmm",
    targets: ["aten.add.Tensor"],
    apply: (rw, node) => {
      if (node.kwargs.size > 0) return false;
      // of two products that are added, the second takes the first as its bias
      for (const [i, j] of [
        [1, 0],
        [0, 1],
      ] as const) {
        const mm = callAt(node, i, MM);
        const other = node.args[j];
        if (mm === undefined || !(other instanceof FxNode)) continue;
        const [t, bias, lhs] = [rw.tensor(mm), rw.tensor(other), rw.tensor(mm.args[0] as FxNode)];
        if (t === undefined || bias === undefined || bias.dtype !== lhs?.dtype || !expandable(rw, bias.shape, t.shape))
          continue;
        if (staysBeforePointwise(rw, other, node)) continue;
        replaceNode(
          rw.graph,
          node,
          rw.call(
            ADDMM,
            [other, mm.args[0] as Argument, mm.args[1] as Argument],
            {},
            { before: node, traced: replacedFrames([mm, node]) },
          ),
        );
        eraseUnused(rw.graph, [mm]);
        return true;
      }
      return false;
    },
  },
  {
    // the maximum of everything, from the maxima of its rows
    name: "reuse_partial",
    targets: [AMAX, "aten.amin.default"],
    apply: (rw, node) => {
      const x = node.args[0];
      const full = node.target === AMAX ? "aten.max.default" : "aten.min.default";
      if (!(x instanceof FxNode) || node.args.length !== 3) return false;
      const whole = [...x.users].find(
        u => (u.target === node.target || u.target === full) && u.args.length === 1 && u.args[0] === x,
      );
      const numel = rw
        .tensor(x)
        ?.shape.reduce<number | undefined>((n, s) => (n === undefined ? n : times(n, rw.math.static(s))), 1);
      if (whole === undefined || numel === undefined || numel < 4096) return false;
      const first = rw.graph.indexOf(node) < rw.graph.indexOf(whole) ? node : whole;
      const at: MakeOptions = { before: first, traced: replacedFrames([node, whole]) };
      const partial = rw.call(node.target, node.args, {}, at);
      const complete = rw.call(whole.target, [partial], {}, at);
      replaceNode(rw.graph, node, partial);
      replaceNode(rw.graph, whole, complete);
      return true;
    },
  },
];

const times = (n: number, s: number | undefined): number | undefined => (s === undefined ? undefined : n * s);

function expandable(rw: Rewriter, from: readonly Dim[], to: readonly Dim[]): boolean {
  if (from.length > to.length) return false;
  const lead = to.length - from.length;
  return from.every((s, i) => rw.math.knownEq(s, 1) || rw.math.knownEq(s, to[i + lead] as Dim));
}

/** on the GPU, when every use is pointwise: the addition joins their kernel */
function staysBeforePointwise(rw: Rewriter, bias: FxNode, node: FxNode): boolean {
  return rw.tensor(bias)?.device.type === "cuda" && [...node.users].every(u => isPointwiseUse(u));
}

/** taking an addmm apart; one that was written as such keeps a half-precision bias */
function prefersUnfused(rw: Rewriter, bias: FxNode, node: FxNode): boolean {
  const dtype = rw.tensor(bias)?.dtype;
  if ((dtype === "float16" || dtype === "bfloat16") && rw.config("unfuse_half_bias") !== true) return false;
  return staysBeforePointwise(rw, bias, node);
}
