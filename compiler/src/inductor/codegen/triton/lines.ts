// Generated lines before they become text. In: lines with the operation they stem from. Out: the same lines in order,
// some of them decided late: a store that vanishes with its buffer, a word that is chosen when the kernel is complete.
// Promises: every line keeps its origin.

export interface Line {
  readonly text: string;
  readonly indent: number;
  /** operation whose body wrote it ("op3"); "" for lines of the whole kernel */
  readonly op: string;
  /** dropped when this buffer is removed */
  readonly buffer?: string;
  /** word that replaces <EP> once the kernel is complete */
  readonly late?: () => string;
}

export class LineBuffer {
  lines: Line[] = [];

  get empty(): boolean {
    return this.lines.length === 0;
  }
  push(line: Line): void {
    this.lines.push(line);
  }
  write(text: string, op: string, extra: { indent?: number; buffer?: string; late?: () => string } = {}): void {
    this.lines.push({ text, op, indent: extra.indent ?? 0, buffer: extra.buffer, late: extra.late });
  }
  /** appends another buffer's lines, indented */
  splice(other: LineBuffer, indent = 0): void {
    for (const l of other.lines) this.lines.push(indent === 0 ? l : { ...l, indent: l.indent + indent });
  }
  clear(): void {
    this.lines = [];
  }
}

export interface FinalLine {
  readonly text: string;
  readonly op: string;
}

/** Text of the lines whose buffers are still there. */
export function finishLines(buffer: LineBuffer, isRemoved: (name: string) => boolean, indent: number): FinalLine[] {
  const out: FinalLine[] = [];
  for (const l of buffer.lines) {
    if (l.buffer !== undefined && isRemoved(l.buffer)) continue;
    const text = l.late ? l.text.replace("<EP>", l.late()) : l.text;
    out.push({ text: text === "" ? "" : "    ".repeat(indent + l.indent) + text, op: l.op });
  }
  return out;
}
