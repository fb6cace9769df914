// A webview panel with a strict content policy: scripts and styles by nonce only, no network, no images from outside.
// Data enters as messages and becomes text nodes, never markup.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { resultColumn } from "./columns";
import { type PageSpec, pageHtml } from "./pages/page";

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
    panel.webview.html = pageHtml(this.page, String(script), randomBytes(16).toString("base64"));
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
