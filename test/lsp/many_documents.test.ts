// Fifty editors' worth of documents in one server: all are edited at once, and each answer is about its own last version.
import { describe, expect, it } from "vitest";
import { TestClient } from "./client";

const text = (i: number, ops: number): string =>
  `import torch\n\n\n@torch.compile\ndef f${i}(x):\n${"    x = x.sin() * 2\n".repeat(ops)}    return x\n\n\nf${i}(torch.randn(64, ${8 + i}, device="cuda"))\n`;

describe("fifty documents", () => {
  it("are each answered in their last version", { timeout: 300_000 }, async () => {
    const client = await TestClient.start();
    const uris = Array.from({ length: 50 }, (_, i) => `file:///many/m${i}.py`);
    for (const [i, uri] of uris.entries())
      await client.connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "python", version: 1, text: text(i, 1) },
      });
    for (let version = 2; version <= 4; version++) {
      for (const [i, uri] of uris.entries())
        await client.connection.sendNotification("textDocument/didChange", {
          textDocument: { uri, version },
          contentChanges: [{ text: text(i, version) }],
        });
    }
    const lenses = await Promise.all(
      uris.map(uri =>
        client.connection.sendRequest<{ data: { uri: string; version: number; root: string } }[]>(
          "textDocument/codeLens",
          { textDocument: { uri } },
        ),
      ),
    );
    for (const [i, found] of lenses.entries()) {
      expect(found.length).toBeGreaterThan(0);
      for (const { data } of found) expect(data).toMatchObject({ uri: uris[i], version: 4, root: `f${i}` });
    }
    client.child.kill();
  });
});
