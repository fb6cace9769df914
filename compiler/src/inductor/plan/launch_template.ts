// A matrix product's template, alone or with what was fused into it. In: a node one member of which (or two, of one first
// operand) is a template. Out: one launch, and the same products as calls for executors that have no template. Promises:
// no output takes over an input's memory, since tiles of other programs may still be read.
import { emitGemm, type GemmGroup, type InputPrecision } from "../codegen/triton/gemm";
import { type KernelSource, kernelSource } from "../codegen/triton/kernel_text";
import { has } from "../codegen/triton/options";
import { isTemplate, membersOf } from "../scheduler/state";
import type { AnyNode, SchedulerNode } from "../scheduler/types";
import { chooseForm } from "../templates/choose";
import { type GemmForm, gemmConfigs, isPersistent, usesDescriptors } from "../templates/forms";
import { gemmOf } from "../templates/gemm";
import type { PlanContext } from "./context";
import { externCall } from "./extern_calls";
import { type LaunchBuilder, originsOf } from "./launches";
import type { TritonConfig } from "./types";

const GRID = "GemmGrid";

export const isTemplateLaunch = (n: AnyNode): boolean => isTemplate(n);

export function launchTemplate(l: LaunchBuilder, node: AnyNode): void {
  const { b } = l;
  const members = membersOf(node).filter(m => !b.view.removedOps.has(m.name));
  const group = gemmGroup(members);
  const products = group.products.map(p => p.gemm);
  const sv = b.view.sizevars;
  const choice = chooseForm(products, b.options, sv);
  const e = emitGemm(l.context, group, choice.form, inputPrecision(b));
  const configs = choice.configs ?? gemmConfigs(choice.form, products, b.options.target, sv);
  const source = templateSource(kernelSource(e, b.options, b.schedule.graph.kind), choice.form, configs);
  const index = l.define(source, node, members, originsOf(members));
  for (const m of members) b.markRun(m, null);
  l.launch(index, source, members, { products: group.products.map(p => externCall(b, p.node)) });
  l.finish([e.kernel]);
  b.freeBuffers();
}

function gemmGroup(members: readonly SchedulerNode[]): GemmGroup {
  const products = members.filter(isTemplate).map(node => {
    const gemm = node.operation.kind === "extern" ? gemmOf(node.operation) : null;
    if (!gemm) throw new Error(`${node.name} is no product that a template computes`);
    return { node, gemm };
  });
  return { products, epilogue: members.filter(m => !isTemplate(m)) };
}

function inputPrecision(b: PlanContext): InputPrecision {
  const wanted = String(b.options.config.get("float32_matmul_precision") ?? "highest");
  if (wanted === "high" || wanted === "medium") return "tf32";
  return has(b.options, "float32_products_in_three_parts") ? "tf32x3" : "ieee";
}

function templateSource(source: KernelSource, form: GemmForm, configs: readonly TritonConfig[]): KernelSource {
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
        data: { persistent: Number(isPersistent(form)), descriptors: Number(usesDescriptors(form)) },
      },
    },
  };
}
