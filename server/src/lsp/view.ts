// One document as a request sees it: its unit, its part, the analysis of exactly this version, and the way from spans to
// ranges and back. Everything a handler answers with passes here, so nothing is ever shown on lines that have moved.
import type { Location, Position as LspPosition, Range } from "vscode-languageserver/node";
import type { Analysis } from "../analysis/analyzer";
import type { Position } from "../ide/lookup";
import type { EditorProgram, Span } from "../ide/model";
import { readSource } from "../source_files";
import { type Documents, type Part, type Unit, uriOf } from "./documents";
import { TextLines } from "./positions";

export class View {
  readonly lines: TextLines;

  constructor(
    private readonly documents: Documents,
    readonly unit: Unit,
    readonly part: Part,
    readonly analysis: Analysis,
  ) {
    this.lines = documents.lines(unit, part);
  }

  get program(): EditorProgram {
    return this.analysis.program;
  }

  get path(): string {
    return this.unit.path;
  }

  get uri(): string {
    return this.part.uri;
  }

  /** all lines of the unit, as the compiler counts them */
  unitLines(): readonly string[] {
    return this.unit.parts.length === 1 ? this.lines.lines : this.unit.text.split("\n");
  }

  position(p: LspPosition): Position {
    return this.lines.fromClient(p);
  }

  /** whether a span begins in this part (a file is one part, a notebook has one per cell) */
  holds(span: Span): boolean {
    return this.lines.holds(span.line);
  }

  range(span: Span): Range {
    return this.lines.range(span);
  }

  /** where a span of the unit (or of another file) lies; null where nothing is known of that file */
  locate(span: Span, file: string = this.path): Location | null {
    if (file === this.path || file === "") {
      for (const part of this.unit.parts) {
        const lines = this.documents.lines(this.unit, part);
        if (lines.holds(span.line)) return { uri: part.uri, range: lines.range(span) };
      }
      return null;
    }
    const open = this.documents.byPath(file);
    const text = open?.text ?? readSource(file);
    if (text === undefined) return null;
    return { uri: open?.parts[0]?.uri ?? uriOf(file), range: new TextLines(text, this.documents.encoding).range(span) };
  }
}
