// What typing does to the answers: nothing but places changed, an edit undone, a function edited beside another; and the
// kinds of problems, actions and requests that the other suites leave out.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERYTHING, type Hint, type Location, TestClient } from "./client";
import { BROKEN_GRAPH, find, SUM_AND_COPY, TWO_SUMS } from "./fixtures";

let client: TestClient;
beforeEach(async () => {
  client = await TestClient.start();
});
afterEach(async () => {
  expect(await client.stop()).toBe(0);
});

const open = (text: string): Promise<string> => client.openNew(text);

/** all that a reader sees of a text at once */
async function seen(uri: string, version: number): Promise<unknown> {
  const hints = await client.request<Hint[]>("textDocument/inlayHint", { textDocument: { uri }, range: EVERYTHING });
  // what another preset would save comes in its own time
  const titles = (await client.lenses(uri)).map(l => [l.range, l.command.title.replace(/ \(possible:.*?\)/, "")]);
  const { diagnostics } = await client.diagnostics(uri, version);
  const problems = diagnostics.map(d => [d.range, d.code, d.message]);
  const symbols = await client.request("textDocument/documentSymbol", { textDocument: { uri } });
  return { hints, titles, problems, symbols };
}

describe("an edit", () => {
  const edits: readonly (readonly [string, (text: string) => string])[] = [
    ["a comment above", t => `# first\n${t}`],
    ["a comment behind code", t => t.replace("rows = x.sum(dim=1)", "rows = x.sum(dim=1)  # by row")],
    ["a blank line inside a function", t => t.replace("    columns =", "\n    columns =")],
    ["spaces between tokens", t => t.replace("x.sum(dim=1)", "x.sum( dim = 1 )")],
    ["a statement on two lines", t => t.replace("x.sum(dim=1)", "x.sum(\n        dim=1\n    )")],
    ["a function beside it", t => t.replace("import torch\n", "import torch\n\n\ndef unused(a):\n    return a + 1\n")],
    ["another number", t => t.replace("x.sum(dim=1)", "x.sum(dim=1) * 2.5")],
    ["a name", t => t.replaceAll("rows", "by_row")],
    ["a doc string", t => t.replace("    rows = x", '    """Sums."""\n    rows = x')],
  ];
  for (const [what, change] of edits) {
    it(`answers as a fresh document after ${what}, and again after it is undone`, async () => {
      const uri = await open(TWO_SUMS);
      const before = await seen(uri, 1);
      const text = change(TWO_SUMS);
      expect(text).not.toBe(TWO_SUMS);
      await client.change(uri, text, 2);
      const after = await seen(uri, 2);
      expect(after).toEqual(await seen(await open(text), 1));
      await client.change(uri, TWO_SUMS, 3);
      expect(await seen(uri, 3)).toEqual(before);
    });
  }

  it("above a graph break moves the break and what follows it", async () => {
    const uri = await open(BROKEN_GRAPH);
    await seen(uri, 1);
    const text = `# one\n\n# two\n${BROKEN_GRAPH}`;
    await client.change(uri, text, 2);
    expect(await seen(uri, 2)).toEqual(await seen(await open(text), 1));
  });

  it("of a comment that gives inputs is no mere comment", async () => {
    const text = "import torch\n\n\n# fuselens: x=f32[8, 128]@cuda\ndef f(x):\n    return torch.sin(x) + 1\n";
    const uri = await open(text);
    const { line, character } = find(text, "torch.sin");
    expect(await client.hover(uri, line, character + 7)).toContain("[8, 128]");
    await client.change(uri, text.replace("[8, 128]", "[8, 256]"), 2);
    expect(await client.hover(uri, line, character + 7)).toContain("[8, 256]");
    // away from the function it says nothing
    await client.change(uri, text.replace("cuda\n", "cuda\n\n\n"), 3);
    expect((await client.hover(uri, line + 2, character + 7)) ?? "").not.toContain("[8, 128]");
  });
});

