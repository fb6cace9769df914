// What Python makes of a tensor's numbers: lists, truth, text, comparisons of whole tensors. In: a tensor. Out: Python values,
// an unknown number, or a graph break while a frame is traced.
import type { Kwargs, Value } from "../objects/values";
import { isFloatDType, type Torch } from "./context";
import { asPython, elements, itemValue } from "./item_values";
import { PySymInt, PyTensor, PyUnknownNumber } from "./objects";
import { Unsupported } from "./sink";
import { breakOn, FUNDAMENTAL, functionOp, methodOp, unsupportedItem } from "./tensor_ops";

export function toList(torch: Torch, t: PyTensor): Value {
  const { vm } = torch;
  const flat = t.known ?? (torch.compiling ? elements(torch, t) : undefined);
  const sizes = torch.hints(t);
  const build = (dim: number, offset: number): Value => {
    if (dim === sizes.length) {
      const v = flat?.[offset];
      return v === undefined ? itemValue(torch, t, "an element", offset) : asPython(t, v);
    }
    const inner = sizes.slice(dim + 1).reduce((a, b) => a * b, 1);
    return vm.list(
      Array.from({ length: Math.min(sizes[dim] ?? 0, 4096) }, (_, i) => build(dim + 1, offset + i * inner)),
    );
  };
  return build(0, 0);
}

export function tracedItem(torch: Torch, t: PyTensor, name: string): Value {
  if (torch.dynamoConfig.get("capture_scalar_outputs") !== true) {
    if (name === "tolist" && isFloatDType(t.meta.dtype)) {
      breakOn(
        "Tensor.tolist() with non-integer tensor",
        "0109",
        "Dynamo currently does not support tracing `tolist()` on non-integer tensors.",
        ["Ensure the input tensor to `tolist()` is an integer type (e.g., int8, int16, int32, int64)."],
        `call_method TensorVariable() tolist`,
      );
    }
    throw unsupportedItem("item");
  }
  const trace = torch.trace;
  if (!trace || name === "tolist" || isFloatDType(t.meta.dtype)) throw unsupportedItem("item");
  const u = trace.unbackedInt();
  const node = trace.emit("call_method", "item", [trace.nodeOf(t)], new Map(), u);
  return new PySymInt(torch.vm.types.int, u, node, trace);
}

export function number(torch: Torch, t: PyTensor, as: "int" | "float"): Value {
  if (torch.trace) {
    if (t.known && t.proxy?.trace !== torch.trace) return asPython(t, t.known[0] ?? 0);
    throw unsupportedItem("item");
  }
  const v = itemValue(torch, t, `${as}(tensor)`);
  if (v instanceof PyUnknownNumber) return new PyUnknownNumber(torch.vm.types[as], v.what, t);
  return torch.vm.call(torch.vm.types[as], [v]);
}

export function truth(torch: Torch, t: PyTensor): boolean {
  if (torch.trace) {
    throw new Unsupported(
      {
        type: "Data-dependent branching",
        number: "0170",
        explanation:
          "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing dynamic control flow.",
        hints: [FUNDAMENTAL, "Use `torch.cond` to express dynamic control flow."],
        context: "attempted to jump with TensorVariable()",
      },
      true,
    );
  }
  const v = elements(torch, t)?.[0];
  if (v !== undefined) return Boolean(v);
  return torch.decideUnknown("the truth of a tensor");
}

/** torch.equal and torch.allclose: one answer that rests on all the data */
export function sameValues(torch: Torch, name: "equal" | "allclose", args: readonly Value[], kw: Kwargs): Value {
  const [a, b] = args;
  if (torch.trace) {
    breakOn(
      "Data dependent operator",
      "0033",
      `Operator \`aten.${name}.default\` has a non-Tensor output whose value is dependent on the data of Tensor inputs.`,
      [],
      `aten.${name}.default`,
    );
  }
  if (name === "equal" && a instanceof PyTensor && b instanceof PyTensor) {
    const [x, y] = [torch.hints(a), torch.hints(b)];
    if (x.length !== y.length || x.some((n, i) => n !== y[i])) return false;
  }
  const each =
    name === "equal"
      ? functionOp(torch, "torch.eq", [a ?? null, b ?? null])
      : functionOp(torch, "torch.isclose", args, kw);
  const all = methodOp(torch, "all", each, [], new Map());
  return all instanceof PyTensor ? itemValue(torch, all, `torch.${name}(...)`) : all;
}

export function tensorText(torch: Torch, t: PyTensor): string {
  const { vm } = torch;
  const parts = [`shape=torch.Size([${torch.hints(t).join(", ")}])`];
  const values = t.known && t.meta.shape.length <= 1 ? t.known : null;
  const shown = values
    ? t.meta.shape.length === 0
      ? vm.repr(asPython(t, values[0] ?? 0))
      : `[${values.map(v => vm.repr(asPython(t, v))).join(", ")}]`
    : "...";
  if (values) parts.length = 0;
  if (t.meta.device.type === "cuda") parts.push(`device='cuda:${t.meta.device.index ?? 0}'`);
  if (t.meta.dtype !== torch.defaultDtype && t.meta.dtype !== "int64") parts.push(`dtype=torch.${t.meta.dtype}`);
  return `tensor(${[shown, ...parts].join(", ")})`;
}
