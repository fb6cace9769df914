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

/** copies the subtree under the cursor and leaves the cursor where it was; comments are dropped */
export function copySubtree(cursor: TreeCursor, depth = 0): RawNode {
  const children: RawNode[] = [];
  const from = cursor.startPosition;
  const to = cursor.endPosition;
  const node = {
    type: depth < MAX_DEPTH ? cursor.nodeType : TOO_DEEP,
    named: cursor.nodeIsNamed,
    missing: cursor.nodeIsMissing,
    field: cursor.currentFieldName ?? null,
    span: {
      line: from.row + 1,
      column: from.column,
      endLine: to.row + 1,
      endColumn: to.column,
      start: cursor.startIndex,
      end: cursor.endIndex,
    },
    children,
  };
  if (depth < MAX_DEPTH && cursor.gotoFirstChild()) {
    do {
      const type = cursor.nodeType;
      if (type !== "comment" && type !== "line_continuation") children.push(copySubtree(cursor, depth + 1));
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return node;
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

/** the first ERROR or missing node, depth first */
export function firstProblem(node: RawNode): RawNode | undefined {
  if (node.type === "ERROR" || node.missing) return node;
  for (const c of node.children) {
    const found = firstProblem(c);
    if (found) return found;
  }
  return undefined;
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
