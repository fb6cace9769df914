// Texts that commands open: output code, every stage, comparisons, example inputs.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, closeOthers, FILE, focus, notification, shownText } from "../steps.mjs";

/** each of the stages, and something that its text says of the example */
const STAGES = [
  ["pre_grad_graphs", /class GraphModule/],
  ["aot_joint_graph", /nothing: model\.py/],
  ["aot_graphs", /class/],
  ["post_grad_graphs", /class/],
  ["ir_pre_fusion", /op0/],
  ["fusion", /fus/],
  ["ir_post_fusion", /op0/],
  ["schedule", /\S/],
  ["output_code", /triton|AOT ID/],
  ["graph_breaks", /nothing: model\.py/],
  ["recompiles", /nothing: model\.py/],
  ["scheduler_graph", /digraph/],
];

const GUESS = "guess.py";
const guessed = async w => (await w.lensTexts(GUESS)).find(t => /^\d+ kernels?/.test(t)) ?? "";

export const TEXTS = [
  [
    "Show Output Code opens generated code that follows the source",
    async w => {
      await focus(w);
      await w.command("FuseLens: Show Output Code");
      await w.page.locator(".tab", { hasText: "_code.py" }).first().waitFor();
      await w.until("triton code", async () => /triton/.test(await shownText(w, "model_all_code.py")));
      await w.shot("output_code");
      await closeOthers(w);
    },
  ],
  [
    "Show IR shows each stage",
    async w => {
      await focus(w);
      // each from the text of the one before, as a reader goes through them
      for (const [stage, says] of STAGES) {
        await w.command("FuseLens: Show IR of a Stage");
        await answer(w, stage);
        const name = `${stage}.${stage === "scheduler_graph" ? "dot" : "txt"}`;
        await w.page.locator(".tab", { hasText: name }).first().waitFor();
        await w.until(`${stage} to say ${says}`, async () => says.test(await shownText(w, name)));
        if (stage === "ir_post_fusion") await w.shot("stage");
      }
      await closeOthers(w);
      return `${STAGES.length} stages`;
    },
  ],
  [
    "Check the Installation and Write a Bug Report say what there is",
    async w => {
      await focus(w);
      await w.command("FuseLens: Check the Installation");
      await w.until("findings", async () => /ok\s+Node/.test(await shownText(w, "fuselens_doctor.txt")));
      await focus(w);
      await w.command("FuseLens: Write a Bug Report");
      await w.webview("h2:has-text('Versions')");
      await closeOthers(w);
    },
  ],
  [
    "Show Why Operations Did Not Fuse opens the reasons as a page",
    async w => {
      await focus(w);
      await w.command("FuseLens: Show Why Operations Did Not Fuse");
      const frame = await w.webview("h1:has-text('Why not fused')");
      await w.shot("reasons");
      if (!/What may help/.test(await frame.locator("body").textContent())) throw new Error("no way out is named");
      await closeOthers(w);
    },
  ],
  [
    "Compare Configurations opens a diff of kernels, and of output code",
    async w => {
      await focus(w);
      await w.command("FuseLens: Compare Configurations");
      await w.page.locator(".quick-input-title", { hasText: "Compare today" }).waitFor();
      await answer(w, "split_reductions = False");
      await w.page.locator(".monaco-diff-editor").first().waitFor();
      const told = await notification(w, /7 → 5 kernels/);
      await w.shot("compare");
      await told.locator(".monaco-button", { hasText: "Output code" }).click();
      await w.page.locator(".tab.active", { hasText: "output code" }).waitFor();
      await w.until("triton code in the diff", async () =>
        /triton/.test(await w.page.locator(".monaco-diff-editor .view-lines").last().textContent()),
      );
      await closeOthers(w);
    },
  ],
  [
    "Compare Configurations takes any option by name, and says what is wrong with one",
    async w => {
      await focus(w);
      await w.command("FuseLens: Compare Configurations");
      await answer(w, "Another option");
      await answer(w, "no such thing");
      await w.page.locator(".quick-input-message", { hasText: "NAME=VALUE" }).waitFor();
      await answer(w, "max_fusion_size=1");
      await w.page.locator(".monaco-diff-editor").first().waitFor();
      await w.page.locator(".tab.active", { hasText: "max_fusion_size=1" }).waitFor();
      await closeOthers(w);
    },
  ],
  [
    "Set Example Inputs writes a comment, and the kernels follow",
    async w => {
      await w.quickOpen(GUESS);
      await w.until("a guess", async () => /assumed/.test(await guessed(w)), 40_000);
      await w.shot("guess");
      await w.command("FuseLens: Set Example Inputs");
      await w.page.locator(".quick-input-title", { hasText: "Example inputs of scale" }).waitFor();
      await answer(w, "x is a matrix");
      await w.page.locator(".quick-input-message", { hasText: "For example" }).waitFor();
      await w.shot("example_inputs");
      await answer(w, "x=f32[48, 96]@cuda, w=f32[96]@cuda");
      await answer(w, "In the source", "Keep the example inputs");
      await w.until("the comment", async () =>
        (await shownText(w, GUESS)).includes("# fuselens: x=f32[48, 96]@cuda, w=f32[96]@cuda"),
      );
      await w.until("its shape", async () => (await shownText(w, GUESS)).includes("f32[48, 96]"), 40_000);
      await w.page.keyboard.press("Control+Z");
      await w.until("the guess again", async () => !(await shownText(w, GUESS)).includes("# fuselens:"));
    },
  ],
  [
    "Set Example Inputs keeps them beside the source, and the kernels follow",
    async w => {
      await focus(w, GUESS);
      await w.command("FuseLens: Set Example Inputs");
      await w.page.locator(".quick-input-title", { hasText: "Example inputs of scale" }).waitFor();
      await answer(w, "x=f32[32, 64]@cuda, w=f32[64]@cuda");
      await answer(w, "In .vscode/fuselens.json", "Keep the example inputs");
      const path = join(w.folder, ".vscode", "fuselens.json");
      await w.until("the file", async () => existsSync(path));
      const kept = JSON.parse(readFileSync(path, "utf8"));
      if (kept.exampleInputs[GUESS].scale !== "x=f32[32, 64]@cuda, w=f32[64]@cuda")
        throw new Error(JSON.stringify(kept));
      await w.until("its shape", async () => (await shownText(w, GUESS)).includes("f32[32, 64]"), 40_000);
      await closeOthers(w, FILE);
    },
  ],
];
