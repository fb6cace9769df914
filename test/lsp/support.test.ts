// What helps when something is wrong: the log by levels, what is there and what is missing, a bug report.
import { mkdtempSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { TestClient } from "./client";

const TEXT =
  'import torch\n\n\n@torch.compile\ndef f(x):\n    return x.sin() + 1\n\n\nf(torch.randn(8, device="cuda"))\n';
const [ERROR, INFO, DEBUG] = [1, 3, 5];

interface Shown {
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

let client: TestClient;
afterEach(() => client.stop());

const folder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "fuselens-secret-folder-")));

async function opened(settings: unknown, path = join(folder(), "m.py")): Promise<string> {
  client = await TestClient.start({ initializationOptions: settings });
  const uri = pathToFileURL(path).href;
  await client.open(uri, TEXT);
  await client.lenses(uri);
  return uri;
}

const command = <T>(name: string, argument: unknown): Promise<T> => client.execute<T>(name, argument);

describe("the log", () => {
  it("says which decisions are shown and why, and no more, unless it is asked to", async () => {
    await opened({});
    expect(client.logged.join("\n")).toContain("preset nightly-2026-11 (the newest");
    expect(new Set(client.loggedTypes)).toEqual(new Set([INFO]));
  });

  it("tells each analysis and command with its time at level debug", async () => {
    const uri = await opened({ log: { level: "debug" } });
    await command("fuselens.kernelLines", { uri });
    await expect.poll(() => client.logged.join("\n")).toMatch(/fuselens\.kernelLines took \d+ ms/);
    expect(client.logged.join("\n")).toMatch(/version 1 of m\.py analysed in \d+ ms/);
    expect(client.loggedTypes).toContain(DEBUG);
  });

  it("holds failures alone at level error", async () => {
    await opened({ log: { level: "error" } });
    expect(client.loggedTypes.filter(t => t !== ERROR)).toEqual([]);
  });
});

describe("fuselens.doctor", () => {
  it("says what is there, and that a worker needs trust", async () => {
    await opened({ trusted: false });
    const { title, text } = await command<Shown>("fuselens.doctor", null);
    expect(title).toBe("fuselens_doctor.txt");
    expect(text).toContain(`ok       Node: ${process.versions.node}`);
    expect(text).toMatch(/ok {7}worker: none in an untrusted workspace/);
  });
});

describe("fuselens.bugReport", () => {
  it("holds versions, the editor and the document, and no name of a folder", async () => {
    const path = join(folder(), "m.py");
    const uri = await opened({}, path);
    const { language, text } = await command<Shown>("fuselens.bugReport", { uri });
    expect(language).toBe("markdown");
    expect(text).toContain("Test Editor 1.2");
    expect(text).toContain(TEXT);
    for (const name of ["fuselens-secret-folder", homedir(), process.cwd()]) expect(text).not.toContain(name);
  });

  it("says that the file has to be open", async () => {
    await opened({});
    await expect(command("fuselens.bugReport", { uri: "file:///not/open.py" })).rejects.toThrow("open the file first");
  });
});
