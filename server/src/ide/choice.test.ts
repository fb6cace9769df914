import type { ReportChoice } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { choiceText } from "./choice";

const choice = (over: Partial<ReportChoice> = {}): ReportChoice => ({
  key: "k",
  ways: ["library", "split_4_prologue"],
  products: [["library", "split_4_prologue"]],
  estimates: [{ library: 35.2, split_4_prologue: 10.7, pointers: 50 }],
  chosen: "split_4_prologue",
  measured: null,
  where: null,
  ...over,
});

describe("how matrix products are computed", () => {
  it("is an estimate beside its rival's", () => {
    expect(choiceText(choice())).toBe(
      "template split_4_prologue (estimate: 10.7 us, the library's kernels 35.2 us (3.29x))",
    );
    expect(choiceText(choice({ chosen: "library", estimates: [{ library: 5, pointers: 10, split_2: 20 }] }))).toBe(
      "the library's kernels (estimate: 5.00 us, template pointers 10.0 us (2.00x))",
    );
    expect(choiceText(choice({ chosen: "library", estimates: [{ library: 5 }] }))).toBe(
      "the library's kernels (estimate: 5.00 us)",
    );
  });

  it("names one way for each of several products, without a time that none of them has", () => {
    const several = choice({ chosen: "library,pointers_padded", estimates: [{ library: 5 }, { library: 6 }] });
    expect(choiceText(several)).toBe("the library's kernels + template pointers on padded rows (estimate)");
  });

  it("is what was measured, where, and how much slower the others were", () => {
    const measured = choice({ measured: { library: 30, split_4_prologue: 10 }, where: "one GPU" });
    expect(choiceText(measured)).toBe(
      "template split_4_prologue 10.0 us, measured (one GPU); the library's kernels 30.0 us (3.00x)",
    );
  });
});
