// The client's open documents as the compiler takes them: a file is one unit; the Python cells of a notebook are one unit
// in cell order. In: document and notebook synchronisation. Out: units with versions, and where each part lies.
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Connection, type NotebookDocument, NotebookDocuments, TextDocuments } from "vscode-languageserver/node";
import { TextDocument, type TextDocumentContentChangeEvent } from "vscode-languageserver-textdocument";
import { kept } from "../ide/cache";
import { cellText } from "./notebook_cells";
import { type Encoding, TextLines, toUtf16 } from "./positions";

export interface Part {
  readonly uri: string;
  /** line of the unit (from 1) that the part's first line is */
  readonly firstLine: number;
  readonly version: number;
}

export interface Unit {
  /** what the compiler calls it */
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly parts: readonly Part[];
}

export interface DocumentEvents {
  readonly onChange: (unit: Unit, edit: boolean) => void;
  readonly onClose: (path: string, uris: readonly string[]) => void;
  /** texts that the server itself made and the client opened */
  readonly isGenerated: (uri: string) => boolean;
}

export class Documents {
  encoding: Encoding = "utf-16";
  private readonly texts: TextDocuments<TextDocument>;
  private readonly notebooks: NotebookDocuments<TextDocument>;
  private readonly units = new Map<string, Unit>();
  /** uri of a document or cell → path of its unit */
  private readonly paths = new Map<string, string>();
  private readonly lineCache = new WeakMap<Unit, Map<string, TextLines>>();
  private notebookVersion = 0;

  constructor(private readonly events: DocumentEvents) {
    const configuration = {
      create: TextDocument.create,
      update: (d: TextDocument, changes: TextDocumentContentChangeEvent[], version: number) =>
        this.changed(d, changes, version),
    };
    this.texts = new TextDocuments(configuration);
    this.notebooks = new NotebookDocuments(configuration);
    const opened = new Set<string>();
    this.texts.onDidChangeContent(({ document }) => {
      if (this.events.isGenerated(document.uri) || !isPython(document)) return;
      const path = pathOf(document.uri);
      const part = { uri: document.uri, firstLine: 1, version: document.version };
      this.set({ path, version: document.version, text: document.getText(), parts: [part] }, opened.has(path));
      opened.add(path);
    });
    this.texts.onDidClose(({ document }) => {
      const path = this.paths.get(document.uri);
      if (path === undefined) return;
      opened.delete(path);
      this.forget(path);
    });
    this.notebooks.onDidOpen(n => this.setNotebook(n, false));
    this.notebooks.onDidChange(e => this.setNotebook(e.notebookDocument, true));
    this.notebooks.onDidClose(n => this.forget(notebookPath(n.uri)));
  }

  listen(connection: Connection): void {
    this.texts.listen(connection);
    this.notebooks.listen(connection);
  }

  all(): Unit[] {
    return [...this.units.values()];
  }

  unitOf(uri: string): Unit | undefined {
    const path = this.paths.get(uri) ?? this.paths.get(normalized(uri));
    return path === undefined ? undefined : this.units.get(path);
  }

  byPath(path: string): Unit | undefined {
    return this.units.get(path);
  }

  /** the lines of one part of a unit */
  lines(unit: Unit, part: Part): TextLines {
    const cache = kept(this.lineCache, unit, () => new Map<string, TextLines>());
    return kept(cache, part.uri, () => {
      const next = unit.parts[unit.parts.indexOf(part) + 1];
      const text =
        unit.parts.length === 1 ? unit.text : sliceLines(unit.text, part.firstLine, next && next.firstLine - 1);
      return new TextLines(text, this.encoding, part.firstLine);
    });
  }

  partOf(unit: Unit, uri: string): Part | undefined {
    return unit.parts.find(p => p.uri === uri || p.uri === normalized(uri));
  }

  private set(unit: Unit, edit: boolean): void {
    this.units.set(unit.path, unit);
    for (const p of unit.parts) this.paths.set(p.uri, unit.path);
    this.events.onChange(unit, edit);
  }

  private forget(path: string): void {
    const unit = this.units.get(path);
    if (!unit) return;
    this.units.delete(path);
    const uris = unit.parts.map(p => p.uri);
    for (const uri of uris) this.paths.delete(uri);
    this.events.onClose(path, uris);
  }

  private setNotebook(n: NotebookDocument, edit: boolean): void {
    const lines: string[] = [];
    const parts: Part[] = [];
    for (const cell of n.cells) {
      const document = this.notebooks.getCellTextDocument(cell);
      if (!document || !isPython(document)) continue;
      lines.push("# %%");
      parts.push({ uri: document.uri, firstLine: lines.length + 1, version: document.version });
      lines.push(...cellText(document.getText()).split("\n"));
    }
    const path = notebookPath(n.uri);
    for (const p of this.units.get(path)?.parts ?? []) this.paths.delete(p.uri);
    this.set({ path, version: ++this.notebookVersion, text: lines.join("\n"), parts }, edit);
  }

  /** changes come in the client's units, and each one speaks of the text that the one before it left */
  private changed(d: TextDocument, changes: TextDocumentContentChangeEvent[], version: number): TextDocument {
    if (this.encoding === "utf-16") return TextDocument.update(d, changes, version);
    for (const change of changes) {
      if (!("range" in change)) {
        d = TextDocument.update(d, [change], version);
        continue;
      }
      const convert = (p: { line: number; character: number }): { line: number; character: number } => {
        const line = d.getText({ start: { line: p.line, character: 0 }, end: { line: p.line + 1, character: 0 } });
        return { line: p.line, character: toUtf16(line.replace(/\r?\n$/, ""), p.character, this.encoding) };
      };
      const range = { start: convert(change.range.start), end: convert(change.range.end) };
      d = TextDocument.update(d, [{ range, text: change.text }], version);
    }
    return d;
  }
}

function isPython(d: TextDocument): boolean {
  return d.languageId === "python" || d.languageId === "jupyter";
}

function sliceLines(text: string, first: number, before: number | undefined): string {
  return text
    .split("\n")
    .slice(first - 1, before === undefined ? undefined : before - 1)
    .join("\n");
}

/** not `.ipynb`: what the compiler gets is Python already */
function notebookPath(uri: string): string {
  return `${pathOf(uri)}.py`;
}

/** The file behind a document; documents that are not files keep their URI as a name. */
export function pathOf(uri: string): string {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
  } catch {
    return uri;
  }
}

export function uriOf(path: string): string {
  return /^[a-z][\w+.-]+:/i.test(path) ? path : pathToFileURL(path).href;
}

/** clients differ in what they escape ("%3A" or ":"), so a file's URI is also looked up as we would write it */
function normalized(uri: string): string {
  return uri.startsWith("file:") ? uriOf(pathOf(uri)) : uri;
}
