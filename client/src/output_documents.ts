// Read-only documents for texts that the server made (output code, kernels, stage dumps).
import * as vscode from "vscode";

export interface ShownDocument {
  readonly title: string;
  readonly language: "python" | "markdown" | "plaintext";
  readonly text: string;
}

export class OutputDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly scheme = "fuselens-output";
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async show(document: ShownDocument): Promise<void> {
    const uri = vscode.Uri.from({ scheme: OutputDocuments.scheme, path: `/${document.title}` });
    this.texts.set(uri.path, document.text);
    this.changed.fire(uri);
    const opened = await vscode.workspace.openTextDocument(uri);
    const typed = await vscode.languages.setTextDocumentLanguage(opened, document.language);
    await vscode.window.showTextDocument(typed, {
      viewColumn: vscode.ViewColumn.Beside,
      preview: false,
      preserveFocus: false,
    });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
