// Read-only documents: texts that the server made (kernels, reasons, stage dumps, sides of a comparison), and output code
// that follows its source, which the language client itself serves under `fuselens:`.
import * as vscode from "vscode";
import type { ShownDocument } from "./answers";
import { resultColumn } from "./columns";

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

  async show(document: ShownDocument): Promise<void> {
    const uri = document.uri?.startsWith("fuselens:")
      ? vscode.Uri.parse(document.uri)
      : this.put(document.title, document.text);
    if (document.language === "markdown") {
      const options = { viewColumn: resultColumn(), preview: false };
      await vscode.commands.executeCommand("vscode.openWith", uri, "vscode.markdown.preview.editor", options);
      return;
    }
    let opened = await vscode.workspace.openTextDocument(uri);
    const languages = await vscode.languages.getLanguages();
    const language = languages.includes(document.language) ? document.language : "plaintext";
    if (opened.languageId !== language) opened = await vscode.languages.setTextDocumentLanguage(opened, language);
    await vscode.window.showTextDocument(opened, { viewColumn: resultColumn(), preview: false, preserveFocus: false });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
