// Programs of the user never run: each planted piece of code would leave a mark if anything executed it.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestClient } from "../lsp/client";

const root = join(__dirname, "..", "..");
const program = join(root, "server", "bin", "fuselens.cjs");

/** a workspace in which every place that Python would execute leaves a mark of its own */
function planted(): { folder: string; mark: (name: string) => string; path: string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), "fuselens-planted-"));
  const mark = (name: string): string => join(folder, `mark_${name}`);
  const leave = (name: string): string => `open(${JSON.stringify(mark(name))}, "w").write("x")`;
  const put = (path: string, text: string): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const model = [
    "import os, subprocess, torch, helper, pkg",
    leave("module"),
    `os.system("touch ${mark("system")}")`,
    `subprocess.run(["touch", ${JSON.stringify(mark("subprocess"))}])`,
    `eval(${JSON.stringify(leave("eval"))})`,
    `exec(${JSON.stringify(leave("exec"))})`,
    `__import__("os").system("touch ${mark("import")}")`,
    `def decorator(f):\n    ${leave("decorator")}\n    return f`,
    `def default():\n    ${leave("default")}\n    return 1`,
    "class Meta(type):",
    `    def __new__(m, *a):\n        ${leave("metaclass")}\n        return super().__new__(m, *a)`,
    "class M(torch.nn.Module, metaclass=type):",
    `    def __init__(self):\n        super().__init__()\n        ${leave("init")}`,
    `    def __del__(self):\n        ${leave("del")}`,
    `    def forward(self, x):\n        ${leave("forward")}\n        return x + 1`,
    "@torch.compile",
    "@decorator",
    `def f(x, n=default()):\n    ${leave("function")}\n    return x.sin() + n`,
    "torch.compile(M())(torch.randn(8, device='cuda'))",
    "f(torch.randn(8, device='cuda'))",
    "",
  ].join("\n");
  const path = put("model.py", model);
  put("helper.py", `${leave("helper")}\n`);
  put("pkg/__init__.py", `${leave("package")}\n`);
  for (const name of ["setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "torch.py", "triton.py"])
    put(name, `${leave(name)}\n`);
  put(".venv/lib/python3.11/site-packages/evil.pth", `import os; ${leave("pth")}\n`);
  put(".venv/lib/python3.11/site-packages/sitecustomize.py", `${leave("venv_sitecustomize")}\n`);
  put(".venv/lib/python3.11/site-packages/torch/__init__.py", `${leave("venv_torch")}\n`);
  for (const place of ["bin", ".venv/bin", "."]) {
    for (const name of ["python", "python3", "git", "node", "triton"]) {
      const tool = put(join(place, name), `#!/bin/sh\ntouch ${mark(`tool_${place.replace(/\W/g, "_")}_${name}`)}\n`);
      chmodSync(tool, 0o755);
    }
  }
  const env = {
    ...process.env,
    PATH: [join(folder, "bin"), folder, process.env["PATH"] ?? ""].join(delimiter),
    PYTHONSTARTUP: join(folder, "setup.py"),
    PYTHONPATH: folder,
  };
  return { folder, mark, path, env };
}

const marks = (folder: string): string[] =>
  execFileSync("find", [folder, "-name", "mark_*"], { encoding: "utf8" }).split("\n").filter(Boolean);

describe("code of the user", () => {
  it.each([
    ["explain", ["--json"]],
    ["run", []],
    ["emit", ["--stage", "output_code"]],
    ["values", ["--json"]],
    ["report", []],
  ])("is not run by fuselens %s", (command, options) => {
    const { folder, path, env } = planted();
    const { status } = spawnSync(process.execPath, [program, command, path, ...options], { cwd: folder, env });
    expect([0, 2]).toContain(status);
    expect(marks(folder)).toEqual([]);
  });

  it("is not run by the language server", async () => {
    const { folder, path } = planted();
    const uri = `file://${path}`;
    const client = await TestClient.start({ folders: [`file://${folder}`] });
    await client.connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId: "python", version: 1, text: execFileSync("cat", [path], { encoding: "utf8" }) },
    });
    const lenses = await client.connection.sendRequest("textDocument/codeLens", { textDocument: { uri } });
    expect(lenses).not.toBeNull();
    client.child.kill();
    expect(marks(folder)).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });
});
