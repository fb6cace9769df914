// Programs written for the CPU are shown on the target GPU. In: a captured frame whose tensors are all on the CPU. Out:
// the same frame as it would be captured on the GPU. Promises: the given frame stays as it is; autocast regions go on to
// cast what they cast.
import { parseDevice } from "../aten/args";
import { type Device, DeviceArg } from "../aten/types";
import type { CapturedFrame } from "../dynamo/types";
import { FxGraph, type FxNode, mapNodes } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { type Argument, type FakeValue, mapKeywords, type NodeMeta, TupleArg } from "../fx/types";

const GPU: Device = { type: "cuda", index: 0 };

const ENTER_AUTOCAST = /\._enter_autocast$/;

/** The frame with its tensors, its literals, the devices that it names and the default device on the first GPU. */
export function onTarget(frame: CapturedFrame): CapturedFrame {
  const graph = new FxGraph();
  for (const [name, spec] of frame.graph.constants) graph.constants.set(name, { ...spec, device: GPU });
  // torch keeps the tensor of a float argument on the CPU
  const floats = new Set(frame.inputs.filter(i => i.kind === "symfloat").map(i => i.node));
  const nodes = new Map<FxNode, FxNode>();
  for (const node of frame.graph.nodes) {
    const meta = floats.has(node) ? { ...node.meta } : movedMeta(node.meta);
    const map = (a: Argument): Argument => movedArgument(mapNodes(a, n => nodes.get(n) ?? n));
    const args = ENTER_AUTOCAST.test(node.target) ? autocastArguments(node.args) : node.args.map(map);
    // Tensor.cpu() names a device in its own name
    const target = node.op === "call_method" && node.target === "cpu" ? "cuda" : node.target;
    const copy = graph.create(node.op, target, args, mapKeywords(node.kwargs, map), meta, { candidate: node.name });
    nodes.set(node, copy);
  }
  const inputs = frame.inputs.map(input => ({ ...input, node: nodes.get(input.node) ?? input.node }));
  return { ...frame, graph, inputs, defaultDevice: GPU };
}

function movedMeta(meta: NodeMeta): NodeMeta {
  return meta.val === undefined ? { ...meta } : { ...meta, val: movedValue(meta.val) };
}

function movedValue(v: FakeValue): FakeValue {
  if (isFakeTensor(v)) return { ...v, device: GPU };
  return Array.isArray(v) ? (v as readonly (FakeValue | null)[]).map(movedValue) : v;
}

function movedArgument(a: Argument): Argument {
  if (a instanceof DeviceArg) return a.device.type === "cpu" ? new DeviceArg(GPU) : a;
  if (typeof a === "string") return parseDevice(a)?.type === "cpu" ? "cuda" : a;
  if (a instanceof TupleArg) return new TupleArg(a.items.map(movedArgument));
  return Array.isArray(a) ? (a as readonly Argument[]).map(movedArgument) : a;
}

/** a region for the GPU cast nothing on the CPU, one for the CPU does what one for the GPU will */
function autocastArguments([device, dtype, enabled, ...rest]: readonly Argument[]): readonly Argument[] {
  return [device, dtype, device === "cpu" && enabled, ...rest].map(a => a ?? null);
}
