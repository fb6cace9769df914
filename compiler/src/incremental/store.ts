// What a session remembers from run to run, by content. In: a key, a value, what the value weighs. Out: the value, as
// long as the store holds it. Bounded: the entries used least recently go first.

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
}

/** A memo of one kind of values; kinds share the store's room. */
export interface Memo<V> {
  get(key: string): V | undefined;
  set(key: string, value: V, bytes: number): void;
}

export class MemoStore {
  /** in order of last use */
  private readonly entries = new Map<string, Entry>();
  private total = 0;

  constructor(readonly limit: number) {}

  get bytes(): number {
    return this.total;
  }

  get size(): number {
    return this.entries.size;
  }

  /** One name has one type of values, and its own keys. */
  memo<V>(name: string): Memo<V> {
    return {
      // what was set under this name is a V
      get: key => this.get(`${name}\n${key}`) as V | undefined,
      set: (key, value, bytes) => this.set(`${name}\n${key}`, value, bytes),
    };
  }

  clear(): void {
    this.entries.clear();
    this.total = 0;
  }

  private get(key: string): unknown {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  private set(key: string, value: unknown, bytes: number): void {
    this.drop(key);
    if (bytes > this.limit) return;
    this.entries.set(key, { value, bytes });
    this.total += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.total <= this.limit) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.total -= entry.bytes;
    this.entries.delete(key);
  }
}
