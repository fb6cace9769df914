// Sizes that only make a model deep or long, cut down: what is analysed then is a model of the same form. In: a parameter's
// name and value. Out: a smaller value, or nothing where it is none of them or small already.
import { type Choice, number } from "../types";
import { SIZES } from "./names";

const LIMITS: readonly (readonly [RegExp, number])[] = [
  [/experts$|^n_routed|^num_experts/, 8],
  [/^(n_?|num_?|nb_?)?(\w+_)?(layers?|blocks?|depths?|repeats?|hidden_layers|resblocks|res_blocks)$|^layers$/, 2],
  [/^(img|image|input)_?(size|res|resolution)$|^resolution$/, 112],
  [/^(num_|n_|all_)?frames$/, 4],
  [/max_(seq_?)?len|max_position|block_size|context_length|^n_ctx$|^n_positions$|^seq_?len(gth)?$/, 256],
  [/^(num_)?(diffusion_|train_|sample_|sampling_)?(timesteps|steps)$/, 50],
];

/** A size that fits a small model of the same form; undefined: the parameter is of another kind, or small already. */
export function smaller(name: string, c: Choice): Choice | undefined {
  const limit = LIMITS.find(([re]) => re.test(name.toLowerCase()))?.[1];
  if (limit === undefined) return undefined;
  if (c.kind === "number") return c.value > limit ? number(limit) : undefined;
  if (c.kind !== "seq" || !c.items.some(x => x.kind === "number" && x.value > limit)) return undefined;
  return { ...c, items: c.items.map(x => (x.kind === "number" ? number(Math.min(x.value, limit)) : x)) };
}

/** what a loop over the items of a sequence, or of a batch, goes through in no time */
const SHORT = 16;
const FEW = 2;

/** An input whose sequences and batch are short, for a forward that goes through them item by item; others as they are. */
export function shorter(c: Choice): Choice {
  const cut = (n: number, i = 1): number => (i === 0 && n === SIZES.batch ? FEW : n === SIZES.length ? SHORT : n);
  if (c.kind === "tensor") {
    const filled = c.filled === undefined ? {} : { filled: cut(c.filled) };
    return { ...c, dims: c.dims.map((d, i) => (c.fixed?.includes(i) ? d : cut(d, i))), ...filled };
  }
  if (c.kind === "seq") return { ...c, items: c.items.map(shorter) };
  if (c.kind === "dict" || c.kind === "record")
    return { ...c, entries: c.entries.map(([k, v]) => [k, shorter(v)] as const) };
  return c;
}
