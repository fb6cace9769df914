// torch.einsum (at::einsum): every operand is laid out over all labels, then operands are contracted in pairs by bmm.
// More than two operands are contracted from the left, as torch does where opt_einsum isn't installed.
import type { Dim, GraphBuilder, OpRecord } from "../types";
import { at, composed, range } from "./helpers/shape";

import { reshape } from "./view";
import { moveDims } from "./view_permute";

interface Subscripts {
  /** labels of each operand; "..." stands for the ellipsis */
  readonly inputs: readonly (readonly string[])[];
  readonly output: readonly string[] | null;
}

const ELLIPSIS = "...";

function parseLabels<T>(b: GraphBuilder<T>, text: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === " ") continue;
    if (c === ".") {
      if (text.slice(i, i + 3) !== ELLIPSIS) b.fail("einsum(): found '.' that is not part of any ellipsis");
      out.push(ELLIPSIS);
      i += 2;
    } else if (/[a-zA-Z]/.test(c)) out.push(c);
    else
      b.fail(`einsum(): invalid subscript given at index ${i} in the equation string, subscripts must be in [a-zA-Z]`);
  }
  return out;
}

function parseEquation<T>(b: GraphBuilder<T>, equation: string): Subscripts {
  const arrow = equation.indexOf("->");
  const left = arrow < 0 ? equation : equation.slice(0, arrow);
  return {
    inputs: left.split(",").map(s => parseLabels(b, s)),
    output: arrow < 0 ? null : parseLabels(b, equation.slice(arrow + 2)),
  };
}

/** A-Z before a-z, as PyTorch numbers labels */
const byLabel = (x: string, y: string): number => (x < y ? -1 : x > y ? 1 : 0);

/** places of the dims in the common layout: output labels first, then those that are summed */
interface Layout {
  readonly place: ReadonlyMap<string, number>;
  readonly ellipsisAt: number;
  readonly ellipsisRank: number;
  readonly outputRank: number;
  readonly rank: number;
}

function layoutOf<T>(b: GraphBuilder<T>, s: Subscripts, ranks: readonly number[]): Layout {
  const counts = new Map<string, number>();
  let ellipsisRank = 0;
  s.inputs.forEach((labels, i) => {
    const named = labels.filter(l => l !== ELLIPSIS);
    const covered = at(ranks, i) - named.length;
    const has = labels.includes(ELLIPSIS);
    if (covered < 0 || (!has && covered !== 0)) {
      b.fail(
        `einsum(): the number of subscripts in the equation (${named.length}) does not match the number of dimensions (${at(ranks, i)}) for operand ${i} and no ellipsis was given`,
      );
    }
    if (has) ellipsisRank = Math.max(ellipsisRank, covered);
    for (const l of named) counts.set(l, (counts.get(l) ?? 0) + 1);
  });
  const place = new Map<string, number>();
  let next = 0;
  let ellipsisAt = 0;
  let inOutput = false;
  const output = s.output ?? [
    ELLIPSIS,
    ...[...counts]
      .filter(([, n]) => n === 1)
      .map(([l]) => l)
      .sort(byLabel),
  ];
  for (const l of output) {
    if (l === ELLIPSIS) {
      inOutput = true;
      ellipsisAt = next;
      next += ellipsisRank;
    } else {
      if (!counts.has(l))
        b.fail(`einsum(): output subscript ${l} does not appear in the equation for any input operand`);
      if (place.has(l)) b.fail(`einsum(): output subscript ${l} appears more than once in the output`);
      place.set(l, next++);
    }
  }
  const outputRank = next;
  if (!inOutput) {
    ellipsisAt = next;
    next += ellipsisRank;
  }
  for (const l of [...counts.keys()].sort(byLabel)) if (!place.has(l)) place.set(l, next++);
  return { place, ellipsisAt, ellipsisRank, outputRank, rank: next };
}

/**
 * contraction of two operands over `summed` dims, which stay as dims of size 1 (sumproduct_pair); the operands change places
 * where every dim of y's own comes before the first of x's, so that the product lies in memory as the result does
 */
