// Inverses of view operators: how a written view goes back into its base. In: the view step, the base and the view's new
// value. Out: the base's new value. Promises: same nodes as PyTorch's FunctionalInverses leave.
import { makeArgs } from "../aten/args";
import type { Bound } from "../aten/bind";
import { type ArgValue, type Dim, DTypeArg, OpError, type OpRecord } from "../aten/types";
import { int } from "../inductor/symbolic/expr";
import { isTraced, type TracedTensor } from "./traced_tensor";
import type { Tracer } from "./tracer";

/** One view operator on the way from a base to a view, to be run again on another base. */
export interface ViewStep {
  readonly record: OpRecord;
  /** arguments; the viewed tensor is replaced when the step runs */
  readonly bound: Bound<TracedTensor>;
  /** which result of a multi-output view (split), else 0 */
  readonly index: number;
}

type T = TracedTensor;

export function invertView(tracer: Tracer, step: ViewStep, base: T, value: T): T {
  const b = tracer.builder;
  const a = makeArgs(step.bound, {
    isTensor: isTraced,
    isDim: tracer.math.isDim,
    int,
    specialize: d => tracer.specialize(d),
  });
  const shape = base.meta.shape;
  const rank = shape.length;
  const call = (op: string, ...args: ArgValue<T>[]): T => b.call(op, args);
  const has = (name: string): boolean => step.bound.schema.parameters.some(p => p.name === name);
  const sliceBack = (dim: number, start: ArgValue<T>, end: ArgValue<T>, stride: ArgValue<T> = 1): T =>
    call("aten.slice_scatter.default", base, value, dim, start, end, stride);
  const packet = step.record.name.split(".")[1] ?? "";
  switch (packet) {
    case "view":
      if (step.record.name === "aten.view.dtype") return b.call("aten.view.dtype", [value, dtypeOf(base)]);
      return call("aten.view.default", value, shape);
    case "_unsafe_view":
    case "_reshape_alias":
    case "reshape":
    case "flatten":
    case "unflatten":
      return call("aten.view.default", value, shape);
    case "permute": {
      const dims = a.ints("dims").map(d => b.wrapDim(d, rank));
      const inverse = new Array<number>(rank).fill(0);
      for (const [i, d] of dims.entries()) inverse[d] = i;
      return call("aten.permute.default", value, inverse);
    }
    case "transpose":
    case "swapaxes":
    case "swapdims": {
      const [d0, d1] = has("dim0") ? [a.int("dim0"), a.int("dim1")] : [a.int("axis0"), a.int("axis1")];
      return call("aten.transpose.int", value, d0, d1);
    }
    case "t":
      return call("aten.t.default", value);
    case "numpy_T":
    case "T":
      return call(
        "aten.permute.default",
        value,
        Array.from({ length: rank }, (_, i) => rank - 1 - i),
      );
    case "mT":
    case "adjoint":
      return call("aten.transpose.int", value, -2, -1);
    case "alias":
      return call("aten.alias.default", value);
    case "detach":
      return value;
    case "squeeze": {
      const wanted = has("dim") ? new Set(a.ints("dim").map(d => b.wrapDim(d, rank))) : null;
      let t = value;
      for (const [i, s] of shape.entries())
        if ((wanted?.has(i) ?? true) && b.knownEq(s, 1)) t = call("aten.unsqueeze.default", t, i);
      return t;
    }
    case "unsqueeze": {
      const dim = b.wrapDim(a.int("dim"), rank + 1);
      return call("aten.squeeze.dim", value, dim);
    }
    case "slice":
      return sliceBack(a.int("dim"), a.raw("start"), a.raw("end"), a.raw("step"));
    case "narrow": {
      const start = a.dim("start");
      return sliceBack(a.int("dim"), start, b.add(start, a.dim("length")));
    }
    case "select":
      return call("aten.select_scatter.default", base, value, a.int("dim"), a.raw("index"));
    case "diagonal":
      return call("aten.diagonal_scatter.default", base, value, a.int("offset"), a.int("dim1"), a.int("dim2"));
    case "split": {
      const dim = b.wrapDim(a.int("dim"), rank);
      const size = a.dim("split_size");
      const start = b.mul(size, step.index);
      return sliceBack(dim, start, b.min(b.add(start, size), shape[dim] as Dim));
    }
    case "split_with_sizes": {
      const sizes = a.dims("split_sizes");
      const start = b.add(0, ...sizes.slice(0, step.index));
      return sliceBack(b.wrapDim(a.int("dim"), rank), start, b.add(start, sizes[step.index] as Dim));
    }
    case "unbind":
      return call("aten.select_scatter.default", base, value, b.wrapDim(a.int("dim"), rank), step.index);
    case "expand": {
      const lead = value.meta.shape.length - rank;
      const dims = value.meta.shape.flatMap((s, i) =>
        i < lead || (b.knownEq(shape[i - lead] as Dim, 1) && !b.knownEq(s, 1)) ? [i] : [],
      );
      const summed = dims.length > 0 ? call("aten.sum.dim_IntList", value, dims, true) : value;
      return lead > 0 ? call("aten.view.default", summed, shape) : summed;
    }
    case "as_strided":
      return call(
        "aten.as_strided_scatter.default",
        base,
        value,
        a.raw("size"),
        a.raw("stride"),
        a.raw("storage_offset"),
      );
    default:
      throw new OpError(`a write through ${packet} can't be followed`, "NotImplementedError");
  }
}

const dtypeOf = (t: T): DTypeArg => new DTypeArg(t.meta.dtype);
