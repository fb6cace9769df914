// A webview panel with a strict content policy: scripts and styles by nonce only, no network, no images from outside.
// Data enters as messages and becomes text nodes, never markup. The page's script is dist/webview/NAME.js.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { resultColumn } from "./columns";

export interface PageSpec {
  /** name of the script and of the view type */
  readonly name: string;
  readonly title: string;
  /** markup of the body; no data in it */
  readonly body: string;
  readonly style: string;
}

const BASE_STYLE = `
  body { padding: 0; margin: 0; color: var(--vscode-editor-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
  table { border-collapse: collapse; width: 100%; }
  td, th { text-align: left; padding: 2px 8px; white-space: nowrap; }
  th { font-weight: 600; border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder)); }
  td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
  [tabindex]:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
  button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-button-border, transparent); padding: 3px 9px; cursor: pointer; border-radius: 2px; font: inherit; white-space: nowrap; }
  button:hover { background: var(--vscode-button-hoverBackground); }
  button.secondary { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
  button.secondary:hover { background: var(--vscode-button-secondaryHoverBackground); }
  button:disabled { opacity: 0.5; cursor: default; }
  select { color: var(--vscode-dropdown-foreground); background: var(--vscode-dropdown-background); border: 1px solid var(--vscode-dropdown-border); padding: 3px; font: inherit; }
  .toolbar .group { display: inline-flex; gap: 2px; align-items: center; }
  .kernel { --fill: var(--fill-dark); --on-fill: var(--on-fill-dark); }
  body.vscode-light .kernel, body.vscode-high-contrast-light .kernel { --fill: var(--fill-light); --on-fill: var(--on-fill-light); }
  .toolbar { display: flex; gap: 4px 10px; align-items: center; padding: 6px 8px; flex-wrap: wrap; border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder)); }
  .quiet { color: var(--vscode-descriptionForeground); }
  .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;

export class Panel<ToPage, FromPage> implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private ready = false;
  private pending: ToPage[] = [];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly page: PageSpec,
    private readonly receive: (message: FromPage) => void,
    private readonly closed: () => void = () => undefined,
    /** it came back to the front */
    private readonly shown: () => void = () => undefined,
  ) {}

  get open(): boolean {
    return this.panel !== undefined;
  }

  get visible(): boolean {
    return this.panel?.visible ?? false;
  }

  show(title = this.page.title): void {
    if (this.panel) {
      this.panel.title = title;
      this.panel.reveal(undefined, true);
      return;
    }
    const scripts = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const panel = vscode.window.createWebviewPanel(
      `fuselens.${this.page.name}`,
      title,
      { viewColumn: resultColumn(), preserveFocus: true },
      { enableScripts: true, localResourceRoots: [scripts], retainContextWhenHidden: true },
    );
    this.panel = panel;
    this.ready = false;
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "icon.png");
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.pending = [];
      this.closed();
    });
    panel.onDidChangeViewState(() => panel.visible && this.shown());
    panel.webview.onDidReceiveMessage((m: FromPage | { readonly type: "ready" }) => {
      if ((m as { type: string }).type === "ready") {
        this.ready = true;
        for (const p of this.pending.splice(0)) void panel.webview.postMessage(p);
      } else this.receive(m as FromPage);
    });
    const script = panel.webview.asWebviewUri(vscode.Uri.joinPath(scripts, `${this.page.name}.js`));
    panel.webview.html = shell(this.page, String(script), randomBytes(16).toString("base64"));
  }

  /** kept until the page can take it */
  post(message: ToPage): void {
    if (!this.panel) return;
    if (this.ready) void this.panel.webview.postMessage(message);
    else this.pending.push(message);
  }

  dispose(): void {
    this.panel?.dispose();
  }
}

function shell(page: PageSpec, script: string, nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; img-src data: blob:;">
<title>${page.title}</title>
<style nonce="${nonce}">${BASE_STYLE}${page.style}</style>
</head>
<body>
${page.body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
