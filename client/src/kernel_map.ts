// The kernel map: output code beside the source. Hover on either side lights the other, a click goes there, and a list
// shows each kernel's bytes and time. The panel is a webview with a strict content policy; text enters it as data only.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { kernelMapPage } from "./kernel_map_page";
import type { KernelMap } from "./kernel_map_types";

type FromPage = { readonly type: "hover" | "click"; readonly lines: readonly number[] } | { readonly type: "ready" };

export class KernelMapPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private source: vscode.TextDocument | undefined;
  private map: KernelMap | undefined;
  private root: string | undefined;
  private readonly lit = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.findMatchForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.subscriptions.push(
      vscode.window.onDidChangeTextEditorSelection(e => this.fromSource(e.textEditor, e.selections[0]?.active.line)),
      vscode.languages.registerHoverProvider(
        { scheme: "file", language: "python" },
        {
          provideHover: (document, position) => {
            // no hover text of our own: the position lights the other side
            if (document === this.source) this.light(position.line);
            return undefined;
          },
        },
      ),
      vscode.languages.onDidChangeDiagnostics(() => void this.refresh()),
    );
  }

  dispose(): void {
    this.panel?.dispose();
    this.lit.dispose();
    for (const s of this.subscriptions) s.dispose();
  }

  async show(uri: string, root: string | undefined): Promise<void> {
    this.source = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    this.root = root;
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel(
        "fuselens.kernelMap",
        "FuseLens kernel map",
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, localResourceRoots: [] },
      );
      this.panel.onDidDispose(() => {
        this.panel = undefined;
        this.clear();
      });
      this.panel.webview.onDidReceiveMessage((m: FromPage) => this.fromPage(m));
      this.panel.webview.html = kernelMapPage(randomBytes(16).toString("base64"));
    } else this.panel.reveal(undefined, true);
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    if (!this.panel || !this.source) return;
    const target = { uri: this.source.uri.toString(), root: this.root };
    try {
      this.map = await this.client()?.sendRequest<KernelMap>("workspace/executeCommand", {
        command: "fuselens.kernelMap",
        arguments: [target],
      });
      void this.panel.webview.postMessage({ type: "map", map: this.map });
    } catch {
      // the document is between two versions; the next analysis brings a map
    }
  }

  private fromSource(editor: vscode.TextEditor, line: number | undefined): void {
    if (line !== undefined && editor.document === this.source) this.light(line);
  }

  /** a source line (0-based) lights its kernels and its lines of output code */
  private light(line: number): void {
    void this.panel?.webview.postMessage({ type: "light", line: line + 1 });
  }

  private fromPage(m: FromPage): void {
    if (m.type === "ready") {
      void this.panel?.webview.postMessage({ type: "map", map: this.map });
      return;
    }
    const editor = vscode.window.visibleTextEditors.find(e => e.document === this.source);
    if (!editor) return;
    const ranges = m.lines
      .filter(l => l >= 1 && l <= editor.document.lineCount)
      .map(l => new vscode.Range(l - 1, 0, l - 1, 0));
    editor.setDecorations(this.lit, ranges);
    const [first] = ranges;
    if (!first) return;
    if (m.type === "click")
      void vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn, selection: first });
    else editor.revealRange(first, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private clear(): void {
    for (const e of vscode.window.visibleTextEditors) e.setDecorations(this.lit, []);
  }
}
