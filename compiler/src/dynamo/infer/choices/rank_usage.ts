// Ranks that calls imply of a tensor they get. In: the call. Out: facts for what is known of its use.
import type * as ast from "../../../python/ast";
import { intOf, stringOf } from "../syntax";

/** what is known of a tensor's dimensions */
interface Ranks {
  rank: number | undefined;
  dimNames: readonly string[] | undefined;
  rankAtLeast: number;
}

/** einops' patterns and the terms of einsum */
export function notePattern(u: Ranks, n: ast.Call, func: string, position: number): void {
  if (/^(rearrange|reduce|repeat|einops\.\w+)$/.test(func)) noteEinops(u, stringOf(n.args[1]));
  if (/(^|\.)einsum$/.test(func)) noteEinsum(u, stringOf(n.args[0]), position - 1);
}

/** calls of functions and methods on a tensor that name its dimensions */
export function noteRanks(u: Ranks, n: ast.Call, func: string, is: (e: ast.Expr) => boolean): void {
  // x.mean(dim=(2, 3)), torch.sum(x, dim=3)
  if ((n.func.kind === "Attribute" && is(n.func.value)) || (n.args[0] && is(n.args[0]))) {
    const dim = n.keywords.find(k => k.arg === "dim" || k.arg === "axis")?.value;
    const dims = dim?.kind === "Tuple" || dim?.kind === "List" ? dim.elts : dim ? [dim] : [];
    for (const d of dims.map(intOf))
      if (d !== undefined && /^(torch\.)?\w+$|\.(mean|sum|amax|amin|max|min|std|var|norm)$/.test(func))
        u.rankAtLeast = Math.max(u.rankAtLeast, d + 1);
  }
  // x.size(2), x.permute(0, 2, 1), x.flatten(2)
  if (n.func.kind === "Attribute" && is(n.func.value)) {
    const ints = n.args.map(intOf);
    if (n.func.attr === "size" || n.func.attr === "flatten" || n.func.attr === "transpose")
      for (const i of ints) if (i !== undefined && i >= 0) u.rankAtLeast = Math.max(u.rankAtLeast, i + 1);
    if (n.func.attr === "permute" && ints.length > 1 && ints.every(i => i !== undefined)) u.rank ??= ints.length;
  }
}

/** the rank of what functions of torch for maps, sequences and volumes take */
export function rankTaken(func: string): number | undefined {
  const sides = /(?:^|\.)(?:conv(?:_transpose)?|(?:adaptive_)?(?:max|avg)_pool)([123])d$/.exec(func)?.[1];
  if (sides !== undefined) return Number(sides) + 2;
  return /^(F|F_torch|nn\.functional|functional|torch\.nn\.functional|torch)\.(grid_sample|pixel_shuffle|pixel_unshuffle|unfold)$/.test(
    func,
  )
    ? 4
    : undefined;
}

/** "b c h w -> b (h w) c": the pattern's left side has the rank */
function noteEinops(u: Ranks, pattern: string | undefined): void {
  const names = pattern === undefined ? undefined : einopsAxes(pattern);
  if (names && u.rank === undefined) {
    u.rank = names.length;
    u.dimNames ??= names;
  }
}

function einopsAxes(pattern: string): string[] | undefined {
  const left = pattern.split("->")[0] ?? "";
  if (left.includes("...") || left.trim() === "") return undefined;
  return left
    .replace(/\([^)]*\)/g, "()")
    .trim()
    .split(/\s+/);
}

function noteEinsum(u: Ranks, equation: string | undefined, position: number): void {
  const term = equation?.split("->")[0]?.split(",")[position]?.trim();
  if (term === undefined || term.includes(".")) return;
  const axes = term.includes(" ") ? term.split(/\s+/) : [...term];
  u.rank ??= axes.length;
}
