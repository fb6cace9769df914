// A small grammar of Python expressions, shared by printed types and printed statements. In: text. Out: its tree.

export type Ast =
  | { k: "num"; text: string }
  | { k: "str"; value: string }
  | { k: "name"; name: string }
  | { k: "attr"; of: Ast; name: string }
  | { k: "call"; fn: Ast; args: Ast[]; kwargs: [string, Ast][] }
  | { k: "index"; of: Ast; at: Ast }
  | { k: "list" | "tuple"; items: Ast[] }
  | { k: "unary"; op: string; x: Ast }
  | { k: "binary"; op: string; a: Ast; b: Ast };

const LEVELS = [
  ["|"],
  ["^"],
  ["&"],
  ["<", ">", "<=", ">=", "==", "!="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "//", "%", "@"],
];

/** @throws Error on what is no expression of the grammar */
export function parsePython(text: string): Ast {
  const tokens =
    text.match(
      /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+\.?\d*(?:e[-+]?\d+)?j?|[A-Za-z_]\w*|\*\*|\/\/|<<|>>|<=|>=|==|!=|[-+*/%@~&|^<>()[\],.=]/g,
    ) ?? [];
  let p = 0;
  const peek = (): string => tokens[p] ?? "";
  const take = (t?: string): string => {
    const x = tokens[p++] ?? "";
    if (t !== undefined && x !== t) throw new Error(`expected ${t}, got ${x} in ${text}`);
    return x;
  };
  const items = (close: string): Ast[] => {
    const out: Ast[] = [];
    while (peek() !== close) {
      out.push(binary(0));
      if (peek() === ",") take();
    }
    take(close);
    return out;
  };
  const primary = (): Ast => {
    const t = take();
    let e: Ast;
    if (t === "(") {
      const start = p;
      const xs = items(")");
      e = xs.length === 1 && tokens[p - 2] !== "," && start < p ? (xs[0] as Ast) : { k: "tuple", items: xs };
    } else if (t === "[") e = { k: "list", items: items("]") };
    else if (/^['"]/.test(t)) e = { k: "str", value: t.slice(1, -1) };
    else if (/^\d/.test(t)) e = { k: "num", text: t };
    else if (/^[A-Za-z_]/.test(t)) e = { k: "name", name: t };
    else throw new Error(`unexpected ${t} in ${text}`);
    for (;;) {
      if (peek() === ".") {
        take();
        e = { k: "attr", of: e, name: take() };
      } else if (peek() === "(") {
        take();
        const args: Ast[] = [];
        const kwargs: [string, Ast][] = [];
        while (peek() !== ")") {
          if (tokens[p + 1] === "=" && /^[A-Za-z_]/.test(peek())) {
            const name = take();
            take("=");
            kwargs.push([name, binary(0)]);
          } else args.push(binary(0));
          if (peek() === ",") take();
        }
        take(")");
        e = { k: "call", fn: e, args, kwargs };
      } else if (peek() === "[") {
        take();
        const xs = items("]");
        e = { k: "index", of: e, at: xs.length === 1 ? (xs[0] as Ast) : { k: "tuple", items: xs } };
      } else return e;
    }
  };
  const power = (): Ast => {
    const a = primary();
    if (peek() !== "**") return a;
    take();
    return { k: "binary", op: "**", a, b: unary() };
  };
  const unary = (): Ast => {
    if (peek() === "-" || peek() === "~") return { k: "unary", op: take(), x: unary() };
    return power();
  };
  const binary = (level: number): Ast => {
    const ops = LEVELS[level];
    if (ops === undefined) return unary();
    let a = binary(level + 1);
    while (ops.includes(peek())) a = { k: "binary", op: take(), a, b: binary(level + 1) };
    return a;
  };
  const e = binary(0);
  if (p !== tokens.length) throw new Error(`trailing ${tokens.slice(p).join(" ")} in ${text}`);
  return e;
}
