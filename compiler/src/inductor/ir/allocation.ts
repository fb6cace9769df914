// Memory without a kernel and copies between devices (empty_strided, DeviceCopy). In: a shape or a box. Out: a box in
// memory. Promises: an allocation is an operation that runs nothing.
import type { Device, DType } from "../../aten/types";
import { type Expr, int } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf, valueLayout } from "./access";
import { bufferOf, isLoops, storageOf, type TensorBox } from "./boxes";
import { realizeInput, requireContiguous } from "./constraints";
import type { Lowering } from "./context";
import { contiguousStrides } from "./layouts";
import { readNames } from "./mutation";
import { createPointwise, full } from "./pointwise";
import { realize } from "./realize";

export function allocate(
  ctx: Lowering,
  size: readonly Expr[],
  stride: readonly Expr[],
  dtype: DType,
  device: Device,
): TensorBox {
  const box = full(ctx, 0, dtype, device, size);
  const b = realize(ctx, box);
  // loops over nothing make a node that runs no kernel
  if (b.kind === "computed") b.data = { ...b.data, ranges: size.map(() => int(0)) };
  b.layout = { kind: "fixed", device, dtype, size, stride, offset: int(0) };
  return box;
}

export function toDevice(ctx: Lowering, x: TensorBox, device: Device): TensorBox {
  const from = deviceOf(x);
  if (from.type === device.type && from.index === device.index) return x;
  const d = storageOf(x).data;
  const constant = isLoops(d) && [...readNames(x)].every(n => ctx.constants.has(n));
  if (constant) return createPointwise(ctx, { size: sizeOf(x), dtype: dtypeOf(x), device, inner: loaderOf(ctx, x) });
  const source = requireContiguous(ctx, x);
  const stride = valueLayout(source)?.stride ?? contiguousStrides(sizeOf(source));
  const input = realizeInput(ctx, source);
  return ctx.boxOf(
    ctx.registerExtern({
      irClass: "DeviceCopy",
      kernel: null,
      op: "aten.copy_.default",
      inputs: [input],
      args: [input, false],
      kwargs: {},
      mutates: [],
      layout: { kind: "fixed", device, dtype: dtypeOf(x), size: sizeOf(x), stride, offset: int(0) },
    }),
  );
}

/** the operator behind a value that an extern kernel made; null for other values */
export function externOp(x: TensorBox): string | null {
  const b = bufferOf(x);
  if (b?.kind !== "extern") return null;
  if (b.irClass !== "MultiOutput") return b.op;
  const [producer] = b.inputs;
  return producer === undefined ? null : externOp(producer);
}
