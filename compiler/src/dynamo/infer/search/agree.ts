// Constructor arguments that a message about two unequal sizes speaks of. In: what stands in the holes and the failure.
// Out: states in which one number has been scaled so that the two sizes agree.

import { PyList, PyTuple } from "../../objects/values";
import type { InferContext } from "../context";
import { ABSENT, type Choice, type Failure, type Hole, number, type State, withChoice } from "../types";

const UNEQUAL: readonly RegExp[] = [
  /size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)/,
  /shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)/,
  /to have (\d+) channels, but got (\d+) channels/,
  /running_mean should contain (\d+) elements not (\d+)/,
  /normalized_shape=\[(\d+)\].* size\[(?:\d+, )*(\d+)\]/,
];
/** smaller numbers are counts and switches, which divide everything, but for those that sizes are multiplied by */
const SMALLEST_WIDTH = 3;
const FACTOR = /(^|_)(up|down)?(stride|scale|factor|scaling|sampling|sample)s?(_|$)/;

/** States in which the sizes agree, those that change a number that is one of the sizes before those that divide it. */
export function agreeing(holes: readonly Hole[], state: State, f: Failure): State[] {
  const sizes = UNEQUAL.map(re => re.exec(f.message)).find(m => m !== null);
  if (!sizes) return [];
  const [a, b] = [Number(sizes[1]), Number(sizes[2])];
  const exact: State[] = [];
  const scaled: State[] = [];
  for (const h of holes) {
    const v = widthOf(h, state);
    if (v === undefined) continue;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const n: number = (v * to) / from;
      if (from % v !== 0 || !Number.isInteger(n) || n === v) continue;
      (from === v ? exact : scaled).push(withChoice(state, h.name, number(n)));
    }
  }
  return [...exact, ...tables(holes, state, f, a, b), ...scaled];
}

/**
 * Tensors that were handed over with one of the sizes get the other one there: those that the failing line names first, in their
 * last dimension first, but for the second factor of a product.
 */
function tables(holes: readonly Hole[], state: State, f: Failure, a: number, b: number): State[] {
  const named = (h: Hole): boolean => [h.name, ...h.selves].some(n => f.lines.slice(1, 3).some(words => words.has(n)));
  const product = f.message.includes("cannot be multiplied");
  const resized = (h: Hole): State[] => {
    const c = state.get(h.name);
    if (h.written || c?.kind !== "tensor") return [];
    const made = c.dims.flatMap((n, i) => {
      const to = n === a ? b : n === b ? a : undefined;
      return to === undefined ? [] : [withChoice(state, h.name, { ...c, dims: c.dims.with(i, to) })];
    });
    return product && named(h) ? made : made.reverse();
  };
  return [...holes].sort((x, y) => Number(named(y)) - Number(named(x))).flatMap(resized);
}

