// The module torch.sparse. In: the module to fill. Products are those of dense matrices; the old classes are functions of
// today.
import type { PyModule, Value } from "../objects/values";
import { op } from "./functional";
import type { TorchParts } from "./namespace_parts";
import type { OpCall } from "./results";
import { COORDINATES } from "./sparse_results";

export function fillSparse(
  { vm, torch }: TorchParts,
  m: PyModule,
  lazily: (f: (n: string) => Value | undefined) => void,
): void {
  const coordinates: OpCall = { op: "call_function", target: COORDINATES, spelling: COORDINATES };
  const product: OpCall = { op: "call_function", target: "torch.mm", spelling: "torch.mm", display: "mm" };
  m.dict.set("mm", op(torch, "mm", product));
  lazily(n => {
    if (/^(Float|Double|Half|BFloat16|Long|Int)Tensor$/.test(n)) return op(torch, n, coordinates);
    return n.startsWith("__") ? undefined : vm.unknown(`torch.sparse.${n}`);
  });
}
