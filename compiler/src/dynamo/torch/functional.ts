// torch.nn.functional and the printed homes of functions. In: a function's name. Out: the callable, recorded in the graph
// under the name torch prints for it; functions that Dynamo traces into are inlined here too, with their frames.
import { lookupPython } from "../../aten/registry";
import { PyBuiltin, type Value } from "../objects/values";
import type { Torch } from "./context";
import { runOp } from "./dispatch";
import { inlinedFunctional } from "./functional_inlined";
import type { OpCall } from "./results";

const BUILTIN_NN = [
  "linear",
  "gelu",
  "softplus",
  "one_hot",
  "scaled_dot_product_attention",
  "avg_pool2d",
  "avg_pool3d",
  "softshrink",
];

/** F functions that are bindings of C++ functions: the graph shows their real home */
const HOMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(BUILTIN_NN.map(n => [n, `torch._C._nn.${n}`])),
  logsigmoid: "torch._C._nn.log_sigmoid",
  conv1d: "torch.conv1d",
  conv2d: "torch.conv2d",
  conv3d: "torch.conv3d",
  conv_transpose1d: "torch.conv_transpose1d",
  conv_transpose2d: "torch.conv_transpose2d",
  conv_transpose3d: "torch.conv_transpose3d",
  conv_tbc: "torch.conv_tbc",
  avg_pool1d: "torch.avg_pool1d",
  adaptive_avg_pool1d: "torch.adaptive_avg_pool1d",
  hardshrink: "torch.hardshrink",
  prelu: "torch.prelu",
  bilinear: "torch.bilinear",
  cosine_similarity: "torch.cosine_similarity",
  pixel_shuffle: "torch.pixel_shuffle",
  pixel_unshuffle: "torch.pixel_unshuffle",
  channel_shuffle: "torch.channel_shuffle",
  native_channel_shuffle: "torch.native_channel_shuffle",
  pairwise_distance: "torch.pairwise_distance",
  pdist: "torch.pdist",
  relu_: "torch.relu_",
  selu_: "torch.selu_",
  celu_: "torch.celu_",
  leaky_relu_: "torch._C._nn.leaky_relu_",
  elu_: "torch._C._nn.elu_",
  rrelu_: "torch.rrelu_",
  threshold_: "torch.threshold_",
  hardtanh_: "torch._C._nn.hardtanh_",
};

/** torch functions written in Python: the graph shows torch.functional */
const TORCH_FUNCTIONAL = new Set([
  "einsum",
  "split",
  "meshgrid",
  "norm",
  "cdist",
  "stft",
  "istft",
  "tensordot",
  "broadcast_tensors",
  "block_diag",
  "cartesian_prod",
  "atleast_1d",
  "atleast_2d",
  "atleast_3d",
  "unique",
  "unique_consecutive",
  "chain_matmul",
  "lu",
  "broadcast_shapes",
  "unravel_index",
]);

export function torchTarget(name: string): string {
  return TORCH_FUNCTIONAL.has(name) ? `torch.functional.${name}` : `torch.${name}`;
}

export function namespaceTarget(space: "linalg" | "special" | "fft", name: string): string {
  return `torch._C._${space}.${space}_${name}`;
}

export function op(torch: Torch, name: string, call: OpCall): PyBuiltin {
  const b = new PyBuiltin(torch.vm.types.builtin, name, (args, kw) => runOp(torch, call, args, kw));
  b.module = "torch";
  return b;
}

export function functionalFunction(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  const special = inlinedFunctional(torch, name);
  if (special) return special;
  const spelling = `torch.nn.functional.${name}`;
  const known = lookupPython(spelling);
  const home = HOMES[name];
  if (known.length > 0) {
    const printed = home ?? known[0]?.printedAs ?? spelling;
    return op(torch, name, { op: "call_function", target: printed, spelling, display: name });
  }
  if (home !== undefined && lookupPython(home).length > 0) {
    return op(torch, name, { op: "call_function", target: home, spelling: home, display: name });
  }
  // activations of F that are only torch functions today
  if (["tanh", "sigmoid"].includes(name)) {
    return op(torch, name, { op: "call_function", target: `torch.${name}`, spelling: `torch.${name}` });
  }
  if (
    /^(upsample\w*|interpolate|grid_sample|affine_grid|fold|unfold|ctc_loss|\w+_loss|\w*pool\d?d?\w*|gumbel_softmax|embedding_bag|multi_head_attention_forward|lp_pool\dd|\w*dropout\w*|scaled_mm|grouped_mm)$/.test(
      name,
    )
  ) {
    return op(torch, name, { op: "call_function", target: spelling, spelling });
  }
  void vm;
  return undefined;
}

/** torch.addcdiv; Dynamo takes it apart where it is given a value, so that the value may be a tensor */
export function addcdiv(torch: Torch): Value {
  const plain: OpCall = { op: "call_function", target: "torch.addcdiv", spelling: "torch.addcdiv" };
  const call = (name: string, args: readonly Value[]): Value => {
    const target = `torch.${name}`;
    return runOp(torch, { op: "call_function", target, spelling: target }, args, torch.vm.emptyKwargs);
  };
  return torch.vm.builtin("addcdiv", (args, kw) => {
    const value = kw.get("value");
    if (!torch.trace || args.length !== 3 || kw.size !== 1 || value === undefined) return runOp(torch, plain, args, kw);
    const quotient = call("div", args.slice(1));
    return call("add", [args[0] ?? null, call("mul", [quotient, value])]);
  });
}
