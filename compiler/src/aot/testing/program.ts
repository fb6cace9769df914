// Test helper: a captured frame written by hand. In: inputs with types, and statements as a pre-grad graph prints them.
// Out: a CapturedFrame, each statement standing on its own line of "model.py".
import type { CapturedFrame } from "../../dynamo/types";
import { parseLog } from "../../fx/testing/parse_printed";
import { frameOf } from "./replay";

export interface Program {
  /** name -> type, "f32[8, 4][4, 1]cuda:0" */
  readonly inputs: Readonly<Record<string, string>>;
  /** inputs that require gradients; with any, the frame is traced for training */
  readonly grad?: readonly string[];
  readonly body: string;
}

export function programFrame(p: Program): CapturedFrame {
  const names = Object.keys(p.inputs);
  const statements = p.body
    .split("\n")
    .map(l => l.trim())
    .filter(l => l !== "");
  const lines = statements.flatMap((s, i) =>
    s.startsWith("return")
      ? [`        ${s}`]
      : ["", `        # File: model.py:${i + 1} in f, code: ${s}`, `        ${s}`],
  );
  const text = [
    "[DEBUG]:TRACED GRAPH",
    " ===== BEFORE PRE GRAD =====",
    " model.py class GraphModule(torch.nn.Module):",
    `    def forward(self, ${names.map(n => `${n}: "${p.inputs[n]}"`).join(", ")}):`,
    ...lines,
  ].join("\n");
  const [printed] = parseLog(text);
  if (printed === undefined) throw new Error("no graph in the program");
  printed.config = `aot_config input_info=[${names.map(n => `InputAliasInfo(requires_grad=${p.grad?.includes(n) ? "True" : "False"})`).join(", ")}]`;
  const frame = frameOf(printed);
  return { ...frame, gradEnabled: (p.grad?.length ?? 0) > 0 };
}