function contractPair<T>(b: GraphBuilder<T>, x: T, y: T, summed: readonly number[]): T {
  if (summed.length === 0) return b.call("aten.mul.Tensor", [x, y]);
  let [left, right] = [x, y];
  const both: number[] = [];
  let onlyLeft: number[] = [];
  let onlyRight: number[] = [];
  let inner: Dim = b.int(1);
  const size = (z: T, d: number): Dim => at(b.meta(z).shape, d);
  for (const d of range(b.meta(x).shape.length)) {
    const [inLeft, inRight] = [b.static(size(left, d)) !== 1, b.static(size(right, d)) !== 1];
    if (summed.includes(d)) {
      if (inLeft && inRight) inner = b.mul(inner, size(left, d));
      else if (inLeft) left = b.call("aten.sum.dim_IntList", [left, [d], true]);
      else if (inRight) right = b.call("aten.sum.dim_IntList", [right, [d], true]);
    } else if (inLeft && inRight) both.push(d);
    else if (inLeft) onlyLeft.push(d);
    else onlyRight.push(d);
  }
  if (onlyLeft.length > 0 && onlyRight.length > 0 && Math.max(...onlyRight) < Math.min(...onlyLeft)) {
    [left, right] = [right, left];
    [onlyLeft, onlyRight] = [onlyRight, onlyLeft];
  }
  const product = (z: T, ds: readonly number[]): Dim => b.product(ds.map(d => size(z, d)));
  const outSize = [
    ...both.map(d => size(left, d)),
    ...onlyLeft.map(d => size(left, d)),
    ...summed.map(() => b.int(1)),
    ...onlyRight.map(d => size(right, d)),
  ];
  const outOrder = [...both, ...onlyLeft, ...summed, ...onlyRight];
  const [batch, rows, cols] = [product(left, both), product(left, onlyLeft), product(right, onlyRight)];
  const permute = (z: T, order: readonly number[]): T => b.call("aten.permute.default", [z, order]);
  const p = reshape(b, permute(left, [...both, ...onlyLeft, ...summed, ...onlyRight]), [batch, rows, inner]);
  const q = reshape(b, permute(right, [...both, ...summed, ...onlyRight, ...onlyLeft]), [batch, inner, cols]);
  const out = b.call("aten.view.default", [b.call("aten.bmm.default", [p, q]), outSize]);
  return permute(
    out,
    range(outOrder.length).map(d => outOrder.indexOf(d)),
  );
}

function einsum<T>(b: GraphBuilder<T>, equation: string, operands: readonly T[]): T {
  const s = parseEquation(b, equation);
  if (s.inputs.length !== operands.length) {
    return b.fail(
      s.inputs.length > operands.length
        ? "einsum(): fewer operands were provided than specified in the equation"
        : "einsum(): more operands were provided than specified in the equation",
    );
  }
  const layout = layoutOf(
    b,
    s,
    operands.map(x => b.meta(x).shape.length),
  );
  const counts = new Array<number>(layout.rank).fill(0);
  const labelSize = new Map<string, number>();
  const laidOut = operands.map((operand, i) => {
    let x = operand;
    const labels = at(s.inputs, i);
    const order = new Array<number>(layout.rank).fill(-1);
    let dim = 0;
    const see = (place: number, name: string): void => {
      const size = at(b.meta(x).shape, dim);
      if (b.static(size) !== 1) {
        const known = labelSize.get(name);
        if (known !== undefined && known !== b.hint(size)) {
          b.fail(
            `einsum(): subscript ${name} has size ${b.hint(size)} for operand ${i} which does not broadcast with previously seen size ${known}`,
          );
        }
        labelSize.set(name, b.hint(size));
        counts[place] = at(counts, place) + 1;
      }
      order[place] = dim++;
    };
    for (const l of labels) {
      if (l === ELLIPSIS) {
        const covered = b.meta(operand).shape.length - (labels.length - 1);
        for (let j = layout.ellipsisRank - covered; j < layout.ellipsisRank; j++)
          see(layout.ellipsisAt + j, `${ELLIPSIS}${j}`);
        continue;
      }
      const place = layout.place.get(l) as number;
      const before = at(order, place);
      if (before < 0) see(place, l);
      else {
        const diagonal = b.call("aten.diagonal.default", [x, 0, before, dim]);
        x = moveDims(b, diagonal, [-1], [before]);
      }
    }
    for (const [k, v] of order.entries()) {
      if (v >= 0) continue;
      x = b.call("aten.unsqueeze.default", [x, dim]);
      order[k] = dim++;
    }
    return b.call("aten.permute.default", [x, order]);
  });
  const rest = [...laidOut];
  while (rest.length > 1) {
    let [x, y] = rest.splice(0, 2) as [T, T];
    const summed: number[] = [];
    const onlyX: number[] = [];
    const onlyY: number[] = [];
    for (let d = layout.outputRank; d < layout.rank; d++) {
      const [inX, inY] = [b.static(at(b.meta(x).shape, d)) !== 1, b.static(at(b.meta(y).shape, d)) !== 1];
      if (inX && inY) {
        counts[d] = at(counts, d) - 1;
        if (counts[d] === 1) {
          summed.push(d);
          counts[d] = 0;
        }
      } else if (counts[d] === 1) {
        if (inX) onlyX.push(d);
        else if (inY) onlyY.push(d);
        if (inX || inY) counts[d] = 0;
      }
    }
    if (onlyX.length > 0) x = b.call("aten.sum.dim_IntList", [x, onlyX, true]);
    if (onlyY.length > 0) y = b.call("aten.sum.dim_IntList", [y, onlyY, true]);
    rest.unshift(contractPair(b, x, y, summed));
  }
  const only = at(rest, 0);
  const extra = layout.rank - layout.outputRank;
  if (extra === 0) return only;
  if (operands.length > 1) return b.call("aten.view.default", [only, b.meta(only).shape.slice(0, layout.outputRank)]);
  return b.call("aten.sum.dim_IntList", [only, range(extra).map(i => layout.outputRank + i)]);
}

export const records: readonly OpRecord[] = [
  composed({
    name: "aten.einsum.default",
    schema: "einsum(str equation, Tensor[] tensors) -> Tensor",
    python: ["torch.einsum", "torch.functional.einsum"],
    printedAs: "torch.functional.einsum",
    composite: (b, a) => einsum(b, a.str("equation"), a.tensors("tensors")),
  }),
];
