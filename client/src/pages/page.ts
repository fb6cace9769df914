// The HTML of a webview. In: a page's constant markup and style, the address of its script, a nonce. Promises: scripts and
// styles by nonce only, no network, no images from outside, no data: that comes later, as messages to the script.

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

/** `script`: address of dist/webview/NAME.js; `nonce`: new for every page, base64 */
export function pageHtml(page: PageSpec, script: string, nonce: string): string {
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
