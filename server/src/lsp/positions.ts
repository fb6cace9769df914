// Between the compiler's positions (1-based lines, UTF-16 columns) and the client's, in the encoding agreed on at
// initialize. In and out: positions and spans over the lines of one text.
import type { Position as LspPosition, Range } from "vscode-languageserver/node";
import type { Position } from "../ide/lookup";
import type { Span } from "../ide/model";

export type Encoding = "utf-8" | "utf-16" | "utf-32";

/** The first of the client's encodings that is one of ours; UTF-16 is what a client that names none speaks. */
export function chooseEncoding(offered: readonly string[] | undefined): Encoding {
  for (const e of offered ?? []) {
    if (e === "utf-8" || e === "utf-16" || e === "utf-32") return e;
  }
  return "utf-16";
}

/** units of `encoding` in the first `column` UTF-16 units of a line */
export function fromUtf16(line: string, column: number, encoding: Encoding): number {
  if (encoding === "utf-16") return column;
  let units = 0;
  for (let i = 0; i < Math.min(column, line.length); ) {
    const code = line.codePointAt(i) ?? 0;
    units += encoding === "utf-32" ? 1 : utf8Length(code);
    i += code > 0xffff ? 2 : 1;
  }
  return units + Math.max(0, column - line.length);
}

/** UTF-16 column of the character that holds unit `units`; past the end: the end */
export function toUtf16(line: string, units: number, encoding: Encoding): number {
  if (encoding === "utf-16") return Math.min(units, line.length);
  let seen = 0;
  let i = 0;
  while (i < line.length && seen < units) {
    const code = line.codePointAt(i) ?? 0;
    const width = encoding === "utf-32" ? 1 : utf8Length(code);
    if (seen + width > units) break;
    seen += width;
    i += code > 0xffff ? 2 : 1;
  }
  return i;
}

function utf8Length(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/** The lines of one text, `firstLine` (1-based) being the number that the compiler gives to its first. */
export class TextLines {
  readonly lines: readonly string[];

  constructor(
    text: string,
    readonly encoding: Encoding,
    readonly firstLine = 1,
  ) {
    this.lines = text.split(/\r\n|\r|\n/);
  }

  get lastLine(): number {
    return this.firstLine + this.lines.length - 1;
  }

  holds(line: number): boolean {
    return line >= this.firstLine && line <= this.lastLine;
  }

  textOf(line: number): string {
    return this.lines[line - this.firstLine] ?? "";
  }

  position(line: number, column: number): LspPosition {
    const text = this.textOf(line);
    return {
      line: Math.max(0, line - this.firstLine),
      character: fromUtf16(text, Math.min(column, text.length), this.encoding),
    };
  }

  range(span: Span): Range {
    return { start: this.position(span.line, span.column), end: this.position(span.endLine, span.endColumn) };
  }

  wholeLine(line: number): Range {
    return { start: this.position(line, 0), end: this.position(line, this.textOf(line).length) };
  }

  fromClient(p: LspPosition): Position {
    const line = p.line + this.firstLine;
    return { line, column: toUtf16(this.textOf(line), p.character, this.encoding) };
  }
}
