// Which input a node's output overwrites (SchedulerNode.decide_inplace_update). In: a kernel being made and one of its
// nodes. Out: the kernel's in_out pointers. Promises: only a buffer that no one else needs any more, of the same storage
// size and dtype, read at the very place that is written.
import type { GraphView } from "../codegen/triton/graph_view";
import type { TritonKernel } from "../codegen/triton/kernel";
import type { Dep, NodeUser, SchedulerNode } from "../scheduler/types";
import { mul } from "../symbolic/expr";
import { printLog } from "../symbolic/print_log";

export interface InplaceDecision {
  readonly input: string;
  readonly output: string;
}

export interface InplaceContext {
  readonly view: GraphView;
  readonly enabled: boolean;
  /** operations whose kernels have been launched */
  readonly completed: ReadonlySet<string>;
  /** buffers given back or taken over already */
  readonly freed: ReadonlySet<string>;
  /** operation → its fused node's members */
  readonly kernelOf: (n: SchedulerNode) => unknown;
  /** users of a donated input */
  readonly donatedUsers: ReadonlyMap<string, readonly NodeUser[]>;
}

/** whether a buffer's memory may be taken over at all (can_reuse) */
export function canReuse(c: InplaceContext, name: string): boolean {
  const { view } = c;
  if (view.removedBuffers.has(name) || c.freed.has(name) || view.isConstant(name)) return false;
  return !(view.isInput(name) && !view.schedule.graph.donated.has(name));
}

/** which inputs the node's outputs take over; the kernel it stands in has no say */
export function inplaceDecisions(c: InplaceContext, node: SchedulerNode): InplaceDecision[] {
  const decisions: InplaceDecision[] = [];
  if (!c.enabled || node.operation.kind !== "computed") return decisions;
  const { view } = c;
  for (const out of node.outputs) {
    const l = out.buffer.layout;
    if (l.kind !== "fixed" || out.aliases.length || out.mutations.length || view.removedBuffers.has(out.name)) continue;
    const input = node.readWrites.reads.find(d => takesOver(c, node, d, out.name));
    if (input) decisions.push({ input: input.name, output: out.name });
  }
  return decisions;
}

export function decideInplace(c: InplaceContext, kernel: TritonKernel, node: SchedulerNode): void {
  for (const { input, output } of inplaceDecisions(c, node)) kernel.takeOver(input, output);
}

function takesOver(c: InplaceContext, node: SchedulerNode, read: Dep, output: string): boolean {
  const { view } = c;
  const donated = c.donatedUsers.get(read.name);
  const buffer = view.schedulerBuffer(read.name);
  const users = donated ?? buffer?.users;
  if (!users || !canReuse(c, read.name)) return false;
  if (buffer?.definingOp.type === "NopKernelSchedulerNode") return false;
  const settled = (u: NodeUser): boolean =>
    u.node !== null &&
    (node.ancestors.has(u.node.name) || view.removedOps.has(u.node.name) || c.completed.has(u.node.name));
  const remaining = users.filter(u => !settled(u));
  const [only] = remaining;
  if (remaining.length !== 1 || !only?.canInplace || only.node !== node) return false;
  const layout = view.layout(read.name);
  if (!layout || layout.kind === "none" || layout.kind === "multi_output" || layout.kind === "mutation") return false;
  const op = buffer?.definingOp.operation;
  if (
    buffer &&
    op?.kind === "extern" &&
    (op.irClass === "FallbackKernel" || op.irClass === "MultiOutput") &&
    buffer.aliases.length > 0
  )
    return false;
  return sizesMatch(view, read.name, output) && oneAccess(c, users, node, read.name);
}

/** same device, dtype and storage size, or provably at most 5 % less (can_match_buffer_size) */
function sizesMatch(view: GraphView, input: string, output: string): boolean {
  const a = view.tensorLayout(input);
  const b = view.tensorLayout(output);
  if (a.dtype !== b.dtype || a.device.type !== b.device.type || a.device.index !== b.device.index) return false;
  const x = view.storageSize(input);
  const y = view.storageSize(output);
  if (printLog(x) === printLog(y)) return true;
  return view.sizevars.knownGeq(mul(y, 20), mul(x, 19)) && view.sizevars.knownLeq(y, x);
}

/** all members of the node's kernel touch the buffer in one and the same way */
function oneAccess(c: InplaceContext, users: readonly NodeUser[], node: SchedulerNode, name: string): boolean {
  const kernel = c.kernelOf(node);
  const deps = new Set<Dep>();
  for (const u of users) {
    if (u.node === null || c.kernelOf(u.node) !== kernel) continue;
    for (const d of [...u.node.readWrites.reads, ...u.node.readWrites.writes]) if (d.name === name) deps.add(d);
  }
  return deps.size <= 1;
}
