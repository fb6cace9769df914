// What is asked of a node's reads and writes over and over while pairs are tried. In: reads and writes. Out: the same by
// other keys, worked out once, as a node's reads and writes are replaced and never changed.
import type { Dep, ReadWrites } from "./types";

export interface Accesses {
  /** by buffer, without weak dependencies and without reads of what the node itself writes */
  readonly reads: ReadonlyMap<string, readonly Dep[]>;
  readonly writes: ReadonlyMap<string, readonly Dep[]>;
}

class AccessFacts {
  private allDeps: ReadonlySet<Dep> | undefined;
  private names: ReadonlySet<string> | undefined;
  private byBuffer: Accesses | undefined;
  private looped: ReadonlySet<string> | undefined;
  private last: ReadonlyMap<string, Dep> | undefined;

  constructor(private readonly rw: ReadWrites) {}

  /** reads first, each dependency once */
  get deps(): ReadonlySet<Dep> {
    if (this.allDeps === undefined) {
      const all = new Set(this.rw.reads);
      for (const d of this.rw.writes) all.add(d);
      this.allDeps = all;
    }
    return this.allDeps;
  }

  /** names of all buffers read or written: reads in load order, then writes */
  get buffers(): ReadonlySet<string> {
    if (this.names === undefined) {
      const names = new Set<string>();
      for (const d of this.deps) names.add(d.name);
      this.names = names;
    }
    return this.names;
  }

  get accesses(): Accesses {
    if (this.byBuffer === undefined) {
      const writes = byName(this.rw.writes);
      const reads = byName(this.rw.reads);
      for (const name of writes.keys()) reads.delete(name);
      this.byBuffer = { reads, writes };
    }
    return this.byBuffer;
  }

  /** buffers accessed at a position that some loop moves */
  get loopedBuffers(): ReadonlySet<string> {
    if (this.looped === undefined) {
      const names = new Set<string>();
      for (const d of this.deps) if (d.kind === "memory" && d.index.kind !== "int") names.add(d.name);
      this.looped = names;
    }
    return this.looped;
  }

  /** each buffer's last dependency, writes after reads */
  get lastDeps(): ReadonlyMap<string, Dep> {
    if (this.last === undefined) {
      const last = new Map<string, Dep>();
      for (const d of this.rw.reads) last.set(d.name, d);
      for (const d of this.rw.writes) last.set(d.name, d);
      this.last = last;
    }
    return this.last;
  }
}

function byName(deps: readonly Dep[]): Map<string, Dep[]> {
  const map = new Map<string, Dep[]>();
  for (const d of deps) {
    if (d.kind === "weak") continue;
    const list = map.get(d.name);
    if (list) list.push(d);
    else map.set(d.name, [d]);
  }
  return map;
}

const known = new WeakMap<ReadWrites, AccessFacts>();

export function factsOf(n: { readonly readWrites: ReadWrites }): AccessFacts {
  let facts = known.get(n.readWrites);
  if (facts === undefined) {
    facts = new AccessFacts(n.readWrites);
    known.set(n.readWrites, facts);
  }
  return facts;
}
