// fuselens.exampleInputs: what a root was analysed with, to be changed. {uri, root} → the inputs as a comment says them;
// {uri, root, inputs} → the edit that writes them above the function.
import type { WorkspaceEdit } from "vscode-languageserver/node";
import { definitionOf, exampleComment, knownInputs } from "../../ide/example_inputs";
import type { ServerContext } from "../context";
import { invalid, rootIn, type Target, viewOf } from "./target";

export interface ExampleAnswer {
  readonly root: string;
  readonly parameters: readonly string[];
  /** "x=f32[8, 128]@cuda" */
  readonly inputs: string;
  readonly assumed: readonly string[];
  readonly edit: WorkspaceEdit | null;
}

export async function exampleInputs(ctx: ServerContext, target: Target): Promise<ExampleAnswer> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target) ?? view.program.roots[0];
  if (!root) throw invalid("nothing in this document is compiled");
  const lines = view.unitLines();
  const definition = definitionOf(lines, root.span);
  if (!definition) throw invalid(`${root.name} has no definition that a comment could stand above`);
  const given = target["inputs"];
  if (given !== undefined && (typeof given !== "string" || /[\r\n]/.test(given)))
    throw invalid('inputs is one line like "x=f32[8, 128]@cuda"');
  const written = given === undefined ? null : exampleComment(root, lines, given);
  const range = written && {
    line: written.edit.line,
    column: written.edit.column,
    endLine: written.edit.line,
    endColumn: written.edit.endColumn,
  };
  const location = range && view.locate(range);
  return {
    root: root.name,
    parameters: definition.parameters,
    inputs: given ?? knownInputs(root, definition.parameters),
    assumed: root.assumed,
    edit:
      written && location
        ? { changes: { [location.uri]: [{ range: location.range, newText: written.edit.text }] } }
        : null,
  };
}
