// In-place forms that follow from their operators. In: the records of the table. Out: `name_` for each elementwise operator
// or running sum that has none written down. Promises: only where PyTorch has one too.
import { inplace } from "./ops/helpers/define";
import type { OpRecord } from "./types";

/** elementwise operators that PyTorch gives no in-place form: tests, extremes, copies and casts */
const WITHOUT =
  /^(is\w+|signbit|maximum|minimum|max|min|fmax|fmin|where|logaddexp2?|clone|angle|real|imag|hardshrink|prelu|polar|complex|softplus|log_sigmoid|logsigmoid|gelu)$/;
/** operators that keep their input's shape without being elementwise */
const KEEPING = /^(cumsum|cumprod|renorm|mvlgamma)$/;

/** The in-place forms that `records` lack, in the order of their operators. */
export function inplaceVariants(records: readonly OpRecord[]): OpRecord[] {
  const spelled = new Set(records.flatMap(r => r.python ?? []));
  const named = new Set(records.map(r => r.name));
  const out: OpRecord[] = [];
  for (const r of records) {
    const method = (r.python ?? []).find(p => /^Tensor\.[a-z]\w*[a-z0-9]$/.test(p))?.slice("Tensor.".length);
    if (method === undefined || spelled.has(`Tensor.${method}_`) || !hasForm(r, method)) continue;
    const made = inplace(r);
    if (named.has(made.name)) continue;
    const aliases = (r.python ?? []).flatMap(p => (/^Tensor\.[a-z]\w*[a-z0-9]$/.test(p) ? [`${p}_`] : []));
    out.push({ ...made, python: aliases });
  }
  return out;
}

function hasForm(r: OpRecord, method: string): boolean {
  if (WITHOUT.test(method) || r.viewOf !== undefined || r.functional !== undefined) return false;
  if (!/\(Tensor self/.test(r.schema) || !/\) -> Tensor$/.test(r.schema)) return false;
  return KEEPING.test(method) || (r.tags?.includes("pointwise") ?? false);
}
