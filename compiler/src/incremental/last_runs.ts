// Programs as they were run last, and when one of them still holds. In: a path and a way to read files. Out: the same
// program where no file has changed, a moved one where only places have, null where it has to be run.
import type { PythonFile } from "../python/file";
import type { Placed } from "../report/program";
import type { Program } from "../report/types";
import { type Move, UnknownPlace } from "./move";
import { moveProgram } from "./move_program";
import { type FileMove, neutralEdit, type ParsedText } from "./neutral";
import type { Span } from "./sites";

/** programs that are kept; each is held by whoever shows it anyway */
const MOST_PROGRAMS = 24;

type Read = (path: string) => string | undefined;
type Parse = (path: string, text: string) => PythonFile;

type Texts = ReadonlyMap<string, string | undefined>;

interface LastRun {
  readonly placed: Placed;
  /** every file that was asked for, undefined where there was none */
  readonly read: Texts;
  readonly parsed: ReadonlyMap<string, ParsedText>;
  /** what it was moved to last; always from where it was run, as what is moved refers to what it was moved from */
  recent: { readonly program: Program; readonly read: Texts };
}

/** What a run reads and parses, written down as it does. */
export class Reading {
  readonly read = new Map<string, string | undefined>();
  readonly parsed = new Map<string, ParsedText>();

  constructor(
    private readonly files: Read,
    private readonly parses: Parse,
  ) {}

  readonly file = (path: string): string | undefined => {
    if (this.read.has(path)) return this.read.get(path);
    const text = this.files(path);
    this.read.set(path, text);
    return text;
  };

  readonly parse = (path: string, text: string): PythonFile => {
    const file = this.parses(path, text);
    this.parsed.set(path, parsedText(file));
    return file;
  };
}

function parsedText(file: PythonFile): ParsedText {
  return { text: file.text, body: file.module.body, problems: file.problems.length };
}

export class LastRuns {
  private readonly runs = new Map<string, LastRun>();

  keep(path: string, placed: Placed, { read, parsed }: Reading): void {
    this.runs.delete(path);
    this.runs.set(path, { placed, read, parsed, recent: { program: placed.program, read } });
    const [oldest] = this.runs.keys();
    if (this.runs.size > MOST_PROGRAMS && oldest !== undefined) this.runs.delete(oldest);
  }

  forget(path: string): void {
    this.runs.delete(path);
  }

  still(path: string, read: Read, parse: Parse): Program | null {
    const last = this.runs.get(path);
    if (!last) return null;
    const now = new Map([...last.read.keys()].map(file => [file, read(file)]));
    if (!sameTexts(last.recent.read, now)) {
      const moves = movesBetween(last, now, parse);
      const placed = moves && (moves.size === 0 ? last.placed : moved(last.placed, path, moves));
      if (!placed) return null;
      last.recent = { program: placed.program, read: now };
    }
    this.runs.delete(path);
    this.runs.set(path, last);
    return last.recent.program;
  }
}

function sameTexts(a: Texts, b: Texts): boolean {
  return [...a].every(([file, text]) => b.get(file) === text);
}

/** null: a file may mean something else */
function movesBetween(last: LastRun, now: Texts, parse: Parse): Map<string, FileMove> | null {
  const moves = new Map<string, FileMove>();
  for (const [file, text] of last.read) {
    const present = now.get(file);
    if (present === text) continue;
    const old = last.parsed.get(file);
    // what is no source, or is run in pieces, is not compared
    if (present === undefined || !old || old.text !== text || /^# ?%%/m.test(present)) return null;
    const move = neutralEdit(old, parsedText(parse(file, present)));
    if (!move) return null;
    moves.set(file, move);
  }
  return moves;
}

/** null: something stands where no code is, or a text speaks of a line */
function moved(placed: Placed, path: string, moves: ReadonlyMap<string, FileMove>): Placed | null {
  const known = <T>(x: T | undefined): T => {
    if (x === undefined) throw new UnknownPlace(path);
    return x;
  };
  const move: Move = {
    line: (file, line) => {
      const of = moves.get(file);
      return of ? known(of.line(line)) : line;
    },
    span: (file, span: Span) => {
      const of = moves.get(file);
      return of ? known(of.span(span)) : span;
    },
  };
  try {
    return moveProgram(placed, path, move);
  } catch (e) {
    if (e instanceof UnknownPlace) return null;
    throw e;
  }
}
