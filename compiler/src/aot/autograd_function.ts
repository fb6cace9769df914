// autograd.Function under autograd. In: what its forward made, and how to run its backward. Out: the same tensors as
// results of one function of the tape. Promises: nothing of the forward is on the tape, only the function.
import { mustLookup } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import type { Dispatcher } from "./dispatch";
import { type GradFunction, metaOf, Value } from "./value";

/** `backward` gets the gradients of the outputs and gives those of the inputs (null: none) */
export function functionEdges(
  d: Dispatcher,
  inputs: readonly Value[],
  outputs: readonly Value[],
  backward: (grads: readonly Value[], seqNr: number) => (Value | null)[],
): Value[] {
  const record = mustLookup("aten.alias.default");
  const { derivative } = record;
  if (derivative === undefined || derivative.kind === "none") throw new Error("alias has a derivative");
  const seqNr = d.takeSequenceNumber();
  const metas = outputs.map(metaOf);
  const fn: GradFunction = {
    seqNr,
    record,
    derivative,
    bound: { schema: parseSchema(record.schema), values: new Map() },
    inputs: inputs.map((v, item) => ({ name: "self", item, edge: v.edge, meta: metaOf(v) })),
    outputs: metas,
    saved: new Map(),
    results: outputs.map(() => null),
    context: d.tracer.context,
    // gradients that did not arrive are zeros (ctx.set_materialize_grads)
    apply: grads =>
      backward(
        outputs.map((_, i) => grads[i] ?? d.zerosLike(metas[i])),
        seqNr,
      ),
  };
  return outputs.map((v, index) => {
    const out = new Value(v.tensor);
    out.edge = { fn, index };
    return out;
  });
}
