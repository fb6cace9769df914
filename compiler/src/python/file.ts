// One Python file that is edited: text → Module, again and again. In: text. Out: the typed tree, syntax problems with
// places, comments. tree-sitter parses incrementally; a top-level statement whose text did not change is not converted
// again, only moved. A syntax error costs the statement that holds it, never the file.
import Parser from "tree-sitter";
import Python from "tree-sitter-python";
import { stopPoint } from "../interrupt";
import { type Module, type Span, type Stmt, type SyntaxProblem, shiftTree } from "./ast";
import { type Converted, convertStatement } from "./convert_statements";
import { topLevelProblem } from "./indentation";
import { type RawNode, SubtreeCopier, shiftRaw } from "./raw";

interface CachedStatement {
  readonly text: string;
  readonly line: number;
  readonly offset: number;
  readonly converted: Converted;
}

let shared: Parser | undefined;

function parser(): Parser {
  if (!shared) {
    shared = new Parser();
    shared.setLanguage(Python as unknown as Parser.Language);
  }
  return shared;
}

const PAUSE_MICROS = 100_000;

/** tree-sitter takes the text in pieces: one call per file is refused beyond 32 KB in some builds */
function parse(text: string, old?: Parser.Tree): Parser.Tree {
  const p = parser();
  // the parser pauses for the cancel flag and goes on where it was, so the clock does not change what comes out
  p.setTimeoutMicros(PAUSE_MICROS);
  try {
    for (;;) {
      const read = (index: number): string | null => text.slice(index, index + 16384) || null;
      const tree: Parser.Tree | null = p.parse(read, old, { bufferSize: 64 * 1024 });
      if (tree) return tree;
      stopPoint();
    }
  } catch (e) {
    p.reset();
    throw e;
  }
}

export interface Comment {
  readonly span: Span;
  readonly text: string;
}

export class PythonFile {
  private tree: Parser.Tree;
  private cache = new Map<string, CachedStatement[]>();
  private found: readonly Comment[] | null = null;
  private current: { readonly module: Module; readonly problems: readonly SyntaxProblem[] };

  constructor(public text: string) {
    this.tree = parse(text);
    this.current = this.convert();
  }

  get module(): Module {
    return this.current.module;
  }
  get problems(): readonly SyntaxProblem[] {
    return this.current.problems;
  }

  /** takes the new text; the change is found by comparing ends, so callers need not describe their edit */
  update(text: string): void {
    if (text === this.text) return;
    const edit = difference(this.text, text);
    this.tree.edit({
      startIndex: edit.start,
      oldEndIndex: edit.oldEnd,
      newEndIndex: edit.newEnd,
      startPosition: position(this.text, edit.start),
      oldEndPosition: position(this.text, edit.oldEnd),
      newEndPosition: position(text, edit.newEnd),
    });
    this.text = text;
    this.found = null;
    try {
      this.tree = parse(text, this.tree);
      // how the grammar recovers from an error depends on the tree that it starts from
      if (this.tree.rootNode.hasError) this.tree = parse(text);
      this.current = this.convert();
    } catch (e) {
      this.forget(); // stopped half way: no later edit may build on it
      throw e;
    }
  }

  private forget(): void {
    this.text = "";
    this.tree = parse("");
    this.cache = new Map();
    this.current = { module: { kind: "Module", body: [] }, problems: [] };
  }

  /** every comment of the file, in order */
  comments(): readonly Comment[] {
    this.found ??= this.collectComments();
    return this.found;
  }

  private collectComments(): Comment[] {
    const out: Comment[] = [];
    const cursor = this.tree.walk();
    // without recursion: a tree may be deeper than a stack
    for (let inside = true; inside; ) {
      if (cursor.nodeType === "comment") {
        const from = cursor.startPosition;
        const to = cursor.endPosition;
        const start = cursor.startIndex;
        const end = cursor.endIndex;
        const span = {
          line: from.row + 1,
          column: from.column,
          endLine: to.row + 1,
          endColumn: to.column,
          start,
          end,
        };
        out.push({ span, text: this.text.slice(start, end) });
      }
      if (cursor.gotoFirstChild()) continue;
      while (inside && !cursor.gotoNextSibling()) inside = cursor.gotoParent();
    }
    return out;
  }

