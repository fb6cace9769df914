// What the partitioner knows of operators (partitioners.get_default_op_list). In: a node. Out: whether it is a view, may
// be recomputed in the backward pass, or can share a kernel with a neighbour.
import { lookup } from "../../aten/registry";
import type { FxNode } from "../../fx/graph";

const words = (s: string): Set<string> => new Set(s.split(" "));

const VIEWS = words(
  "aten.squeeze aten.unsqueeze aten.alias aten.view aten.slice aten.t prims.broadcast_in_dim aten.expand aten.as_strided aten.permute " +
    "aten.select aten.split",
);

const RECOMPUTABLE = words(
  "aten.add aten.sub aten.div aten.atan2 aten.mul aten.max aten.min aten.pow aten.remainder aten.fmod aten.__and__ aten.__or__ aten.__xor__ " +
    "aten.__lshift__ aten.__rshift__ aten.eq aten.ne aten.ge aten.gt aten.le aten.lt aten.abs aten.bitwise_not aten.ceil aten.floor aten.frac " +
    "aten.neg aten.relu aten.round aten.silu aten.trunc aten.log aten.log10 aten.log1p aten.log2 aten.lgamma aten.exp aten.expm1 aten.erf " +
    "aten.erfc aten.cos aten.acos aten.cosh aten.sin aten.asin aten.sinh aten.tan aten.atan aten.tanh aten.atanh aten.sqrt aten.rsqrt " +
    "aten.reciprocal aten.sigmoid aten.softplus aten.threshold aten.threshold_backward aten.clamp aten.where aten.lerp aten.addcmul aten.gelu " +
    "aten.gelu_backward aten.sum aten.mean aten._grad_sum_to_size aten.sum_to_size aten.amax aten.to aten.type_as aten.rsub aten._to_copy " +
    "prims.div prims.convert_element_type aten.clone aten.full_like prims.var prims.sum aten.var aten.std aten._unsafe_view aten.reshape " +
    "aten.broadcast_tensors aten.scalar_tensor aten.ones aten.new_zeros aten.lift_fresh_copy aten.arange aten.triu aten.var_mean aten.isinf " +
    "aten.any aten.full aten.zeros aten.empty aten.empty_like aten.argmax aten.maximum prims.iota aten.index aten.gather aten.zeros_like",
);
const RANDOM = words("aten.native_dropout aten.rand_like aten.randn_like");

/** overload packet of an ATen call, the target itself for anything else */
function packetOfNode(node: FxNode): string {
  const { target } = node;
  let packet = packets.get(target);
  if (packet === undefined) {
    const parts = target.split(".");
    packet = parts.length === 3 ? `${parts[0]}.${parts[1]}` : target;
    packets.set(target, packet);
  }
  return packet;
}

/** as many as there are functions */
const packets = new Map<string, string>();

export function isViewOp(node: FxNode): boolean {
  return VIEWS.has(packetOfNode(node));
}

export function isRecomputable(node: FxNode): boolean {
  if (node.target.startsWith("operator.") || node.target.startsWith("torch.sym_") || node.target.startsWith("math."))
    return true;
  const packet = packetOfNode(node);
  if (VIEWS.has(packet) || RECOMPUTABLE.has(packet)) return true;
  return packet.startsWith("aten.") && lookup(node.target)?.tags?.includes("pointwise") === true;
}

export function isFusible(a: FxNode, b: FxNode): boolean {
  if (packetOfNode(b) === "aten.cat") return true;
  return fusesAtAll(a) && fusesAtAll(b);
}

function fusesAtAll(n: FxNode): boolean {
  return n.op === "call_function" && (isRecomputable(n) || RANDOM.has(packetOfNode(n)));
}
