// Random edits of a Python file, as typing makes them: most change nothing that is compiled, some change everything, some
// leave the text broken for a while. In: a text and a generator of numbers. Out: the edited text, and what was done.

export type Random = () => number;

/** mulberry32: the same numbers for the same seed, everywhere */
export function generator(seed: number): Random {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Edited {
  readonly text: string;
  readonly what: string;
}

type Edit = (lines: string[], random: Random) => void;

const pick = (n: number, random: Random): number => Math.floor(random() * n);

function at(lines: readonly string[], random: Random, fits: (line: string) => boolean): number {
  const found = lines.flatMap((l, i) => (fits(l) ? [i] : []));
  return found[pick(found.length, random)] ?? 0;
}

const code = (l: string): boolean => /\S/.test(l) && !/^\s*#/.test(l);

const EDITS: readonly (readonly [string, Edit])[] = [
  ["blank line", (l, r) => l.splice(pick(l.length + 1, r), 0, "")],
  ["comment line", (l, r) => l.splice(pick(l.length + 1, r), 0, `# note ${pick(100, r)}`)],
  [
    "indented comment",
    (l, r) => {
      const i = at(l, r, x => /^\s+\S/.test(x));
      l.splice(i, 0, `${/^\s*/.exec(l[i] ?? "")?.[0]}# why ${pick(100, r)}`);
    },
  ],
  [
    "comment behind code",
    (l, r) => {
      const i = at(l, r, code);
      l[i] = `${l[i]}  # ${pick(100, r)}`;
    },
  ],
  [
    "spaces at an operator",
    (l, r) => {
      const i = at(l, r, x => / [-+*/] /.test(x));
      l[i] = (l[i] ?? "").replace(/ ([-+*/]) /, r() < 0.5 ? "  $1  " : "$1");
    },
  ],
  [
    "blank line taken out",
    (l, r) => {
      const i = at(l, r, x => x.trim() === "");
      if (l[i]?.trim() === "") l.splice(i, 1);
    },
  ],
  [
    "number",
    (l, r) => {
      const i = at(l, r, x => /\b\d+\.\d+\b/.test(x));
      l[i] = (l[i] ?? "").replace(/\b\d+\.\d+\b/, `${pick(9, r)}.${1 + pick(9, r)}`);
    },
  ],
  [
    // a number's last, so that nothing becomes ten times as large
    "digit",
    (l, r) => {
      const i = at(l, r, x => code(x) && /\d/.test(x));
      const digits = [...(l[i] ?? "").matchAll(/\d(?!\d)/g)];
      const where = digits[pick(digits.length, r)]?.index;
      if (where !== undefined) l[i] = `${l[i]?.slice(0, where)}${pick(10, r)}${l[i]?.slice(where + 1)}`;
    },
  ],
  [
    "operator",
    (l, r) => {
      const i = at(l, r, x => / [-+*] /.test(x) && !/def |class /.test(x));
      l[i] = (l[i] ?? "").replace(/ [-+*] /, ` ${"+-*"[pick(3, r)]} `);
    },
  ],
  [
    "statement",
    (l, r) => {
      const i = at(l, r, x => /^\s+(\w+) = /.test(x));
      const m = /^(\s+)(\w+) = /.exec(l[i] ?? "");
      if (m) l.splice(i + 1, 0, `${m[1]}${m[2]} = ${m[2]} * ${1 + pick(5, r)}.5`);
    },
  ],
  [
    "name",
    (l, r) => {
      const i = at(l, r, x => /^\s+([a-z]\w*) = /.test(x));
      const name = /^\s+([a-z]\w*) = /.exec(l[i] ?? "")?.[1];
      if (!name) return;
      const pattern = new RegExp(`\\b${name}\\b`, "g");
      l.forEach((x, k) => {
        l[k] = x.replace(pattern, `${name}_${pick(3, r)}`);
      });
    },
  ],
  ["line taken out", (l, r) => l.splice(at(l, r, code), 1)],
  [
    "line doubled",
    (l, r) => {
      const i = at(l, r, code);
      l.splice(i, 0, l[i] ?? "");
    },
  ],
  [
    "character taken out",
    (l, r) => {
      const i = at(l, r, code);
      const c = pick((l[i] ?? "").length, r);
      l[i] = (l[i] ?? "").slice(0, c) + (l[i] ?? "").slice(c + 1);
    },
  ],
  [
    "print",
    (l, r) =>
      l.splice(
        at(l, r, x => /^\w/.test(x)),
        0,
        `print("${pick(100, r)}")`,
      ),
  ],
  ["function", (l, r) => l.push("", `def extra_${pick(100, r)}(a, b):`, "    return a + b * 2")],
];

/** half of the edits change no token */
export function edit(text: string, random: Random): Edited {
  const neutral = random() < 0.5;
  const [what, change] = EDITS[neutral ? pick(6, random) : pick(EDITS.length, random)] ?? EDITS[0] ?? ["", () => {}];
  const lines = text.split("\n");
  change(lines, random);
  return { text: lines.join("\n"), what };
}

const ALIKE: readonly (readonly [pattern: RegExp, names: readonly string[]])[] = [
  [/\bF\.(relu|gelu|silu|softplus|elu)\(/g, ["relu", "gelu", "silu", "softplus", "elu"]],
  [/\btorch\.(tanh|sigmoid|sin|cos|exp|relu)\(/g, ["tanh", "sigmoid", "sin", "cos", "exp", "relu"]],
  [/\bnn\.(ReLU|GELU|SiLU|Tanh)\(/g, ["ReLU", "GELU", "SiLU", "Tanh"]],
  [/\.(mean|sum|amax)\(/g, ["mean", "sum", "amax"]],
];

/** what may stand behind a whole expression */
const BEHIND = [".contiguous()", " * 2", " + 0.5", ".float()", ".clone()", ".relu()"];

/** An operator becomes another one, or one more is put behind an expression: the graph changes, its neighbours don't. */
export function operatorEdit(text: string, random: Random): Edited {
  const infix = [...text.matchAll(/ ([-+*]) (?=[\w(])/g)].map(m => ({
    at: m.index + 1,
    end: m.index + 2,
    to: ["+", "-", "*"],
  }));
  const calls = ALIKE.flatMap(([pattern, to]) =>
    [...text.matchAll(pattern)].map(m => {
      const name = m[1] ?? "";
      const at = m.index + m[0].lastIndexOf(name);
      return { at, end: at + name.length, to };
    }),
  );
  const wholes = [...text.matchAll(/^ +(?:\w+ = |return )(.+)$/gm)].flatMap(m => {
    const expression = m[1] ?? "";
    const at = m.index + m[0].length - expression.length;
    const to = BEHIND.map(b => `(${expression})${b}`);
    return balanced(expression) ? [{ at, end: at + expression.length, to }] : [];
  });
  const kinds = [infix, calls, wholes].filter(k => k.length > 0);
  const places = kinds[pick(kinds.length, random)] ?? [];
  const place = places[pick(places.length, random)];
  if (!place) return { text, what: "nothing" };
  const to = place.to[pick(place.to.length, random)] ?? "";
  return {
    text: text.slice(0, place.at) + to + text.slice(place.end),
    what: `${text.slice(place.at, place.end)} becomes ${to}`,
  };
}

/** an expression that begins and ends on its line */
function balanced(expression: string): boolean {
  let depth = 0;
  for (const c of expression) {
    if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (c === "#") return false;
    if (depth < 0) return false;
  }
  return depth === 0 && !/[,:\\]$/.test(expression);
}
