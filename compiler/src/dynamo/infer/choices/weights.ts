// Weights that a constructor is handed: `self.embed.weight = nn.Parameter(weights)`, `nn.Embedding.from_pretrained(vectors)`.
// In: the constructor's parameters and its code. Out: the parameters that become weights, with tensors of the layer's sizes
// as their first choices.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { dotted, intOf } from "../syntax";
import { distinct, type Hole, tensor } from "../types";

/** what takes a table of vectors */
const TABLES = /(^|\.)(Embedding|EmbeddingBag)\.from_pretrained$|\bweight(\.data)?\.copy_$/;
const PARAMETER = /(^|\.)Parameter$/;
const ROWS = 32_000;
const WIDTH = 512;

type Sizes = readonly [number, number];

export function withWeights(holes: readonly Hole[], body: readonly ast.Stmt[]): readonly Hole[] {
  const tables = holes.filter(h => takenBy(h, TABLES));
  const parameters = holes.filter(h => takenBy(h, PARAMETER));
  if (tables.length + parameters.length === 0) return holes;
  const layers = layersOf(holes, body);
  return holes.map(h => {
    if (!tables.includes(h) && !parameters.includes(h)) return h;
    const sizes = sizesOfTarget(h.name, body, layers) ?? (tables.includes(h) ? [ROWS, widthBeside(layers)] : [64, 64]);
    return { ...h, choices: distinct([tensor("float32", sizes), ...h.choices, tensor("float32", [64])]) };
  });
}

const takenBy = (h: Hole, by: RegExp): boolean =>
  h.required && h.usage.passed.some(p => p.position === 0 && by.test(p.func));

/** sizes of the embeddings and linear layers that the constructor keeps, by attribute, as far as they are known */
function layersOf(holes: readonly Hole[], body: readonly ast.Stmt[]): ReadonlyMap<string, Sizes> {
  const out = new Map<string, Sizes>();
  walk(body, n => {
    if (n.kind !== "Assign" || n.value.kind !== "Call") return;
    const layer = /(?:^|\.)(Embedding|Linear)$/.exec(dotted(n.value.func) ?? "")?.[1];
    const name = n.targets[0] && dotted(n.targets[0]);
    const [a, b] = n.value.args.map(e => sizeOf(e, holes));
    if (layer === undefined || name === undefined || a === undefined || b === undefined) return;
    out.set(name, layer === "Embedding" ? [a, b] : [b, a]);
  });
  return out;
}

/** a number, or the first one that may stand in a parameter */
function sizeOf(e: ast.Expr, holes: readonly Hole[]): number | undefined {
  if (e.kind !== "Name") return intOf(e);
  const h = holes.find(x => x.name === e.id);
  const first = h?.choices[0];
  if (h?.required === false && typeof h.fallback === "number") return h.fallback;
  return first?.kind === "number" && !first.float ? first.value : undefined;
}

/** `layer.weight = nn.Parameter(name)`, `layer.weight.data.copy_(name)`: what layer that is */
function sizesOfTarget(name: string, body: readonly ast.Stmt[], layers: ReadonlyMap<string, Sizes>): Sizes | undefined {
  let found: Sizes | undefined;
  const mentions = (e: ast.Expr): boolean => {
    let is = false;
    walk(e, n => {
      if (n.kind === "Name" && n.id === name) is = true;
    });
    return is;
  };
  const layerOf = (path: string | undefined): Sizes | undefined =>
    layers.get(/^(.*)\.weight(\.data)?(\.copy_)?$/.exec(path ?? "")?.[1] ?? "");
  walk(body, n => {
    if (n.kind === "Assign" && n.targets[0] && mentions(n.value)) found ??= layerOf(dotted(n.targets[0]));
    if (n.kind === "Call" && n.args[0] && mentions(n.args[0])) found ??= layerOf(dotted(n.func));
  });
  return found;
}

/** a layer that takes vectors of the table may stand beside it */
const widthBeside = (layers: ReadonlyMap<string, Sizes>): number => [...layers.values()][0]?.[1] ?? WIDTH;
