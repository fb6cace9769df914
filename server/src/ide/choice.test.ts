import type { ReportChoice } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { type ChosenGraph, choiceLegend, choiceText as textOf } from "./choice";

const choice = (over: Partial<ReportChoice> = {}): ReportChoice => ({
  key: "k",
  ways: ["library", "split_4_prologue"],
  products: [["library", "split_4_prologue"]],
  operations: [["op1"]],
  estimates: [{ library: 35.2, split_4_prologue: 10.7, pointers: 50 }],
  chosen: "split_4_prologue",
  measured: null,
  where: null,
  ...over,
});

const KERNELS: ChosenGraph["kernels"] = [
  { name: "triton_tem_fused_mm_relu_0", nodes: ["op1", "op2"], estimate_us: 8.4 },
  { name: "extern_kernels.mm", nodes: ["op3"], estimate_us: 12 },
];
const choiceText = (c: ReportChoice, kernels: ChosenGraph["kernels"] = []): string => textOf({ choice: c, kernels });

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

  it("is the kernel's estimate where the cost model says nothing of the way", () => {
    expect(choiceText(choice({ chosen: "template" }), KERNELS)).toBe("a template (estimate: 8.40 us)");
    expect(choiceText(choice({ chosen: "template" }))).toBe("a template (estimate)");
  });

  it("names the way of each of several products, and what it is estimated to take", () => {
    const two: Partial<ReportChoice> = {
      products: [
        ["library", "pointers"],
        ["library", "split_4"],
      ],
      operations: [["op1"], ["op3", "op5"]],
      estimates: [{ library: 5 }, { library: 6, split_4: 7 }],
    };
    expect(choiceText(choice({ ...two, chosen: "template" }), KERNELS)).toBe(
      "a template (estimate: 8.40 us) + the library's kernels (estimate: 2 x 12.0 us)",
    );
    expect(choiceText(choice({ ...two, chosen: "pointers,split_4" }), KERNELS)).toBe(
      "template pointers (estimate: 8.40 us) + template split_4 (estimate: 2 x 7.00 us)",
    );
  });

  it("names a way that follows itself once", () => {
    const products = [["library"], ["library"], ["library"]];
    const three = choice({
      products,
      operations: [["op1"], ["op3"], ["op9"]],
      estimates: [{}, {}, { library: 2 }],
      chosen: "library",
    });
    expect(choiceText(three, KERNELS.slice(1))).toBe("the library's kernels (estimate: ? + 12.0 us + 2.00 us)");
  });

  it("comes with what the names mean that it has", () => {
    expect(choiceLegend({ choice: choice(), kernels: [] })).toEqual([
      "split_4_prologue: the sum in 4 pieces, which another kernel adds up; an operand is computed where it would be loaded",
    ]);
    const measured = choice({ measured: { library: 30, flattened_stores_padded: 10 }, chosen: "library" });
    expect(choiceLegend({ choice: measured, kernels: [] })).toEqual([
      "library: cuBLAS's, cuDNN's or PyTorch's own kernel; what follows is a kernel of its own",
      "flattened_stores: a template whose programs walk over tiles, the walk and the sum in one loop; results go out through tensor descriptors",
    ]);
  });

  it("is what was measured, where, and how much slower the others were", () => {
    const measured = choice({ measured: { library: 30, split_4_prologue: 10 }, where: "one GPU" });
    expect(choiceText(measured)).toBe(
      "template split_4_prologue 10.0 us, measured (one GPU); the library's kernels 30.0 us (3.00x)",
    );
  });
});
