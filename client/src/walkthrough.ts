// The example of the walkthrough: a small model that needs nothing installed, as a file that may be changed at will.
import * as vscode from "vscode";

export async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const from = vscode.Uri.joinPath(context.extensionUri, "walkthrough", "first_kernels.py");
  const folder = context.globalStorageUri;
  const to = vscode.Uri.joinPath(folder, "first_kernels.py");
  await vscode.workspace.fs.createDirectory(folder);
  try {
    await vscode.workspace.fs.copy(from, to, { overwrite: false });
  } catch {
    // it is there, perhaps changed: the reader's changes stay
  }
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(to), { preview: false });
}
