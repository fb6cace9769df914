// The kernel map: output code beside the source. Hover on either side lights the other, a click goes there, scrolling
// goes along, and a list shows each kernel's bytes, times and share of the bandwidth limit.
import * as vscode from "vscode";
import type { KernelMap, Target } from "./answers";
import { sameDocument } from "./gutter";
import { Panel } from "./panel";
import { isSource, type Server } from "./server";

export type ToMap =
  | { readonly type: "map"; readonly map: KernelMap; readonly file: string }
  | { readonly type: "light"; readonly line: number; readonly scroll: boolean };
export type FromMap = { readonly type: "hover" | "click" | "leave"; readonly lines: readonly number[] };

const PAGE = {
  name: "kernel_map",
  title: "FuseLens kernel map",
  body: `
<div class="toolbar"><strong id="title"></strong><span id="summary" role="status"></span><span id="limit" class="quiet"></span></div>
<div id="kernels" role="region" aria-label="Kernels"><table><thead><tr>
<th scope="col">#</th><th scope="col">kernel</th><th scope="col">lines</th><th scope="col" class="number">bytes</th>
<th scope="col" class="number" title="Estimated from bytes and operations">estimate</th><th scope="col" class="number measured">measured</th><th scope="col" class="number" title="Part of the time of all kernels">share</th><th scope="col" title="Part of the bandwidth limit">of limit</th>
</tr></thead><tbody></tbody></table></div>
<div id="code" role="region" aria-label="Output code, each line tied to source lines"></div>`,
  style: `
  body { display: flex; flex-direction: column; height: 100vh; overflow: hidden; }
  #kernels { flex: none; max-height: 35vh; overflow: auto; border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder)); }
  #kernels thead th { position: sticky; top: 0; background: var(--vscode-editor-background); }
  #kernels tbody tr { cursor: pointer; }
  #kernels td, #kernels th { padding: 2px 6px; }
  #kernels td.name { font-family: var(--vscode-editor-font-family); width: 100%; max-width: 0; min-width: 8em; overflow: hidden; text-overflow: ellipsis; }
  #kernels.estimated .measured { display: none; }
  .badge { display: inline-block; min-width: 1.6em; padding: 0 3px; text-align: center; border-radius: 3px; font-weight: bold; font-size: 0.85em; background: var(--fill); color: var(--on-fill); }
  .track { display: inline-block; width: 44px; height: 8px; background: var(--vscode-editorWidget-background); border: 1px solid var(--vscode-widget-border, transparent); vertical-align: middle; margin-right: 6px; }
  .bar { display: block; height: 100%; background: var(--vscode-charts-blue); }
  #code { flex: 1; overflow: auto; font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); line-height: 1.4; padding: 4px 0; }
  .line { white-space: pre; padding: 0 8px 0 4px; min-height: 1.4em; border-left: 4px solid transparent; width: max-content; min-width: 100%; box-sizing: border-box; }
  .line.kernel { border-left-color: var(--fill); }
  .line.tied { cursor: pointer; }
  .comment { color: var(--vscode-descriptionForeground); font-style: italic; }
  .string { color: var(--vscode-debugTokenExpression-string); }
  .digits { color: var(--vscode-debugTokenExpression-number); }
  .keyword { color: var(--vscode-symbolIcon-classForeground, var(--vscode-debugTokenExpression-name)); }
  .line.part { background: var(--vscode-editor-inactiveSelectionBackground); }
  .line.lit { background: var(--vscode-editor-selectionHighlightBackground); }
  tr.lit { background: var(--vscode-list-inactiveSelectionBackground); }
  body.vscode-high-contrast .lit, body.vscode-high-contrast .part, body.vscode-high-contrast-light .lit, body.vscode-high-contrast-light .part { outline: 1px dashed var(--vscode-contrastActiveBorder); outline-offset: -1px; }`,
};

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
      PAGE,
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
