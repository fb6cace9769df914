// Set Example Inputs: shapes for a function that the file never calls, as a comment above it or in .vscode/fuselens.json.
import * as vscode from "vscode";
import type { ExampleAnswer, Target } from "./answers";
import type { Server } from "./server";

const FORM = /^\s*\w+\s*=\s*\w+\[[^\]]*\](@\w+(:\d+)?)?(\s*,\s*\w+\s*=\s*\w+\[[^\]]*\](@\w+(:\d+)?)?)*\s*$/;

export async function setExampleInputs(server: Server, target: Target): Promise<void> {
  const asked = await server.ask<ExampleAnswer>("fuselens.exampleInputs", target);
  const inputs = await vscode.window.showInputBox({
    title: `Example inputs of ${asked.root}`,
    prompt: `One tensor for each of ${asked.parameters.join(", ")}: name=dtype[sizes]@device. A size may be a name, which makes it dynamic.`,
    value: asked.inputs,
    validateInput: t => (FORM.test(t) ? undefined : "For example: x=f32[8, 128]@cuda, mask=b8[8, 128]@cuda"),
  });
  if (inputs === undefined) return;
  const where = await vscode.window.showQuickPick(
    [
      { label: "In the source", detail: `a comment "# fuselens: ${inputs}" above ${asked.root}`, comment: true },
      { label: "In .vscode/fuselens.json", detail: "the source stays as it is", comment: false },
    ],
    { title: "Keep the example inputs" },
  );
  if (!where) return;
  if (where.comment) await writeComment(server, target, asked.root, inputs);
  else await writeFile(target, asked.root, inputs);
}

async function writeComment(server: Server, target: Target, root: string, inputs: string): Promise<void> {
  const { edit } = await server.ask<ExampleAnswer>("fuselens.exampleInputs", { ...target, root, inputs });
  const changes = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(edit?.changes ?? {})) {
    for (const { range, newText } of edits) {
      const { start, end } = range;
      const at = new vscode.Range(start.line, start.character, end.line, end.character);
      changes.replace(vscode.Uri.parse(uri), at, newText);
    }
  }
  await vscode.workspace.applyEdit(changes);
}

async function writeFile(target: Target, root: string, inputs: string): Promise<void> {
  const source = vscode.Uri.parse(target.uri);
  const folder = vscode.workspace.getWorkspaceFolder(source);
  if (!folder) throw new Error("the file is in no workspace folder; keep the inputs in the source");
  const file = vscode.Uri.joinPath(folder.uri, ".vscode", "fuselens.json");
  let kept: { exampleInputs?: Record<string, Record<string, string>> } = {};
  try {
    kept = JSON.parse(Buffer.from(await vscode.workspace.fs.readFile(file)).toString("utf8")) as typeof kept;
  } catch {
    // there is none yet
  }
  const path = vscode.workspace.asRelativePath(source, false);
  const exampleInputs = { ...kept.exampleInputs, [path]: { ...kept.exampleInputs?.[path], [root]: inputs } };
  const text = `${JSON.stringify({ ...kept, exampleInputs }, null, 2)}\n`;
  await vscode.workspace.fs.writeFile(file, Buffer.from(text, "utf8"));
}
