// Which nodes must stay although nothing uses them. In: a node. Out: whether dropping it would be seen.
import { lookup } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import type { FxNode } from "../fx/graph";

const IMPURE = /^(aten\.(_assert|sym_constrain|_print)|torch\._assert|torch\.sym_constrain)/;
const RANDOM =
  /^(aten\.(native_dropout|dropout|rand|randn|randint|bernoulli|multinomial|normal|uniform|poisson|rrelu|exponential|geometric|cauchy|log_normal|randperm)|prims\.inductor_(random|randint|seed))/;

interface TargetFacts {
  readonly impure: boolean;
  readonly random: boolean;
}

/** as many as there are functions */
const facts = new Map<string, TargetFacts>();

function factsOf(target: string): TargetFacts {
  let known = facts.get(target);
  if (known === undefined) {
    const record = lookup(target);
    const writes = record !== undefined && parseSchema(record.schema).parameters.some(p => p.mutated);
    known = {
      impure: IMPURE.test(target) || record?.tags?.includes("side_effect") === true || writes,
      random: RANDOM.test(target) || record?.tags?.includes("random") === true,
    };
    facts.set(target, known);
  }
  return known;
}

export function isImpure(node: FxNode): boolean {
  return node.op === "call_function" && (node.meta.opaque !== undefined || factsOf(node.target).impure);
}

export function isRandom(node: FxNode): boolean {
  return factsOf(node.target).random;
}
