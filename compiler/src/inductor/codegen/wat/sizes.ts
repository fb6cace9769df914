// Sizes in a kernel's text. In: expressions over size symbols. Out: constants, or i32 arithmetic over parameters that
// the runner fills with the symbols' values; and the same sizes as plan data.
import type { PlanSize } from "../../plan/types";
import { type Expr, freeSymbols, intValue, type SymExpr } from "../../symbolic/expr";
import { printPython } from "../../symbolic/print_python";
import type { SizeVars } from "../../symbolic/size_vars";

export class KernelSizes {
  /** symbols by name, and expressions by their Python text */
  private readonly texts: string[] = [];

  constructor(readonly sv: SizeVars) {}

  /** simplified, precomputed sizes replaced by what they stand for */
  resolve(e: Expr): Expr {
    return this.sv.simplify(this.sv.removePrecomputed(e));
  }

  /** text of a size symbol's value */
  symbol(s: SymExpr): string {
    return this.parameter(s.name);
  }

  /** text of a plan's size */
  given(size: PlanSize): string {
    return typeof size === "number" ? `(i32.const ${size})` : this.parameter(size.text);
  }

  private parameter(text: string): string {
    const known = this.texts.indexOf(text);
    return `(local.get $s${known >= 0 ? known : this.texts.push(text) - 1})`;
  }

  /** what the parameters $s0, $s1, ... stand for, as Python text */
  get names(): readonly string[] {
    return this.texts;
  }

  parameters(): string[] {
    return this.texts.map((_, i) => `$s${i}`);
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
