// Undo log of the interpreter's heap. While a frame is traced every mutation of an object leaves its undo here, so that
// a trace that has to start again (a graph break inside an inlined call) finds the heap as it was. Outside a trace
// nothing is kept. Interpretation is synchronous, hence one current log.

export class Journal {
  private readonly undos: (() => void)[] = [];

  push(undo: () => void): void {
    this.undos.push(undo);
  }
  get length(): number {
    return this.undos.length;
  }
  /** what ended well is undone with what it was part of */
  joins(outer: Journal | null): void {
    outer?.push(() => this.rollback());
  }
  /** undoes everything after the mark, last first */
  rollback(mark = 0): void {
    while (this.undos.length > mark) this.undos.pop()?.();
  }
}

let current: Journal | null = null;

/** notes how to undo a mutation, if anybody wants to know */
export function record(undo: () => void): void {
  current?.push(undo);
}

export function recording(): boolean {
  return current !== null;
}

/** makes `journal` the current one and returns the one before it */
export function setJournal(journal: Journal | null): Journal | null {
  const before = current;
  current = journal;
  return before;
}

/** what is loaded once for a whole program (modules, library classes) stays when the run that asked for it is undone */
export function unrecorded<T>(f: () => T): T {
  const outer = current;
  current = null;
  try {
    return f();
  } finally {
    current = outer;
  }
}
