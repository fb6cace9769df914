// Convolutions that run channels-last, as PyTorch has them where cuDNN is faster so. In: a convolution of a lowered graph.
// Out: for its input and its weight, the layout taken, the one it was given in and what changing it moves. Promises: the
// decision was lowering's (ir/layout_opt.ts); this only says what it costs.
import type { GraphFacts } from "../ir/graph_facts";
import { contiguousStrides, isContiguous, isDenseChannelsLast } from "../ir/layouts";
import type { ExternOperation } from "../ir/types";
import { movedBy } from "./as_it_lies";
import { bytesOf } from "./padding";
import type { LayoutChoice } from "./types";

/** What lowering decided of a convolution's input and weight; empty where they lie as they were given. */
export function convolutionLayouts(op: ExternOperation, facts: GraphFacts): LayoutChoice[] {
  const sv = facts.graph.sizevars;
  return op.reads.slice(0, 2).flatMap((v): LayoutChoice[] => {
    if (!isDenseChannelsLast(v.size, v.stride, sv) || isContiguous(v.size, v.stride, sv)) return [];
    const producer = facts.producer(v.buffer);
    const copy = producer?.kind === "computed" ? producer : null;
    const moved = copy && movedBy(copy);
    return [
      {
        code: "channels_last",
        op: op.name,
        buffer: moved ? moved.load.buffer : v.buffer,
        copy: moved && copy ? copy.name : null,
        taken: v,
        other: { size: v.size, stride: contiguousStrides(v.size) },
        bytes: bytesOf(v),
        estimateUs: null,
      },
    ];
  });
}
