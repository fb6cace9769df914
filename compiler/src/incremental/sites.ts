// Where the nodes of a frame come from, set apart from what they are: a graph that only moved in its file is the same
// graph. In: a captured frame. Out: its sites in order of first use, and a text of their order and sameness, which is all
// of them that a compile's result depends on.
import type { Diagnostic } from "../dynamo/types";
import type { FxNode } from "../fx/graph";
import type { StackFrame } from "../fx/types";

export type Span = Diagnostic["span"];

export interface Site {
  readonly file: string;
  readonly span: Span;
}

export class Sites {
  readonly list: Site[] = [];
  private readonly known = new Map<string, number>();
  /** equal layers have frames in common */
  private readonly ofFrames = new Map<StackFrame, number>();

  constructor(nodes: readonly FxNode[]) {
    for (const n of nodes) for (const f of n.meta.stack) if (!this.ofFrames.has(f)) this.add(f);
  }

  /** the place of a stack frame in `list` */
  indexOf(f: StackFrame): number {
    return this.ofFrames.get(f) ?? -1;
  }

  /** per site: its file, and which of the file's lines among those that occur it is */
  pattern(): string {
    const lines = new Map<string, Set<number>>();
    for (const { file, span } of this.list) lines.set(file, (lines.get(file) ?? new Set()).add(span.line));
    const ranks = new Map<string, Map<number, number>>();
    for (const [file, set] of lines)
      ranks.set(file, new Map([...set].sort((a, b) => a - b).map((line, rank) => [line, rank])));
    return JSON.stringify(this.list.map(({ file, span }) => [file, ranks.get(file)?.get(span.line)]));
  }

  private add(f: StackFrame): void {
    const key = siteKey(f.file, f.span);
    let at = this.known.get(key);
    if (at === undefined) {
      at = this.list.push({ file: f.file, span: f.span }) - 1;
      this.known.set(key, at);
    }
    this.ofFrames.set(f, at);
  }
}

export function siteKey(file: string, s: Span): string {
  return `${s.line}:${s.column}:${s.endLine}:${s.endColumn}:${file}`;
}
