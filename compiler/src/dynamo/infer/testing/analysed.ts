// A model file analysed as the editor analyses it, for tests. In: the file's text behind its imports, or a
// project's files. Out: what a root runs.
import { defaultConfig } from "../../../presets";
import { capture } from "../../capture";
import type { CapturedFrame, CaptureResult } from "../../types";

const HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n";

/** The model file behind its imports, beside the other files of its project. */
export const analysed = (text: string, others: Readonly<Record<string, string>> = {}): CaptureResult =>
  analysedProject({ ...others, "pack/model.py": HEAD + text }, 40_000_000);

/** `pack/model.py` of a project's files, by path. */
export function analysedProject(files: Readonly<Record<string, string>>, stepBudget = 20_000_000): CaptureResult {
  return capture("pack/model.py", {
    files: p => files[p],
    project: () => Object.keys(files),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget,
  });
}

/** the frames that a root module runs, in order */
export function framesOf(r: CaptureResult, name: string): CapturedFrame[] {
  const root = r.roots.find(x => x.name === name);
  return r.events.flatMap(e => (e.kind === "frame" && root?.frames.includes(e.frame.id) ? [e.frame] : []));
}

/** targets of the root's operators, in order */
export function operatorsOf(r: CaptureResult, name: string): string[] {
  return framesOf(r, name).flatMap(f => f.graph.nodes.flatMap(n => (n.op.startsWith("call") ? [n.target] : [])));
}

/** what its result rests on, as one text */
export const assumedOf = (r: CaptureResult, name: string): string =>
  r.roots.find(x => x.name === name)?.assumed.join("; ") ?? "";

/** what the program prints */
export const printed = (r: CaptureResult): string =>
  r.events.flatMap(e => (e.kind === "print" ? [e.text] : [])).join("");
