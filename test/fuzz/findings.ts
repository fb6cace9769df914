// What a fuzzer found: printed at once, kept under .cache/fuzz, counted. A finding is known by its kind and its place, so
// that one fault that a thousand inputs reach is one finding.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Finding {
  readonly mode: string;
  /** crash, internal, slow, hang, growth, wrong-version, malformed, ... */
  readonly kind: string;
  /** what makes two findings the same one: the first line of the error and the innermost frame */
  readonly signature: string;
  readonly detail: string;
  readonly seed: number;
  readonly case: number;
  readonly input: string;
}

export class Findings {
  readonly all: (Finding & { times: number })[] = [];

  constructor(private readonly folder: string) {}

  known(kind: string, signature: string): boolean {
    const found = this.all.find(f => f.kind === kind && f.signature === signature);
    if (found) found.times += 1;
    return found !== undefined;
  }

  add(finding: Finding): void {
    this.all.push({ ...finding, times: 1 });
    mkdirSync(this.folder, { recursive: true });
    const path = join(this.folder, `${finding.mode}-${finding.kind}-${finding.seed}-${finding.case}.txt`);
    writeFileSync(path, finding.input);
    writeFileSync(`${path}.json`, `${JSON.stringify({ ...finding, input: undefined }, null, 1)}\n`);
    const shown = finding.input.length > 2000 ? `${finding.input.slice(0, 2000)}...` : finding.input;
    console.error(
      `\n** ${finding.mode}: ${finding.kind}, seed ${finding.seed}, case ${finding.case}, kept in ${path}\n` +
        `${finding.detail}\n-- input, ${finding.input.length} characters --\n${shown}\n--`,
    );
  }
}

/** The first line of an error and the innermost function of ours on its stack. */
export function signatureOf(detail: string): string {
  const [first = "", ...stack] = detail.split("\n");
  const frame = stack.find(l => /^\s+at /.test(l)) ?? "";
  const place = /at (?:async )?([\w.<>$ ]+)/.exec(frame)?.[1] ?? "";
  return `${first
    .replace(/\d+/g, "N")
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "'..'")
    .slice(0, 160)} @ ${place.trim()}`;
}
