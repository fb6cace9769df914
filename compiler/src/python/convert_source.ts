// What all conversions of the concrete tree work with: the text, and the error of a piece that has no reading. In: raw nodes.
// Out: their text and children.
import type * as ast from "./ast";
import { field, named, type RawNode } from "./raw";

/** a piece of the tree has no reading; convert_statements.ts makes a problem of it */
export class Unreadable extends Error {
  constructor(
    readonly node: RawNode,
    message: string,
  ) {
    super(message);
  }
}

export interface Source {
  readonly text: string;
  /** added to a node's offsets to index the text (pieces are parsed on their own) */
  readonly base: number;
}

/** what a node is written as */
export const textOf = (src: Source, n: { readonly span: ast.Span }): string =>
  src.text.slice(n.span.start + src.base, n.span.end + src.base);

/** the child of a field. @throws Unreadable where there is none */
export function need(node: RawNode, name: string): RawNode {
  const found = field(node, name);
  if (!found) throw new Unreadable(node, "invalid syntax");
  return found;
}

/** the first named child. @throws Unreadable where there is none */
export function only(node: RawNode): RawNode {
  const found = named(node)[0];
  if (!found) throw new Unreadable(node, "invalid syntax");
  return found;
}
