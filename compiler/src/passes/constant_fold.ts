// Folding of tensors that hold one value everywhere (joint_graph.constant_fold_uniform_value). In: a graph. Out: the
// same graph with such tensors made by `full`, and without the sums, products and quotients that they make pointless.
// Promises: only contiguous tensors whose memory nothing else views are replaced.

import { isExpr } from "../aten/dim_math";
import { contiguousStrides } from "../aten/meta_builder";
import { lookup, packetOf } from "../aten/registry";
import { DeviceArg, DTypeArg, LayoutArg, PyFloat } from "../aten/types";
import { FxNode } from "../fx/graph";
import type { Argument, FakeTensor } from "../fx/types";
import { type Expr, intValue } from "../inductor/symbolic/expr";
import { type Rewriter, replaceNode } from "./edit";
import { type Constant, foldPointwise, toDtypeValue } from "./fold_values";

interface Known {
  readonly value: Constant;
  /** tensors that were worked out as one and the same share it, as they would share memory */
  readonly memory: object;
}

const VIEWS = new Set([
  "aten.squeeze",
  "aten.unsqueeze",
  "aten.alias",
  "aten.view",
  "aten.slice",
  "aten.t",
  "prims.broadcast_in_dim",
  "aten.expand",
  "aten.as_strided",
  "aten.permute",
]);

export function foldUniformConstants(rw: Rewriter): void {
  const known = new Map<FxNode, Known>();
  const replaced = new Map<FxNode, Known>();
  const replacedUses = new Map<FxNode, number>();
  const lastUses = findLastUses(rw);
  for (const node of timesZero(rw)) replaced.set(node, { value: 0, memory: {} });
  for (const node of rw.graph.nodes) {
    if (node.op === "get_attr") {
      const literal = rw.graph.constants.get(node.target);
      if (literal?.values.length === 1) known.set(node, { value: literal.values[0] as Constant, memory: {} });
      continue;
    }
    if (node.op !== "call_function") continue;
    const out = deduce(rw, node, known);
    if (out === undefined) continue;
    known.set(node, out);
    replaced.set(node, out);
    for (const a of node.args) if (a instanceof FxNode) replacedUses.set(a, (replacedUses.get(a) ?? 0) + 1);
    for (const done of lastUses.get(node) ?? []) if (replacedUses.get(done) === done.users.size) replaced.delete(done);
  }
  const shared = new Map<object, number>();
  for (const { memory } of replaced.values()) shared.set(memory, (shared.get(memory) ?? 0) + 1);
  const zeros = new Set<FxNode>();
  const ones = new Set<FxNode>();
  const symbols = symbolNodes(rw);
  for (const [node, { value, memory }] of replaced) {
    const t = rw.tensor(node);
    if (t === undefined || (shared.get(memory) ?? 0) > 1 || t.dtype.startsWith("uint")) continue;
    if (!rw.sameSizes(t.stride, contiguousStrides(rw.math, t.shape)) && !isPacked(rw, t)) continue;
    const sizes = t.shape.map(s => sizeArgument(s, symbols));
    if (sizes.some(s => s === undefined)) continue;
    const given = node.target === "aten.full.default" && node.args.length === 2 ? node.args[1] : undefined;
    // FIXME: no complex literals here
    if (given === undefined && t.dtype.startsWith("complex")) continue;
    const fill = given ?? (/^(float|bfloat)/.test(t.dtype) ? new PyFloat(Number(value)) : value);
    const next = rw.graph.nodes[rw.graph.indexOf(node) + 1] as FxNode;
    const kwargs = new Map<string, Argument>([
      ["dtype", new DTypeArg(t.dtype)],
      ["layout", new LayoutArg("strided")],
      ["device", new DeviceArg(t.device)],
      ["pin_memory", false],
    ]);
    const full = rw.node("aten.full.default", [sizes as Argument[], fill], kwargs, t, { before: next, like: node });
    replaceNode(rw.graph, node, full);
    if (Number(value) === 0) zeros.add(full);
    else if (Number(value) === 1) ones.add(full);
  }
  removeNeutralOperands(rw, zeros, ones);
}

/** products with the integer 0, whatever the other factor is: all of mul.Tensor before all of mul.Scalar */
function timesZero(rw: Rewriter): FxNode[] {
  const targets = ["aten.mul.Tensor", "aten.mul.Scalar"];
  const found = (target: string): FxNode[] =>
    rw.graph.nodes.filter(n => n.target === target && n.args.some(a => a === 0 || a === false));
  return targets.flatMap(found).filter(n => rw.tensor(n) !== undefined);
}

function findLastUses(rw: Rewriter): Map<FxNode, FxNode[]> {
  const uses = new Map<FxNode, FxNode[]>();
  const seen = new Set<FxNode>();
  for (let i = rw.graph.nodes.length - 1; i >= 0; i--) {
    const user = rw.graph.nodes[i] as FxNode;
    const here = user.inputs.filter(n => !seen.has(n));
    for (const n of here) seen.add(n);
    uses.set(user, here);
  }
  return uses;
}

