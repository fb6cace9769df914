import { describe, expect, it } from "vitest";
import { nearestPreset } from "../lsp/environment";
import { readSettings } from "../lsp/settings";
import { targetOf } from "../lsp/workspace";
import { withExamples } from "./examples";

const examples = [{ path: "/m.py", root: "Model.forward", inputs: "x=f32[8]@cuda" }];

describe("example inputs kept outside the source", () => {
  it("stand behind the function's line, so that nothing moves", () => {
    const text =
      "class Other:\n    def forward(self, x):\n        pass\nclass Model:\n    def forward(self, x):\n        pass\n";
    const out = withExamples(text, "/m.py", examples);
    expect(out.split("\n")[4]).toBe("    def forward(self, x):  # fuselens: x=f32[8]@cuda");
    expect(out.split("\n")[1]).toBe("    def forward(self, x):");
    expect(withExamples(text, "/other.py", examples)).toBe(text);
  });

  it("give way to a comment in the source", () => {
    const text = "class Model:\n    # fuselens: x=f32[2]\n    def forward(self, x):\n        pass\n";
    expect(withExamples(text, "/m.py", examples)).toBe(text);
  });
});

describe("settings", () => {
  it("are read nested or dotted, and wrong values take the default", () => {
    expect(readSettings({ inlayHints: { shapes: false } }).inlayHints).toEqual({ shapes: false, kernels: true });
    expect(readSettings({ "inlayHints.kernels": false }).inlayHints).toEqual({ shapes: true, kernels: false });
    expect(readSettings({ preset: "nothing", target: 7, config: [] })).toMatchObject({
      preset: null,
      target: null,
      config: {},
    });
    expect(readSettings({ diagnostics: { missedFusionBytes: -1 } }).diagnostics.missedFusionBytes).toBeNull();
  });
});

describe("what the surroundings decide", () => {
  it("is the preset nearest to a torch version", () => {
    expect(nearestPreset("2.11.0+cu128")).toBe("torch-2.11");
    expect(nearestPreset("2.4.1")).toBe("torch-2.11");
    expect(nearestPreset("2.13.0.dev20261101")).toBe("nightly-2026-11");
  });

  it("is the target that a device's name holds", () => {
    expect(targetOf("NVIDIA H100 80GB HBM3")).toBe("h100");
    expect(targetOf("NVIDIA GeForce RTX 4090")).toBe("rtx4090");
    expect(targetOf("cpu, wasm")).toBeNull();
  });
});
