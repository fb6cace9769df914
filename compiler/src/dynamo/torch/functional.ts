// torch.nn.functional and the printed homes of functions. In: a function's name. Out: the callable, recorded in the graph
// under the name torch prints for it; functions that Dynamo traces into are inlined here too, with their frames.
import { lookupPython } from "../../aten/registry";
import type { StackFrame } from "../../fx/types";
import { NativeArgs } from "../interp/arguments";
import { PyBuiltin, PyList, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { runOp } from "./dispatch";
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

/** where torch 2.11's functional.py defines what Dynamo traces into */
const INLINED: Readonly<Record<string, { line: number; code: string; column?: number; from?: number }>> = {
  rms_norm: { line: 2954, code: "return torch.rms_norm(input, normalized_shape, weight, eps)" },
  pad: { line: 5430, code: "return torch._C._nn.pad(input, pad, mode, value)" },
  _threshold: { line: 1693, code: "result = _VF.threshold(input, threshold, value)", column: 8, from: 9 },
  _threshold_: { line: 1691, code: "result = _VF.threshold_(input, threshold, value)", column: 8, from: 9 },
};

function inlinedFrame(name: string): StackFrame[] {
  const at = Object.hasOwn(INLINED, name) ? INLINED[name] : undefined;
  if (!at) return [];
  const { column = 4, from = "return ".length } = at;
  return [
    {
      file: "torch/nn/functional.py",
      func: name === "_threshold_" ? "_threshold" : name,
      line: at.line,
      code: at.code,
      span: { line: at.line, column: column + from, endLine: at.line, endColumn: column + at.code.length },
    },
  ];
}

export function op(torch: Torch, name: string, call: OpCall): PyBuiltin {
  const b = new PyBuiltin(torch.vm.types.builtin, name, (args, kw) => runOp(torch, call, args, kw));
  b.module = "torch";
  return b;
}

export function functionalFunction(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  const special = inlined(torch, name);
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

function inlined(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  if (name === "rms_norm") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "normalized_shape", "weight?", "eps?"], args, kw);
      return runOp(
        torch,
        {
          op: "call_function",
          target: "torch.rms_norm",
          spelling: "torch.rms_norm",
          options: { extraFrames: inlinedFrame(name) },
        },
        [a.need("input"), a.need("normalized_shape"), a.get("weight") ?? null, a.get("eps") ?? null],
        vm.emptyKwargs,
      );
    });
  }
  if (name === "threshold") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "threshold", "value", "inplace?"], args, kw);
      const inplace = vm.truthy(a.get("inplace") ?? false);
      const target = inplace ? "torch.threshold_" : "torch.threshold";
      const options = { extraFrames: inlinedFrame(inplace ? "_threshold_" : "_threshold") };
      return runOp(
        torch,
        { op: "call_function", target, spelling: target, options },
        [a.need("input"), a.need("threshold"), a.need("value")],
        vm.emptyKwargs,
      );
    });
  }
  if (name === "pad") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "pad", "mode?", "value?"], args, kw);
      const pads = a.need("pad");
      const call: OpCall = {
        op: "call_function",
        target: "torch._C._nn.pad",
        spelling: lookupPython("torch._C._nn.pad").length > 0 ? "torch._C._nn.pad" : "torch.nn.functional.pad",
        options: { extraFrames: inlinedFrame(name) },
      };
      const list = pads instanceof PyList || pads instanceof PyTuple ? pads : vm.list(vm.toArray(pads));
      return runOp(
        torch,
        call,
        [a.need("input"), list, a.get("mode") ?? "constant", a.get("value") ?? null],
        vm.emptyKwargs,
      );
    });
  }
  return undefined;
}
