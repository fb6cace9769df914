// A kernel over a concatenation as one launch of a sub-kernel per piece. In: members, and their pieces (codegen/triton/
// pieces.ts). Out: one launch. Promises: no piece takes over an input's memory, as others may still read it.
import { separateBlocksSource } from "../codegen/triton/combo";
import { emitKernel, type KernelContext } from "../codegen/triton/generate";
import type { TritonKernel } from "../codegen/triton/kernel";
import type { KernelSource } from "../codegen/triton/kernel_text";
import { has } from "../codegen/triton/options";
import { piecesOf } from "../codegen/triton/pieces";
import type { AnyNode, SchedulerNode } from "../scheduler/types";
import { type LaunchBuilder, originsOf } from "./launches";

/** all of one size and one block size, so that their blocks can take turns */
function alike(kernels: readonly TritonKernel[], source: KernelSource): boolean {
  const numels = new Set(kernels.flatMap(k => k.trees.filter(t => !t.isReduction).map(t => t.numel)));
  const oneBlockSize = source.meta.configs.every(c => new Set(Object.values(c.kwargs)).size === 1);
  return numels.size === 1 && oneBlockSize && kernels.every(k => k.trees.every(t => t.prefix !== "y"));
}

/** Blocks of all pieces in turn, so that what several pieces read is still in the L2 when the next one wants it. */
function interleaved(source: KernelSource, pieces: number): KernelSource {
  const lines = source.lines.flatMap(l => {
    if (l.text === "    pid = tl.program_id(0)") return [{ ...l, text: "    turn = tl.program_id(0)" }];
    if (!l.text.startsWith(`    num_blocks_${pieces - 1} = `)) return [l];
    return [l, { ...l, text: `    pid = (turn % ${pieces}) * num_blocks_0 + turn // ${pieces}` }];
  });
  return { ...source, lines };
}

/** the launch per piece, where the preset cuts concatenations and this is one; else false, and nothing is done */
export function launchPieces(l: LaunchBuilder, node: AnyNode, all: readonly SchedulerNode[]): boolean {
  if (!has(l.b.options, "cuts_concatenations") || node.device.type !== "cuda") return false;
  const members = all.filter(m => !l.b.view.removedOps.has(m.name));
  const pieces = members.length > 0 ? piecesOf(members, l.b.view.sizevars) : null;
  if (!pieces) return false;
  const { b } = l;
  const context: KernelContext = { ...l.context, decideInplace: () => {} };
  const emitted = pieces.map(p => emitKernel(context, p, { pidOffset: "x_pid_offset", optimizeMask: false }));
  for (const m of members) b.markRun(m, null);
  const options = { options: b.options, kind: b.schedule.graph.kind, autotune: true, turns: null };
  const separate = separateBlocksSource(emitted, options);
  const source = alike(
    emitted.map(e => e.kernel),
    separate,
  )
    ? interleaved(separate, pieces.length)
    : separate;
  const index = l.define(source, node, members, originsOf(members));
  l.launch(index, source, members);
  l.finish(emitted.map(e => e.kernel));
  b.freeBuffers();
  return true;
}
