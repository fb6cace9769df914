// Sets of operations as bits by position. In: operations in the order of the graph. Out: sets with fast union. Promises:
// as a set of names to those who read it. A graph of ten thousand operations has ten thousand ancestor sets, each about as
// long as what stands before: sets of names would be quadratic in memory for all practical purposes, bits are 32 times less.

export interface NameSet extends Iterable<string> {
  has(name: string): boolean;
}

/** positions of operations, shared by all sets over them */
export class OpIndex {
  readonly names: string[] = [];
  private readonly positions = new Map<string, number>();

  position(name: string): number | undefined {
    return this.positions.get(name);
  }

  add(name: string): number {
    let at = this.positions.get(name);
    if (at === undefined) {
      at = this.names.push(name) - 1;
      this.positions.set(name, at);
    }
    return at;
  }
}

export class OpSet implements NameSet {
  constructor(
    readonly index: OpIndex,
    /** 32 operations a word; what lies behind the last word is not in the set */
    readonly words: Uint32Array,
  ) {}

  /** all of `sets`, and `more` */
  static union(index: OpIndex, sets: readonly OpSet[], more: readonly string[] = []): OpSet {
    const added = more.map(n => index.add(n));
    let length = 0;
    for (const s of sets) length = Math.max(length, s.words.length);
    for (const at of added) length = Math.max(length, (at >>> 5) + 1);
    const words = new Uint32Array(length);
    for (const s of sets) {
      const from = s.words;
      for (let i = 0; i < from.length; i++) words[i] = (words[i] as number) | (from[i] as number);
    }
    for (const at of added) words[at >>> 5] = (words[at >>> 5] as number) | (1 << (at & 31));
    return new OpSet(index, words);
  }

  has(name: string): boolean {
    const at = this.index.position(name);
    return at !== undefined && this.hasAt(at);
  }

  hasAt(at: number): boolean {
    const word = at >>> 5;
    return word < this.words.length && (((this.words[word] as number) >>> (at & 31)) & 1) === 1;
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let w = 0; w < this.words.length; w++) {
      for (let bits = this.words[w] as number; bits !== 0; bits &= bits - 1)
        yield this.index.names[w * 32 + 31 - Math.clz32(bits & -bits)] as string;
    }
  }
}

/** The union of sets of either kind; bits where all are bits over one graph's operations. */
export function unionOf(sets: readonly NameSet[], more: readonly string[] = []): NameSet {
  const [first] = sets;
  if (first instanceof OpSet) {
    const bits = sets.filter((s): s is OpSet => s instanceof OpSet && s.index === first.index);
    if (bits.length === sets.length) return OpSet.union(first.index, bits, more);
  }
  const all = new Set(more);
  for (const s of sets) for (const name of s) all.add(name);
  return all;
}
