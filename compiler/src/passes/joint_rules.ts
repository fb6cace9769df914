// Rules of the joint graph passes (fx_passes/joint_graph.py), which run before partitioning. Each matches at its last
// node. Promises: a rule's nodes are named and placed as torch's pattern matcher names and places them.
import { DeviceArg, type Dim, DTypeArg, LayoutArg, PyFloat } from "../aten/types";
import { FxNode } from "../fx/graph";
import type { Argument } from "../fx/types";
import {
  dimOf,
  eraseUnused,
  intsOf,
  itemsOf,
  type MakeOptions,
  type Rewriter,
  replacedFrames,
  replaceNode,
} from "./edit";
import type { Rule } from "./rules";

const VIEW = "aten.view.default";
const PERMUTE = "aten.permute.default";
const CONVERT = "prims.convert_element_type.default";
const FLOATS: ReadonlySet<string> = new Set(["float16", "bfloat16", "float32", "float64"]);

/** argument `i` if it is a call of `target`; with `single`, only if nothing else uses it */
export function callAt(node: FxNode, i: number, target: string, single = true): FxNode | undefined {
  const a = node.args[i];
  if (!(a instanceof FxNode) || a.op !== "call_function" || a.target !== target) return undefined;
  return single && a.users.size > 1 ? undefined : a;
}

/** whether a view's sizes are the shape; one of them may be -1 */
function sizesEqual(rw: Rewriter, size: Argument | undefined, of: FxNode): boolean {
  const shape = rw.tensor(of)?.shape;
  const sizes = itemsOf(size).map(dimOf);
  if (shape === undefined || sizes.length !== shape.length) return false;
  const other = sizes.filter((s, i) => s === undefined || !rw.math.knownEq(s, shape[i] as Dim));
  return other.length === 0 || (other.length === 1 && other[0] !== undefined && rw.math.knownEq(other[0], -1));
}

export const EARLY_RULES: readonly Rule[] = [
  {
    name: "pointless_view",
    targets: [VIEW],
    apply: (rw, node) => {
      const x = node.args[0];
      if (!(x instanceof FxNode) || !sizesEqual(rw, node.args[1], x)) return false;
      replaceNode(rw.graph, node, x);
      return true;
    },
  },
  {
    name: "pointless_view_pair",
    targets: [VIEW],
    apply: (rw, node) => {
      const inner = callAt(node, 0, VIEW);
      const x = inner?.args[0];
      if (!(x instanceof FxNode) || !sizesEqual(rw, node.args[1], x)) return false;
      replaceNode(rw.graph, node, x);
      eraseUnused(rw.graph, [inner as FxNode]);
      return true;
    },
  },
  {
    name: "pointless_permute_pair",
    targets: [PERMUTE],
    apply: (rw, node) => {
      const inner = callAt(node, 0, PERMUTE);
      const x = inner?.args[0];
      const [p, q] = [intsOf(inner?.args[1]), intsOf(node.args[1])];
      if (!(x instanceof FxNode) || !p || !q || p.length !== q.length || !q.every((d, i) => p[d] === i)) return false;
      replaceNode(rw.graph, node, x);
      eraseUnused(rw.graph, [inner as FxNode]);
      return true;
    },
  },
];

