// Files as they are while one types, and worse: prefixes and random mutations of the examples. In: a seed. Out: cases by
// name, and whether the compiler took one. It must answer each: no exception, no bug of its own behind a diagnostic, an
// end within the step budget.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, Session } from "@fuselens/compiler";
import { capture } from "../../compiler/src/dynamo/capture";
import { defaultConfig } from "../../compiler/src/presets";
import { Random } from "../fuzz/random";

export interface BrokenFile {
  /** "gpt.py, first 312 characters", "gpt.py, mutation 17" */
  readonly name: string;
  readonly text: string;
}

const folder = join(__dirname, "..", "..", "examples");
/** a file that is not done by then is as good as one that hangs: whole examples need a fifth of it */
const STEPS = 4_000_000;

export function examples(at = folder): { readonly file: string; readonly text: string }[] {
  return readdirSync(at)
    .filter(f => f.endsWith(".py"))
    .sort()
    .map(file => ({ file, text: readFileSync(join(at, file), "utf8") }));
}

export function prefixes(file: string, text: string): BrokenFile[] {
  return Array.from({ length: text.length }, (_, n) => ({
    name: `${file}, first ${n} characters`,
    text: text.slice(0, n),
  }));
}

export function mutations(file: string, text: string, count: number, seed: number): BrokenFile[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    let mutated = text;
    for (let k = 1 + random.below(3); k > 0; k--) mutated = mutate(mutated, random);
    return { name: `${file}, mutation ${i}`, text: mutated };
  });
}

const PIECES = [
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ":",
  ",",
  ".",
  "=",
  "'",
  '"',
  '"""',
  "\\",
  "@",
  "*",
  "**",
  "#",
  "\t",
  "\n",
];
const WORDS = [
  ...["def", "class", "return", "lambda", "yield", "await", "async", "if", "else", "for", "in", "while", "try", "with"],
  ...[
    "import",
    "from",
    "del",
    "global",
    "nonlocal",
    "None",
    "True",
    "self",
    "super()",
    "match x:",
    "raise",
    "not",
    "is",
  ],
  ...["0", "-1", "1e308", "10**10", "float('nan')", "x", "...", "\u{1d4d0}", "\u0000", "\r"],
];

/** one edit: something cut, doubled, swapped, replaced by another of its kind, or put in */
function mutate(text: string, r: Random): string {
  const at = r.below(text.length + 1);
  const lines = text.split("\n");
  const line = r.below(lines.length);
  const words = [...text.matchAll(/\w+/g)];
  const pick = (): RegExpMatchArray | undefined => words[r.below(words.length)];
  const replaced = (w: RegExpMatchArray | undefined, by: string): string =>
    w?.index === undefined ? text : text.slice(0, w.index) + by + text.slice(w.index + w[0].length);
  switch (r.below(9)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + r.below(40));
    case 1:
      return text.slice(0, at) + PIECES[r.below(PIECES.length)] + text.slice(at);
    case 2:
      return `${text.slice(0, at)} ${WORDS[r.below(WORDS.length)]} ${text.slice(at)}`;
    case 3:
      return replaced(pick(), pick()?.[0] ?? "");
    case 4:
      return replaced(pick(), WORDS[r.below(WORDS.length)] ?? "");
    case 5:
      return [...lines.slice(0, line), ...lines.slice(line + 1)].join("\n");
    case 6:
      return [...lines.slice(0, line), lines[line] ?? "", ...lines.slice(line)].join("\n");
    case 7: {
      const indent = r.below(2) === 0 ? `    ${lines[line] ?? ""}` : (lines[line] ?? "").replace(/^ {1,4}/, "");
      return [...lines.slice(0, line), indent, ...lines.slice(line + 1)].join("\n");
    }
    default:
      return text.slice(0, at);
  }
}

/** what is wrong with the answer, of the front end alone or of the whole compiler; undefined: nothing */
export function verdict(c: BrokenFile, whole: boolean): string | undefined {
  const path = "broken.py";
  const files = (p: string): string | undefined => (p === path ? c.text : undefined);
  try {
    const { diagnostics } = whole
      ? new Session(files, { ...defaultSessionOptions(), preset: "torch-2.11", stepBudget: STEPS }).run(path)
      : capture(path, {
          files,
          config: defaultConfig("torch-2.11"),
          behaviours: new Map(),
          shouldStop: () => false,
          stepBudget: STEPS,
        });
    const bug = diagnostics.find(d => d.code === "internal" || /the analysis failed here/.test(d.message));
    return bug && `line ${bug.span.line}: ${bug.message}`;
  } catch (e) {
    return `it threw ${e instanceof Error ? (e.stack ?? e.message).split("\n").slice(0, 3).join(" ") : String(e)}`;
  }
}
