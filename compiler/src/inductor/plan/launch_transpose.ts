// Sums and copies of one matrix in one pass. In: a FusedTransposeReduction node whose sums are first stages. Out: one
// launch; second stages are nodes of their own. Promises: no output takes over an input's memory, since tiles of other
// programs may still be read.
import { indexDtype } from "../codegen/triton/features";
import { type EmittedKernel, finishKernel } from "../codegen/triton/generate";
import { type KernelSource, kernelSource } from "../codegen/triton/kernel_text";
import { emitTranspose, TransposeKernel, transposeConfigs } from "../codegen/triton/transpose_reduction";
import { itemsize } from "../ir/dtypes";
import { membersOf } from "../scheduler/state";
import { elements } from "../scheduler/transpose_frame";
import { isFailure, transposeShape, walk } from "../scheduler/transpose_reduction";
import type { GroupNode } from "../scheduler/types";
import { int } from "../symbolic/expr";
import { type LaunchBuilder, originsOf } from "./launches";
import type { TritonConfig } from "./types";

const GRID = "TransposeReductionGrid";

export function launchTransposeReduction(l: LaunchBuilder, node: GroupNode): void {
  const { b } = l;
  const members = membersOf(node);
  const shape = transposeShape({ sizevars: b.view.sizevars, target: b.options.target }, members);
  if (isFailure(shape)) throw new Error(`${node.name}: ${shape.detail}`);
  const { frame, pieces } = shape;
  const [numel, rnumel] = [int(elements(frame.kept)), int(elements(frame.reduced))];
  const features = { nodes: members, numel, rnumel };
  const reach = walk(elements(frame.reduced), pieces);
  const kernel = new TransposeKernel({
    graph: b.view,
    options: b.options,
    tiling: new Map([
      ["x", numel],
      ["r0_", rnumel],
    ] as const),
    isReduction: true,
    persistent: false,
    indexDtype: indexDtype(features, b.view),
    walk: reach,
  });
  emitTranspose(kernel, frame.members);
  finishKernel(kernel);
  const e: EmittedKernel = { kernel, features, hint: "OUTER", scores: null, schedule: [] };
  const widest = Math.max(...[...kernel.args.inputs.keys()].map(n => itemsize(b.view.dtype(n))), 1);
  const fixedColumns = frame.members.some(m => m.role === "cross");
  const source = overGrid(
    kernelSource(e, b.options, b.schedule.graph.kind),
    pieces,
    transposeConfigs(widest, fixedColumns, reach),
  );
  const index = l.define(source, node, members, originsOf(members));
  for (const m of members) b.markRun(m, kernel.inplaceUpdates);
  l.launch(index, source, members);
  l.finish([kernel]);
  b.freeBuffers();
}

function overGrid(source: KernelSource, pieces: number, configs: readonly TritonConfig[]): KernelSource {
  const { meta } = source;
  return {
    ...source,
    meta: {
      ...meta,
      inductorMeta: meta.inductorMeta.map(([k, v]) => [k, k === "grid_type" ? `'${GRID}'` : v] as const),
      configs,
      grid: { type: GRID, data: { pieces } },
    },
  };
}
