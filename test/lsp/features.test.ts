// One test a feature of the protocol, as a client meets it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Diagnostic, EVERYTHING, type Hint, type Location, type Range, TestClient } from "./client";
import { BROKEN_GRAPH, DYNAMIC, find, marked, SUM_AND_COPY, TRAINED, TWO_SUMS } from "./fixtures";

let client: TestClient;
beforeAll(async () => {
  client = await TestClient.start({ initializationOptions: { diagnostics: { missedFusionBytes: 1000 } } });
});
afterAll(async () => {
  expect(await client.stop()).toBe(0);
});

const open = (text: string): Promise<string> => client.openNew(text);

describe("hover", () => {
  it("says kernel, type, operator, and the reasons with both index expressions and a way out", async () => {
    const uri = await open(SUM_AND_COPY);
    const { line, character } = find(SUM_AND_COPY, "x.sum(dim=0)");
    const text = (await client.hover(uri, line, character + 3)) ?? "";
    expect(text).toMatch(/^\*\*Kernel 1\*\* `triton_\w+`: \d ops?, line 6, [\d.]+ MB, est\. /);
    expect(text).toContain("`aten.sum.dim_IntList` → `f32[3072][1]cuda:0`");
    expect(text).toMatch(
      /- \*\*101 MB\*\* line 6 with line 7: .*`393216\*d0 \+ d1 \+ 3072\*d2` against `d0 \+ 3072\*d1`/,
    );
    expect(text).toMatch(/\n {2}\*.+\*$/m);
  });

  it("says what the backward keeps", async () => {
    const uri = await open(TRAINED);
    const { line, character } = find(TRAINED, "torch.tanh(h)");
    const text = (await client.hover(uri, line, character + 8)) ?? "";
    expect(text).toContain("(forward)");
    expect(text).toMatch(/Kept for the backward pass: \*\*524 kB\*\*|Kernel \d+\*\* \(backward\)/);
  });

  it("explains size symbols", async () => {
    const uri = await open(DYNAMIC);
    const { line, character } = find(DYNAMIC, "torch.relu(x)");
    const text = (await client.hover(uri, line, character + 8)) ?? "";
    expect(text).toMatch(/`s\d+` = `\w+\.size\(\d\)`, 64 in the example/);
  });

  it("is silent where nothing is compiled", async () => {
    const uri = await open(TWO_SUMS);
    expect(await client.hover(uri, 0, 3)).toBeNull();
  });
});

describe("code lenses", () => {
  it("are placed first and named when they come into view", async () => {
    const uri = await open(TWO_SUMS);
    const places = await client.lensPlaces(uri);
    expect(places.length).toBeGreaterThan(0);
    expect(places.every(p => p.command === undefined)).toBe(true);
    expect((await client.lenses(uri))[0]?.command.title).toMatch(/^\d kernels?, [\d.]+ MB, est\. /);
  });
});

