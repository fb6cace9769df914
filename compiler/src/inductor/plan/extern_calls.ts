// Calls of kernels that are not generated (ExternKernelOut, ExternKernelAlloc, FallbackKernel, MultiOutput in
// torch/_inductor/ir.py). In: an extern node. Out: plan steps. Promises: an operator that is unknown here blocks the
// plan's execution and says why, it never stops generation.

import { type ArgValue, DeviceArg, DTypeArg, LayoutArg, MemoryFormatArg, PyComplex, PyFloat } from "../../aten/types";
import { deviceText, isFakeTensor } from "../../fx/print";
import { floatText } from "../codegen/triton/python_text";
import { isBufferView } from "../ir/buffer_view";
import { itemsize } from "../ir/dtypes";
import type { BufferView, ExternOperation } from "../ir/types";
import type { SchedulerNode } from "../scheduler/types";
import { type Expr, mul } from "../symbolic/expr";
import type { PlanContext } from "./context";
import { sourceComment } from "./provenance";
import { planSize, planTensor, planView } from "./sizes";
import type { PlanArg, PlanStep, PlanTensor } from "./types";

export function externSteps(b: PlanContext, node: SchedulerNode): void {
  const op = node.operation;
  if (op.kind !== "extern") return;
  if (op.irClass === "MultiOutput") {
    const name = op.outputs[0] ?? "";
    const layout = b.view.layout(name);
    if (layout && "size" in layout) {
      b.allocated.add(name);
      b.push({
        kind: "getitem",
        output: planTensor(name, layout, b.view),
        of: producerOf(node),
        index: op.index ?? null,
      });
    }
    return;
  }
  if (op.opaque !== undefined) b.blockers.push(op.opaque);
  b.push(externCall(b, node));
}

/** the call of an extern node's kernel; of a template, the library's call that computes the same */
export function externCall(b: PlanContext, node: SchedulerNode): Extract<PlanStep, { kind: "extern" }> {
  const op = node.operation;
  if (op.kind !== "extern") throw new Error(`${node.name} calls no kernel`);
  const tupled = op.kernel === "extern_kernels.convolution" ? asTuple : (a: PlanArg) => a;
  return {
    kind: "extern",
    // a copy from another device has no kernel's name in torch's dumps
    kernel: op.kernel ?? (op.irClass === "DeviceCopy" ? "aten.copy_" : op.op),
    op: op.op,
    call: OUT.has(op.irClass) ? "out" : op.irClass === "ExternKernelAlloc" ? "alloc" : "fallback",
    output: op.outputs[0] ?? "",
    results: resultsOf(b, op),
    args: op.args.map(a => planArg(b, a)),
    kwargs: Object.entries(op.kwargs).map(([k, v]) => [k, tupled(planArg(b, v))] as const),
    origin: b.options.originOf(op.origins),
    ops: [node.name],
    comment: sourceComment([op.origins]),
    opaque: op.opaque,
    ...(op.target === undefined ? {} : { target: op.target }),
    ...(beginsAligned(b, op) ? {} : { unaligned: true }),
  };
}

function beginsAligned(b: PlanContext, op: ExternOperation): boolean {
  const traced = op.originNode?.meta.val;
  if (!isFakeTensor(traced)) return true;
  return b.view.sizevars.knownMultipleOf(mul(traced.storageOffset, itemsize(traced.dtype)), 16);
}

const OUT: ReadonlySet<string> = new Set([
  "ExternKernelOut",
  "RandomSeeds",
  "DeviceCopy",
  "TemplateBuffer",
  "MultiTemplateBuffer",
]);

/** Inductor keeps a convolution's sizes as tuples, everything else as lists */
const asTuple = (a: PlanArg): PlanArg => (a.kind === "list" ? { ...a, tuple: true } : a);

const producerOf = (node: SchedulerNode): string => node.readWrites.reads.find(d => d.kind !== "weak")?.name ?? "";

function resultsOf(b: PlanContext, op: ExternOperation): (PlanTensor | null)[] {
  const name = op.outputs[0] ?? "";
  const layout = b.view.layout(name);
  if (layout && "size" in layout) return layout.kind === "mutation" ? [] : [planTensor(name, layout, b.view)];
  // the unpacking nodes say what each element is; users of views of the same memory count among this one's
  const results: (PlanTensor | null)[] = [];
  for (const u of b.view.schedulerBuffer(name)?.users ?? []) {
    const part = u.node?.operation;
    if (part?.kind !== "extern" || part.irClass !== "MultiOutput" || !u.node || producerOf(u.node) !== name) continue;
    const out = part.outputs[0] ?? "";
    const l = b.view.layout(out);
    if (l && "size" in l) results[part.index ?? 0] = planTensor(out, l, b.view);
  }
  return Array.from(results, r => r ?? null);
}

const isExpr = (a: object): a is Expr => "kind" in a && "id" in a;

export function planArg(b: PlanContext, a: ArgValue<BufferView>): PlanArg {
  if (a === null) return { kind: "none" };
  switch (typeof a) {
    case "boolean":
      return { kind: "bool", value: a };
    case "number":
      return { kind: "number", value: a, float: !Number.isInteger(a) };
    case "bigint":
      return { kind: "number", value: Number(a), float: false };
    case "string":
      return { kind: "string", value: a };
    default:
      break;
  }
  if (Array.isArray(a))
    return { kind: "list", items: (a as readonly ArgValue<BufferView>[]).map(x => planArg(b, x)), tuple: false };
  if (a instanceof PyFloat) return { kind: "number", value: a.value, float: true };
  if (a instanceof PyComplex) return { kind: "literal", value: `complex(${floatText(a.re)}, ${floatText(a.im)})` };
  if (a instanceof DTypeArg) return { kind: "dtype", value: a.dtype };
  if (a instanceof DeviceArg) return { kind: "device", value: deviceText(a.device) };
  if (a instanceof LayoutArg) return { kind: "literal", value: `torch.${a.layout}` };
  if (a instanceof MemoryFormatArg) return { kind: "literal", value: `torch.${a.format}` };
  if (isBufferView(a)) return planView(a, b.view);
  if (isExpr(a)) return { kind: "size", value: planSize(a, b.view) };
  return { kind: "none" };
}
