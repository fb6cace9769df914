// Which form a product's template takes where nothing was measured, or what the configuration says. In: products, options.
// Out: a form. Promises: a form that the product does not have is never given.
import type { TargetProperties } from "../ir/target";
import type { SizeVars } from "../symbolic/size_vars";
import { formOf, formsOf, type GemmForm, type GemmWay, isGemmWay, storesTiles } from "./forms";
import type { Gemm } from "./gemm";

export interface FormOptions {
  readonly config: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
}

export interface FormChoice {
  readonly form: GemmForm;
  /** results go out through tensor descriptors */
  readonly storesTiles: boolean;
}

/** the way that the configuration asks for; "library": no template; null: none in particular */
export function wantedWay(config: ReadonlyMap<string, unknown>): GemmWay | "library" | null {
  const wanted = config.get("triton.template_form");
  return wanted === "library" || isGemmWay(wanted) ? wanted : null;
}

export function chooseForm(products: readonly Gemm[], o: FormOptions, sv: SizeVars): FormChoice {
  const forms = formsOf(products, o.target, sv);
  const wanted = wantedWay(o.config);
  if (wanted !== null && wanted !== "library" && forms.includes(formOf(wanted)))
    return { form: formOf(wanted), storesTiles: storesTiles(wanted) };
  if (!forms.includes("flattened")) return { form: "pointers", storesTiles: false };
  // with two sums a program has no registers left to begin the next tile early
  return { form: products.length > 1 ? "persistent" : "flattened", storesTiles: false };
}
