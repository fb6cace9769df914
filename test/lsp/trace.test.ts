// A recorded editing session replayed, keystroke by keystroke, against a fixture with marks: what stands at the end is
// what a fresh start says of the same text, and nothing along the way speaks of lines that have moved.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Range, TestClient } from "./client";
import { marked } from "./fixtures";

interface Trace {
  readonly start: string;
  /** first line, column, last line, column, text */
  readonly edits: readonly (readonly [number, number, number, number, string])[];
}

interface Hint {
  readonly position: { readonly line: number; readonly character: number };
  readonly label: string;
}

const trace = JSON.parse(readFileSync(join(__dirname, "traces", "typing.json"), "utf8")) as Trace;
const end = marked(readFileSync(join(__dirname, "traces", "typing.marks.py"), "utf8"));
const everything: Range = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

let client: TestClient;
afterEach(async () => {
  expect(await client.stop()).toBe(0);
});

function replay(text: string, [l1, c1, l2, c2, inserted]: Trace["edits"][number]): string {
  const lines = text.split("\n");
  const offset = (l: number, c: number): number => lines.slice(0, l).reduce((n, s) => n + s.length + 1, 0) + c;
  return text.slice(0, offset(l1, c1)) + inserted + text.slice(offset(l2, c2));
}

describe("a recorded editing session", () => {
  it("ends where a fresh start would, with every mark in its place", async () => {
    client = await TestClient.start();
    const uri = "file:///tmp/fuselens_trace.py";
    await client.open(uri, trace.start);
    let text = trace.start;
    let version = 1;
    for (const edit of trace.edits) {
      const [l1, c1, l2, c2, inserted] = edit;
      text = replay(text, edit);
      const range = { start: { line: l1, character: c1 }, end: { line: l2, character: c2 } };
      await client.edit(uri, ++version, range, inserted);
      // now and then the editor asks in the middle of the typing
      if (version % 7 === 0) {
        const lines = text.split("\n");
        const hints = await client.request<Hint[]>("textDocument/inlayHint", {
          textDocument: { uri },
          range: everything,
        });
        for (const h of hints) {
          expect(h.position.character).toBeLessThanOrEqual(lines[h.position.line]?.length ?? -1);
          expect(lines[h.position.line]).toMatch(/[@(+*/.=\w]/);
        }
      }
    }
    expect(text).toBe(end.text);
    const last = await client.diagnostics(uri, version);
    expect(last.diagnostics.filter(d => d.severity === 1)).toEqual([]);
    for (const { range, text: label } of end.labels) {
      const hover = await client.hover(uri, range.start.line, range.end.character - 1);
      for (const word of label.split(", ")) expect(hover, `line ${range.start.line + 1}`).toContain(word);
    }
    const fresh = "file:///tmp/fuselens_trace_fresh.py";
    await client.open(fresh, end.text);
    const hints = (of: string): Promise<Hint[]> =>
      client.request("textDocument/inlayHint", { textDocument: { uri: of }, range: everything });
    expect(await hints(uri)).toEqual(await hints(fresh));
    const titles = async (of: string): Promise<string[]> => (await client.lenses(of)).map(l => l.command.title);
    expect(await titles(uri)).toEqual(await titles(fresh));
  });
});
