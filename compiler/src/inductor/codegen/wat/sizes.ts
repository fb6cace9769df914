// Sizes in a kernel's text. In: expressions over size symbols. Out: constants, or i32 arithmetic over parameters that
// the runner fills with the symbols' values; and the same sizes as plan data.
import type { PlanSize } from "../../plan/types";
import { type Expr, freeSymbols, intValue, type SymExpr } from "../../symbolic/expr";
import { printPython } from "../../symbolic/print_python";
import type { SizeVars } from "../../symbolic/size_vars";

export class KernelSizes {
  private readonly symbols: SymExpr[] = [];

  constructor(readonly sv: SizeVars) {}

  /** simplified, precomputed sizes replaced by what they stand for */
  resolve(e: Expr): Expr {
    return this.sv.simplify(this.sv.removePrecomputed(e));
  }

  /** text of a size symbol's value */
  symbol(s: SymExpr): string {
    const known = this.symbols.indexOf(s);
    const at = known >= 0 ? known : this.symbols.push(s) - 1;
    return `(local.get $s${at})`;
  }

  /** names of the symbols in the order of their parameters $s0, $s1, ... */
  get names(): string[] {
    return this.symbols.map(s => s.name);
  }

  parameters(): string[] {
    return this.symbols.map((_, i) => `$s${i}`);
  }

  hint(e: Expr): number {
    return this.sv.optimizationHint(e);
  }

  plan(e: Expr): PlanSize {
    const x = this.resolve(e);
    const value = intValue(x);
    if (value !== undefined) return value;
    for (const s of freeSymbols(x)) this.symbol(s);
    return { text: printPython(x), value: this.hint(x) };
  }
}
