// Names of graph nodes as torch.fx gives them. In: a candidate. Out: a name never given before in this graph.
// Python's keywords and builtins start at _1; a name once taken is never freed.

const RESERVED = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield " +
    "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits " +
    "delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int " +
    "isinstance issubclass iter len license list locals map max memoryview min next object oct open ord pow print property quit range " +
    "repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip " +
    "Ellipsis NotImplemented ArithmeticError AssertionError AttributeError BaseException BufferError EOFError Exception ImportError " +
    "IndexError KeyError KeyboardInterrupt LookupError MemoryError NameError NotImplementedError OSError OverflowError RuntimeError " +
    "StopIteration SyntaxError SystemError SystemExit TypeError ValueError Warning ZeroDivisionError " +
    "inf nan NoneType torch device fx_pytree pytree"
  ).split(" "),
);

export class Namespace {
  private readonly used = new Set<string>();
  private readonly counts = new Map<string, number>();

  create(wanted: string): string {
    let candidate = wanted.replace(/[^0-9a-zA-Z_]+/g, "_") || "_unnamed";
    if (/^[0-9]/.test(candidate)) candidate = `_${candidate}`;
    const match = /^(.*?)_(\d+)$/.exec(candidate);
    let base = match?.[1] ?? candidate;
    let number: number | undefined = match ? Number(match[2]) : undefined;
    if (match && base === "") {
      base = candidate;
      number = undefined;
    }
    if (number === undefined || this.used.has(candidate)) {
      number = this.counts.get(candidate) ?? 0;
      if (RESERVED.has(candidate)) {
        number += 1;
        candidate = `${base}_${number}`;
      }
    }
    while (this.used.has(candidate)) {
      number += 1;
      candidate = `${base}_${number}`;
    }
    this.used.add(candidate);
    this.counts.set(base, number);
    return candidate;
  }

  /** takes over every name that `other` has ever given */
  adopt(other: Namespace): void {
    for (const name of other.used) this.used.add(name);
    for (const [base, count] of other.counts) this.counts.set(base, count);
  }

  has(name: string): boolean {
    return this.used.has(name);
  }
}
