// Sparse matrices: no kernel is made for them, so that what makes one is an opaque operator. In: the call. Out: the result's
// metadata, that of the dense matrix with the same entries, which is what the operators that read it take.
import { isExpr } from "../../aten/dim_math";
import type { Dim } from "../../aten/types";
import type { FakeTensor } from "../../fx/types";
import type { Torch } from "./context";
import type { FakeResult } from "./fake_shapes";
import type { PyTensor } from "./objects";

export const COORDINATES = "torch.sparse_coo_tensor";

/** what sparse_coo_tensor(indices, values, size) gives, where the size is told; undefined: another operator, or no size */
export function sparseResult(
  torch: Torch,
  target: string,
  tensors: readonly PyTensor[],
  size: unknown,
): FakeResult | undefined {
  const like = (tensors[1] ?? tensors[0])?.meta;
  if (target !== COORDINATES || !like || !Array.isArray(size) || size.length === 0) return undefined;
  const known = size.every(d => typeof d === "number" || isExpr(d));
  const { dtype, device } = like;
  return known ? (torch.meta.tensor(size as readonly Dim[], { dtype, device }) as FakeTensor) : undefined;
}
