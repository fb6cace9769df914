// A kernel's text as lines with the origins of each. Nothing of the user's enters but through comment(), which leaves
// printable ASCII only, so that no comment can end early or hide a line end.
import type { PlanOrigin } from "../../plan/types";

const NO_ORIGIN: PlanOrigin = { lines: [], at: [], nodes: [] };

export class WatLines {
  private readonly texts: string[] = [];
  private readonly origins: PlanOrigin[] = [];
  private depth = 1;
  origin: PlanOrigin = NO_ORIGIN;

  add(text: string): void {
    this.texts.push("  ".repeat(this.depth) + text);
    this.origins.push(this.origin);
  }

  comment(text: string): void {
    this.add(`;; ${text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 160)}`);
  }

  block(open: string, body: () => void): void {
    this.add(open);
    this.depth += 1;
    body();
    this.depth -= 1;
    this.add(")");
  }

  get length(): number {
    return this.texts.length;
  }

  /** lines added by `body`, taken out again */
  capture(body: () => void): CapturedLines {
    const from = this.texts.length;
    body();
    return { texts: this.texts.splice(from), origins: this.origins.splice(from) };
  }

  append(lines: CapturedLines): void {
    this.texts.push(...lines.texts);
    this.origins.push(...lines.origins);
  }

  finish(): { readonly lines: readonly string[]; readonly origins: readonly PlanOrigin[] } {
    return { lines: this.texts, origins: this.origins };
  }
}

export interface CapturedLines {
  readonly texts: readonly string[];
  readonly origins: readonly PlanOrigin[];
}
