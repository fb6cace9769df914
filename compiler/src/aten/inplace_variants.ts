// In-place forms that follow from their operators. In: the records of the table. Out: `name_` for each elementwise operator
// or running sum that has none written down. Promises: only where PyTorch has one too.
import { inplace } from "./ops/helpers/define";
import type { OpRecord } from "./types";

/** elementwise operators that PyTorch gives no in-place form: tests, extremes, copies and casts */
const WITHOUT = /^(is\w+|signbit|maximum|minimum|max|min|fmax|fmin|logaddexp2?|clone|angle|hardshrink|prelu)$/;
/** operators that keep their input's shape without being elementwise */
const KEEPING = /^(cumsum|cumprod|renorm)$/;
/** a method's name without the underscore of a form in place */
const METHOD = /^Tensor\.([a-z]\w*[a-z0-9])$/;

/** The in-place forms that `records` lack, in the order of their operators. */
export function inplaceVariants(records: readonly OpRecord[]): OpRecord[] {
  const spelled = new Set(records.flatMap(r => r.python ?? []));
  const named = new Set(records.map(r => r.name));
  const out: OpRecord[] = [];
  for (const r of records) {
    const methods = (r.python ?? []).flatMap(p => METHOD.exec(p)?.[1] ?? []);
    const [method] = methods;
    if (method === undefined || spelled.has(`Tensor.${method}_`) || !hasForm(r, method)) continue;
    const made = inplace(r);
    if (named.has(made.name)) continue;
    out.push({ ...made, python: methods.map(m => `Tensor.${m}_`) });
  }
  return out;
}

function hasForm(r: OpRecord, method: string): boolean {
  if (WITHOUT.test(method) || r.viewOf !== undefined || r.functional !== undefined) return false;
  if (!/\(Tensor self/.test(r.schema) || !/\) -> Tensor$/.test(r.schema)) return false;
  return KEEPING.test(method) || (r.tags?.includes("pointwise") ?? false);
}