const AS_LONG =
  /^assert\s*\(?\s*len\(\s*(?:self\.)?(\w+)\s*\)\s*==\s*len\(\s*(?:self\.)?(\w+)\s*\)(?:\s*([+-])\s*(\d+))?/;

/** States in which two sequences are as long that an assertion wants to be, or longer by a number, either one as the other is. */
export function assertedAsLong(holes: readonly Hole[], state: State, f: Failure): State[] {
  const [, first = "", second = "", sign, more = 0] = f.type === "AssertionError" ? (AS_LONG.exec(f.line) ?? []) : [];
  const longer = sign === "-" ? -Number(more) : Number(more);
  const [a, b] = [first, second].map(name => holes.find(h => h.name === name || h.selves.has(name)));
  if (!a || !b || a.written || b.written) return [];
  const [x, y] = [a, b].map(h => state.get(h.name) ?? ABSENT);
  const cut = (h: Hole, c: Choice, like: Choice, by: number): State[] => {
    const length = like.kind === "seq" && like.items.length > 0 ? like.items.length + by : 0;
    if (length <= 0) return [];
    const own = c.kind === "seq" && c.items.length > 0 ? c.items : Array.from({ length }, (_, i) => number(i));
    const items = Array.from({ length }, (_, i) => own[Math.min(i, own.length - 1)] as Choice);
    return [withChoice(state, h.name, { kind: "seq", items, tuple: c.kind === "seq" && c.tuple })];
  };
  return x && y && a !== b ? [...cut(b, y, x, -longer), ...cut(a, x, y, longer)] : [];
}

const LESS =
  /^assert\b.*[^<]<=?\s*(?:self\.)?([A-Za-z_]\w*)\s*(?:[,)]|$)|^assert\s*\(?\s*(?:self\.)?([A-Za-z_]\w*)\s*>=?[^>]/;
const FARTHER = [8, 64, 1024] as const;

/** States in which a number is larger that an assertion wants to be no less than something else. */
export function assertedLarger(holes: readonly Hole[], state: State, f: Failure): State[] {
  const m = f.type === "AssertionError" ? LESS.exec(f.line) : null;
  const name = m?.[1] ?? m?.[2];
  const h = holes.find(x => x.name === name || x.selves.has(name ?? ""));
  const n = h && numberOf(h, state);
  if (!h || h.written || n === undefined || n < 1) return [];
  return FARTHER.map(times => withChoice(state, h.name, number(n * times)));
}

const COUNTED = /^assert\s*\(?\s*len\(\s*(\w+)\s*\)\s*==(?!\s*len\b)/;
const LENGTHS = [1, 2, 3, 4, 5, 6] as const;

/** States in which a list has another length that an assertion wants to be one that nobody can tell from here. */
export function assertedLength(holes: readonly Hole[], state: State, f: Failure): State[] {
  const name = f.type === "AssertionError" ? COUNTED.exec(f.line)?.[1] : undefined;
  const c = state.get(name ?? "");
  if (name === undefined || !c || holes.find(h => h.name === name)?.written) return [];
  const own = c.kind === "seq" ? c.items : [c];
  const last = own[own.length - 1];
  if (last?.kind !== "tensor" && c.kind !== "seq") return [];
  return LENGTHS.filter(n => c.kind !== "seq" || n !== own.length).map(n => {
    const items = Array.from({ length: n }, (_, i) => (own[i] ?? last) as Choice);
    return withChoice(state, name, { kind: "seq", items, tuple: c.kind === "seq" && c.tuple });
  });
}

/** States in which what is added to a list is a list as well, like the others that stand in the line. */
export function summedLists(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/for \+: '(list|tuple)' and 'int'|for \+: 'int' and '(list|tuple)'/.test(f.message)) return [];
  const words = f.lines[1] ?? new Set<string>();
  const named = holes.filter(h => !h.written && [h.name, ...h.selves].some(n => words.has(n)));
  const list = named.map(h => state.get(h.name)).find(c => c?.kind === "seq");
  if (!list) return [];
  return named.flatMap(h => (state.get(h.name)?.kind === "number" ? [withChoice(state, h.name, list)] : []));
}

/** States in which two arguments are equal that an assertion wants to be, either one as the other is. */
export function assertedEqual(holes: readonly Hole[], state: State, f: Failure): State[] {
  const [a, b] = (f.equal ?? []).map(name => holes.find(h => h.name === name || h.selves.has(name)));
  if (!a || !b || a === b) return [];
  return [
    [a, b],
    [b, a],
  ].flatMap(([to, from]) => {
    const n = from && numberOf(from, state);
    return !to || to.written || n === undefined || n === numberOf(to, state)
      ? []
      : [withChoice(state, to.name, number(n))];
  });
}

/** States in which an argument is divisible by another, as an assertion wants it: more of the one, or a smaller other. */
export function assertedDivisible(holes: readonly Hole[], state: State, f: Failure): State[] {
  const [whole, part] = (f.divisible ?? []).map(name => holes.find(h => h.name === name || h.selves.has(name)));
  const [n, by] = [whole && numberOf(whole, state), part && numberOf(part, state)];
  if (!whole || !part || n === undefined || by === undefined || by < 1 || n % by === 0) return [];
  const larger = number(by * Math.max(1, Math.round(n / by)));
  const smaller = [8, 6, 4, 3, 2].find(d => d < by && n % d === 0) ?? 1;
  return [
    ...(whole.written ? [] : [withChoice(state, whole.name, larger)]),
    ...(part.written ? [] : [withChoice(state, part.name, number(smaller))]),
  ];
}

/** States in which a number that the program's own message names beside another is that other one: "only 4 / 512 blocks". */
export function toldNumbers(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/^(Assertion|Value|Runtime)Error$/.test(f.type) || TORCHS_OWN.test(f.message)) return [];
  const told = [...f.message.matchAll(/(?<![\w.])\d+(?![\w.]*\w)/g)].map(m => Number(m[0]));
  return told.length > 4
    ? []
    : holes.flatMap(h => {
        const n = numberOf(h, state);
        if (n === undefined || n < 2 || h.written || !told.includes(n)) return [];
        return [...new Set(told)].filter(v => v !== n && v > 0).map(v => withChoice(state, h.name, number(v)));
      });
}

