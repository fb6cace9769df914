// Copies of kernels' operands and results, as lowering makes them where strides are asked for. In: a view, the sizes and
// strides that its copy shall have. Out: the copying operation in the graph, and the view of what it writes. Promises: a copy
// is an elementwise operation, so it fuses with whatever computes what it reads; dimensions along which a view repeats itself
// (stride 0) are not copied out; where a copy is larger than what it reads, it holds zeros.
import { PyFloat } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import type { BodyOps } from "../ir/body_ops";
import { buildBody } from "../ir/build_body";
import type { GraphEdit } from "../ir/graph_edit";
import { fillOrderOf } from "../ir/layouts";
import { bodySizes, loopVars } from "../ir/transform";
import type { BufferView, ComputedOperation, ExternOperation } from "../ir/types";
import { add, type Expr, int, intValue, mul } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { repeats } from "../templates/alignment";
import { bytesOf } from "./padding";
import type { Weighed } from "./products";
import type { LayoutChoice } from "./types";

/** a tensor's place: sizes as those of what is copied, or larger; strides are 0 where what is copied repeats itself */
interface Place {
  readonly buffer: string;
  readonly size: readonly Expr[];
  readonly stride: readonly Expr[];
}

/** `of`: the product or convolution for which it is made; lines are its lines */
export function copyOperation(
  name: string,
  from: BufferView,
  to: Place,
  of: ExternOperation,
  sizevars: SizeVars,
): ComputedOperation {
  const moved = fillOrderOf(from.stride, sizevars)
    .reverse()
    .filter(d => !repeats(from.stride[d] as Expr) && intValue(to.size[d] as Expr) !== 1);
  const sizes = moved.map(d => to.size[d] as Expr);
  const [vars] = loopVars(sizes, []);
  const place = (strides: readonly Expr[], offset: Expr): Expr =>
    moved.reduce<Expr>((at, d, i) => add(at, mul(vars[i] as Expr, strides[d] as Expr)), offset);
  const larger = moved.flatMap((d, i) =>
    to.size[d] === from.size[d] ? [] : [[vars[i], from.size[d]] as [Expr, Expr]],
  );
  const body = buildBody(vars, sizes, [], [], bodySizes(sizevars), <V>(ops: BodyOps<V>) => {
    const load = (): V => ops.load(from.buffer, place(from.stride, from.offset));
    const inside = larger.map(([v, size]) => ops.op("lt", ops.indexExpr(v, "int64"), ops.indexExpr(size, "int64")));
    const mask = inside.length === 0 ? null : inside.reduce((p, q) => ops.op("and_", p, q));
    ops.store(
      to.buffer,
      place(to.stride, int(0)),
      mask === null ? load() : ops.masked(mask, load, new PyFloat(0)),
      null,
    );
  });
  const own = of.originNode;
  const origins: readonly FxNode[] = own && own.meta.stack.length > 0 ? [own] : of.origins;
  return {
    kind: "computed",
    name,
    outputs: [to.buffer],
    device: of.device,
    origins,
    originNode: null,
    loops: { kind: "Pointwise" },
    ranges: sizes,
    reductionRanges: [],
    sizes: [body.iterSizes, body.reduceSizes],
    body,
  };
}

export interface OperandCopy {
  readonly operation: string;
  readonly view: BufferView;
}

/** Puts a copy into a buffer of its own before its reader. `size` and `stride` are of each dimension of `from`. */
export function copyOperand(
  edit: GraphEdit,
  from: BufferView,
  size: readonly Expr[],
  stride: readonly Expr[],
  reader: ExternOperation,
  sizevars: SizeVars,
): OperandCopy {
  const { op: name, buffer } = edit.newNames();
  const own = size.map((s, d) => (repeats(from.stride[d] as Expr) ? int(1) : s));
  edit.insertBefore(reader.name, copyOperation(name, from, { buffer, size: own, stride }, reader, sizevars), {
    name: buffer,
    irClass: "ComputedBuffer",
    layout: { kind: "fixed", device: reader.device, dtype: from.dtype, size: own, stride, offset: int(0) },
    operation: name,
    originNode: null,
  });
  const whole = own.every((s, d) => s === size[d]);
  return { operation: name, view: { buffer, size, stride, offset: int(0), dtype: from.dtype, whole } };
}

/** an operand copied to a padded place, as people see it */
export function paddedChoice(
  code: "padded_rows" | "padded_shape",
  op: ExternOperation,
  from: BufferView,
  copy: OperandCopy,
  padded: Weighed,
): LayoutChoice {
  const { size, stride } = copy.view;
  return {
    code,
    op: op.name,
    buffer: from.buffer,
    copy: copy.operation,
    taken: { size, stride },
    other: from,
    bytes: bytesOf(from),
    estimateUs: { taken: padded.other, other: padded.given },
  };
}
