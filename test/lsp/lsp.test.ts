// The language server as any client meets it: spawned, over stdio, in plain JSON-RPC.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestClient } from "./client";

const examples = join(__dirname, "..", "..", "examples");
const file = (name: string): { uri: string; text: string } => {
  const path = join(examples, name);
  return { uri: pathToFileURL(path).href, text: readFileSync(path, "utf8") };
};
let client: TestClient;
beforeEach(async () => {
  client = await TestClient.start();
});
afterEach(async () => {
  expect(await client.stop()).toBe(0);
});

describe("language server", () => {
  it("shows kernels, bytes and commands above a compiled function", async () => {
    const { uri, text } = file("rms_norm.py");
    await client.open(uri, text);
    const lenses = await client.lenses(uri);
    const line = text.split("\n").findIndex(l => l.startsWith("def rms_norm_block_amax"));
    expect(lenses.map(l => l.command.command)).toEqual([
      "fuselens.showKernels",
      "fuselens.benchmark",
      "fuselens.showOutputCode",
      "fuselens.showSchedulerGraph",
    ]);
    expect(Math.abs((lenses[0]?.range.start.line ?? -9) - line)).toBeLessThanOrEqual(1);
    expect(lenses[0]?.command.title).toMatch(/^\d+ kernels?, [\d.]+ MB/);
  });

  it("answers a hover with the kernel first", async () => {
    const { uri, text } = file("rms_norm.py");
    await client.open(uri, text);
    const line = text.split("\n").findIndex(l => l.includes("y = x * scale"));
    const hover = await client.hover(uri, line, text.split("\n")[line]?.indexOf("x * scale") ?? 0);
    expect(hover?.split("\n")[0]).toMatch(/^\*\*Kernel \d+\*\* `triton_\w+`: \d+ ops?, lines? .*MB, est\. /);
  });

  it("gives output code that names the kernels", async () => {
    const { uri, text } = file("transpose_sum.py");
    await client.open(uri, text);
    const shown = await client.execute<{ language: string; text: string }>("fuselens.showOutputCode", {
      uri,
      root: "sum_and_transpose",
    });
    expect(shown.language).toBe("python");
    expect(shown.text).toContain("@triton.jit");
  });

  it("benchmarks from a lens and shows the result in lens and hover", async () => {
    const text =
      'import torch\n\n\n@torch.compile\ndef f(x):\n    return torch.relu(x) + 1\n\n\nf(torch.randn(64, 1024, device="cuda"))\n';
    const uri = "file:///tmp/fuselens_bench_test.py";
    await client.open(uri, text);
    const lens = (await client.lenses(uri)).find(l => l.command.command === "fuselens.benchmark");
    expect(lens?.command.title).toBe("Benchmark");
    const result = await client.execute<{
      summary: string;
      graphs: { result: { graph: { medianUs: number; count: number; bytesPerSecond: number }; where: string } }[];
    }>("fuselens.benchmark", lens?.command.arguments[0]);
    const [graph] = result.graphs;
    expect(graph?.result.where).toBe("cpu, wasm");
    expect(graph?.result.graph.medianUs).toBeGreaterThan(0);
    expect(graph?.result.graph.count).toBeGreaterThan(0);
    expect(graph?.result.graph.bytesPerSecond).toBeGreaterThan(0);
    expect((await client.lenses(uri)).map(l => l.command.title).join(" ")).toContain("cpu, wasm");
    expect(await client.hover(uri, 5, 12)).toContain("measured (cpu, wasm)");
  });

  it("shows how matrix products are computed: the estimate at once, after a benchmark what was measured, without a reload", async () => {
    const text =
      'import torch\n\n\n@torch.compile(mode="max-autotune-no-cudagraphs")\ndef f(x, y):\n    return (x @ y).relu()\n\n\nf(torch.randn(96, 64, device="cuda"), torch.randn(64, 80, device="cuda"))\n';
    const uri = "file:///tmp/fuselens_choice_test.py";
    await client.open(uri, text);
    const hover = (): Promise<string | null | undefined> => client.hover(uri, 5, 14);
    expect(await hover()).toMatch(
      /\*\*Matrix products\*\*: .* \(estimate(: [\d.]+ us[^;]*)?; Benchmark measures \d ways\)/,
    );
    await client.execute("fuselens.benchmark", { uri });
    const after = await hover();
    expect(after).toMatch(/\*\*Matrix products\*\*: .* measured \(cpu, wasm\)/);
    const [, chosen = "", rest = ""] = /Matrix products\*\*: (.*) measured \(cpu, wasm\); (.*)/.exec(after ?? "") ?? [];
    // every other way took as long or longer
    const ratios = [...rest.matchAll(/\(([\d.]+)x\)/g)].map(m => Number(m[1]));
    expect(ratios.length).toBeGreaterThan(0);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
    // what is shown as chosen is what the output code does
    const shown = await client.execute<{ text: string }>("fuselens.showOutputCode", { uri });
    expect(shown.text.includes("extern_kernels.mm(")).toBe(chosen.includes("library"));
    expect(shown.text.includes("triton_tem_fused_mm_relu")).toBe(chosen.includes("template"));
  });

  it("offers sums in pieces and operands computed on the way in, with what they are estimated and then measured to gain", async () => {
    const text =
      'import torch\n\n\n@torch.compile(mode="max-autotune-no-cudagraphs")\ndef f(x, w, s):\n    return x @ (w.half() * s)\n\n\nf(torch.randn(4, 4096, device="cuda", dtype=torch.half), torch.zeros(4096, 1024, device="cuda", dtype=torch.int8), torch.randn(1024, device="cuda", dtype=torch.half))\n';
    const uri = "file:///tmp/fuselens_split_test.py";
    await client.open(uri, text);
    const hover = (): Promise<string | null | undefined> => client.hover(uri, 5, 14);
    // preset fuselens alone has them, so the default's hover says nothing of them
    expect(await hover()).not.toMatch(/(pointers|split_\d+)_prologue/);
    const configure = (fuselens: object) =>
      client.notify("workspace/didChangeConfiguration", { settings: { fuselens } });
    await configure({ preset: "fuselens" });
    try {
      expect(await hover()).toMatch(
        /template `split_16_prologue` \(estimate: [\d.]+ us, the library's kernels [\d.]+ us \([\d.]+x\); Benchmark measures \d ways\)/,
      );
      await client.execute("fuselens.benchmark", { uri });
      const after = (await hover()) ?? "";
      for (const way of ["pointers", "split_8", "pointers_prologue", "split_8_prologue"])
        expect(after).toContain(`template \`${way}\` `);
      expect(after).toContain("measured (cpu, wasm)");
    } finally {
      await configure({});
    }
  }, 150_000);

  it("reports a syntax error in one function and still shows the kernels of the others", async () => {
    const text =
      'import torch\n\n\ndef broken(x:\n    return x +\n\n\n@torch.compile\ndef f(x):\n    return x.sin() + 1\n\n\nf(torch.randn(64, device="cuda"))\n';
    const uri = "file:///tmp/fuselens_syntax_test.py";
    await client.open(uri, text);
    const { diagnostics } = await client.diagnostics(uri, 1);
    expect(diagnostics.some(d => d.severity === 1 && d.range.start.line <= 5)).toBe(true);
    expect((await client.lenses(uri)).some(l => l.command.title.startsWith("1 kernel"))).toBe(true);
  });

  it("answers about the newest version only", async () => {
    const { uri, text } = file("rms_norm.py");
    await client.open(uri, text);
    for (let v = 2; v <= 12; v++) await client.change(uri, `${text}\n# ${v}\n`, v);
    const last = await client.diagnostics(uri, 12);
    expect(last.version).toBe(12);
    const versions = client.published.filter(d => d.uri === uri).map(d => d.version ?? 0);
    expect([...versions].sort((a, b) => a - b)).toEqual(versions);
  });

  it("refuses a command with wrong arguments by an error, not by an end", async () => {
    await expect(client.execute("fuselens.showOutputCode", 7)).rejects.toThrow();
    await expect(client.execute("fuselens.nothing", { uri: "file:///x.py" })).rejects.toThrow();
    await expect(client.execute("fuselens.showOutputCode", { uri: "file:///not_open.py" })).rejects.toThrow(
      /no open document/,
    );
  });
});
