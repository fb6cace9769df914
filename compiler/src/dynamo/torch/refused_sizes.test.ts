// Numbers that are no sizes: torch's own errors, not the analysis's.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";

function messageOf(expression: string): string {
  const source = `import torch\nh = 10 ** 400\n${expression}\n`;
  const { diagnostics } = new Session(() => source, defaultSessionOptions()).run("/m.py");
  return diagnostics
    .filter(d => d.severity === "error")
    .map(d => d.message)
    .join("\n");
}

describe("sizes that no tensor has", () => {
  it.each(["torch.empty(h)", "torch.zeros(4).view(h, 4)", "torch.zeros(4, 4).sum(h)", "torch.zeros(4).roll(2 ** 64)"])(
    "%s overflows an int64",
    expression => {
      expect(messageOf(expression)).toBe("RuntimeError: Overflow when unpacking long");
    },
  );

  it.each(["size(0)", "stride(-1)", "size(dim=0)"])("a tensor of no dimensions has no %s", e => {
    expect(messageOf(`torch.ones(3).sum().${e}`)).toMatch(
      /^IndexError: Dimension specified as -?\d but tensor has no dimensions$/,
    );
  });

  it.each(["torch.ones(3) * h", "torch.ones(3) - h", "torch.full((3,), h)"])("%s takes no number beyond 64 bits", e => {
    expect(messageOf(e)).toBe("OverflowError: int too big to convert");
    expect(messageOf(e.replace(/\bh\b/, "2 ** 63"))).toBe("");
  });

  it("bounds of slices are clamped, in and out of compiled functions", () => {
    const cut = (x: string) => `[${x}[:h].shape[0], ${x}[h:].shape[0], ${x}[-h:].shape[0], ${x}[::h].shape[0]]`;
    expect(messageOf(`x = torch.ones(5)\nassert ${cut("x")} == [5, 0, 5, 1]`)).toBe("");
    const body = "x[:h] + 1, x[h:] + 1, x[-h:] + 1";
    const compiled = `f = torch.compile(lambda x: (${body}))\na, b, c = f(torch.ones(5))`;
    expect(messageOf(`${compiled}\nassert [len(a), len(b), len(c)] == [5, 0, 5]`)).toBe("");
  });

  it.each([
    ["[0, 0], [1, 2]", "repeated dim in `source` ([0, 0])"],
    ["[0, -3], [1, 2]", "repeated dim in `source` ([0, -3])"],
    ["[0, 1], [2, 2]", "repeated dim in `destination` ([2, 2])"],
    [
      "[0], [1, 2]",
      "Invalid source or destination dims: source ([0] dims) should contain the same number of dims as destination ([1, 2] dims)",
    ],
  ])("dims are moved once each: movedim(%s)", (dims, message) => {
    expect(messageOf(`torch.zeros(2, 3, 4).movedim(${dims})`)).toBe(`RuntimeError: movedim: ${message}`);
  });

  it("rows are picked and written by vectors of indices", () => {
    expect(messageOf("torch.zeros(3, 4).index_select(0, torch.zeros(2, 2, dtype=torch.long))")).toContain(
      "Index is supposed to be a vector",
    );
    const copied = (rows: string) =>
      messageOf(`torch.zeros(3, 4).index_copy(0, torch.zeros(${rows}, dtype=torch.long), torch.ones(2, 4))`);
    expect(copied("1, 2")).toContain("Index should have dimension 1 or 0 (got 2)");
    expect(copied("2")).toBe("");
  });

  it("pieces of size 0 are of empty dims alone", () => {
    expect(messageOf("torch.zeros(3).split(0)")).toContain("split_size can only be 0 if dimension size is 0");
    expect(messageOf("torch.zeros(0).split(0)")).toBe("");
    expect(messageOf("torch.zeros(3)[:2 ** 63 - 1]")).toBe("");
  });
});