describe("diagnostics", () => {
  it("tell an operator that stays opaque, and why", async () => {
    const text = SUM_AND_COPY.replace("x.sum(dim=0)", "torch.ops.mylib.score(x * 2)");
    const uri = await open(text);
    const { diagnostics } = await client.diagnostics(uri, 1);
    const opaque = diagnostics.filter(d => d.code === "opaque-operator");
    expect(opaque[0]?.message).toMatch(/mylib\.score/);
    expect(opaque.every(d => d.range.start.line === find(text, "torch.ops").line)).toBe(true);
  });

  it("tell what was assumed of a module that nothing calls", async () => {
    const text =
      "import torch\n\n\nclass Gate(torch.nn.Module):\n    def __init__(self, dim: int = 64):\n        super().__init__()\n" +
      "        self.proj = torch.nn.Linear(dim, dim)\n\n    def forward(self, x):\n        return torch.sigmoid(self.proj(x))\n";
    const uri = await open(text);
    const { diagnostics } = await client.diagnostics(uri, 1);
    const assumed = diagnostics.find(d => d.code === "assumed");
    expect(assumed?.severity).toBe(4);
    expect(assumed?.message).toMatch(/^Assumed for Gate: .*eval\(\)/);
    expect(assumed?.range.start.line).toBe(find(text, "class Gate").line);
  });

  it("tell a syntax error at its place", async () => {
    const uri = await open(TWO_SUMS.replace("x.sum(dim=1)", "x.sum(dim="));
    const { diagnostics } = await client.diagnostics(uri, 1);
    const [error] = diagnostics.filter(d => d.severity === 1);
    expect(error?.code).toBe("syntax");
    expect(error?.range.start.line).toBeGreaterThanOrEqual(find(TWO_SUMS, "rows =").line);
  });
});

describe("requests that clients make in other ways", () => {
  it("find the generated code as an implementation", async () => {
    const uri = await open(TWO_SUMS);
    const { line, character } = find(TWO_SUMS, "x.sum(dim=1)");
    const found = await client.at<Location[]>("textDocument/implementation", uri, line, character + 3);
    const same = await client.at<Location[]>("textDocument/definition", uri, line, character + 3);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(same);
  });

  it("colour a range of generated code", async () => {
    const uri = await open(TWO_SUMS);
    const shown = await client.execute<{ uri: string }>("fuselens.showOutputCode", { uri, root: "two_sums" });
    const textDocument = { uri: shown.uri };
    const range = { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } };
    const part = await client.request<{ data: number[] }>("textDocument/semanticTokens/range", { textDocument, range });
    const all = await client.request<{ data: number[] }>("textDocument/semanticTokens/full", { textDocument });
    expect(part.data.length).toBeGreaterThan(0);
    expect(part.data.length).toBeLessThan(all.data.length);
    expect(all.data.slice(0, part.data.length)).toEqual(part.data);
  });

  it("offer to show why two kernels are not one, by a command that answers", async () => {
    const uri = await open(SUM_AND_COPY);
    const { line } = find(SUM_AND_COPY, "x.t().contiguous()");
    const actions = await client.request<
      { title: string; command?: { command: string; arguments: readonly unknown[] } }[]
    >("textDocument/codeAction", {
      textDocument: { uri },
      range: { start: { line, character: 4 }, end: { line, character: 4 } },
      context: { diagnostics: [] },
    });
    const why = actions.find(a => a.title.startsWith("Show why"));
    expect(why?.command?.command).toBe("fuselens.showReasons");
    const answer = await client.execute<{ text: string }>("fuselens.showReasons", why?.command?.arguments[0]);
    expect(answer.text).toMatch(/line 6/);
  });

  it("leave no backlog: of many edits at once, the last is answered", async () => {
    const uri = await open(TWO_SUMS);
    let text = TWO_SUMS;
    const answers: Promise<unknown>[] = [];
    for (let i = 0; i < 60; i++) {
      text = TWO_SUMS.replace("x.sum(dim=1)", `x.sum(dim=1) * ${i}.5`);
      await client.change(uri, text, i + 2);
      answers.push(client.lenses(uri).catch(() => null));
    }
    expect(await seen(uri, 61)).toEqual(await seen(await open(text), 1));
    await Promise.all(answers);
    const versions = client.published.filter(p => p.uri === uri).map(p => p.version ?? 0);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(versions[versions.length - 1]).toBe(61);
  });
});
