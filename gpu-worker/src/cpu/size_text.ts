// Sizes of a plan for the sizes of a call. In: a size's Python text and the values of its symbols. Out: a number.
// Knows what the compiler prints: + - * // % / **, comparisons, and/or/not, `a if c else b`, min, max, parentheses.

export class SizeTextError extends Error {}

type Evaluate = (symbols: ReadonlyMap<string, number>) => number;

const cache = new Map<string, Evaluate>();
const CACHE_LIMIT = 10_000;

export function evaluateSizeText(text: string, symbols: ReadonlyMap<string, number>): number {
  let f = cache.get(text);
  if (f === undefined) {
    f = new Parser(text).parse();
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(text, f);
  }
  return f(symbols);
}

const floorDiv = (a: number, b: number): number => Math.floor(a / b);
const floorMod = (a: number, b: number): number => a - b * Math.floor(a / b);

const BINARY: readonly Readonly<Record<string, (a: number, b: number) => number>>[] = [
  { or: (a, b) => a || b },
  { and: (a, b) => a && b },
  {
    "==": (a, b) => Number(a === b),
    "!=": (a, b) => Number(a !== b),
    "<": (a, b) => Number(a < b),
    "<=": (a, b) => Number(a <= b),
    ">": (a, b) => Number(a > b),
    ">=": (a, b) => Number(a >= b),
  },
  { "+": (a, b) => a + b, "-": (a, b) => a - b },
  { "*": (a, b) => a * b, "//": floorDiv, "%": floorMod, "/": (a, b) => a / b },
];

const COMPARISON = 2;

class Parser {
  private readonly tokens: readonly string[];
  private at = 0;

  constructor(private readonly text: string) {
    this.tokens = text.match(/\d+(?:\.\d+)?|[A-Za-z_][\w.]*|\/\/|\*\*|[=!<>]=|[-+*/%()<>,]|\S/g) ?? [];
  }

  parse(): Evaluate {
    const e = this.choice();
    if (this.at < this.tokens.length) this.fail();
    return e;
  }

  private fail(): never {
    throw new SizeTextError(`no size: ${this.text}`);
  }
  private take(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at += 1;
    return true;
  }
  private expect(token: string): void {
    if (!this.take(token)) this.fail();
  }

  private choice(): Evaluate {
    const yes = this.binary(0);
    if (!this.take("if")) return yes;
    const condition = this.binary(0);
    this.expect("else");
    const no = this.choice();
    return s => (condition(s) ? yes(s) : no(s));
  }

  private binary(level: number): Evaluate {
    const operators = BINARY[level];
    if (!operators) return this.unary();
    if (level === COMPARISON && this.take("not")) {
      const x = this.binary(level);
      return s => Number(!x(s));
    }
    let left = this.binary(level + 1);
    for (;;) {
      const f = Object.hasOwn(operators, this.tokens[this.at] ?? "")
        ? operators[this.tokens[this.at] ?? ""]
        : undefined;
      if (!f) return left;
      this.at += 1;
      const a = left;
      const b = this.binary(level + 1);
      left = s => f(a(s), b(s));
    }
  }

  private unary(): Evaluate {
    if (this.take("-")) {
      const x = this.unary();
      return s => -x(s);
    }
    const base = this.atom();
    if (!this.take("**")) return base;
    const exponent = this.unary();
    return s => base(s) ** exponent(s);
  }

  private atom(): Evaluate {
    const token = this.tokens[this.at++] ?? this.fail();
    if (/^\d/.test(token)) {
      const value = Number(token);
      return () => value;
    }
    if (token === "(") {
      const e = this.choice();
      this.expect(")");
      return e;
    }
    if (!/^[A-Za-z_]/.test(token)) this.fail();
    if (!this.take("(")) {
      return s => {
        const value = s.get(token);
        if (value === undefined) throw new SizeTextError(`no value for ${token}`);
        return value;
      };
    }
    const args: Evaluate[] = [];
    while (!this.take(")")) {
      args.push(this.choice());
      this.take(",");
    }
    const pick = /^(?:min|Min)$/.test(token) ? Math.min : /^(?:max|Max)$/.test(token) ? Math.max : null;
    if (pick) return s => pick(...args.map(a => a(s)));
    const [first] = args;
    // torch.sym_float, math.floor and the like: an integer is what comes out
    if (first && /(^|\.)(?:int|floor|trunc|ceil|float)$/.test(token)) {
      const round = token.endsWith("ceil") ? Math.ceil : token.endsWith("float") ? (x: number) => x : Math.floor;
      return s => round(first(s));
    }
    return this.fail();
  }
}
