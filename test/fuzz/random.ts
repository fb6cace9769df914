// Seeded random numbers for the fuzzers: the same seed gives the same inputs, on every machine.

export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** in [0, 1): mulberry32 */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** a whole number in [0, n) */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** a whole number in [low, high] */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("nothing to pick from");
    return list[this.below(list.length)] as T;
  }

  /** one of several makers, each with its weight */
  weighted<T>(choices: readonly (readonly [weight: number, make: () => T])[]): T {
    let left = this.next() * choices.reduce((n, [w]) => n + w, 0);
    for (const [weight, make] of choices) {
      left -= weight;
      if (left < 0) return make();
    }
    return (choices[choices.length - 1] as readonly [number, () => T])[1]();
  }

  many<T>(low: number, high: number, make: (i: number) => T): T[] {
    return Array.from({ length: this.between(low, high) }, (_, i) => make(i));
  }

  /** a seed for a case of its own, so that one case can be made again without those before it */
  fork(index: number): Random {
    return new Random((Math.imul(this.seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) >>> 0);
  }
}