function deduce(rw: Rewriter, node: FxNode, known: ReadonlyMap<FxNode, Known>): Known | undefined {
  const t = rw.tensor(node);
  if (t === undefined || node.meta.opaque !== undefined) return undefined;
  const inputs = node.inputs.filter(n => !isExpr(n.meta.val));
  if (inputs.some(n => !known.has(n))) return undefined;
  if (node.target === "aten.full.default" && node.args.length === 2) {
    const value = constantOf(node.args[1] as Argument, known);
    return value === undefined ? undefined : { value: toDtypeValue(value, t.dtype), memory: {} };
  }
  const packet = packetOf(node.target);
  if (node.target !== "aten.view.dtype" && VIEWS.has(packet))
    return node.args[0] instanceof FxNode ? known.get(node.args[0]) : undefined;
  const record = lookup(node.target);
  const foldable =
    record?.tags?.includes("pointwise") ||
    node.target === "aten.scalar_tensor.default" ||
    node.target === "aten.lift_fresh_copy.default" ||
    node.target === "prims.convert_element_type.default";
  if (!foldable || node.inputs.length !== inputs.length) return undefined;
  const numbers = node.args.filter(a => !(a instanceof DTypeArg)).map(a => constantOf(a, known));
  if (numbers.some(n => n === undefined)) return undefined;
  const value = foldPointwise(packet.split(".")[1] ?? "", numbers as Constant[], node.kwargs, t.dtype);
  return value === undefined ? undefined : { value, memory: {} };
}

function constantOf(a: Argument, known: ReadonlyMap<FxNode, Known>): Constant | undefined {
  if (a instanceof FxNode) return known.get(a)?.value;
  if (typeof a === "number" || typeof a === "bigint" || typeof a === "boolean") return a;
  return a instanceof PyFloat ? a.value : undefined;
}

/** contiguous although strides of dims of size 1 are free */
function isPacked(rw: Rewriter, t: FakeTensor): boolean {
  let expected: number | undefined = 1;
  for (let i = t.shape.length - 1; i >= 0; i--) {
    const size = intValue(t.shape[i] as Expr);
    if (size === 1) continue;
    if (expected === undefined || rw.math.static(t.stride[i] as Expr) !== expected) return false;
    expected = size === undefined ? undefined : expected * size;
  }
  return true;
}

export function symbolNodes(rw: Rewriter): Map<Expr, FxNode> {
  const symbols = new Map<Expr, FxNode>();
  for (const n of rw.graph.nodes) if (isExpr(n.meta.val) && !symbols.has(n.meta.val)) symbols.set(n.meta.val, n);
  return symbols;
}

function sizeArgument(s: Expr, symbols: ReadonlyMap<Expr, FxNode>): Argument | undefined {
  return intValue(s) ?? symbols.get(s);
}

/** x + 0, x - 0, x * 1, x / 1 over tensors */
function removeNeutralOperands(rw: Rewriter, zeros: ReadonlySet<FxNode>, ones: ReadonlySet<FxNode>): void {
  const drop = (node: FxNode, keep: number): void => {
    const source = node.args[keep];
    if (!(source instanceof FxNode) || !node.args.every(a => a instanceof FxNode)) return;
    const want = rw.tensor(node);
    const have = rw.tensor(source);
    if (
      want === undefined ||
      have === undefined ||
      !rw.sameSizes(want.shape, have.shape) ||
      want.device.type !== have.device.type
    )
      return;
    const by =
      want.dtype === have.dtype
        ? source
        : rw.call(
            "prims.convert_element_type.default",
            [source, new DTypeArg(want.dtype)],
            {},
            { before: node, like: node },
          );
    node.replaceAllUsesWith(by);
    // an input keeps the strides that it has
    if (by.op === "placeholder") Object.assign(by.meta, node.meta, { val: by.meta.val });
    else Object.assign(by.meta, node.meta);
    rw.graph.erase(node);
  };
  const plain = (n: FxNode): boolean => n.args.length === 2 && !n.kwargs.has("alpha");
  for (const [target, constants, both] of [
    ["aten.add.Tensor", zeros, true],
    ["aten.sub.Tensor", zeros, false],
    ["aten.mul.Tensor", ones, true],
    ["aten.div.Tensor", ones, false],
  ] as const) {
    for (const node of rw.graph.nodes.filter(n => n.op === "call_function" && n.target === target && plain(n))) {
      const [a, b] = node.args;
      if (both && a instanceof FxNode && constants.has(a)) drop(node, 1);
      else if (b instanceof FxNode && constants.has(b)) drop(node, 0);
    }
  }
}
