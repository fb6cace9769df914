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

/** what a wanted name is made of; nearly all names of a graph are wanted by others too */
interface Parts {
  readonly candidate: string;
  readonly base: string;
  readonly number: number | undefined;
}
const known = new Map<string, Parts>();
const MOST_KNOWN = 20_000;

function partsOf(wanted: string): Parts {
  let parts = known.get(wanted);
  if (parts) return parts;
  let candidate = wanted.replace(/[^0-9a-zA-Z_]+/g, "_") || "_unnamed";
  if (/^[0-9]/.test(candidate)) candidate = `_${candidate}`;
  const match = /^(.*?)_(\d+)$/.exec(candidate);
  const base = match?.[1] ?? candidate;
  parts = match && base !== "" ? { candidate, base, number: Number(match[2]) } : { candidate, base, number: undefined };
  if (match && base === "") parts = { candidate, base: candidate, number: undefined };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(wanted, parts);
  return parts;
}

export class Namespace {
  private readonly used = new Set<string>();
  private readonly counts = new Map<string, number>();
  /** by base: up to which number all are taken, so that the search for a free one does not begin at 1 again */
  private readonly full = new Map<string, number>();

  create(wanted: string): string {
    const parts = partsOf(wanted);
    const { base } = parts;
    let { candidate, number } = parts;
    if (number === undefined || this.used.has(candidate)) {
      number = this.counts.get(candidate) ?? 0;
      if (RESERVED.has(candidate)) {
        number += 1;
        candidate = `${base}_${number}`;
      }
    }
    if (this.used.has(candidate)) {
      const full = this.full.get(base) ?? 0;
      const contiguous = number <= full;
      if (contiguous) number = full;
      do {
        number += 1;
        candidate = `${base}_${number}`;
      } while (this.used.has(candidate));
      if (contiguous) this.full.set(base, number);
    }
    this.used.add(candidate);
    this.counts.set(base, number);
    return candidate;
  }

  /** names that were given in another graph are given here */
  take(other: Namespace): void {
    for (const name of other.used) if (!this.used.has(name)) this.create(name);
    for (const [base, count] of other.counts) this.counts.set(base, Math.max(count, this.counts.get(base) ?? 0));
  }

  has(name: string): boolean {
    return this.used.has(name);
  }
}
