// Where results open: beside the source, and all of them in one column, whatever is active.
import * as vscode from "vscode";

export function resultColumn(): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(g => g.tabs.some(t => isResult(t.input)));
  return group?.viewColumn ?? vscode.ViewColumn.Beside;
}

function isResult(input: unknown): boolean {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom)
    return input.uri.scheme.startsWith("fuselens");
  // the view type that a webview was made with comes with a prefix
  return input instanceof vscode.TabInputWebview && /(^|-)fuselens\./.test(input.viewType);
}
