// Settings as a client may send them: what is wrong is left out and told, the rest holds.
import { describe, expect, it } from "vitest";
import { readSettings } from "./settings";

describe("settings", () => {
  it("without mistakes have nothing to tell", () => {
    const s = readSettings({
      preset: "torch-2.11",
      target: "",
      config: { combo_kernels: true, "triton.max_tiles": null },
    });
    expect(s).toMatchObject({ preset: "torch-2.11", target: null, problems: [], remarks: [] });
    expect(s.config).toEqual({ combo_kernels: true, "triton.max_tiles": null });
    expect(readSettings(undefined).problems).toEqual([]);
  });

  it("leave out options of another type and misspelt ones, and say what was expected", () => {
    const s = readSettings({ config: { max_fusion_size: "abc", max_fusion_sise: 3, combo_kernels: true } });
    expect(s.config).toEqual({ combo_kernels: true });
    expect(s.problems).toEqual([
      "fuselens.config: torch._inductor.config.max_fusion_size takes a whole number, not 'abc'",
      "fuselens.config: torch._inductor.config has no option 'max_fusion_sise': did you mean 'max_fusion_size'?",
    ]);
  });

  it("keep options that decide nothing, with a remark for the log", () => {
    const s = readSettings({ config: { compile_threads: 4 } });
    expect(s.config).toEqual({ compile_threads: 4 });
    expect(s.problems).toEqual([]);
    expect(s.remarks.join()).toContain("compile_threads");
  });

  it("name the presets and targets that there are", () => {
    const s = readSettings({ preset: "torch-1.0", target: 7, config: [1] });
    expect(s).toMatchObject({ preset: null, target: null, config: {} });
    expect(s.problems).toEqual([
      expect.stringMatching(/^fuselens\.preset: there is no preset "torch-1\.0"; there are .*torch-2\.11/),
      expect.stringMatching(/^fuselens\.target: there is no target 7; there are h100/),
      expect.stringMatching(/^fuselens\.config: an object/),
    ]);
  });
});
