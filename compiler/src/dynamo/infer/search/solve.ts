// Sizes that make a run go on. In: a failed run's questions about sizes. Out: other sizes for the dimensions that the last
// questions asked about, such that the run takes the same way up to there.
import type { Decision, Failure, Resize } from "../types";

const LIKELY = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 49, 50, 56, 64, 72, 77, 80, 84, 96, 100, 112,
  120, 128, 144, 160, 192, 196, 197, 200, 224, 240, 256, 257, 288, 299, 300, 320, 384, 400, 448, 480, 500, 512, 576,
  600, 640, 768, 784, 800, 896, 1000, 1024, 1152, 1200, 1280, 1344, 1408, 1500, 1536, 1600, 1664, 1792, 1920, 2048,
  2304, 2560, 3000, 3072, 3136, 4096, 4608, 5120, 6144, 8192, 9216, 12544, 16000, 16384, 25088, 32768, 65536,
] as const;
const ALL_UP_TO = 2600;

/** Sizes that may be tried one after the other for one failure; the likely ones are tried in any case. */
export interface Trials {
  left: number;
}

/** enough for the likeliest questions of a failure, and within milliseconds */
export const trials = (): Trials => ({ left: 5 * ALL_UP_TO });

/** resizes that turn one of the last questions around, most plausible first; `current` gives a hole's sizes */
export function resizes(f: Failure, current: (hole: string) => readonly number[], left: Trials): Resize[] {
  const out: Resize[] = [];
  const ones: Resize[] = [];
  for (const suspect of suspectsOf(f)) {
    const before = f.decisions.slice(0, f.decisions.indexOf(suspect));
    for (const { hole, dims } of groups(suspect, current)) {
      const size = solve(suspect, before, hole, dims, current(hole)[dims[0] ?? 0] ?? 1, left);
      if (size === undefined) continue;
      (size === 1 ? ones : out).push({ hole, dims, size });
    }
  }
  return [...out, ...ones];
}

/** sizes of parts by which another part makes up what they are to be together */
const PARTS = [32, 64, 16, 3, 2, 1] as const;
const MOST_PAIRS = 6;

/** two resizes that turn the last question around together, where none does alone: parts that are joined before a layer */
export function pairedResizes(
  f: Failure,
  current: (hole: string) => readonly number[],
  left: Trials,
): (readonly [Resize, Resize])[] {
  const out: (readonly [Resize, Resize])[] = [];
  for (const suspect of suspectsOf(f).slice(0, 2)) {
    const sides = suspect.over.map(({ hole, dim }) => ({ hole, dims: [dim] as const }));
    const now = (s: (typeof sides)[number]): number => current(s.hole)[s.dims[0]] ?? 1;
    if (sides.length !== 2 || sides.some(s => solve(suspect, [], s.hole, s.dims, now(s), left) !== undefined)) continue;
    const halves = suspect.constants.flatMap(n => (n % 2 === 0 ? [n / 2] : []));
    for (const size of [...halves, ...PARTS]) {
      for (const [a, b] of [sides, [...sides].reverse()]) {
        if (!a || !b) continue;
        const one = { ...a, size };
        const other = solve(suspect, [], b.hole, b.dims, now(b), left, [one]);
        if (other !== undefined) out.push([one, { ...b, size: other }]);
      }
    }
  }
  return out.slice(0, MOST_PAIRS);
}

/** questions that may have led to the failure, the likeliest first */
function suspectsOf(f: Failure): readonly Decision[] {
  const last = f.decisions.filter(d => d.after === f.operators);
  const raised = !/^(TypeError|AttributeError|IndexError|KeyError|NameError)$/.test(f.type);
  const suspects = [...last.filter(d => !d.holds)].reverse();
  if (raised)
    suspects.push(
      ...last
        .filter(d => d.holds)
        .reverse()
        .slice(0, 2),
    );
  if (suspects.length === 0) suspects.push(...[...f.decisions].reverse().slice(0, 3));
  return suspects.slice(0, 8);
}

/** what can be changed: height and width of an image together, then dimensions alone, the last first */
function groups(
  d: Decision,
  current: (hole: string) => readonly number[],
): { hole: string; dims: readonly number[] }[] {
  const together = new Map<string, number[]>();
  for (const { hole, dim } of d.over) {
    const sizes = current(hole);
    if (sizes.length >= 4 && dim >= sizes.length - 2) together.set(hole, [...(together.get(hole) ?? []), dim]);
  }
  const pairs = [...together].filter(([, dims]) => dims.length === 2).map(([hole, dims]) => ({ hole, dims }));
  return [...pairs, ...[...d.over].reverse().map(({ hole, dim }) => ({ hole, dims: [dim] }))];
}

function solve(
  suspect: Decision,
  before: readonly Decision[],
  hole: string,
  dims: readonly number[],
  now: number,
  left: Trials,
  beside: readonly Resize[] = [],
): number | undefined {
  const same = before.filter(d => d.over.some(o => o.hole === hole && dims.includes(o.dim)));
  const asked = suspect.along(hole, dims, beside);
  const others = same.map(d => ({ holds: d.holds, holdsFor: d.along(hole, dims) }));
  const turns = (n: number): boolean => n !== now && asked(n) === !suspect.holds;
  const keeps = (n: number): boolean => {
    const broken = others.findIndex(d => d.holdsFor(n) !== d.holds);
    // what one size breaks the next one likely breaks too
    if (broken > 0) others.unshift(...others.splice(broken, 1));
    return broken < 0;
  };
  const near = [...suspect.constants, ...LIKELY].sort((a, b) => distance(a, now) - distance(b, now));
  let turning: number | undefined;
  for (const n of near) {
    if (!turns(n)) continue;
    if (keeps(n)) return n;
    turning ??= n;
  }
  for (let n = 2; n <= ALL_UP_TO && left.left > 0; n++) {
    left.left -= 1;
    if (!turns(n)) continue;
    if (keeps(n)) return n;
    turning ??= n;
  }
  return turning;
}

const distance = (a: number, b: number): number => Math.abs(Math.log(a / b)) + (a === 1 ? 10 : 0);
