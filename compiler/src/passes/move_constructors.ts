// Tensors made on the CPU that only GPU operators use are made on the GPU (ConstructorMoverPass). In: a graph with one
// GPU. Out: the same graph with `device` changed where every use allows it, values worked out anew.
import { lookup } from "../aten/registry";
import { DeviceArg } from "../aten/types";
import { FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { intValue } from "../inductor/symbolic/expr";
import { itemsOf, type Rewriter } from "./edit";

/** operators whose GPU result may come from CPU arguments */
const MIXED = new Set(
  "aten.index.Tensor aten.index_put.default aten.index_put_.default aten.copy.default aten.copy_.default aten.slice_scatter.default".split(
    " ",
  ),
);

/** a number written under a mask, which ATen does without asking the GPU as long as the number is on the CPU */
function writesNumberUnderMask(n: FxNode): boolean {
  if (n.target !== "aten.index_put.default" && n.target !== "aten.index_put_.default") return false;
  const value = n.args[2] instanceof FxNode ? n.args[2].meta.val : undefined;
  const masks = itemsOf(n.args[1]).some(
    i => i instanceof FxNode && isFakeTensor(i.meta.val) && ["bool", "int8"].includes(i.meta.val.dtype),
  );
  return masks && isFakeTensor(value) && value.device.type === "cpu" && value.shape.every(s => intValue(s) === 1);
}

const onCpu = (n: FxNode): boolean => isFakeTensor(n.meta.val) && n.meta.val.device.type === "cpu";

export function moveConstructors(rw: Rewriter): void {
  const gpus = new Map<string, DeviceArg>();
  const constructors: FxNode[] = [];
  for (const n of rw.graph.nodes) {
    const v = n.meta.val;
    if (isFakeTensor(v) && v.device.type === "cuda") gpus.set(String(v.device.index), new DeviceArg(v.device));
    const device = n.kwargs.get("device");
    if (
      n.op === "call_function" &&
      n.inputs.every(i => !isFakeTensor(i.meta.val)) &&
      device instanceof DeviceArg &&
      device.device.type === "cpu" &&
      lookup(n.target)
    ) {
      constructors.push(n);
    }
  }
  const [gpu] = gpus.values();
  if (constructors.length === 0 || gpus.size !== 1 || gpu === undefined) return;
  const movable = findMovable(rw, constructors);
  if (movable.size === 0) return;
  for (const n of movable)
    n.setArguments(n.args, new Map([...n.kwargs].map(([k, v]) => [k, k === "device" ? gpu : v])));
  const changed = new Set<FxNode>(movable);
  for (const n of rw.graph.nodes) {
    if (
      n.op !== "call_function" ||
      n.target === "operator.getitem" ||
      (!changed.has(n) && !n.inputs.some(i => changed.has(i)))
    )
      continue;
    if (!onCpu(n)) continue;
    n.meta.val = rw.valueOf(n.target, n.args, n.kwargs);
    changed.add(n);
  }
}

function findMovable(rw: Rewriter, constructors: readonly FxNode[]): Set<FxNode> {
  const cpuInputs = new Map<FxNode, number>();
  for (const n of rw.graph.nodes) {
    const count = n.inputs.filter(onCpu).length;
    if (count > 0) cpuInputs.set(n, count);
  }
  // constructors that meet in one node move together
  const groups = new Map<FxNode, Set<FxNode>>(constructors.map(c => [c, new Set([c])]));
  const groupOf = new Map<FxNode, Set<FxNode>>(groups);
  const join = (a: Set<FxNode>, b: Set<FxNode> | undefined): Set<FxNode> => {
    if (b === undefined || a === b) return a;
    for (const x of b) a.add(x);
    for (const [n, g] of groupOf) if (g === b) groupOf.set(n, a);
    return a;
  };
  const stuck = new Set<FxNode>();
  const queue = [...constructors];
  for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
    for (const user of n.users) {
      const mine = groupOf.get(n) as Set<FxNode>;
      if (
        user.op === "output" ||
        (user.op === "call_function" && lookup(user.target) === undefined) ||
        writesNumberUnderMask(user)
      ) {
        for (const c of mine) stuck.add(c);
        break;
      }
      if (MIXED.has(user.target) && isFakeTensor(user.meta.val) && user.meta.val.device.type === "cuda")
        cpuInputs.delete(user);
      else {
        const left = (cpuInputs.get(user) ?? 0) - 1;
        if (left > 0) cpuInputs.set(user, left);
        else {
          cpuInputs.delete(user);
          queue.push(user);
        }
      }
      groupOf.set(user, join(mine, groupOf.get(user)));
    }
  }
  for (const n of cpuInputs.keys()) for (const c of groupOf.get(n) ?? []) stuck.add(c);
  const movable = new Set<FxNode>();
  for (const c of constructors) if (![...(groupOf.get(c) ?? [c])].some(x => stuck.has(x))) movable.add(c);
  return movable;
}
