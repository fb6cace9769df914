// Attributes of a tensor that answer without an operator: shapes, dtypes, flags.
import type { Value } from "../objects/values";
import { itemSize, type Torch } from "./context";
import { runOp } from "./dispatch";
import { PySymInt, type PyTensor } from "./objects";
import { functionOp } from "./tensor_ops";

export function attribute(torch: Torch, t: PyTensor, name: string): Value | undefined {
  const { vm } = torch;
  switch (name) {
    case "shape":
      return shapeOf(torch, t);
    case "dtype":
      return torch.dtype(t.meta.dtype);
    case "device":
      return torch.device(t.meta.device);
    case "ndim":
      return t.meta.shape.length;
    case "requires_grad":
      return t.meta.requiresGrad;
    case "is_leaf":
      return t.isLeaf;
    case "layout":
      return torch.strided;
    case "is_cuda":
      return t.meta.device.type === "cuda";
    case "is_cpu":
      return t.meta.device.type === "cpu";
    case "is_meta":
      return t.meta.device.type === "meta";
    case "is_sparse":
    case "is_quantized":
    case "is_mkldnn":
    case "is_nested":
    case "is_xpu":
    case "is_mps":
    case "retains_grad":
      return false;
    case "itemsize":
      return itemSize(t.meta.dtype);
    case "nbytes":
      return torch.dimValue(torch.meta.mul(torch.meta.product(t.meta.shape), itemSize(t.meta.dtype)));
    case "grad":
      return t.grad;
    case "grad_fn":
      return t.isLeaf ? null : vm.unknown("grad_fn");
    case "_version":
      return t.storage.version;
    case "name":
      return null;
    case "data":
      return functionOp(torch, "torch._C._autograd._get_data_attr", [t], undefined, "Tensor.detach");
    case "T":
    case "mT":
    case "H":
    case "mH":
    case "real":
    case "imag":
      return runOp(
        torch,
        { op: "call_function", target: "getattr", spelling: `Tensor.${name}`, display: name, suffix: [name] },
        [t],
        new Map(),
      );
    case "__dict__":
      t.attrs ??= vm.dict();
      return t.attrs;
    default:
      return undefined;
  }
}

export function shapeOf(torch: Torch, t: PyTensor): Value {
  const dims = t.meta.shape.map(d => torch.sizeValue(t, d));
  recordSizes(torch, t, dims, "size");
  return torch.size(dims);
}

/** reading a symbolic shape takes the names that Dynamo's size and getitem nodes take; the nodes themselves go again */
function recordSizes(torch: Torch, t: PyTensor, dims: readonly Value[], target: "size" | "stride"): void {
  const trace = torch.trace;
  if (!trace || !dims.some(d => d instanceof PySymInt)) return;
  const node = trace.emit("call_method", target, [trace.nodeOf(t)], new Map(), null);
  for (const [i, d] of dims.entries()) {
    trace.emit("call_function", "operator.getitem", [node, i], new Map(), d instanceof PySymInt ? d.expr : null);
  }
}
