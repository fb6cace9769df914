// Which nodes must stay although nothing uses them. In: a node. Out: whether dropping it would be seen.
import { lookup } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import type { FxNode } from "../fx/graph";

const IMPURE = /^(aten\.(_assert|sym_constrain|_print)|torch\._assert|torch\.sym_constrain)/;

export function isImpure(node: FxNode): boolean {
  if (node.op !== "call_function") return false;
  if (node.meta.opaque !== undefined || IMPURE.test(node.target)) return true;
  const record = lookup(node.target);
  if (record === undefined) return false;
  return record.tags?.includes("side_effect") === true || parseSchema(record.schema).parameters.some(p => p.mutated);
}

export function isRandom(node: FxNode): boolean {
  return lookup(node.target)?.tags?.includes("random") === true || RANDOM.test(node.target);
}
const RANDOM =
  /^(aten\.(native_dropout|dropout|rand|randn|randint|bernoulli|multinomial|normal|uniform|poisson|rrelu|exponential|geometric|cauchy|log_normal|randperm)|prims\.inductor_(random|randint|seed))/;
