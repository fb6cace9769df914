// Types of parameters as docstrings give them: `width (int): ...`, `width : int`, `:type width: int`. In: docstrings. Out:
// the types by parameter, written as annotations are. What names no type that Python or torch knows is left out.
const WORDS: Readonly<Record<string, string>> = {
  int: "int",
  integer: "int",
  float: "float",
  double: "float",
  bool: "bool",
  boolean: "bool",
  str: "str",
  string: "str",
  tensor: "Tensor",
  floattensor: "Tensor",
  longtensor: "LongTensor",
  booltensor: "BoolTensor",
  module: "Module",
  none: "None",
};
const LISTED = /^(list|tuple|sequence|iterable)s?(?:\[(.*)\]|\((.*)\)|\s+of\s+(?:\d+\s+)?(.*))$/;
const REMARK = /^(optional|required|default.*|keyword-only|.*=.*)$/;

/** by name: "int", "list[Tensor]", "int|str" */
export function documentedTypes(docstrings: readonly (string | null)[]): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  for (const line of docstrings.flatMap(d => d?.split("\n") ?? [])) {
    const [name, text] = entryOf(line) ?? [];
    const type = name === undefined || out.has(name) ? undefined : typeIn(text ?? "");
    if (name !== undefined && type !== undefined) out.set(name, type);
  }
  return out;
}

/** a parameter's name and what is said of its type */
function entryOf(line: string): readonly [string, string] | undefined {
  const text = line.replace(/`/g, "").replace(/^\s*[-*@]*\s*/, "");
  const m =
    /^(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?::|$)/.exec(text) ??
    /^:type\s+(\w+)\s*:\s*(.*)$/.exec(text) ??
    /^(\w+)\s+:\s*(.*)$/.exec(text);
  if (m) return [m[1] ?? "", m[2] ?? ""];
  const typed = /^:param\s+(\S+)\s+(\w+)\s*:/.exec(text);
  return typed ? [typed[2] ?? "", typed[1] ?? ""] : undefined;
}

/** undefined: one of its parts is no type */
function typeIn(text: string): string | undefined {
  const parts = splitOutside(text.replace(/:\w+:/g, "").trim())
    .map(p => p.trim())
    .filter(p => p !== "" && !REMARK.test(p.toLowerCase()));
  const types = parts.map(plainType);
  return types.length > 0 && types.every(t => t !== undefined) ? [...new Set(types)].join("|") : undefined;
}

/** apart at commas, bars and "or" that stand in no bracket */
function splitOutside(text: string): string[] {
  const out: string[] = [""];
  let depth = 0;
  for (const token of text.split(/(\bor\b|[[\](),|/])/)) {
    if (/^[[(]$/.test(token)) depth++;
    if (/^[\])]$/.test(token)) depth--;
    if (depth === 0 && /^(or|[,|/])$/.test(token)) out.push("");
    else out[out.length - 1] += token;
  }
  return out;
}

function plainType(text: string): string | undefined {
  const t = text
    .trim()
    .toLowerCase()
    .replace(/\b(torch|nn|np|typing|autograd)\./g, "");
  if (Object.hasOwn(WORDS, t)) return WORDS[t];
  const m = LISTED.exec(t);
  const inner = (m?.[2] ?? m?.[3] ?? m?.[4])?.split(",").map(p => p.trim().replace(/s$/, ""));
  const items = inner?.filter(p => p !== "...").map(p => (Object.hasOwn(WORDS, p) ? WORDS[p] : undefined));
  if (!m || !items || items.length === 0 || items.some(i => i === undefined || i === "None")) return undefined;
  return `${m[1] === "tuple" ? "tuple" : "list"}[${items.join(",")}]`;
}
