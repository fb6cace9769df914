// What loss functions share: the `reduction` argument, as torch.nn.functional and as ATen write it.
import type { Args, GraphBuilder, MetaBuilder, TensorMeta } from "../../types";

/** ATen's enum of reductions */
export const Reduction = { none: 0, mean: 1, sum: 2 } as const;

/** torch.nn._reduction: the enum of a string, or of the older size_average and reduce */
export function reductionOf<T>(b: GraphBuilder<T>, a: Args<T>): number {
  const legacy = (name: string): boolean | null => {
    const v = a.raw(name);
    return v === null ? null : v === true;
  };
  const [average, reduce] = [legacy("size_average"), legacy("reduce")];
  if (average !== null || reduce !== null) {
    if (reduce === false) return Reduction.none;
    return average === false ? Reduction.sum : Reduction.mean;
  }
  const text = a.str("reduction");
  if (text === "none" || text === "mean" || text === "sum") return Reduction[text];
  return b.fail(`${text} is not a valid value for reduction`, "ValueError");
}

/** the parameters that every loss of torch.nn.functional ends with */
export const LEGACY = 'Any size_average=None, Any reduce=None, str reduction="mean"';

/** none, mean or sum of an elementwise loss */
export function reduceLoss<T>(b: GraphBuilder<T>, loss: T, reduction: number): T {
  if (reduction === Reduction.mean) return b.call("aten.mean.default", [loss]);
  return reduction === Reduction.sum ? b.call("aten.sum.default", [loss]) : loss;
}

/** meta of a loss whose elementwise result is `loss` */
export function lossMeta(m: MetaBuilder, loss: TensorMeta, reduction: number): TensorMeta {
  return reduction === Reduction.none ? loss : m.tensor([], loss);
}