describe("what preset fuselens would save", () => {
  it("comes to lens and hover a moment after the analysis", async () => {
    const uri = await open(SUM_AND_COPY);
    const title = await vi.waitFor(
      async () => {
        const found = (await client.lenses(uri))[0]?.command.title ?? "";
        expect(found).toContain("possible:");
        return found;
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(title).toMatch(/^3 kernels, 304 MB, est\. [\d.]+ us \(possible: 2 kernels, 203 MB, est\. [\d.]+ us\)$/);
    const { line, character } = find(SUM_AND_COPY, "x.sum(dim=0)");
    expect(await client.hover(uri, line, character + 3)).toMatch(
      /\*\*Possible\*\* with preset `fuselens`: two kernels instead of three, saves [\d.]+ MB, est\. [\d.]+x/,
    );
  }, 90_000);
});

describe("inlay hints", () => {
  const hints = (uri: string): Promise<Hint[]> =>
    client.request("textDocument/inlayHint", { textDocument: { uri }, range: EVERYTHING });

  it("show the shape after the name and the kernel at the line's end", async () => {
    const uri = await open(TWO_SUMS);
    const all = await hints(uri);
    const line = find(TWO_SUMS, "rows = x.sum").line;
    const own = all.filter(h => h.position.line === line);
    expect(own.map(h => h.label.trim())).toEqual([": f32[4096]", expect.stringMatching(/^◆ K\d/)]);
    expect(own[0]?.position.character).toBe("    rows".length);
    expect(own[1]?.position.character).toBe("    rows = x.sum(dim=1)".length);
  });

  it("are each switched off by a setting", async () => {
    const uri = await open(TWO_SUMS);
    const change = (inlayHints: object): Promise<void> =>
      client.notify("workspace/didChangeConfiguration", { settings: { fuselens: { inlayHints } } });
    await change({ shapes: false });
    expect((await hints(uri)).every(h => h.label.includes("◆"))).toBe(true);
    await change({ kernels: false });
    expect((await hints(uri)).some(h => h.label.includes("◆"))).toBe(false);
    await change({ shapes: false, kernels: false });
    expect(await hints(uri)).toEqual([]);
    await client.notify("workspace/didChangeConfiguration", {
      settings: { fuselens: { diagnostics: { missedFusionBytes: 1000 } } },
    });
  });
});

describe("diagnostics", () => {
  it("tell a graph break with its reason and a hint", async () => {
    const uri = await open(BROKEN_GRAPH);
    const { diagnostics } = await client.diagnostics(uri, 1);
    const broken = diagnostics.filter(d => /graph.?break/i.test(`${d.code} ${d.message}`));
    expect(broken.length).toBeGreaterThan(0);
    expect(broken[0]?.range.start.line).toBe(find(BROKEN_GRAPH, "y.sum().item()").line);
    expect(broken[0]?.message).toMatch(/capture_scalar_outputs|torch\.where/);
  });

  it("hint at missed fusions and point at the other side", async () => {
    const uri = await open(SUM_AND_COPY);
    const { diagnostics } = await client.diagnostics(uri, 1);
    const [missed] = diagnostics.filter((d: Diagnostic) => d.severity === 4 && /^Not fused/.test(d.message));
    expect(missed?.message).toMatch(/^Not fused: line 6 with line 7, 101 MB that one pass would not move/);
    expect(missed?.range.start.line).toBe(6);
    expect(missed?.relatedInformation?.[0]?.location).toMatchObject({ uri, range: { start: { line: 5 } } });
  });
});

describe("recompiles", () => {
  it("are told where a second call causes one", async () => {
    const text = TWO_SUMS.replace(
      /two_sums\(torch.*\n$/,
      'two_sums(torch.randn(8, 16, device="cuda"))\ntwo_sums(torch.randn(8, 32, device="cuda"))\n',
    );
    const uri = await open(text);
    const { diagnostics } = await client.diagnostics(uri, 1);
    const again = diagnostics.find(d => d.code === "recompile");
    expect(again?.message).toMatch(
      /two_sums is compiled again: an input was float32\[8, 16\] and then float32\[8, s\d+\]/,
    );
  });
});

describe("code actions", () => {
  interface Action {
    readonly title: string;
    readonly edit?: {
      readonly changes: Readonly<Record<string, readonly { readonly range: Range; readonly newText: string }[]>>;
    };
    readonly command?: { readonly command: string; readonly arguments: readonly unknown[] };
  }
  const actions = (uri: string, line: number): Promise<Action[]> =>
    client.request("textDocument/codeAction", {
      textDocument: { uri },
      range: { start: { line, character: 4 }, end: { line, character: 4 } },
      context: { diagnostics: [] },
    });

  it("set example inputs by a comment above the function", async () => {
    const uri = await open(TWO_SUMS);
    const all = await actions(uri, find(TWO_SUMS, "rows = x.sum").line);
    const set = all.find(a => a.title.startsWith("Set example inputs"));
    const [edit] = set?.edit?.changes[uri] ?? [];
    expect(edit?.newText).toBe("# fuselens: x=f32[4096, 2048]@cuda\n");
    expect(edit?.range.start).toEqual({ line: find(TWO_SUMS, "@torch.compile").line, character: 0 });
  });

  it("mark a function and an argument dynamic", async () => {
    const uri = await open(
      TWO_SUMS.replace(
        'two_sums(torch.randn(4096, 2048, device="cuda"))',
        'x = torch.randn(4096, 2048, device="cuda")\ntwo_sums(x)',
      ),
    );
    const all = await actions(uri, find(TWO_SUMS, "rows = x.sum").line);
    const texts = all.flatMap(a => a.edit?.changes[uri]?.map(e => e.newText) ?? []);
    expect(texts).toContain("@torch.compile(dynamic=True)");
    expect(texts).toContain("torch._dynamo.mark_dynamic(x, 0)\n");
  });

  it("compare with an option the other way, and the comparison counts kernels and bytes", async () => {
    const uri = await open(TWO_SUMS);
    const answer = await client.execute<{
      text: string;
      left: { kernels: number; bytes: number };
      right: { kernels: number; bytes: number };
    }>("fuselens.compare", { uri, root: "two_sums", config: { "triton.mix_order_reduction": false } });
    expect(answer.left.bytes).toBeLessThan(answer.right.bytes);
    expect(answer.text).toContain("| kernels |");
  });
});

describe("highlight", () => {
  it("marks every expression of the kernel under the cursor", async () => {
    const { text, cursor, labels } = marked(`import torch


@torch.compile
def f(x, y):
    a = torch.re$0lu(x) + 1
    #   ^^^^^^^^^^^^^^^^^ kernel 1
    b = y @ y
    return a * 2, b
    #      ^^^^^ kernel 1


f(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))
`);
    const uri = await open(text);
    const found = await client.at<{ range: Range }[]>(
      "textDocument/documentHighlight",
      uri,
      cursor?.line ?? 0,
      cursor?.character ?? 0,
    );
    expect(found.map(h => h.range)).toEqual(labels.map(l => l.range));
  });
});

describe("generated code", () => {
  it("is where a definition leads, and leads back", async () => {
    const uri = await open(TWO_SUMS);
    const { line, character } = find(TWO_SUMS, "x.sum(dim=1)");
    const [target] = await client.at<Location[]>("textDocument/definition", uri, line, character + 3);
    expect(target).toBeDefined();
    if (!target) return;
    const text = readFileSync(fileURLToPath(target.uri), "utf8");
    const body = text.split("\n").slice(target.range.start.line, target.range.end.line + 1);
    expect(body.some(l => l.startsWith("def triton_"))).toBe(true);
    await client.open(target.uri, text);
    const load = target.range.start.line + body.findIndex(l => l.includes("tl.load"));
    const back = await client.at<Location[]>("textDocument/definition", target.uri, load, 8);
    expect(back.map(l => l.uri)).toContain(uri);
    expect(back.every(l => [5, 6].includes(l.range.start.line))).toBe(true);
    expect(await client.hover(target.uri, load, 8)).toContain("x.sum(dim=");
    const published = client.published.filter(p => p.uri === target.uri && p.diagnostics.length);
    expect(published).toEqual([]);
  });

  it("lists every place that a kernel is tied to as references", async () => {
    const uri = await open(TWO_SUMS);
    const { line, character } = find(TWO_SUMS, "x.sum(dim=1)");
    const context = { includeDeclaration: true };
    const found = await client.at<Location[]>("textDocument/references", uri, line, character + 3, { context });
    expect(found.some(l => l.uri === uri && l.range.start.line === line)).toBe(true);
    expect(found.filter(l => l.uri !== uri).length).toBeGreaterThanOrEqual(2);
  });

  it("has symbols and semantic tokens", async () => {
    const uri = await open(TWO_SUMS);
    const shown = await client.execute<{ uri: string; text: string }>("fuselens.showOutputCode", {
      uri,
      root: "two_sums",
    });
    const textDocument = { uri: shown.uri };
    const symbols = await client.request<{ name: string }[]>("textDocument/documentSymbol", { textDocument });
    expect(symbols[0]?.name).toMatch(/^1: triton_/);
    const { data } = await client.request<{ data: number[] }>("textDocument/semanticTokens/full", { textDocument });
    expect(data.length).toBeGreaterThan(50);
    expect(data.length % 5).toBe(0);
    const source = await client.request<{ data: number[] }>("textDocument/semanticTokens/full", {
      textDocument: { uri },
    });
    expect(source.data).toEqual([]);
  });
});

describe("document symbols", () => {
  it("list kernels under the function that they come from", async () => {
    const uri = await open(TWO_SUMS);
    const [root] = await client.request<{ name: string; children: { name: string; range: Range }[] }[]>(
      "textDocument/documentSymbol",
      { textDocument: { uri } },
    );
    expect(root?.name).toBe("two_sums");
    expect(root?.children[0]?.name).toMatch(/^kernel 1: triton_/);
  });
});

describe("commands", () => {
  it("dump every stage", async () => {
    const uri = await open(TRAINED);
    for (const stage of [
      "pre_grad_graphs",
      "aot_joint_graph",
      "aot_graphs",
      "post_grad_graphs",
      "ir_pre_fusion",
      "fusion",
      "ir_post_fusion",
      "output_code",
    ]) {
      const shown = await client.execute<{ text: string }>("fuselens.showStage", { uri, stage });
      expect(shown.text.length, stage).toBeGreaterThan(100);
    }
  });

  it("draw the scheduler graph, round by round, in DOT", async () => {
    const uri = await open(TWO_SUMS);
    const shown = await client.execute<{ graphs: { rounds: { title: string; dot: string }[]; lines: number[][] }[] }>(
      "fuselens.showSchedulerGraph",
      { uri, root: "two_sums" },
    );
    const [graph] = shown.graphs;
    expect(graph?.rounds[0]?.title).toBe("before fusion");
    expect(graph?.rounds.every(r => /^digraph ".*" \{/.test(r.dot))).toBe(true);
    expect(graph?.lines.flat()).toContain(6);
  });

  it("explain why, line by line", async () => {
    const uri = await open(TWO_SUMS);
    const shown = await client.execute<{ text: string }>("fuselens.showReasons", { uri, root: "two_sums" });
    expect(shown.text).toMatch(/^# Why not fused: two/);
  });

  it("answer example inputs and write others", async () => {
    const uri = await open(TWO_SUMS);
    const asked = await client.execute<{ inputs: string }>("fuselens.exampleInputs", { uri, root: "two_sums" });
    expect(asked.inputs).toBe("x=f32[4096, 2048]@cuda");
    const written = await client.execute<{ edit: { changes: Record<string, { newText: string }[]> } }>(
      "fuselens.exampleInputs",
      { uri, root: "two_sums", inputs: "x=bf16[8, 16]@cuda" },
    );
    expect(written.edit.changes[uri]?.[0]?.newText).toBe("# fuselens: x=bf16[8, 16]@cuda\n");
  });
});

describe("progress", () => {
  it("accompanies a benchmark and cancels it", async () => {
    const uri = await open(TWO_SUMS);
    client.cancelProgress = value => value["kind"] === "begin" || value["kind"] === "report";
    await expect(client.execute("fuselens.benchmark", { uri, root: "two_sums" })).rejects.toThrow(/cancel/i);
    client.cancelProgress = () => false;
    expect(client.progress.some(p => p.value["kind"] === "end")).toBe(true);
  });

  it("uses the token that the client gives", async () => {
    const uri = await open(TWO_SUMS);
    await client.execute("fuselens.benchmark", { uri, root: "two_sums" }, { workDoneToken: "mine" });
    expect(client.progress.filter(p => p.token === "mine").map(p => p.value["kind"])).toContain("report");
  });
});

describe("a long compile", () => {
  it("shows progress, and a cancel holds until the next edit", async () => {
    const block = "    x = torch.softmax(torch.tanh(x @ w) + x, dim=-1)\n";
    const text = `import torch\n\n\n@torch.compile\ndef long(x, w):\n${block.repeat(400)}    return x.sum()\n\n\nlong(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))\n`;
    client.cancelProgress = value => /compiling/.test(String(value["message"]));
    const uri = await open(text);
    expect(await client.hover(uri, 6, 25)).toBeNull();
    client.cancelProgress = () => false;
    expect(await client.lensPlaces(uri)).toEqual([]);
    await client.change(uri, text.replace(block.repeat(390), ""), 2);
    expect(await client.hover(uri, 6, 25)).toContain("aten.");
  });
});

describe("stale answers", () => {
  it("are never given on lines that have moved", async () => {
    const uri = await open(TWO_SUMS);
    const { line, character } = find(TWO_SUMS, "x.sum(dim=0)");
    await client.hover(uri, line, character + 3);
    const top = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    await client.edit(uri, 2, top, "# one line more\n");
    expect(await client.hover(uri, line + 1, character + 3)).toContain("aten.sum");
    const moved = await client.at<{ range: Range }>("textDocument/hover", uri, line + 1, character + 3);
    expect(moved.range.start.line).toBe(line + 1);
  });

  it("end at once when the client no longer wants them", async () => {
    const uri = await open(TWO_SUMS);
    await client.edit(uri, 2, { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, "#\n");
    const params = { textDocument: { uri }, range: EVERYTHING };
    const answer = client.cancelled("textDocument/inlayHint", params, 0);
    await answer.catch(e => expect((e as Error).message).toMatch(/cancel/i));
  });
});
