// Templates (matrix products that a Triton template can compute) and what may be fused into them.
// In: a pair of which one is a template. Out: why they stay apart. Promises: the checks and their order are those of
// Scheduler.can_fuse for prologues (node2 is the template) and epilogues (node1 is).

import { isHalf } from "../ir/dtypes";
import type { ExternOperation } from "../ir/types";
import { gemmKind, multiplied } from "../templates/gemm";
import { prologue, tileRefusal } from "./prologue";
import { type Reason, reason } from "./refusal";
import {
  behaves,
  bufferDtype,
  bufferNames,
  depBytes,
  flag,
  hasAliasingOrMutation,
  isReduction,
  isTemplate,
  membersOf,
  type SchedulerState,
} from "./state";
import type { AnyNode, Dep, SchedulerNode } from "./types";

/** a template of several outputs and what unpacks one of them */
export function isMultiOutputOf(a: AnyNode, b: AnyNode): boolean {
  const template = templateOf(a);
  if (!template || template.outputs.every(o => o.buffer.layout.kind !== "multi_output")) return false;
  if (!("operation" in b) || b.operation.kind !== "extern" || b.operation.irClass !== "MultiOutput") return false;
  const own = bufferNames(template);
  return b.operation.reads.some(r => own.has(r.buffer));
}

export function templateOf(n: AnyNode): SchedulerNode | null {
  return membersOf(n).find(isTemplate) ?? null;
}

export function templateOperation(n: AnyNode): ExternOperation | null {
  const t = templateOf(n);
  return t?.operation.kind === "extern" ? t.operation : null;
}

/** `a` before the template `b` */
export function prologueRefusal(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  if (!flag(s, "prologue_fusion")) return prologue("prologue fusion turned off");
  if (isReduction(a) || isTemplate(a)) return prologue("prologue fusion only supported for pointwise nodes");
  const template = templateOperation(b);
  if (template && gemmKind(template) === null) return prologue("template has no allowed prologue inputs");
  // every operand of a matrix product may be computed on the way in; a bias is added at the end
  const operands = new Set((template ? multiplied(template) : null)?.map(r => r.buffer));
  if (operands.size === 0) return prologue("template has no allowed prologue inputs");
  const written = bufferNames(a);
  const reads = [...b.readWrites.reads].filter(d => written.has(d.name));
  const inner = new Set(
    membersOf(b)
      .filter(m => !isTemplate(m))
      .flatMap(m => m.readWrites.reads.map(d => d.name)),
  );
  if (reads.some(d => !operands.has(d.name) && !inner.has(d.name))) {
    return prologue("prologue fusion not implemented for kernel for these inputs");
  }
  if (hasAliasingOrMutation(a) || hasAliasingOrMutation(b)) {
    return prologue("template prologue can only fuse functional pointwise nodes");
  }
  const members = membersOf(a);
  const inside = new Set<SchedulerNode>(members);
  const last = members[members.length - 1];
  for (const m of members.slice(0, -1)) {
    if (m.outputs.some(o => o.users.some(u => u.node === null || !inside.has(u.node)))) {
      return prologue("template prologue can only fuse nodes with a single use");
    }
  }
  const users = last?.outputs.flatMap(o => o.users) ?? [];
  const into = new Set<SchedulerNode>(membersOf(b));
  if (users.length !== 1 || !users.every(u => u.node !== null && into.has(u.node))) {
    return prologue("template prologue can only fuse nodes with a single use into template");
  }
  return behaves(s, "computes_operands") ? tileRefusal(s, a, b) : prologueHeuristics(s, a, template);
}

/** read traffic that a template would repeat */
const MAX_READ_GROWTH = 1.1;

function prologueHeuristics(s: SchedulerState, a: AnyNode, template: ExternOperation | null): Reason | null {
  const bytes = (deps: readonly Dep[]): number => deps.reduce((t, d) => t + depBytes(s, d), 0);
  if (bytes(a.readWrites.reads) > bytes(a.readWrites.writes) * MAX_READ_GROWTH) {
    return prologue("prologue fusion will not increase amount of bytes read in kernel");
  }
  const origins = new Set(membersOf(a).flatMap(m => m.operation.origins));
  const [origin, ...more] = origins;
  if (origin?.target.startsWith("aten.constant_pad_nd") && more.length === 0) {
    return prologue("prologue fusion will not increase attempt to fuse in padding bc it increases unaligned reads");
  }
  const dtype = template?.outputs[0] === undefined ? null : bufferDtype(s.graph, template.outputs[0]);
  if (dtype !== null && isHalf(dtype) && !membersOf(a).every(staysLowPrecision)) {
    return prologue("prologue fusion that must be upcast to fp32 not profitable for low precision templates");
  }
  return null;
}

/** operations that give the same result whether or not they are computed in float32 */
const LOW_PRECISION: ReadonlySet<string> = new Set([
  "get_index",
  "load",
  "store",
  "constant",
  "index_expr",
  "to_dtype",
  "masked",
  "set_indirect",
  "check_bounds",
]);
const LOW_PRECISION_CALLS: ReadonlySet<string> = new Set([
  "where",
  "neg",
  "abs",
  "maximum",
  "minimum",
  "relu",
  "eq",
  "ne",
  "lt",
  "le",
  "gt",
  "ge",
  "logical_and",
  "logical_or",
  "logical_not",
  "and_",
]);

function staysLowPrecision(m: SchedulerNode): boolean {
  if (!m.body) return true;
  return [m.body.block, ...m.body.subblocks.values()].every(b =>
    b.nodes.every(n => LOW_PRECISION.has(n.op) || (n.op === "call" && LOW_PRECISION_CALLS.has(n.fn))),
  );
}

/** `b` after the template `a` */
export function epilogueRefusal(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  if (hasAliasingOrMutation(b) || isReduction(b) || !flag(s, "epilogue_fusion")) {
    return reason("template_epilogue", "template epilogue not satisfied");
  }
  const product = templateOperation(a);
  const kind = product && gemmKind(product);
  if (product && kind === null) return reason("template_epilogue", "template epilogue not satisfied");
  if (kind === "split_mm")
    return reason("template_epilogue", "the pieces of a sum are added up when all of them are there");
  const multi = templateOf(a)?.outputs.some(o => o.buffer.layout.kind === "multi_output");
  if (multi && membersOf(b).some(m => m.operation.kind !== "computed")) {
    return reason("template_epilogue", "multi-output template epilogue requires ComputedBuffer");
  }
  return null;
}
