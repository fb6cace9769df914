// A plain copy of one tree-sitter subtree, made with a cursor in a single pass: reading a native node property crosses
// into C++ each time, so the conversion works on this copy. In: a cursor. Out: RawNode with named and anonymous children.
import type { TreeCursor } from "tree-sitter";
import type { Span } from "./ast";

export interface RawNode {
  readonly type: string;
  readonly named: boolean;
  readonly missing: boolean;
  readonly field: string | null;
  readonly span: Span;
  readonly children: readonly RawNode[];
}

/** levels of the tree that are read; what lies deeper would exhaust the stack of whoever walks it (CPython: 200 brackets) */
export const MAX_DEPTH = 1000;
/** stands for what lies deeper */
export const TOO_DEEP = "too_deep";

/** what a node type's number in the grammar stands for: two native calls less per node */
interface NodeType {
  readonly type: string;
  readonly named: boolean;
}
const nodeTypes: (NodeType | undefined)[] = [];

/** Where the lines of a text begin; asked for places that lie close to each other. */
class Lines {
  private readonly starts: number[] = [0];
  private row = 0;

  constructor(text: string) {
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) this.starts.push(i + 1);
  }

  /** the row, from 0, that an offset lies in; `startOf` says where the row begins */
  rowOf(offset: number): number {
    const { starts } = this;
    let { row } = this;
    while (row > 0 && (starts[row] ?? 0) > offset) row--;
    while (row + 1 < starts.length && (starts[row + 1] ?? 0) <= offset) row++;
    this.row = row;
    return row;
  }
  startOf(row: number): number {
    return this.starts[row] ?? 0;
  }
}

/** Copies subtrees of one text. Comments are dropped; a cursor is left where it was. */
export class SubtreeCopier {
  private readonly lines: Lines;

  /** `sound`: the tree holds no error, so nothing in it is missing */
  constructor(
    text: string,
    private readonly sound: boolean,
  ) {
    this.lines = new Lines(text);
  }

  copy(cursor: TreeCursor, depth = 0): RawNode {
    return this.node(cursor, depth, typeOf(cursor));
  }

  private node(cursor: TreeCursor, depth: number, { type, named }: NodeType): RawNode {
    const children: RawNode[] = [];
    const start = cursor.startIndex;
    const end = cursor.endIndex;
    const { lines } = this;
    const row = lines.rowOf(start);
    const column = start - lines.startOf(row);
    const endRow = lines.rowOf(end);
    const endColumn = end - lines.startOf(endRow);
    const node = {
      type: depth < MAX_DEPTH ? type : TOO_DEEP,
      named,
      missing: !this.sound && cursor.nodeIsMissing,
      field: cursor.currentFieldName ?? null,
      span: { line: row + 1, column, endLine: endRow + 1, endColumn, start, end },
      children,
    };
    if (depth < MAX_DEPTH && cursor.gotoFirstChild()) {
      do {
        const t = typeOf(cursor);
        if (t.type !== "comment" && t.type !== "line_continuation") children.push(this.node(cursor, depth + 1, t));
      } while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
    return node;
  }
}

function typeOf(cursor: TreeCursor): NodeType {
  const id = cursor.nodeTypeId;
  // the number of errors lies far above those of the grammar
  if (id > 60000) return { type: cursor.nodeType, named: cursor.nodeIsNamed };
  let known = nodeTypes[id];
  if (!known) {
    known = { type: cursor.nodeType, named: cursor.nodeIsNamed };
    nodeTypes[id] = known;
  }
  return known;
}

export function field(node: RawNode, name: string): RawNode | undefined {
  return node.children.find(c => c.field === name);
}

export function fields(node: RawNode, name: string): RawNode[] {
  return node.children.filter(c => c.field === name && c.named);
}

export function named(node: RawNode): RawNode[] {
  return node.children.filter(c => c.named);
}

/** a copy moved by lines and offset, for text that was parsed as a piece of its file */
export function shiftRaw(node: RawNode, lines: number, offset: number): RawNode {
  const s = node.span;
  return {
    ...node,
    span: { ...s, line: s.line + lines, endLine: s.endLine + lines, start: s.start + offset, end: s.end + offset },
    children: node.children.map(c => shiftRaw(c, lines, offset)),
  };
}

export function joinSpans(a: Span, b: Span): Span {
  return {
    line: a.line,
    column: a.column,
    start: a.start,
    endLine: b.endLine,
    endColumn: b.endColumn,
    end: b.end,
  };
}