export const FIRST_RULES: readonly Rule[] = [
  {
    // an index made on the CPU and used on the GPU
    name: "fix_iota_device",
    targets: ["prims.iota.default"],
    apply: (rw, node) => {
      const device = node.kwargs.get("device");
      const users = [...node.users];
      if (!(device instanceof DeviceArg) || users.length === 0) return false;
      if (!users.every(u => u.target === "aten.index.Tensor" || u.target === "aten.index_put.default")) return false;
      const devices = new Set(users.map(u => rw.tensor(u)?.device.type));
      const [only] = users.map(u => rw.tensor(u)?.device);
      if (devices.size !== 1 || only === undefined || only.type === device.device.type) return false;
      const kwargs = Object.fromEntries(
        [...node.kwargs].map(([k, v]) => [k, k === "device" ? new DeviceArg(only) : v]),
      );
      replaceNode(rw.graph, node, rw.call(node.target, node.args, kwargs, { before: node, like: node }));
      return true;
    },
  },
  {
    name: "pointless_convert",
    targets: [CONVERT],
    apply: (rw, node) => {
      const inner = callAt(node, 0, CONVERT);
      const [d1, d2] = [inner?.args[1], node.args[1]];
      if (!(d1 instanceof DTypeArg && d2 instanceof DTypeArg) || !FLOATS.has(d1.dtype) || !FLOATS.has(d2.dtype))
        return false;
      replaceNode(rw.graph, node, rw.call(CONVERT, [inner?.args[0] as Argument, d2], {}, { before: node, like: node }));
      eraseUnused(rw.graph, [inner as FxNode]);
      return true;
    },
  },
  {
    name: "bmm_to_mm",
    targets: ["aten.bmm.default"],
    apply: (rw, node) => {
      const [a, b] = node.args;
      if (!(a instanceof FxNode && b instanceof FxNode)) return false;
      const shapes = [rw.tensor(a), rw.tensor(b)];
      if (!shapes.every(t => t?.device.type === "cuda" && rw.math.knownEq(t.shape[0] as Dim, 1))) return false;
      const at: MakeOptions = { before: node, like: node };
      const x = rw.call("aten.squeeze.dim", [a, 0], {}, at);
      const y = rw.call("aten.squeeze.dim", [b, 0], {}, at);
      const mm = rw.call("aten.mm.default", [x, y], {}, at);
      replaceNode(rw.graph, node, rw.call("aten.unsqueeze.default", [mm, 0], {}, at));
      return true;
    },
  },
  {
    name: "scatter_upon_const_tensor",
    targets: ["aten.scatter.value"],
    apply: scatterUponConstant,
  },
];

/** scatter of one number per row into a constant: a comparison with the position, no scatter */
function scatterUponConstant(rw: Rewriter, node: FxNode): boolean {
  const full = callAt(node, 0, "aten.full.default");
  const [, dimArg, selector, value] = node.args;
  const out = rw.tensor(node);
  if (rw.config("optimize_scatter_upon_const_tensor") === false) return false;
  if (full === undefined || !(selector instanceof FxNode) || typeof dimArg !== "number" || out === undefined)
    return false;
  const index = rw.tensor(selector);
  const rank = out.shape.length;
  const dim = dimArg < 0 ? dimArg + rank : dimArg;
  if (index === undefined || index.shape.length !== rank || !rw.math.knownEq(index.shape[dim] as Dim, 1)) return false;
  if (!index.shape.every((s, i) => i === dim || rw.math.knownEq(s, out.shape[i] as Dim))) return false;
  const at: MakeOptions = { before: node, traced: replacedFrames([full, node]) };
  const sizes = itemsOf(full.args[0]);
  const length = sizes[dim] as Argument;
  const iota = rw.call(
    "prims.iota.default",
    [length],
    { start: 0, step: 1, dtype: new DTypeArg("int64"), device: new DeviceArg(index.device), requires_grad: false },
    at,
  );
  iota.meta.originalAten = "aten.arange";
  const view = rw.call(VIEW, [iota, sizes.map((_, i) => (i === dim ? length : 1))], {}, at);
  const expand = rw.call("aten.expand.default", [selector, sizes], {}, at);
  const mask = rw.call("aten.eq.Tensor", [expand, view], {}, at);
  const dtype = [full.args[1], value].some(v => v instanceof PyFloat) ? "float32" : "int64";
  const scalar = (v: Argument): FxNode =>
    rw.call(
      "aten.scalar_tensor.default",
      [v],
      { dtype: new DTypeArg(dtype), layout: new LayoutArg("strided"), device: new DeviceArg(out.device) },
      at,
    );
  const background = scalar(full.args[1] as Argument);
  const fill = scalar(value as Argument);
  replaceNode(rw.graph, node, rw.call("aten.where.self", [mask, fill, background], {}, at));
  eraseUnused(rw.graph, [full]);
  return true;
}

