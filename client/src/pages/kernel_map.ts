// The kernel map's page: a table of kernels over the output code. Markup and style, no data.
import type { PageSpec } from "./page";

export const KERNEL_MAP_PAGE: PageSpec = {
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
