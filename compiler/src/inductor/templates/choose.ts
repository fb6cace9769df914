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
  const [first] = products;
  if (!first || !forms.includes("persistent")) return { form: "pointers" };
  const hint = (e: Gemm["m"]): number => sv.sizeHint(e, 1024);
  const tiles = Math.ceil(hint(first.m) / 128) * Math.ceil(hint(first.n) / 256) * (first.batch ? hint(first.batch) : 1);
  // walking pays where every program gets more than one tile
  return { form: tiles >= 2 * o.target.multiProcessorCount ? "persistent" : "tma" };
}