/** scale(x) - amax(scale(x)): the maximum is taken before scaling, which keeps it exact and lets it fuse */
export const SECOND_RULES: readonly Rule[] = [
  {
    name: "softmax_scale",
    targets: ["aten.sub.Tensor"],
    apply: (rw, node) => {
      const amax = callAt(node, 1, "aten.amax.default");
      const scaled = node.args[0];
      if (
        amax === undefined ||
        !(scaled instanceof FxNode) ||
        amax.args[0] !== scaled ||
        amax.args.length !== 3 ||
        node.kwargs.size > 0
      )
        return false;
      const convert = scaled.target === CONVERT ? scaled : undefined;
      const scale = convert === undefined ? scaled : convert.args[0];
      if (!(scale instanceof FxNode) || scale.op !== "call_function") return false;
      const op = scale.target;
      if ((op !== "aten.mul.Tensor" && op !== "aten.div.Tensor") || scale.args.length !== 2) return false;
      const orders =
        op === "aten.mul.Tensor"
          ? [
              [0, 1],
              [1, 0],
            ]
          : [[0, 1]];
      for (const [i, j] of orders as [number, number][]) {
        const [input, other] = [scale.args[i] as Argument, scale.args[j] as Argument];
        if (!(input instanceof FxNode) || !constantAlong(rw, input, other, intsOf(amax.args[1]) ?? [])) continue;
        rewriteScale(rw, node, amax, convert, op, input, other);
        eraseUnused(rw.graph, [amax, ...(convert ? [convert] : []), scale]);
        return true;
      }
      return false;
    },
  },
];

function constantAlong(rw: Rewriter, input: FxNode, other: Argument, dims: readonly number[]): boolean {
  if (typeof other === "number" || other instanceof PyFloat) return true;
  if (!(other instanceof FxNode)) return false;
  if (dimOf(other) !== undefined) return true;
  const [a, b] = [rw.tensor(input), rw.tensor(other)];
  if (a === undefined || b === undefined || a.shape.length < b.shape.length) return false;
  const padded: (Dim | number)[] = [...new Array<number>(a.shape.length - b.shape.length).fill(1), ...b.shape];
  return dims.every(d => rw.math.knownEq(padded[d < 0 ? d + padded.length : d] ?? 0, 1));
}

function rewriteScale(
  rw: Rewriter,
  node: FxNode,
  amax: FxNode,
  convert: FxNode | undefined,
  op: string,
  input: FxNode,
  other: Argument,
): void {
  const at: MakeOptions = { before: node, traced: replacedFrames([...(convert ? [convert] : []), amax, node]) };
  let x = input;
  if (convert !== undefined) x = rw.call(CONVERT, [x, convert.args[1] as Argument], {}, at);
  let sign: Argument;
  let magnitude: Argument;
  const number = typeof other === "number" ? other : other instanceof PyFloat ? other.value : undefined;
  if (number !== undefined) {
    const s = number >= 0 ? 1 : -1;
    sign = s;
    magnitude = other instanceof PyFloat ? new PyFloat(s * number) : s * number;
  } else if (other instanceof FxNode && dimOf(other) !== undefined) {
    sign = 1;
    magnitude = other;
  } else {
    const t = rw.tensor(x);
    const kwargs = {
      dtype: new DTypeArg(t?.dtype ?? "float32"),
      device: new DeviceArg(t?.device ?? { type: "cuda", index: 0 }),
      pin_memory: false,
    };
    const one = rw.call("aten.scalar_tensor.default", [1], kwargs, at);
    const ge = rw.call("aten.ge.Scalar", [other, 0], {}, at);
    const minus = rw.call("aten.neg.default", [one], {}, at);
    sign = rw.call("aten.where.self", [ge, one, minus], {}, at);
    x = rw.call("aten.mul.Tensor", [x, sign], {}, at);
    magnitude = sign;
  }
  if (!(sign instanceof FxNode)) x = rw.call("aten.mul.Tensor", [x, sign], {}, at);
  const max = rw.call("aten.amax.default", [x, amax.args[1] as Argument, amax.args[2] as Argument], {}, at);
  const diff = rw.call("aten.sub.Tensor", [x, max], {}, at);
  if (sign instanceof FxNode) magnitude = rw.call("aten.mul.Tensor", [sign, other], {}, at);
  replaceNode(rw.graph, node, rw.call(op, [diff, magnitude], {}, at));
}
