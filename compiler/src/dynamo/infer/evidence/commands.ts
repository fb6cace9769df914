// Command lines that a project shows: in shell scripts, READMEs, and code that starts programs. In: a text. Out: what each of
// them gives to its options.
import { bool, type Choice } from "../types";
import { valueIn } from "./data_files";

export interface CommandLine {
  readonly options: ReadonlyMap<string, Choice>;
  /** the program that it starts, without its ending, and the values of its options as they are written */
  readonly words: ReadonlySet<string>;
}

/** a line of fewer options is prose, or says nothing that a default does not */
const LEAST_OPTIONS = 3;
const LONGEST_LINE = 4000;
const OPTION = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/;
/** ends a command within a line */
const END = /^(&&?|\|\|?|;|[<>]+)$/;

export function commandsIn(text: string): CommandLine[] {
  if (!text.includes("--")) return [];
  const joined = text.replace(/[ \t]*\\\r?\n[ \t]*/g, " ");
  return joined.split("\n").flatMap(line => {
    if (line.length > LONGEST_LINE || line.split("--").length <= LEAST_OPTIONS) return [];
    const written = optionsIn(line.split(/\s+/));
    const options = new Map(
      [...written].flatMap(([name, values]) => {
        const c = given(values);
        return c === undefined ? [] : [[name, c] as const];
      }),
    );
    const programs = [...line.matchAll(/(?:^|[\s/])(\w+)\.py\b/g)].map(m => m[1] ?? "");
    return options.size < LEAST_OPTIONS
      ? []
      : [{ options, words: new Set([...programs, ...[...written.values()].flat()]) }];
  });
}

/** the options of a line with what stands behind each of them */
function optionsIn(words: readonly string[]): Map<string, string[]> {
  const out = new Map<string, string[]>();
  let values: string[] | undefined;
  for (const word of words.map(w => w.replace(/^["'`]+|["'`,)]+$/g, ""))) {
    const [, name, value] = OPTION.exec(word) ?? [];
    if (name !== undefined) {
      values = value === undefined ? [] : [value];
      out.set(name.replaceAll("-", "_"), values);
    } else if (END.test(word)) values = undefined;
    else if (word !== "") values?.push(word);
  }
  return out;
}

/** one value, several, or a flag that is only named; a shell's variable says nothing */
function given(values: readonly string[]): Choice | undefined {
  if (values.some(v => v.includes("$") || v.includes("{"))) return undefined;
  if (values.length === 0) return bool(true);
  const items = values.map(valueIn);
  if (items.length === 1) return items[0];
  return items.every(i => i !== undefined) ? { kind: "seq", items: items as Choice[], tuple: false } : undefined;
}

/** the command lines of several texts, those of the first texts first */
export class Commands {
  private readonly lines: readonly CommandLine[];

  constructor(texts: readonly string[]) {
    this.lines = texts.flatMap(commandsIn);
  }

  /** what the command line that starts or chooses one of these words, and gives most of the names, gives to its options */
  choosing(words: readonly (string | undefined)[], names: readonly string[]): CommandLine["options"] | undefined {
    const known = (c: CommandLine): number => names.filter(n => c.options.has(n)).length;
    return this.lines
      .filter(c => words.some(w => w !== undefined && w.length > 2 && c.words.has(w)) && known(c) > 1)
      .reduce<CommandLine | undefined>((best, c) => (best && known(best) >= known(c) ? best : c), undefined)?.options;
  }

  /** the number that the first command line with an option of this name gives to it */
  numberFor(name: string): Choice | undefined {
    return this.lines.find(c => c.options.get(name)?.kind === "number")?.options.get(name);
  }
}
