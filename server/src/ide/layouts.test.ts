import type { ReportLayout } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { hoverAt } from "./hover";
import { layoutTexts, toldLayouts } from "./layouts";
import { compilation, entry, FILE, kernel, program } from "./testing";

const padded = (over: Partial<ReportLayout> = {}): ReportLayout => ({
  code: "padded_rows",
  op: "op1",
  operand: "arg1_1",
  shape: ["4093", "4095"],
  stride: ["4096", "1"],
  other_shape: ["4093", "4095"],
  other_stride: ["4095", "1"],
  bytes: 67e6,
  written_by: 0,
  estimate_us: { taken: 128, other: 498 },
  measured_us: null,
  lines: [7],
  at: [7],
  ...over,
});

const layoutText = (l: ReportLayout): string | undefined => layoutTexts([l])[0];

describe("layouts", () => {
  it("say both layouts, what is moved and how long it takes", () => {
    expect(layoutText(padded())).toBe(
      "arg1_1 [4093, 4095] in strides [4096, 1], not [4095, 1]: 67.0 MB moved for it, est. 128 us against 498 us without padding",
    );
    const measured = padded({ bytes: 0, measured_us: { taken: 100, other: 400 } });
    expect(layoutText(measured)).toContain(
      "written so where it is computed, no pass of its own, measured 100 us against 400 us without padding",
    );
    const view = padded({ bytes: -1000, written_by: null, other_shape: ["8"], other_stride: ["1"], estimate_us: null });
    expect(layoutText(view)).toBe("arg1_1 [4093, 4095] in strides [4096, 1], not [8] in [1]: 1.00 kB not moved");
  });

  it("say a product's times once, and what the second is the time of", () => {
    const times = { taken: 4.69, other: 8.6 };
    const left = padded({ code: "off_alignment", bytes: 0, written_by: null, estimate_us: times });
    const [first, second, elsewhere] = layoutTexts([left, { ...left, operand: "arg2_1" }, { ...left, op: "op5" }]);
    expect(first).toMatch(/: est\. 4\.69 us against 8\.60 us with padded copies$/);
    expect(second).toBe("arg2_1 [4093, 4095] in strides [4096, 1], not [4095, 1]");
    expect(elsewhere).toBe(first);
  });

  it("leave out what costs nothing and was not weighed, and say equal ones once, most bytes first", () => {
    const free = padded({ code: "channels_last", bytes: 0, estimate_us: null });
    const larger = padded({ bytes: -1e9 });
    expect(toldLayouts([free, padded(), padded(), larger])).toEqual([larger, padded()]);
  });

  it("stand in hover over the product, and over what writes them", () => {
    const kernels = [kernel({ nodes: ["op2"] }), kernel({ nodes: ["op1"] }), kernel({ nodes: ["op3"] })];
    const hover = (over: Partial<ReportLayout>, at: number): string =>
      hoverAt(
        program({
          compilations: [compilation({ kernels, layouts: [padded(over)] })],
          source: [entry(1, 0, 5, { kernels: [at] })],
        }),
        FILE,
        { line: 1, column: 2 },
        () => undefined,
      )?.markdown ?? "";
    for (const at of [0, 1]) expect(hover({}, at)).toContain("- **Rows padded** arg1");
    expect(hover({}, 2)).not.toContain("Layouts");
  });
});
