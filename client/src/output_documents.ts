// Read-only documents: texts that the server made (kernels, reasons, stage dumps, sides of a comparison), and output code
// that follows its source, which the language client itself serves under `fuselens:`.
import * as vscode from "vscode";
import type { ShownDocument } from "./answers";

export class OutputDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly scheme = "fuselens-output";
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  /** Puts a text under a title; the same title again replaces it in the editors that show it. */
  put(title: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: OutputDocuments.scheme, path: `/${title}` });
    this.texts.set(uri.path, text);
    this.changed.fire(uri);
    return uri;
  }

  async show(document: ShownDocument, beside = true): Promise<void> {
    const uri = document.uri?.startsWith("fuselens:")
      ? vscode.Uri.parse(document.uri)
      : this.put(document.title, document.text);
    if (document.language === "markdown") {
      await vscode.commands.executeCommand(beside ? "markdown.showPreviewToSide" : "markdown.showPreview", uri);
      return;
    }
    let opened = await vscode.workspace.openTextDocument(uri);
    const languages = await vscode.languages.getLanguages();
    const language = languages.includes(document.language) ? document.language : "plaintext";
    if (opened.languageId !== language) opened = await vscode.languages.setTextDocumentLanguage(opened, language);
    const viewColumn = beside ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    await vscode.window.showTextDocument(opened, { viewColumn, preview: false, preserveFocus: false });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
