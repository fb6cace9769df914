// In: a frame's ShapeEnv. Out: what must hold of a later call's inputs, as Python text over their sources, and the first
// that does not hold for given values (the reason that a recompilation is logged with).
// Promises: the order of torch's produce_guards: equal (duck-sized) inputs, guards in the order made, ranges.

import { evaluateNumber } from "./evaluate";
import { type Expr, int, makeRelation, type SymExpr } from "./nodes";
import { printPython } from "./print_python";
import type { ShapeEnv } from "./shape_env";

/** Value of an input's property by its source name ("L['x'].size()[0]"). */
export type SourceValue = (source: string) => number | undefined;

export interface InputGuard {
  /** "L['x'].size()[0] <= 10" */
  readonly text: string;
  readonly holds: (values: SourceValue) => boolean;
}

/** Everything that the compiled frame assumes of its inputs' sizes. */
export function inputGuards(env: ShapeEnv): InputGuard[] {
  const first = (s: SymExpr): string | undefined => env.sources.get(s)?.[0];
  const lookup =
    (values: SourceValue) =>
    (s: SymExpr): number | undefined => {
      const source = first(s);
      return source === undefined ? undefined : values(source);
    };
  const guard = (e: Expr): InputGuard => ({
    text: printPython(e, { symbol: first }),
    holds: values => evaluateNumber(e, lookup(values)) !== 0,
  });
  const result: InputGuard[] = [];
  for (const [s, sources] of env.sources) {
    const [main, ...others] = sources;
    if (main === undefined || !env.hints.has(s)) continue;
    for (const other of others) {
      result.push({ text: `${other} == ${main}`, holds: values => values(other) === values(main) });
    }
  }
  for (const g of env.guards) result.push(guard(g.expr));
  for (const [s, range] of env.symbolRanges) {
    const source = first(s);
    if (source === undefined || !env.hints.has(s) || env.replacements.has(s)) continue;
    const hasLower = Number.isFinite(range.lower);
    const hasUpper = Number.isFinite(range.upper);
    const inside = (values: SourceValue): boolean => {
      const v = values(source);
      return v === undefined || (v >= range.lower && v <= range.upper);
    };
    if (hasLower && hasUpper) result.push({ text: `${range.lower} <= ${source} <= ${range.upper}`, holds: inside });
    else if (hasLower) result.push(guard(makeRelation("le", int(range.lower), s)));
    else if (hasUpper) result.push(guard(makeRelation("le", s, int(range.upper))));
  }
  return result;
}

/** The first guard that these inputs break; undefined if the compiled frame can be used. */
export function failingGuard(env: ShapeEnv, values: SourceValue): string | undefined {
  return inputGuards(env).find(g => !g.holds(values))?.text;
}
