// Matching of a traced pattern in a graph. In: the pattern as a graph of its own, and the node at which its result is
// looked for. Out: what its inputs stand for, or null. Promises: inner nodes have no users but those of the pattern.

import { isExpr } from "../../aten/dim_math";
import { DeviceArg, DTypeArg, LayoutArg, MemoryFormatArg, PyFloat } from "../../aten/types";
import { type FxGraph, FxNode } from "../../fx/graph";
import type { Argument } from "../../fx/types";
import { dimOf, itemsOf } from "../edit";

export interface Match {
  /** pattern node (inputs and calls) -> argument of the graph */
  readonly bound: Map<FxNode, Argument>;
  /** numbers of the pattern that stand for any number */
  readonly scalars: Map<string, number>;
}

export interface MatchOptions {
  /** numbers, sizes and dims of the pattern stand for any */
  readonly loose: boolean;
  /** marker value in the pattern -> name of the number it stands for */
  readonly markers: ReadonlyMap<number, string>;
}

/** All results of the pattern, the first at `anchor`; each further result is looked for among the graph's nodes. */
export function matchGraph(
  pattern: FxGraph,
  anchor: FxNode,
  candidates: readonly FxNode[],
  options: MatchOptions,
): Match | null {
  const outputs = itemsOf(pattern.output.args[0]).filter(a => a instanceof FxNode);
  const results = new Set(outputs);
  let match: Match = { bound: new Map(), scalars: new Map() };
  for (const [i, out] of outputs.entries()) {
    let found: Match | null = null;
    for (const at of i === 0 ? [anchor] : candidates) {
      if (at.target !== out.target) continue;
      const trial: Match = { bound: new Map(match.bound), scalars: new Map(match.scalars) };
      if (matchNode(out, at, results, trial, options)) {
        found = trial;
        break;
      }
    }
    if (found === null) return null;
    match = found;
  }
  return match;
}

function matchNode(p: FxNode, n: Argument, results: ReadonlySet<FxNode>, m: Match, o: MatchOptions): boolean {
  const known = m.bound.get(p);
  if (known !== undefined) return known === n;
  if (p.op === "placeholder") {
    if (!(n instanceof FxNode)) return false;
    m.bound.set(p, n);
    return true;
  }
  if (!(n instanceof FxNode) || n.op !== "call_function" || n.target !== p.target) return false;
  if (!results.has(p) && n.users.size !== p.users.size) return false;
  if (n.args.length !== p.args.length || n.kwargs.size !== p.kwargs.size) return false;
  m.bound.set(p, n);
  for (const [i, a] of p.args.entries()) if (!matchArgument(a, n.args[i] ?? null, results, m, o)) return false;
  for (const [k, a] of p.kwargs)
    if (!n.kwargs.has(k) || !matchArgument(a, n.kwargs.get(k) ?? null, results, m, o)) return false;
  return true;
}

const numberOf = (a: Argument): number | undefined =>
  typeof a === "number" ? a : a instanceof PyFloat ? a.value : typeof a === "bigint" ? Number(a) : undefined;

function matchArgument(p: Argument, a: Argument, results: ReadonlySet<FxNode>, m: Match, o: MatchOptions): boolean {
  if (p instanceof FxNode)
    return isExpr(p.meta.val) ? o.loose || dimOf(a) !== undefined : matchNode(p, a, results, m, o);
  const number = numberOf(p);
  if (number !== undefined) {
    const actual = numberOf(a);
    const name = o.markers.get(number);
    if (name !== undefined) {
      if (actual === undefined || (m.scalars.has(name) && m.scalars.get(name) !== actual)) return false;
      m.scalars.set(name, actual);
      return true;
    }
    if (o.loose) return actual !== undefined || dimOf(a) !== undefined;
    return actual === number;
  }
  if (Array.isArray(p)) {
    const [xs, ys] = [itemsOf(p), itemsOf(a)];
    if (o.loose && xs.every(x => numberOf(x) !== undefined)) return ys.length > 0 || Array.isArray(a);
    return xs.length === ys.length && xs.every((x, i) => matchArgument(x, ys[i] ?? null, results, m, o));
  }
  if (p instanceof DTypeArg) return a instanceof DTypeArg && (o.loose || a.dtype === p.dtype);
  if (p instanceof DeviceArg)
    return (
      a instanceof DeviceArg && (o.loose || (a.device.type === p.device.type && a.device.index === p.device.index))
    );
  if (p instanceof LayoutArg) return a instanceof LayoutArg;
  if (p instanceof MemoryFormatArg) return a instanceof MemoryFormatArg && a.format === p.format;
  return p === a;
}
