// Giving up a compile that nobody waits for any more. In: a flag that another thread may set. Out: Stopped, thrown at the
// next stop point. The flag is in dynamic scope (as the intern table is), since loops deep in every stage look at it.

/** What is thrown; no stage handles it. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
  }
}

let asked: (() => boolean) | undefined;

/** Runs `fn`, whose stop points throw once `shouldStop` says so. Synchronous only. */
export function withStop<T>(shouldStop: () => boolean, fn: () => T): T {
  const outer = asked;
  asked = shouldStop;
  try {
    return fn();
  } finally {
    asked = outer;
  }
}

/** For loops that may take long: once a node, a kernel, a candidate; a poll costs far less than any of these. */
export function stopPoint(): void {
  if (asked?.()) throw new Stopped();
}
