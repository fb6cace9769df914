// A row reduction and a column reduction over the same data in one pass (_codegen_mix_order_reduction in
// torch/_inductor/codegen/simd.py). In: a FusedMixOrderReductions node, rows first. Out: one persistent kernel over the
// rows that keeps column sums per group of rows in a workspace, the sums of those, and what comes after as a kernel.

import { indexDtype, reductionHint } from "../codegen/triton/features";
import { type EmittedKernel, emitBodies, extentOf, removeLocalBuffers } from "../codegen/triton/generate";
import { TritonKernel } from "../codegen/triton/kernel";
import { kernelSource } from "../codegen/triton/kernel_text";
import { isReductionNode, nodeSchedule } from "../codegen/triton/node_schedule";
import { configNumber, has } from "../codegen/triton/options";
import type { LoopBody } from "../ir/loop_body";
import { extractReadWrites } from "../scheduler/extract";
import { membersOf } from "../scheduler/state";
import type { AnyNode, GroupNode, SchedulerNode } from "../scheduler/types";
import { ceilDiv, type Expr, int, mul } from "../symbolic/expr";
import { type LaunchBuilder, originsOf } from "./launches";
import { planSize, planTensor } from "./sizes";

/** rows per program: a power of two near numel / (8 programs per multiprocessor), 16 to 128 */
function splitSize(l: LaunchBuilder, numel: Expr): number {
  const { options, view } = l.b;
  const given = configNumber(options, "triton.mix_order_reduction_split_size", 0);
  if (given > 0) return given;
  const wanted = Math.floor(view.sizevars.sizeHint(numel, 8192) / (options.target.multiProcessorCount * 8));
  // a program fewer costs little, a partial result more is written and read again
  const round = has(options, "sums_partials_together") ? Math.round : Math.floor;
  return Math.min(Math.max(2 ** round(Math.log2(Math.max(1, wanted))), 16), 128);
}

export function launchMixOrder(l: LaunchBuilder, node: GroupNode): void {
  const { b } = l;
  const [rows, cols] = halves(node);
  const rowNodes = membersOf(rows);
  const [numel, rnumel] = extentOf(rowNodes);
  const split = splitSize(l, numel);
  const nsplit = ceilDiv(numel, split);
  const colNodes = membersOf(cols);
  const reductions = colNodes.filter(isReductionNode);
  const epilogue = colNodes.filter(n => !isReductionNode(n));
  const converted = reductions.map(n => accumulating(l, n, numel, rnumel));
  const members = [...rowNodes, ...converted];
  const schedule = nodeSchedule(members, numel, rnumel, b.view.sizevars);
  if (!schedule) throw new Error(`members of ${node.name} do not fit one loop nest`);
  const features = { nodes: members, numel, rnumel };
  const kernel = new TritonKernel({
    graph: b.view,
    options: b.options,
    tiling: new Map([
      ["x", numel],
      ["r0_", rnumel],
    ] as const),
    isReduction: true,
    persistent: true,
    indexDtype: indexDtype(features, b.view),
    mixOrder: true,
  });
  for (const c of converted) kernel.partialNodes.add(c.name);
  for (const n of rowNodes) for (const o of n.outputs) for (const m of o.mutations) kernel.mutations.add(m);
  emitBodies(l.context, kernel, schedule);
  // Inductor leaves the kernel twice, and counts the stores that vanish twice
  removeLocalBuffers(kernel);
  const name = `workspace_${b.nextWorkspace()}`;
  const count = b.view.sizevars.simplify(mul(mul(int(converted.length), rnumel), nsplit));
  kernel.args.workspace(count, "float32", false, name);
  kernel.flush();
  removeLocalBuffers(kernel);

  const e: EmittedKernel = { kernel, features, hint: reductionHint(features, null, b.view), scores: null, schedule };
  const source = kernelSource(e, b.options, b.schedule.graph.kind, [["RSPLIT_SIZE", String(split)]]);
  const index = l.define(source, node, members, originsOf(members));
  const rebinds = has(b.options, "mix_order_rebinds_buffer");
  for (const n of rowNodes) b.markRun(n, kernel.inplaceUpdates);
  const results = reductions.map(n => resultOf(l, n));
  if (rebinds) for (const r of results) b.allocate(r);
  const size = planSize(count, b.view);
  b.push({
    kind: "allocate",
    tensor: { name, size: [size], stride: [1], offset: 0, dtype: "float32", device: deviceOf(node) },
    from: { kind: "new" },
  });
  l.launch(index, source, members);
  l.finish([kernel]);
  for (const [slot, p] of kernel.partials.entries()) {
    const buffer = results[slot] ?? p.buffer;
    b.allocated.add(buffer);
    b.push({
      kind: "finish_partials",
      output: planTensor(buffer, b.view.tensorLayout(buffer), b.view),
      workspace: name,
      slot,
      splits: planSize(nsplit, b.view),
      columns: planSize(rnumel, b.view),
      reduction: p.type === "prod" ? "prod" : "sum",
    });
  }
  b.push({ kind: "free", name });
  if (epilogue.length) l.single(node, epilogue);
  else b.freeBuffers();
}

function halves(node: GroupNode): readonly [AnyNode, AnyNode] {
  const h = node.halves ?? [node.snodes[0], node.snodes[1]];
  const [a, b] = h;
  if (!a || !b) throw new Error(`${node.name} has no halves`);
  return [a, b];
}

const deviceOf = (n: AnyNode): string =>
  n.device.index === null ? n.device.type : `${n.device.type}:${n.device.index}`;

/** the buffer that holds a column reduction's result: its second stage's, where the reduction was split */
function resultOf(l: LaunchBuilder, n: SchedulerNode): string {
  const own = n.outputs[0];
  const op = n.operation;
  if (!own) throw new Error(`${n.name} writes nothing`);
  const isSplit = op.kind === "computed" && "split" in op.loops && op.loops.split !== undefined;
  if (!isSplit) return own.name;
  const second = own.users.find(u => u.node !== null && isReductionNode(u.node))?.node;
  const result = second?.outputs[0];
  if (!second || !result) return own.name;
  l.b.view.removedOps.add(second.name);
  l.b.view.removedBuffers.add(own.name);
  return result.name;
}

/** the reduction over rows as a pointwise body over (rows, columns) whose value is accumulated */
function accumulating(l: LaunchBuilder, n: SchedulerNode, numel: Expr, rnumel: Expr): SchedulerNode {
  const op = n.operation;
  if (op.kind !== "computed" || !n.body) throw new Error(`${n.name} is no reduction`);
  const whole: LoopBody = "split" in op.loops && op.loops.split ? op.loops.split.original() : n.body;
  const body: LoopBody = {
    ...whole,
    iterVars: [...whole.reduceVars, ...whole.iterVars],
    iterSizes: [...whole.reduceSizes, ...whole.iterSizes],
    reduceVars: [],
    reduceSizes: [],
  };
  const sizes = [body.iterSizes, []] as const;
  const rw = extractReadWrites(body, sizes, l.b.view.sizevars, { normalize: true, prefix: "c" });
  return {
    ...n,
    operation: { ...op, loops: { kind: "Pointwise" }, body },
    sizes,
    group: [l.b.view.sizevars.simplify(mul(numel, rnumel)), int(1)],
    body,
    readWrites: { ...rw, writes: [] },
  };
}
