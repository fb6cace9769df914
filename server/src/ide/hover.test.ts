import { describe, expect, it } from "vitest";
import { groupReasons, hoverAt } from "./hover";
import { compilation, entry, FILE, kernel, program, refusal } from "./testing";

const nothing = (): undefined => undefined;

describe("hover", () => {
  it("answers for the innermost expression at the position", () => {
    const p = program({
      compilations: [compilation({ kernels: [kernel({})] })],
      source: [entry(1, 4, 20, { target: "aten.mul.Tensor" }), entry(1, 8, 12)],
    });
    expect(hoverAt(p, FILE, { line: 1, column: 9 }, nothing)?.markdown).toContain("aten.add.Tensor");
    expect(hoverAt(p, FILE, { line: 1, column: 18 }, nothing)?.markdown).toContain("aten.mul.Tensor");
    expect(hoverAt(p, FILE, { line: 2, column: 0 }, nothing)).toBeNull();
  });

  it("prefers a measured time to an estimate and says where it was measured", () => {
    const p = program({ compilations: [compilation({ kernels: [kernel({})] })], source: [entry(1, 0, 5)] });
    const m = {
      medianUs: 3.5,
      p20Us: 3,
      p80Us: 4,
      count: 9,
      bytesPerSecond: 2e12,
      where: "NVIDIA H100",
      maxError: null,
      shareOfCopy: null,
      speedupOverCompile: null,
    };
    const text = hoverAt(p, FILE, { line: 1, column: 2 }, () => m)?.markdown;
    expect(text).toContain("3.50 us measured (NVIDIA H100), 2.00 TB/s");
    expect(text).not.toContain("est.");
  });

  it("lists reasons by what they cost, with both index expressions, and says a way out once", () => {
    const p = program({
      compilations: [
        compilation({
          kernels: [kernel({}), kernel({ name: "k1" }), kernel({ name: "k2" })],
          refusals: [refusal({ bytesLost: 900, kernels: [0, 2], at: [[1], [3]] }), refusal({ bytesLost: 500 })],
        }),
      ],
      source: [entry(1, 0, 5)],
    });
    const text = hoverAt(p, FILE, { line: 1, column: 2 }, nothing)?.markdown ?? "";
    expect(text.indexOf("**900 B** line 1 with line 3")).toBeLessThan(text.indexOf("**500 B** line 1 with line 2"));
    expect(text).toContain("`d0` against `d1`");
    expect(text.match(/loop_ordering_after_fusion/g)).toHaveLength(1);
  });

  it("counts what a backward graph keeps of the expression", () => {
    const saved = { name: "add", shape: ["8", "s0"], stride: ["4", "1"], dtype: "torch.float32", saved: true };
    const p = program({
      compilations: [
        compilation({ kind: "forward", kernels: [kernel({})] }),
        compilation(
          { kind: "backward", inputs: [saved] },
          { symbols: [{ name: "s0", value: 4, source: "x.size(1)" }] },
        ),
      ],
      source: [entry(1, 0, 5)],
    });
    expect(hoverAt(p, FILE, { line: 1, column: 2 }, nothing)?.markdown).toContain(
      "Kept for the backward pass: **128 B**",
    );
  });

  it("says what the whole line keeps where that is more than the expression", () => {
    const saved = { name: "add", shape: ["8", "4"], stride: ["4", "1"], dtype: "torch.float32", saved: true };
    const lines = [
      { line: 1, bytes: 384 },
      { line: 2, bytes: 7 },
    ];
    const p = program({
      compilations: [
        compilation({ kind: "forward", kernels: [kernel({})], saved_bytes: lines }),
        compilation({ kind: "backward", inputs: [saved] }),
      ],
      source: [entry(1, 0, 5), entry(1, 8, 12, { node: "mul" })],
    });
    const at = (column: number) => hoverAt(p, FILE, { line: 1, column }, nothing)?.markdown;
    expect(at(2)).toContain("Kept for the backward pass: **128 B**, **384 B** by the whole line");
    expect(at(9)).toContain("Kept for the backward pass: **384 B** by the whole line");
  });

  it("lets no text of the user's become markup", () => {
    const p = program({
      compilations: [compilation({ kernels: [kernel({ assumed: ["<img src=x onerror=1> [a](command:x)"] })] })],
      source: [entry(1, 0, 5, { target: "my.`op`" })],
    });
    const text = hoverAt(p, FILE, { line: 1, column: 2 }, nothing)?.markdown ?? "";
    expect(text).not.toMatch(/<img|\]\(command/);
    expect(text).toContain("`` my.`op` ``");
  });

  it("counts equal layers' reasons together", () => {
    const [group] = groupReasons([refusal({}), refusal({ a: "op7", b: "op8", kernels: [3, 4] })]);
    expect(group).toMatchObject({ count: 2, bytesLost: 1000 });
  });
});
