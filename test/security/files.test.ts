// Which files a program can make the server read.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandReader, readSource, workspaceReader } from "../../server/src/source_files";

const root = mkdtempSync(join(tmpdir(), "fuselens-files-"));
const workspace = join(root, "workspace");
mkdirSync(join(workspace, "pkg"), { recursive: true });
mkdirSync(join(root, "outside"));
writeFileSync(join(root, "outside", "secret.py"), "token = 1\n");
writeFileSync(join(workspace, "model.py"), "x = 1\n");
writeFileSync(join(workspace, "pkg", "__init__.py"), "");
writeFileSync(join(workspace, "pkg", "a.py"), "y = 1\n");
symlinkSync(join(root, "outside", "secret.py"), join(workspace, "linked.py"));
symlinkSync(join(root, "outside"), join(workspace, "folder"));
symlinkSync(join(workspace, "pkg", "a.py"), join(workspace, "alias.py"));
symlinkSync(join(workspace, "loop.py"), join(workspace, "loop.py"));

const readers = {
  "an editor's document": workspaceReader([workspace], join(workspace, "model.py")),
  "a file on the command line": commandReader(workspace, join(workspace, "model.py")),
};

describe.each(Object.entries(readers))("reads of %s", (_reader, read) => {
  it.each([
    ["its own folder", join(workspace, "model.py"), "x = 1\n"],
    ["a package", join(workspace, "pkg", "a.py"), "y = 1\n"],
    ["a link that stays inside", join(workspace, "alias.py"), "y = 1\n"],
    ["a path with dots that stays inside", join(workspace, "pkg", "..", "model.py"), "x = 1\n"],
  ])("reach %s", (_, path, text) => {
    expect(read(path)).toBe(text);
  });

  it.each([
    ["a parent", join(workspace, "..", "outside", "secret.py")],
    ["an absolute path", join(root, "outside", "secret.py")],
    ["a link to a file outside", join(workspace, "linked.py")],
    ["a link to a folder outside", join(workspace, "folder", "secret.py")],
    ["a link to itself", join(workspace, "loop.py")],
    ["a folder of a like name", `${workspace}_2/x.py`],
    ["a system file", "/etc/passwd"],
  ])("do not reach %s", (_, path) => {
    expect(read(path)).toBeUndefined();
  });
});

describe("a document's reads", () => {
  it("reach the document itself, wherever it lies: it was named by its reader", () => {
    const linked = join(workspace, "linked.py");
    expect(commandReader(workspace, linked)(linked)).toBe("token = 1\n");
    expect(commandReader(workspace, linked)(join(workspace, "folder", "secret.py"))).toBeUndefined();
  });

  it("of a file on the command line reach its repository, wherever the command runs", () => {
    const repository = join(root, "repository");
    mkdirSync(join(repository, "examples", "one"), { recursive: true });
    writeFileSync(join(repository, "setup.py"), "");
    writeFileSync(join(repository, "lib.py"), "z = 1\n");
    writeFileSync(join(repository, "examples", "one", "README.md"), "");
    const read = commandReader(join(root, "outside"), join(repository, "examples", "one", "train.py"));
    expect(read(join(repository, "lib.py"))).toBe("z = 1\n");
    expect(read(join(workspace, "model.py"))).toBeUndefined();
  });

  it("of a document in no folder reach its own package and no further", () => {
    const alone = workspaceReader([], join(workspace, "pkg", "a.py"));
    expect(alone(join(workspace, "model.py"))).toBe("x = 1\n");
    expect(alone(join(root, "outside", "secret.py"))).toBeUndefined();
  });

  it("do not wait for a pipe, nor fill the memory from a device", () => {
    execFileSync("mkfifo", [join(workspace, "pipe.py")]);
    symlinkSync("/dev/zero", join(workspace, "zero.py"));
    expect(readSource(join(workspace, "pipe.py"))).toBeUndefined();
    expect(readSource(join(workspace, "zero.py"))).toBeUndefined();
  });
});
