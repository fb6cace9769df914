// The server under clients of different abilities: encodings, pulled diagnostics, virtual documents, notebooks, folders.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type Location, type Range, type StartOptions, TestClient } from "./client";
import { find, SUM_AND_COPY, TWO_SUMS } from "./fixtures";

let client: TestClient | undefined;
const folders: string[] = [];
afterEach(async () => {
  expect(await client?.stop()).toBe(0);
  client = undefined;
  for (const f of folders.splice(0)) rmSync(f, { recursive: true, force: true });
});

async function start(options: StartOptions = {}): Promise<TestClient> {
  client = await TestClient.start(options);
  return client;
}

function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), "fuselens-test-"));
  folders.push(path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

describe("position encodings", () => {
  const text =
    'import torch\n\n\n@torch.compile\ndef f(x):\n    𝒳é = "é𝒳"; y = torch.sin(x) + 1\n    return y\n\n\nf(torch.randn(8, device="cuda"))\n';
  const line = 5;
  const before = text.split("\n")[line]?.split("torch.sin")[0] ?? "";
  const units: Record<string, (s: string) => number> = {
    "utf-8": s => Buffer.byteLength(s, "utf8"),
    "utf-16": s => s.length,
    "utf-32": s => [...s].length,
  };
  for (const encoding of ["utf-8", "utf-16", "utf-32"]) {
    it(`are spoken in ${encoding} in both directions, edits included`, async () => {
      const c = await start({ capabilities: { general: { positionEncodings: [encoding, "utf-16"] } } });
      expect(c.capabilities["positionEncoding"]).toBe(encoding);
      const uri = "file:///tmp/fuselens_encoding.py";
      await c.open(uri, text);
      const count = units[encoding] ?? (() => 0);
      const at = count(before);
      const hover = await c.at<{ range: Range; contents: { value: string } }>("textDocument/hover", uri, line, at + 2);
      expect(hover.contents.value).toContain("aten.sin");
      expect(hover.range.start).toEqual({ line, character: at });
      // "sin" becomes "cos": the range is in the client's units too
      const from = at + "torch.".length;
      await c.edit(uri, 2, { start: { line, character: from }, end: { line, character: from + 3 } }, "cos");
      expect(await c.hover(uri, line, at + 2)).toContain("aten.cos");
    });
  }
});

describe("pulled diagnostics", () => {
  it("are given on request, unchanged where nothing changed, and not pushed as well", async () => {
    const c = await start({
      capabilities: { textDocument: { diagnostic: {} }, workspace: { diagnostics: { refreshSupport: true } } },
    });
    expect(c.capabilities["diagnosticProvider"]).toMatchObject({ interFileDependencies: true });
    const uri = "file:///tmp/fuselens_pull.py";
    await c.open(uri, SUM_AND_COPY);
    const textDocument = { uri };
    const first = await c.request<{ kind: string; resultId: string; items: { message: string }[] }>(
      "textDocument/diagnostic",
      { textDocument },
    );
    expect(first.kind).toBe("full");
    expect(first.items.some(i => i.message.startsWith("Not fused"))).toBe(true);
    const again = await c.request<{ kind: string }>("textDocument/diagnostic", {
      textDocument,
      previousResultId: first.resultId,
    });
    expect(again.kind).toBe("unchanged");
    expect(c.published).toEqual([]);
  });
});

describe("virtual documents", () => {
  it("are served to a client that can show them, and refreshed after an edit", async () => {
    const c = await start({ capabilities: { workspace: { textDocumentContent: {} } } });
    const uri = "file:///tmp/fuselens_virtual.py";
    await c.open(uri, TWO_SUMS);
    const { line, character } = find(TWO_SUMS, "x.sum(dim=1)");
    const [target] = await c.at<Location[]>("textDocument/definition", uri, line, character + 3);
    expect(target?.uri).toMatch(/^fuselens:\//);
    const params = { uri: target?.uri };
    const { text } = await c.request<{ text: string }>("workspace/textDocumentContent", params);
    expect(text.split("\n").slice(target?.range.start.line).join("\n")).toContain("def triton_");
    const same = await c.request<{ text: string }>("fuselens/textDocumentContent", params);
    expect(same.text).toBe(text);
    await c.change(uri, TWO_SUMS.replace("rows = x.sum(dim=1)", "rows = x.amax(dim=1)"), 2);
    await c.diagnostics(uri, 2);
    await expect.poll(() => c.refreshed).toContain("workspace/textDocumentContent/refresh");
    const changed = await c.request<{ text: string }>("workspace/textDocumentContent", params);
    expect(changed.text).not.toBe(text);
  });
});

describe("notebooks", () => {
  const cell = (n: number): string => `vscode-notebook-cell:/tmp/nb.ipynb#${n}`;
  const cells = [
    "%matplotlib inline\nimport torch",
    "@torch.compile\ndef f(x):\n    return torch.sin(x) + 1",
    'f(torch.randn(64, device="cuda"))',
  ];

  it("run cell after cell as one module, and answer in the cell that was asked", async () => {
    const c = await start();
    const uri = "file:///tmp/nb.ipynb";
    await c.notify("notebookDocument/didOpen", {
      notebookDocument: {
        uri,
        notebookType: "jupyter-notebook",
        version: 1,
        cells: cells.map((_, i) => ({ kind: 2, document: cell(i) })),
      },
      cellTextDocuments: cells.map((text, i) => ({ uri: cell(i), languageId: "python", version: 1, text })),
    });
    expect(await c.hover(cell(1), 2, 13)).toMatch(/^\*\*Kernel 1\*\*.*line \d/);
    const lenses = await c.lenses(cell(1));
    expect(lenses[0]?.range.start.line).toBeLessThanOrEqual(1);
    expect(lenses[0]?.command.title).toMatch(/^1 kernel/);
    expect(await c.lenses(cell(0))).toEqual([]);
    await c.notify("notebookDocument/didChange", {
      notebookDocument: { uri, version: 2 },
      change: {
        cells: {
          textContent: [
            { document: { uri: cell(1), version: 2 }, changes: [{ text: cells[1]?.replace("sin", "cos") }] },
          ],
        },
      },
    });
    expect(await c.hover(cell(1), 2, 13)).toContain("aten.cos");
    await c.notify("notebookDocument/didClose", {
      notebookDocument: { uri },
      cellTextDocuments: cells.map((_, i) => ({ uri: cell(i) })),
    });
    expect(await c.hover(cell(1), 2, 13)).toBeNull();
  });
});

describe("workspaces", () => {
  it("take the preset of the torch version in the folder's environment, and follow added folders", async () => {
    const old = folder({ ".venv/lib/python3.11/site-packages/torch-2.11.0.dist-info/METADATA": "" });
    const c = await start({
      folders: [pathToFileURL(folder({})).href],
      capabilities: { workspace: { workspaceFolders: true } },
    });
    await expect.poll(() => c.logged.join("\n")).toContain("preset nightly-2026-11 (the newest");
    await c.notify("workspace/didChangeWorkspaceFolders", {
      event: { added: [{ uri: pathToFileURL(old).href, name: "old" }], removed: [] },
    });
    await expect.poll(() => c.logged.join("\n")).toContain("preset torch-2.11 (nearest to torch 2.11.0");
  });

  it("analyse a document anew when a file that it imports changes on disk", async () => {
    const path = folder({ "helper.py": "import torch\n\n\ndef g(x):\n    return torch.sin(x)\n" });
    const c = await start({ capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } } });
    await expect.poll(() => c.registered.map(r => r.method)).toContain("workspace/didChangeWatchedFiles");
    const text =
      'import torch\nfrom helper import g\n\n\n@torch.compile\ndef f(x):\n    return g(x) + 1\n\n\nf(torch.randn(8, device="cuda"))\n';
    const uri = pathToFileURL(join(path, "main.py")).href;
    writeFileSync(join(path, "main.py"), text);
    await c.open(uri, text);
    expect(await c.hover(uri, 6, 11)).toContain("aten.");
    const code = async (): Promise<string> =>
      (await c.execute<{ text: string }>("fuselens.showOutputCode", { uri })).text;
    expect(await code()).toContain("sin");
    writeFileSync(join(path, "helper.py"), "import torch\n\n\ndef g(x):\n    return torch.cos(x)\n");
    await c.notify("workspace/didChangeWatchedFiles", {
      changes: [{ uri: pathToFileURL(join(path, "helper.py")).href, type: 2 }],
    });
    await expect.poll(code).toContain("cos");
  });

  it("follow edits of an imported document that is open", async () => {
    const path = folder({ "helper.py": "import torch\n\n\ndef g(x):\n    return torch.sin(x)\n" });
    const c = await start();
    const text =
      'import torch\nfrom helper import g\n\n\n@torch.compile\ndef f(x):\n    return g(x) + 1\n\n\nf(torch.randn(8, device="cuda"))\n';
    const [main, helper] = ["main.py", "helper.py"].map(n => pathToFileURL(join(path, n)).href) as [string, string];
    await c.open(helper, "import torch\n\n\ndef g(x):\n    return torch.tan(x)\n");
    await c.open(main, text);
    const code = async (): Promise<string> =>
      (await c.execute<{ text: string }>("fuselens.showOutputCode", { uri: main })).text;
    await expect.poll(code).toContain("tan");
    await c.change(helper, "import torch\n\n\ndef g(x):\n    return torch.cos(x)\n", 2);
    await expect.poll(code).toContain("cos");
  });

  it("pull settings from a client that is asked rather than tells", async () => {
    const c = await start({
      initializationOptions: undefined,
      capabilities: { workspace: { configuration: true } },
      configuration: { preset: "torch-2.11", codeLens: { enabled: false } },
    });
    await expect.poll(() => c.logged.join("\n")).toContain("preset torch-2.11 (from the settings)");
    const uri = "file:///tmp/fuselens_pulled.py";
    await c.open(uri, TWO_SUMS);
    expect(await c.lensPlaces(uri)).toEqual([]);
  });

  it("recompile under changed options", async () => {
    const c = await start();
    const uri = "file:///tmp/fuselens_configured.py";
    await c.open(uri, TWO_SUMS);
    const title = async (): Promise<string> => (await c.lenses(uri))[0]?.command.title ?? "";
    const before = await title();
    await c.notify("workspace/didChangeConfiguration", {
      settings: { fuselens: { config: { "triton.mix_order_reduction": false } } },
    });
    expect(await title()).not.toBe(before);
  });

  it("are told once of settings that can't be meant", async () => {
    const c = await start();
    const told = (): unknown[] => c.notified.filter(n => n.method === "window/showMessage").map(n => n.params);
    const settings = { fuselens: { config: { max_fusion_size: "abc" } } };
    await c.notify("workspace/didChangeConfiguration", { settings });
    await c.notify("workspace/didChangeConfiguration", { settings });
    const uri = "file:///tmp/fuselens_wrong_settings.py";
    await c.open(uri, TWO_SUMS);
    expect((await c.lenses(uri)).length).toBeGreaterThan(0);
    const message = expect.stringMatching(/max_fusion_size takes a whole number, not 'abc'/);
    expect(told()).toEqual([{ type: 2, message }]);
  });

  it("keep the worker that they have where another one does not answer", async () => {
    const c = await start({});
    const uri = "file:///tmp/fuselens_worker_choice.py";
    await c.open(uri, TWO_SUMS);
    const nobody = { endpoint: "ipc:///tmp/fuselens-nobody-listens.sock", keys: null };
    await expect(c.execute("fuselens.selectWorker", nobody)).rejects.toThrow(/no worker answers at ipc:/);
    const { summary } = (await c.execute("fuselens.benchmark", { uri })) as { readonly summary: string };
    expect(summary).toContain("cpu");
  });

  it("refuse a worker where the workspace is not trusted, analysis apart", async () => {
    const c = await start({ initializationOptions: { trusted: false } });
    const uri = "file:///tmp/fuselens_untrusted.py";
    await c.open(uri, TWO_SUMS);
    expect((await c.lenses(uri)).length).toBeGreaterThan(0);
    await expect(c.execute("fuselens.benchmark", { uri })).rejects.toThrow(/not trusted/);
    await expect(c.execute("fuselens.selectWorker", { endpoint: "tcp://127.0.0.1:1" })).rejects.toThrow(/not trusted/);
  });

  it("open what a command answers where the client can show documents", async () => {
    const c = await start({ capabilities: { window: { showDocument: { support: true } } } });
    const uri = "file:///tmp/fuselens_shown.py";
    await c.open(uri, TWO_SUMS);
    await c.execute("fuselens.showKernels", { uri, root: "two_sums" });
    expect(c.shown[0]).toMatch(/^file:.*two_sums\.txt$/);
  });
});