/** what torch says of sizes is read elsewhere */
const TORCHS_OWN =
  /size of tensor|shapes? cannot|invalid for input|to have \d+ channels|normalized_shape|dimension|divisible|unpack|dtype/;

/** States in which a list of numbers by default holds lists, where the code indexes a number. */
export function nestedDefaults(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/^'(int|float)' object is not subscriptable/.test(f.message)) return [];
  // the line says which number it is
  const named = holes.some(h => f.lines[1]?.has(h.name) && (state.get(h.name)?.kind ?? typeof h.fallback) === "number");
  if (named) return [];
  return holes.flatMap(h => {
    const v = h.fallback;
    const items = v instanceof PyList || v instanceof PyTuple ? v.items : [];
    if (items.length === 0 || h.written || (state.get(h.name) ?? ABSENT).kind !== "absent") return [];
    if (!items.every(i => typeof i === "number")) return [];
    return [4, 3, 2].map(n => {
      const list = items.map(
        (i): Choice => ({ kind: "seq", items: new Array<Choice>(n).fill(number(i)), tuple: false }),
      );
      return withChoice(state, h.name, { kind: "seq", items: list, tuple: v instanceof PyTuple });
    });
  });
}

const GROUPED = /num_channels \((\d+)\) must be divisible by num_groups \((\d+)\)/;

/** States in which a width is scaled so that its groups divide it. */
export function grouped(holes: readonly Hole[], state: State, f: Failure): State[] {
  const [channels, groups] = GROUPED.exec(f.message)?.slice(1).map(Number) ?? [];
  if (channels === undefined || groups === undefined) return [];
  const wider = [2, 4, 8, 16, 32, 64].find(times => (channels * times) % groups === 0);
  return holes.flatMap(h => {
    const v = widthOf(h, state);
    return wider === undefined || v === undefined || channels % v !== 0
      ? []
      : [withChoice(state, h.name, number(v * wider))];
  });
}

/** the whole number that a hole holds, its default included */
function numberOf(h: Hole, state: State): number | undefined {
  const c = state.get(h.name) ?? ABSENT;
  if (c.kind === "number") return c.float ? undefined : c.value;
  return c.kind === "absent" && typeof h.fallback === "number" ? h.fallback : undefined;
}

/** the number that a hole holds, its default included, where it may be a width */
function widthOf(h: Hole, state: State): number | undefined {
  if (h.written) return undefined;
  const c = state.get(h.name) ?? ABSENT;
  const smallest = FACTOR.test(h.name) ? 1 : SMALLEST_WIDTH;
  if (c.kind === "number") return !c.float && c.value >= smallest ? c.value : undefined;
  return c.kind === "absent" && typeof h.fallback === "number" && h.fallback >= smallest ? h.fallback : undefined;
}

const COMMON_WORDS = /^(num|n|size|dim|in|out|is|use|max|min|)$/;
const wordsOf = (name: string): string[] => name.split("_").filter(w => !COMMON_WORDS.test(w));

/** sizes that stand for "not set" (-1) where an assertion wants a number of what goes by a like name (head_dim, num_head_channels) */
export function unsetSizes(holes: readonly Hole[], s: State, f: Failure): State[] {
  const [name, wanted] = f.asserted ?? [];
  if (name === undefined || wanted?.kind !== "number" || wanted.value <= 0) return [];
  const running = new Set(f.lines.slice(0, 5).flatMap(words => [...words]));
  const like = (h: Hole): boolean => wordsOf(h.name).some(w => wordsOf(name).includes(w));
  return holes
    .filter(h => h.fallback === -1 && (s.get(h.name)?.kind ?? "absent") === "absent" && running.has(h.name) && like(h))
    .map(h => withChoice(s, h.name, wanted));
}

/** configurations with the value that an assertion wants of what the code has read of them: `assert cfg.kind in ["slow", "fast"]` */
export function assertedParts(ctx: InferContext, holes: readonly Hole[], s: State, f: Failure): State[] {
  const [name, wanted] = f.asserted ?? [];
  if (name === undefined || wanted === undefined || !ctx.asked.has(name)) return [];
  return holes.flatMap(h => {
    const now = s.get(h.name);
    if (h.written || now?.kind !== "object" || now.given.some(([k]) => k === name)) return [];
    return [withChoice(s, h.name, { ...now, given: [...now.given, [name, wanted]] })];
  });
}
