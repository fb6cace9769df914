// `fuselens diff` over a small git history: a commit that adds a kernel fails, one that saves a pass over memory passes
// and says so, one that only moves lines says that nothing differs.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const fuselens = join(__dirname, "..", "..", "server", "bin", "fuselens.cjs");
const repository = mkdtempSync(join(tmpdir(), "fuselens-history-"));

const model = (body: string): string => `import torch


@torch.compile
def f(x, y):
${body}


f(torch.randn(1024, 1024, device="cuda"), torch.randn(1024, 1024, device="cuda"))
`;

const HISTORY: Record<string, string> = {
  one_kernel: model("    return torch.relu(x + y)"),
  two_kernels: model("    return torch.relu(x + y).sum(dim=0).cumsum(0)"),
  two_passes: model("    a = x.sum(dim=0)\n    print('between')\n    return a, x + y"),
  one_pass: model("    print('before')\n    return torch.relu(x) * y"),
  moved: model("    # the same, one line below\n    print('before')\n    return torch.relu(x) * y"),
  fails: model("    return torch.relu(x + y[:, :3])"),
};

const git = (...args: string[]): string => execFileSync("git", args, { cwd: repository, encoding: "utf8" });

function diff(...args: string[]): { status: number | null; out: string } {
  const run = spawnSync(process.execPath, [fuselens, "diff", ...args], { cwd: repository, encoding: "utf8" });
  return { status: run.status, out: run.stdout + run.stderr };
}

describe("diff in a git history", () => {
  beforeAll(() => {
    git("init", "-q");
    git("config", "user.email", "test@fuselens.invalid");
    git("config", "user.name", "test");
    for (const [tag, text] of Object.entries(HISTORY)) {
      writeFileSync(join(repository, "model.py"), text);
      git("add", "-A");
      git("commit", "-q", "-m", tag);
      git("tag", tag);
    }
  });
  afterAll(() => rmSync(repository, { recursive: true, force: true }));

  it("fails a commit that adds a kernel, and names it", () => {
    const { status, out } = diff("one_kernel", "two_kernels", "--fail-on", "kernels");
    expect(out).toMatch(/model\.py {2}\S+ \(inference\): kernels 1 -> [2-9]/);
    expect(out).toContain("worse: kernels");
    expect(status).toBe(1);
  });

  it("passes the same commit where kernels are not looked at", () => {
    expect(diff("one_kernel", "two_kernels", "--fail-on", "breaks").status).toBe(0);
  });

  it("passes a commit that saves a pass over memory, and says so", () => {
    const { status, out } = diff("two_passes", "one_pass", "--fail-on", "kernels,bytes,breaks");
    expect(out).toMatch(/better: .*bytes/);
    expect(out).not.toContain("worse");
    expect(status).toBe(0);
  });

  it("fails a commit that breaks the graph", () => {
    const { status, out } = diff("one_kernel", "two_passes", "model.py", "--fail-on", "breaks");
    expect(out).toContain("worse: breaks");
    expect(status).toBe(1);
  });

  it("says that nothing differs where only lines moved", () => {
    const { status, out } = diff("one_pass", "moved", "--fail-on", "kernels,bytes,breaks");
    expect(out).toContain("no kernel and no byte differs");
    expect(status).toBe(0);
  });

  it("fails where either side has an error, and says of which: what did not compile can't be compared", () => {
    for (const sides of [
      ["fails", "one_kernel"],
      ["one_kernel", "fails"],
    ]) {
      const { status, out } = diff(...sides);
      expect(out).toMatch(/^fails: model\.py:\d+:\d+: error: RuntimeError: The size of tensor a .* \[python-error\]$/m);
      expect(status).toBe(1);
    }
    const json = JSON.parse(diff("one_kernel", "fails", "--json").out);
    expect(json.errors).toMatchObject([{ revision: "fails", file: "model.py", severity: "error" }]);
  });

  it("does nothing where there is nothing to compare", () => {
    const missing = diff("one_kernel", "moved", "other.py");
    expect(missing.out).toContain("neither one_kernel nor moved has a file other.py");
    expect(missing.status).toBe(2);
    const empty = mkdtempSync(join(repository, "empty-"));
    const nothing = diff(empty, empty);
    expect(nothing.out).toContain("has a Python file or a notebook");
    expect(nothing.status).toBe(2);
  });

  it("takes a revision that is none as bad input", () => {
    const { status, out } = diff("no_such_revision", "moved");
    expect(out).toContain("'no_such_revision' is no file, no folder and no git revision");
    expect(status).toBe(2);
  });
});
