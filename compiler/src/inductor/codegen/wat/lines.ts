// A kernel's text as lines with the origins of each. Nothing of the user's enters but through comment(), which leaves
// printable ASCII only, so that no comment can end early or hide a line end.
import type { PlanOrigin } from "../../plan/types";

export const NO_ORIGIN: PlanOrigin = { lines: [], at: [], nodes: [] };
/** stands for the number of its own line in the finished text */
export const LINE_NUMBER = "(i32.const @line)";

const MAX_COMMENT = 160;

/** text that may stand after `;;` */
export function commentText(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, " ").slice(0, MAX_COMMENT);
}

export interface CapturedLines {
  readonly texts: readonly string[];
  readonly origins: readonly PlanOrigin[];
}

export class WatLines {
  private readonly texts: string[] = [];
  private readonly origins: PlanOrigin[] = [];
  private depth = 2;
  origin: PlanOrigin = NO_ORIGIN;

  add(text: string): void {
    this.texts.push("  ".repeat(this.depth) + text);
    this.origins.push(this.origin);
  }

  comment(text: string): void {
    this.add(`;; ${commentText(text)}`);
  }

  block(open: string, body: () => void, close = ")"): void {
    this.add(open);
    this.depth += 1;
    body();
    this.depth -= 1;
    this.add(close);
  }

  /** lines added by `body`, taken out again */
  capture(body: () => void): CapturedLines {
    const from = this.texts.length;
    const { depth } = this;
    try {
      body();
    } catch (e) {
      this.texts.splice(from);
      this.origins.splice(from);
      this.depth = depth;
      throw e;
    }
    return { texts: this.texts.splice(from), origins: this.origins.splice(from) };
  }

  append(lines: CapturedLines): void {
    this.texts.push(...lines.texts);
    this.origins.push(...lines.origins);
  }

  finish(): CapturedLines {
    return { texts: this.texts, origins: this.origins };
  }
}
