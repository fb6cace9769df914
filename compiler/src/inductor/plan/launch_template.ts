// Launches of templates: attention, and a matrix product alone or with what was fused into it. In: a node one member of which (or two, of one first
// operand) is a template. Out: one launch, and the same products as calls for executors that have no template. Promises:
// no output takes over an input's memory, since tiles of other programs may still be read.
import { attentionConfigs, emitAttention } from "../codegen/triton/attention";
import { emitGemm, type GemmGroup, type InputPrecision } from "../codegen/triton/gemm";
import { type KernelSource, kernelSource } from "../codegen/triton/kernel_text";
import type { ComputedOperand } from "../codegen/triton/operand";
import { configBool, has } from "../codegen/triton/options";
import type { BufferView } from "../ir/types";
import { isGroup, isTemplate, membersOf } from "../scheduler/state";
import { autotunes } from "../scheduler/template_fusion";
import type { AnyNode, SchedulerNode } from "../scheduler/types";
import { type Attention, attentionOf } from "../templates/attention";
import { chooseForm } from "../templates/choose";
import { gemmConfigs, isPersistent } from "../templates/forms";
import { gemmOf } from "../templates/gemm";
import { isInParts } from "../templates/in_parts";
import { operandsOf, operandTile } from "../templates/prologue";
import type { PlanContext } from "./context";
import { externCall } from "./extern_calls";
import { type LaunchBuilder, originsOf } from "./launches";
import { planTensor } from "./sizes";
import type { ComputedBefore, TritonConfig } from "./types";

const GRID = "GemmGrid";

export const isTemplateLaunch = (n: AnyNode): boolean => isTemplate(n);

export function launchTemplate(l: LaunchBuilder, node: AnyNode): void {
  if (!isGroup(node) && node.operation.kind === "extern") {
    const attention = attentionOf(node.operation, l.b.view.sizevars);
    if (attention) return launchAttention(l, node, attention);
  }
  launchGemm(l, node);
}

function launchAttention(l: LaunchBuilder, node: SchedulerNode, a: Attention): void {
  const { b } = l;
  const sv = b.view.sizevars;
  const e = emitAttention(l.context, node, a);
  const configs = attentionConfigs(a, x => sv.sizeHint(x, 1024));
  const source = templateSource(kernelSource(e, b.options, b.schedule.graph.kind), false, configs);
  const index = l.define(source, node, [node], originsOf([node]));
  b.markRun(node, null);
  l.launch(index, source, [node], { products: [externCall(b, node)] });
  l.finish([e.kernel]);
  b.freeBuffers();
}

function launchGemm(l: LaunchBuilder, node: AnyNode): void {
  const { b } = l;
  const members = membersOf(node).filter(m => !b.view.removedOps.has(m.name));
  const group = gemmGroup(b, members);
  const products = group.products.map(p => p.gemm);
  const sv = b.view.sizevars;
  const precision = inputPrecision(b);
  const computed = group.operands.size > 0;
  const choice = chooseForm(products, b.options, sv, {
    computed,
    inParts: precision === "bf16x6" && group.products.every(p => isInParts(p.gemm.op)),
    asked: autotunes(b.options),
  });
  const e = emitGemm(l.context, group, {
    form: choice.form,
    precision,
    storesTiles: choice.storesTiles,
  });
  const all = choice.configs ?? gemmConfigs(choice.form, products, b.options.target, sv, computed);
  const configs = configBool(b.options, "deterministic") ? all.slice(0, 1) : all;
  const source = templateSource(kernelSource(e, b.options, b.schedule.graph.kind), isPersistent(choice.form), configs);
  const index = l.define(source, node, members, originsOf(members));
  for (const m of members) b.markRun(m, null);
  l.launch(index, source, members, {
    products: group.products.map(p => externCall(b, p.node)),
    ...(computed ? { before: [...group.operands.values()].map(o => computedBefore(b, o.nodes)) } : {}),
  });
  l.finish([e.kernel]);
  b.freeBuffers();
}

/** operations that compute an operand, with what they write */
function computedBefore(b: PlanContext, nodes: readonly SchedulerNode[]): ComputedBefore {
  const results = nodes.flatMap(n => n.outputs.map(o => planTensor(o.name, b.view.tensorLayout(o.name), b.view)));
  return { ops: nodes.map(n => n.name), results };
}

function gemmGroup(b: PlanContext, members: readonly SchedulerNode[]): GemmGroup {
  const products = members.filter(isTemplate).map(node => {
    const gemm = node.operation.kind === "extern" ? gemmOf(node.operation) : null;
    if (!gemm) throw new Error(`${node.name} is no product that a template computes`);
    return { node, gemm };
  });
  const first = members.findIndex(isTemplate);
  const operands = computedOperands(
    b,
    products.flatMap(p => operandsOf(p.gemm)),
    members.slice(0, first),
  );
  return { products, epilogue: members.slice(first).filter(m => !isTemplate(m)), operands };
}

/** operands that `nodes` compute, by buffer, each with those that lead to it */
function computedOperands(
  b: PlanContext,
  views: readonly BufferView[],
  nodes: readonly SchedulerNode[],
): ReadonlyMap<string, ComputedOperand> {
  const found = new Map<string, ComputedOperand>();
  for (const view of views) {
    const needed = new Set([view.buffer]);
    const own = [...nodes].reverse().filter(n => {
      if (!n.outputs.some(o => needed.has(o.name))) return false;
      for (const d of n.readWrites.reads) needed.add(d.name);
      return true;
    });
    if (own.length === 0) continue;
    const tile = operandTile(view, b.view.tensorLayout(view.buffer), b.view.sizevars);
    if (tile === null) throw new Error(`tiles of ${view.buffer} can't be computed`);
    found.set(view.buffer, { tile, nodes: own.reverse() });
  }
  return found;
}

function inputPrecision(b: PlanContext): InputPrecision {
  const wanted = String(b.options.config.get("float32_matmul_precision") ?? "highest");
  if (wanted === "high" || wanted === "medium") return "tf32";

  return has(b.options, "float32_products_in_parts") ? "bf16x6" : "ieee";
}

function templateSource(source: KernelSource, walksTiles: boolean, configs: readonly TritonConfig[]): KernelSource {
  const { meta } = source;
  return {
    ...source,
    heuristic: "template",
    meta: {
      ...meta,
      inductorMeta: meta.inductorMeta.map(([k, v]) => [k, k === "grid_type" ? `'${GRID}'` : v] as const),
      configs,
      grid: {
        type: GRID,
        data: { walks: Number(walksTiles) },
      },
    },
  };
}
