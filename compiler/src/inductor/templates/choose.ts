// Which form a product's template takes where nothing was measured, or what the configuration says. In: products, options.
// Out: a form. Promises: a form that the product does not have is never given.
import type { TargetProperties } from "../ir/target";
import type { TritonConfig } from "../plan/types";
import type { SizeVars } from "../symbolic/size_vars";
import { formsOf, type GemmForm, isGemmForm } from "./forms";
import type { Gemm } from "./gemm";

export interface FormOptions {
  readonly config: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
}

export interface FormChoice {
  readonly form: GemmForm;
  /** undefined: all configurations of the form */
  readonly configs?: readonly TritonConfig[];
}

/** the form that the configuration asks for; "library": no template; null: none in particular */
export function wantedForm(config: ReadonlyMap<string, unknown>): GemmForm | "library" | null {
  const wanted = config.get("triton.template_form");
  return wanted === "library" || isGemmForm(wanted) ? wanted : null;
}

export function chooseForm(products: readonly Gemm[], o: FormOptions, sv: SizeVars): FormChoice {
  const forms = formsOf(products, o.target, sv);
  const wanted = wantedForm(o.config);
  if (wanted !== null && wanted !== "library" && forms.includes(wanted)) return { form: wanted };
  if (!forms.includes("flattened")) return { form: "pointers" };
  // with two sums a program has no registers left to begin the next tile early
  return { form: products.length > 1 ? "persistent" : "flattened" };
}
