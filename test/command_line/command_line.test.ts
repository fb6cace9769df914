// What every command promises a script that calls it: its exit status, and one clear line for a wrong call.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const program = join(__dirname, "..", "..", "server", "bin", "fuselens.cjs");
const folder = mkdtempSync(join(tmpdir(), "fuselens-commands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function fuselens(...args: string[]): { status: number | null; out: string; err: string } {
  const r = spawnSync(process.execPath, [program, ...args], { encoding: "utf8", cwd: folder });
  return { status: r.status, out: r.stdout, err: r.stderr };
}

const FINE = file(
  "fine.py",
  "import torch\n\n@torch.compile\ndef f(x):\n    return x.sin() + 1\n\nf(torch.randn(8, 8))\n",
);
const FAILS = file(
  "fails.py",
  "import torch\n\ntorch.compile(lambda x: x + 1)(torch.randn(8))\nraise ValueError('no')\n",
);
const WARNS = file(
  "warns.py",
  "import torch\n\n@torch.compile\ndef f(x):\n    print(x.sum())\n    return x + 1\n\nf(torch.randn(8))\n",
);

describe("the exit status", () => {
  it.each([["explain"], ["explain", "--json"], ["run"], ["values", "--json"], ["emit", "--stage", "output_code"]])(
    "of %s is 0 for a file without errors and 1 for one with an error, whose text is printed all the same",
    (command, ...options) => {
      expect(fuselens(command, FINE, ...options).status).toBe(0);
      const failed = fuselens(command, FAILS, ...options);
      expect(failed.status).toBe(1);
      expect(failed.out + failed.err).toMatch(/ValueError/);
    },
  );

  it("is 0 where there are warnings alone", () => {
    const { status, out } = fuselens("explain", WARNS, "--json");
    expect(JSON.parse(out).graph_breaks.length).toBeGreaterThan(0);
    expect(status).toBe(0);
  });

  it("of values --verify is 0 where fused and unfused agree", () => {
    const { status, out } = fuselens("values", FINE, "--verify");
    expect(status).toBe(0);
    expect(out).toMatch(
      /^f \(inference\), fused against unfused:\n {2}output 0 \(float32\): agrees: .* \(tolerance 0\.001\)\n/,
    );
    expect(out).toContain("the only output agrees\n");
    const json = fuselens("values", FINE, "--verify", "--json");
    expect(JSON.parse(json.out).graphs[0].outputs).toMatchObject([
      { dtype: "float32", tolerance: 0.001, agrees: true },
    ]);
  });

  it.each([
    ["no command", ["explane", FINE], /no command 'explane'/],
    ["nearly a command", ["exlpain", FINE], /no command 'exlpain': did you mean 'explain'\?/],
    ["nearly an option", ["explain", FINE, "--jsn"], /no option '--jsn': did you mean '--json'\?/],
    ["no file", ["explain"], /a FILE is missing/],
    ["two files", ["explain", FINE, WARNS], /one argument too many: .*warns\.py/],
    ["a log of any name", ["check", FINE, file("log.txt", "nothing")], /the log holds no compiled graph/],
    ["no such file", ["run", "nothing.py"], /no such file: nothing\.py/],
    ["an unknown option", ["run", FINE, "--verbosely"], /no option '--verbosely': there are --out, --preset, --config/],
    [
      "a value of another type",
      ["explain", FINE, "--config", "max_fusion_size=abc"],
      /--config max_fusion_size=abc: .*max_fusion_size takes a whole number, not 'abc'/,
    ],
    [
      "a misspelt option",
      ["explain", FINE, "--config", "max_fusion_sise=3"],
      /no option 'max_fusion_sise': did you mean 'max_fusion_size'\?/,
    ],
  ])("of a wrong call (%s) is 2, with one line that says why", (_, args, message) => {
    const { status, out, err } = fuselens(...args);
    expect(status).toBe(2);
    expect(out).toBe("");
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toMatch(message);
  });

  it("of a benchmark that finds no worker is 2, with one line that says where none answers", () => {
    const keys = fuselens("bench", FINE, "--worker", "tcp://127.0.0.1:1");
    expect(keys.status).toBe(2);
    expect(keys.err).toMatch(/tcp:\/\/127\.0\.0\.1:1 is reached with keys only; .* \[no-worker\]/);
    const nobody = fuselens("bench", FINE, "--worker", `ipc://${join(folder, "nobody.sock")}`);
    expect(nobody.status).toBe(2);
    expect(nobody.err.trim().split("\n")).toHaveLength(1);
    expect(nobody.err).toMatch(/no worker answers at ipc:.*nobody\.sock within 15 s; see whether one runs there/);
  });
});

it.each([
  ["explain", "--help"],
  ["help", "explain"],
  ["explain", "x.py", "-h"],
])("the help of a command is its own: %s %s", (...args) => {
  const { status, out } = fuselens(...args);
  expect(out).toMatch(/^usage: fuselens explain FILE \[options\]/);
  expect(out).toContain("--json");
  expect(out).not.toContain("--verify");
  expect(status).toBe(0);
});

it("an option of Inductor's that no decision rests on is told and does no harm", () => {
  const { status, err } = fuselens("explain", FINE, "--config", "compile_threads=4");
  expect(status).toBe(0);
  expect(err).toMatch(/no decision rests on torch\._inductor\.config\.compile_threads/);
});
