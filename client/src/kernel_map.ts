// The kernel map: output code beside the source. Hover on either side lights the other, a click goes there, scrolling
// goes along, and a list shows each kernel's bytes, times and share of the bandwidth limit.
import * as vscode from "vscode";
import type { KernelMap, Target } from "./answers";
import { sameDocument } from "./gutter";
import { KERNEL_MAP_PAGE } from "./pages/kernel_map";
import { Panel } from "./panel";
import { isSource, type Server } from "./server";

export type ToMap =
  | { readonly type: "map"; readonly map: KernelMap; readonly file: string }
  | { readonly type: "light"; readonly line: number; readonly scroll: boolean };
export type FromMap = { readonly type: "hover" | "click" | "leave"; readonly lines: readonly number[] };

export class KernelMapPanel implements vscode.Disposable {
  private source: vscode.TextDocument | undefined;
  private root: string | undefined;
  private readonly panel: Panel<ToMap, FromMap>;
  private readonly lit = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.selectionHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.wordHighlightStrongForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private readonly subscriptions: vscode.Disposable[] = [];
  /** the page just moved the source: its own scroll must not come back */
  private quietUntil = 0;
  /** an analysis came while the page was hidden */
  private outdated = false;

  constructor(
    extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.panel = new Panel(
      extension,
      KERNEL_MAP_PAGE,
      m => this.fromPage(m),
      () => this.clear(),
      () => void (this.outdated && this.refresh()),
    );
    this.subscriptions.push(
      this.panel,
      this.lit,
      vscode.window.onDidChangeTextEditorSelection(e => this.light(e.textEditor, e.selections[0]?.active.line, true)),
      vscode.window.onDidChangeTextEditorVisibleRanges(e => this.scrolled(e.textEditor, e.visibleRanges[0])),
      vscode.window.onDidChangeActiveTextEditor(e => this.follow(e?.document)),
      vscode.languages.registerHoverProvider(
        { language: "python" },
        {
          provideHover: (document, position) => {
            // no hover text of our own: the position lights the other side
            if (document === this.source) this.panel.post({ type: "light", line: position.line + 1, scroll: true });
            return undefined;
          },
        },
      ),
      server.onAnalysed(a => {
        if (this.source && sameDocument(this.source, a.uri)) void this.refresh();
      }),
    );
  }

  dispose(): void {
    for (const s of this.subscriptions) s.dispose();
  }

  async show(target: Target): Promise<void> {
    this.source = await vscode.workspace.openTextDocument(vscode.Uri.parse(target.uri));
    this.root = target.root;
    this.panel.show();
    await this.refresh();
    const editor = this.editor();
    if (editor) this.light(editor, editor.selection.active.line, true);
  }

  /** another source came to the front: the map is of that one then */
  private follow(document: vscode.TextDocument | undefined): void {
    if (!this.panel.open || !document || document === this.source || !isSource(document)) return;
    this.clear();
    this.source = document;
    this.root = undefined;
    void this.refresh();
  }

  private async refresh(): Promise<void> {
    const { source } = this;
    this.outdated = !this.panel.visible;
    if (this.outdated || !source) return;
    const { version } = source;
    try {
      const map = await this.ask(source);
      if (source !== this.source || source.version !== version) return;
      this.panel.post({ type: "map", map, file: source.uri.path.replace(/^.*\//, "") });
    } catch {
      // the document is between two versions; the next analysis brings a map
    }
  }

  private async ask(source: vscode.TextDocument): Promise<KernelMap> {
    const uri = source.uri.toString();
    try {
      return await this.server.ask<KernelMap>("fuselens.kernelMap", { uri, root: this.root });
    } catch (e) {
      // the function that was shown is gone: all that is left is shown
      if (this.root === undefined) throw e;
      this.root = undefined;
      return this.server.ask<KernelMap>("fuselens.kernelMap", { uri });
    }
  }

  private editor(): vscode.TextEditor | undefined {
    return vscode.window.visibleTextEditors.find(e => e.document === this.source);
  }

  /** a source line (0-based) lights its kernels and its lines of output code */
  private light(editor: vscode.TextEditor, line: number | undefined, scroll: boolean): void {
    if (line === undefined || editor.document !== this.source) return;
    this.panel.post({ type: "light", line: line + 1, scroll });
  }

  private scrolled(editor: vscode.TextEditor, range: vscode.Range | undefined): void {
    if (editor.document !== this.source || !range || Date.now() < this.quietUntil) return;
    this.panel.post({ type: "light", line: Math.round((range.start.line + range.end.line) / 2) + 1, scroll: true });
  }

  private fromPage(m: FromMap): void {
    const editor = this.editor();
    if (!editor) return;
    const ranges = m.lines
      .filter(l => l >= 1 && l <= editor.document.lineCount)
      .map(l => new vscode.Range(l - 1, 0, l - 1, 0));
    editor.setDecorations(this.lit, m.type === "leave" ? [] : ranges);
    const [first] = ranges;
    if (!first || m.type === "leave") return;
    this.quietUntil = Date.now() + 400;
    if (m.type === "click")
      void vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn, selection: first });
    else editor.revealRange(first, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private clear(): void {
    for (const e of vscode.window.visibleTextEditors) e.setDecorations(this.lit, []);
  }
}
