// Logs of torch as digests, line by line: what a test compares with, without keeping torch's text. In: lines. Out: eight hex
// digits of each line's SHA-256; and the first of our lines that has another one.
import { createHash } from "node:crypto";

export type Digests = string;

const digest = (line: string): string => createHash("sha256").update(line).digest("hex").slice(0, 8);

/** digests in the lines' order, a space between them */
export function digestsOf(lines: readonly string[]): Digests {
  return lines.map(digest).join(" ");
}

/** lines of output code, without what no two machines have in common */
export function codeLines(text: string): string[] {
  return text
    .replace(/^# kernel path: .*/gm, "# kernel path: PATH")
    .replace(/'backend_hash': '[0-9A-F]+'/g, "'backend_hash': 'HASH'")
    .trimEnd()
    .split("\n");
}

export interface Difference {
  /** from 1 */
  readonly line: number;
  /** null: ours ends here */
  readonly ours: string | null;
  /** how many lines there are in each */
  readonly lines: readonly [ours: number, recorded: number];
}

/** null: every line is the recorded one */
export function firstDifference(ours: readonly string[], recorded: Digests): Difference | null {
  const theirs = recorded === "" ? [] : recorded.split(" ");
  for (let i = 0; i < Math.max(ours.length, theirs.length); i++) {
    const line = ours[i];
    if (line === undefined || digest(line) !== theirs[i])
      return { line: i + 1, ours: line ?? null, lines: [ours.length, theirs.length] };
  }
  return null;
}