  private convert(): { module: Module; problems: SyntaxProblem[] } {
    const nul = this.text.indexOf("\0");
    if (nul >= 0) return { module: { kind: "Module", body: [] }, problems: [this.notText(nul)] };
    const body: Stmt[] = [];
    const problems: SyntaxProblem[] = [];
    const old = this.cache;
    this.cache = new Map();
    const broken = this.tree.rootNode.hasError;
    let copier: SubtreeCopier | undefined;
    const take = (c: Converted): void => {
      body.push(...c.body);
      problems.push(...c.problems);
    };
    const cursor = this.tree.walk();
    if (cursor.nodeType === "ERROR") {
      // nothing of the file stands as a module
      for (const c of this.pieces(0, this.text.length)) take(c);
    } else if (cursor.gotoFirstChild()) {
      do {
        stopPoint();
        const type = cursor.nodeType;
        if (type === "comment" || type === ";" || type === "line_continuation") continue;
        const start = cursor.startIndex;
        const end = cursor.endIndex;
        const from = cursor.startPosition;
        if (type === "ERROR") {
          // what follows may have been misread too (an unclosed bracket takes the rest of the file with it)
          for (const c of this.pieces(start, this.text.length)) take(c);
          break;
        }
        const text = this.text.slice(start, end);
        // statements that share a line or are indented may mean something else elsewhere
        const key = from.column === 0 ? text : `${from.column}:${text}`;
        const hit = old.get(key)?.shift();
        const line = from.row + 1;
        let converted: Converted;
        const faulty = broken && !hit && cursor.currentNode.hasError;
        if (faulty && this.spansOtherStatements(text)) {
          for (const c of this.pieces(start, this.text.length)) take(c);
          break;
        }
        if (hit) {
          const [lines, offset] = [line - hit.line, start - hit.offset];
          converted = shiftTree(hit.converted, lines, offset);
        } else {
          copier ??= new SubtreeCopier(this.text, !broken);
          converted = convertStatement({ text: this.text, base: 0 }, copier.copy(cursor));
        }
        if (from.column !== 0) {
          const indented = topLevelProblem(this.text, spanFrom(line, from.column, start, end));
          if (indented) problems.push(indented);
        }
        take(converted);
        if (faulty) continue;
        const entry = { text, line, offset: start, converted };
        const list = this.cache.get(key);
        if (list) list.push(entry);
        else this.cache.set(key, [entry]);
      } while (cursor.gotoNextSibling());
    }
    if (broken && problems.length === 0) problems.push(this.firstFault());
    return { module: { kind: "Module", body }, problems };
  }

  /** UTF-16 read as UTF-8, or no text at all */
  private notText(at: number): SyntaxProblem {
    const { row, column } = position(this.text, at);
    const message = "source code cannot contain null bytes (Python reads files as UTF-8)";
    return { span: spanFrom(row + 1, column, at, at + 1), message };
  }

  /** where the grammar first gave up or put something in that is not there; the conversion passed over it */
  private firstFault(): SyntaxProblem {
    const cursor = this.tree.walk();
    const faulty = (): boolean => cursor.nodeType === "ERROR" || cursor.nodeIsMissing || cursor.currentNode.hasError;
    // down to the innermost node that holds a fault
    while (cursor.nodeType !== "ERROR" && !cursor.nodeIsMissing && cursor.gotoFirstChild()) {
      while (!faulty() && cursor.gotoNextSibling());
    }
    const at = cursor.startPosition;
    return { span: spanFrom(at.row + 1, at.column, cursor.startIndex, cursor.endIndex), message: "invalid syntax" };
  }

  /** whether the text of one statement has a later line that begins another one in column 0 */
  private spansOtherStatements(text: string): boolean {
    return /\n(?=[A-Za-z_@])(?!(?:else|elif|except|finally)\b)/.test(text.replace(/^(?:@.*\n)+.*/, ""));
  }

  /**
   * The grammar gave up on a stretch of the file. It is cut at the lines that start in column 0 with something that can
   * begin a statement, and each piece is parsed alone, so that an unclosed bracket costs only its own statement.
   */
  private pieces(start: number, end: number): Converted[] {
    const out: Converted[] = [];
    const lineStart = this.text.lastIndexOf("\n", start - 1) + 1;
    const region = this.text.slice(lineStart, end);
    const cuts: number[] = [0];
    let decorated = false;
    for (const m of region.matchAll(/^(?=[A-Za-z_@])(?!(?:else|elif|except|finally)\b).*/gm)) {
      if (!decorated && m.index > 0) cuts.push(m.index);
      decorated = m[0].startsWith("@");
    }
    cuts.push(region.length);
    let counted = 0;
    let lines = 0;
    for (let i = 0; i + 1 < cuts.length; i++) {
      const from = cuts[i] ?? 0;
      const text = region.slice(from, cuts[i + 1]);
      if (!text.trim()) continue;
      stopPoint();
      const base = lineStart + from;
      // rows from where the last piece began: a file of many pieces is counted once
      lines += position(this.text.slice(counted, base), base - counted).row;
      counted = base;
      const tree = parse(text);
      const cursor = tree.walk();
      const nodes: RawNode[] = [];
      const copier = new SubtreeCopier(text, false);
      if (cursor.nodeType !== "ERROR" && cursor.gotoFirstChild()) {
        do if (cursor.nodeType !== "comment") nodes.push(shiftRaw(copier.copy(cursor), lines, base));
        while (cursor.gotoNextSibling());
      } else {
        nodes.push(shiftRaw(copier.copy(cursor), lines, base));
      }
      for (const n of nodes) if (n.named) out.push(convertStatement({ text: this.text, base: 0 }, n));
    }
    return out;
  }
}

/** of something whose end is asked for as an offset alone */
function spanFrom(line: number, column: number, start: number, end: number): Span {
  return { line, column, endLine: line, endColumn: column + Math.max(1, end - start), start, end };
}

function difference(a: string, b: string): { start: number; oldEnd: number; newEnd: number } {
  const limit = Math.min(a.length, b.length);
  let start = 0;
  while (start < limit && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let back = 0;
  while (back < limit - start && a.charCodeAt(a.length - 1 - back) === b.charCodeAt(b.length - 1 - back)) back++;
  return { start, oldEnd: a.length - back, newEnd: b.length - back };
}

function position(text: string, offset: number): Parser.Point {
  let row = 0;
  let at = -1;
  for (let i = text.indexOf("\n"); i >= 0 && i < offset; i = text.indexOf("\n", i + 1)) {
    row++;
    at = i;
  }
  return { row, column: offset - at - 1 };
}
