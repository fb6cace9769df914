// Which settings are taken for mistakes, and what is said of them.
import { describe, expect, it } from "vitest";
import { checkConfig } from "./config_check";
import { configNames, presetNames, presets } from "./presets";

const said = (name: string, value: unknown): string | undefined => checkConfig(name, value)?.text;

describe("values of torch._inductor.config", () => {
  it("are right where they are of the default's type", () => {
    for (const preset of presetNames())
      for (const [name, value] of Object.entries(presets[preset].config)) expect(said(name, value)).toBeUndefined();
  });

  it("are told apart from others for every option, where the default is None too", () => {
    const unlike = [true, 7, 0.5, "no such text", []];
    for (const name of configNames())
      expect(
        unlike.every(v => said(name, v) === undefined),
        name,
      ).toBe(false);
  });

  it("may be something else than None for every option", () => {
    const likely = [true, 7, "library", "ATEN", "torch"];
    for (const name of configNames())
      expect(
        likely.some(v => said(name, v) === undefined),
        name,
      ).toBe(true);
  });

  it.each([
    ["max_fusion_size", "abc", "takes a whole number, not 'abc'"],
    ["max_fusion_size", 1.5, "takes a whole number, not 1.5"],
    ["max_fusion_size", true, "takes a whole number, not True"],
    ["max_fusion_size", null, "takes a whole number, not None"],
    ["combo_kernels", "perhaps", "takes True or False, not 'perhaps'"],
    ["triton.max_tiles", "two", "takes a whole number or None, not 'two'"],
    ["max_autotune_gemm_backends", 3, "takes a string, not 3"],
  ])("are refused: %s = %s", (name, value, text) => {
    expect(checkConfig(name, value)?.kind).toBe("value");
    expect(said(name, value)).toContain(`torch._inductor.config.${name} ${text}`);
  });

  it.each(["library", "flattened_stores,", "split_8_prologue,library_padded", "pointers_viewed", ""])(
    "are ways to compute products that there are: %s",
    way => expect(said("triton.template_form", way)).toBeUndefined(),
  );

  it.each(["bogus", "library,bogus", "flattened_prologue", "split_0", "_padded", "pointers, library"])(
    "are refused where there is no such way: %s",
    way => {
      expect(checkConfig("triton.template_form", way)?.kind).toBe("value");
      expect(said("triton.template_form", way)).toMatch(
        /is no way to compute a product.*; there are library, flattened,.* split_N,/,
      );
    },
  );

  it.each([
    ["max_autotune_gemm_backends", "TRITON, aten"],
    ["max_autotune_gemm_backends", "CUTLASS,NVGEMM"],
    ["max_autotune_conv_backends", "triton"],
    ["triton.descriptive_names", "inductor_node"],
    ["triton.descriptive_names", false],
  ])("are texts that there are: %s = %s", (name, value) => expect(said(name, value)).toBeUndefined());

  it.each([
    ["max_autotune_gemm_backends", "ATEN,TRTON", "'TRTON' is no backend (did you mean 'TRITON'?); there are"],
    ["max_autotune_gemm_backends", "cuda", "'cuda' is no backend; there are ATEN, TRITON, CUTLASS,"],
    ["max_autotune_conv_backends", "ATEN,CUTLASS", "'CUTLASS' is no backend; there are ATEN, TRITON, CK"],
    ["triton.descriptive_names", "original-aten", "is no way to name kernels (did you mean 'original_aten'?)"],
    ["triton.descriptive_names", "", "'' is no way to name kernels; there are torch, original_aten, inductor_node"],
    ["triton.template_form", "flatened", "'flatened' is no way to compute a product (did you mean 'flattened'?)"],
    ["triton.template_form", "librari_padded", "(did you mean 'library'?)"],
  ])("are refused where there is no such text, with the one that is near: %s = %s", (name, value, text) => {
    expect(checkConfig(name, value)?.kind).toBe("value");
    expect(said(name, value)).toContain(text);
  });

  it("are never just any text", () => {
    for (const name of configNames()) expect(said(name, "no such text"), name).toMatch(/ takes | is no /);
  });

  it("of flags may be 0 and 1", () => {
    expect(said("combo_kernels", 1)).toBeUndefined();
    expect(said("combo_kernels", 2)).toContain("True or False");
  });
});

describe("names of torch._inductor.config", () => {
  it.each([
    ["max_fusion_sise", "max_fusion_size"],
    ["max_fusoin_size", "max_fusion_size"],
    ["Combo-Kernels", "combo_kernels"],
    ["triton.mix_order_reductions", "triton.mix_order_reduction"],
    ["max_tiles", "triton.max_tiles"],
  ])("that are misspelt get the one that was meant: %s", (given, meant) => {
    expect(checkConfig(given, 1)).toMatchObject({ kind: "name" });
    expect(said(given, 1)).toContain(`did you mean '${meant}'?`);
  });

  it.each(["compile_threads", "triton.cudagraph_trees", "b2b_gemm_pass", "cpp.threads", "x"])(
    "that are none of ours nor near one are not taken for a mistake: %s",
    name => expect(checkConfig(name, 1)).toMatchObject({ kind: "unread" }),
  );
});
