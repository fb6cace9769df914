// Which form a product's template takes where nothing was measured, or what the configuration says. In: products, options.
// Out: a form. Promises: a form that the product does not have is never given.
import type { TargetProperties } from "../ir/target";
import { type OperandWay, wayParts } from "../operand_layouts/ways";
import type { TritonConfig } from "../plan/types";
import type { SizeVars } from "../symbolic/size_vars";
import { formOf, formsOf, type GemmForm, type GemmWay, gemmConfigs, isGemmWay, piecesOf, storesTiles } from "./forms";
import type { Gemm } from "./gemm";
import { PARTS_TILE } from "./in_parts";

interface WayOptions {
  readonly config: ReadonlyMap<string, unknown>;
  /** the numbers of products among those of the graph that differ, by operation (GraphWays) */
  readonly products?: ReadonlyMap<string, number>;
}

interface FormOptions extends WayOptions {
  readonly target: TargetProperties;
}

export interface FormChoice {
  readonly form: GemmForm;
  /** results go out through tensor descriptors */
  readonly storesTiles: boolean;
  /** undefined: all configurations of the form */
  readonly configs?: readonly TritonConfig[];
}

/**
 * The way that the configuration asks for: one, or several with a comma between them, each for one of the graph's products.
 * "library": no template; null: none in particular.
 */
export function wantedWay(o: WayOptions, op: string): GemmWay | "library" | null {
  const way = wayParts(wantedText(o, op) ?? "").base;
  return way === "library" || isGemmWay(way) ? way : null;
}

/** The layout of operands that the configuration asks for; null: none in particular. */
export function wantedOperands(o: WayOptions, op: string): OperandWay | null {
  const wanted = wantedText(o, op);
  return wanted === null ? null : wayParts(wanted).operands;
}

function wantedText(o: WayOptions, op: string): string | null {
  const wanted = o.config.get("triton.template_form");
  if (typeof wanted !== "string") return null;
  const each = wanted.split(",");
  const own = each.length === 1 ? wanted : each[o.products?.get(op) ?? 0];
  // nothing where the cost model speaks of other products alone
  return own === undefined || own === "" ? null : own;
}

/** What is asked of a product whose sum is whole. Pieces that it does not have leave it to the cost model. */
export function wholeWay(o: WayOptions, op: string): GemmWay | "library" | null {
  const wanted = wantedWay(o, op);
  return wanted !== null && wanted !== "library" && piecesOf(wanted) !== null ? null : wanted;
}

/**
 * `inParts`: these are float32 products of bfloat16 parts; `asked`: max_autotune asks for templates; `computed`: an operand is
 * computed on the way in
 */
export function chooseForm(
  products: readonly Gemm[],
  o: FormOptions,
  sv: SizeVars,
  { inParts = false, asked = true, computed = false } = {},
): FormChoice {
  const forms = formsOf(products, o.target, sv);
  const wanted = products[0] ? wholeWay(o, products[0].op.name) : null;
  if (computed || products.some(g => g.piece !== null)) return { form: "pointers", storesTiles: false };
  if (wanted !== null && wanted !== "library" && forms.includes(formOf(wanted)))
    return { form: formOf(wanted), storesTiles: storesTiles(wanted) };
  // unasked, a product is computed in parts only where one tile is known to serve; nothing is left to tune
  if (inParts) {
    const all = gemmConfigs("pointers", products, o.target, sv);
    const square = all.filter(c => c.kwargs.YBLOCK === PARTS_TILE && c.kwargs.XBLOCK === PARTS_TILE);
    const best = square.find(c => c.numWarps === 8);
    return { form: "pointers", storesTiles: false, ...(best && !asked ? { configs: [best] } : {}) };
  }
  if (!asked) {
    const form = forms.includes("flattened") ? "flattened" : "pointers";
    return { form, storesTiles: false, configs: unaskedConfigs(gemmConfigs(form, products, o.target, sv)) };
  }
  if (!forms.includes("flattened")) return { form: "pointers", storesTiles: false };
  // with two sums a program has no registers left to begin the next tile early
  return { form: products.length > 1 ? "persistent" : "flattened", storesTiles: false };
}

/** the two tiles of which one serves nearly all products that are worth a template unasked, for the first run to choose from */
function unaskedConfigs(all: readonly TritonConfig[]): readonly TritonConfig[] {
  const wide = all.filter(c => c.numWarps === 8 && c.kwargs.YBLOCK === 128);
  const found = [256, 128].flatMap(x => wide.find(c => c.kwargs.XBLOCK === x) ?? []);
  return found.length > 0 ? found : all.slice(0, 1);
}
