// Gradient mode, autocast and torch._C: what context managers of torch call, with the nodes that they leave in a graph.
import { lookupPython } from "../../aten/registry";
import { DTypeArg } from "../../aten/types";
import { PyNamed, type Value } from "../objects/values";
import type { Torch } from "./context";
import { op } from "./functional";
import type { TorchParts } from "./namespace_parts";

export function setGrad(ns: TorchParts, on: boolean): Value {
  const { torch } = ns;
  torch.trace?.emit("call_function", "torch._C._set_grad_enabled", [on], new Map(), null, { placeless: true });
  torch.gradEnabled = on;
  return null;
}

export function enterAutocast(ns: TorchParts, args: readonly Value[]): Value {
  const { torch, vm } = ns;
  const [device, dtype, enabled, cache] = args;
  const kind = String(device ?? "cuda");
  const chosen = torch.asDtype(dtype) ?? (kind === "cpu" ? "bfloat16" : "float16");
  const before = torch.autocast;
  torch.trace?.emit(
    "call_function",
    "torch.amp.autocast_mode._enter_autocast",
    [
      kind,
      dtype === null || dtype === undefined ? null : new DTypeArg(chosen),
      vm.truthy(enabled ?? true),
      typeof cache === "boolean" ? cache : null,
    ],
    new Map(),
    null,
    { placeless: true },
  );
  torch.autocast = { enabled: vm.truthy(enabled ?? true), device: kind, dtype: chosen };
  return new PyNamed(vm.types.object, "autocast", { before, node: torch.trace?.graph.nodes.at(-1) ?? null });
}
export function exitAutocast(ns: TorchParts, prev: Value): Value {
  const { torch } = ns;
  if (prev instanceof PyNamed) {
    const data = prev.data as { before: Torch["autocast"]; node: import("../../fx/graph").FxNode | null };
    // the graph that it was entered in may have ended at a break
    if (torch.trace && data.node && torch.trace.graph.nodes.includes(data.node)) {
      torch.trace.emit("call_function", "torch.amp.autocast_mode._exit_autocast", [data.node], new Map(), null, {
        placeless: true,
      });
    }
    torch.autocast = data.before;
  }
  return null;
}

export function privateC(ns: TorchParts): Value {
  const { vm, torch } = ns;
  const m = vm.newModule("torch._C");
  m.lazy = n => {
    if (n === "_set_grad_enabled") return vm.builtin(n, ([on]) => setGrad(ns, vm.truthy(on ?? true)));
    if (n === "_nn") {
      const nn = vm.newModule("torch._C._nn");
      nn.lazy = k =>
        op(torch, k, {
          op: "call_function",
          target: `torch._C._nn.${k}`,
          spelling: lookupPython(`torch._C._nn.${k}`).length > 0 ? `torch._C._nn.${k}` : `torch.nn.functional.${k}`,
        });
      return nn;
    }
    return n.startsWith("__") ? undefined : vm.builtin(n, () => null);
  };
  return m;
}
