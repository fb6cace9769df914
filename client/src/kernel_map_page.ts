// The kernel map's page. It holds no data: maps arrive as messages and become text nodes, never markup.

export function kernelMapPage(nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}';">
<title>FuseLens kernel map</title>
<style nonce="${nonce}">
  body { padding: 0; margin: 0; display: flex; flex-direction: column; height: 100vh; color: var(--vscode-editor-foreground); }
  #kernels { flex: none; max-height: 35vh; overflow: auto; border-bottom: 1px solid var(--vscode-panel-border); }
  table { border-collapse: collapse; width: 100%; font-size: var(--vscode-font-size); }
  td, th { text-align: left; padding: 2px 8px; white-space: nowrap; }
  tr[tabindex] { cursor: pointer; }
  tr[tabindex]:focus { outline: 1px solid var(--vscode-focusBorder); }
  .bar { display: inline-block; height: 8px; background: var(--vscode-charts-blue); }
  #code { flex: 1; overflow: auto; margin: 0; font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
  .line { white-space: pre; padding: 0 8px; min-height: 1.2em; }
  .line[data-source] { cursor: pointer; }
  .lit { background: var(--vscode-editor-findMatchHighlightBackground); }
</style>
</head>
<body>
<div id="kernels" role="region" aria-label="Kernels"><table><thead><tr><th>#</th><th>kernel</th><th>lines</th><th>bytes</th><th>time</th><th>share</th></tr></thead><tbody></tbody></table></div>
<div id="code" role="region" aria-label="Output code" tabindex="0"></div>
<script nonce="${nonce}">
(() => {
  const vscode = acquireVsCodeApi();
  const code = document.getElementById("code");
  const rows = document.querySelector("#kernels tbody");
  let map = null;
  const bytes = n => n >= 1e9 ? (n / 1e9).toFixed(2) + " GB" : n >= 1e6 ? (n / 1e6).toFixed(1) + " MB" : n >= 1e3 ? (n / 1e3).toFixed(1) + " kB" : n + " B";
  const cell = (row, text) => { const td = document.createElement("td"); td.textContent = text; row.append(td); return td; };
  const unlight = () => { for (const e of document.querySelectorAll(".lit")) e.classList.remove("lit"); };
  const send = (type, lines) => vscode.postMessage({ type, lines });

  function draw() {
    rows.replaceChildren();
    code.replaceChildren();
    if (!map) return;
    const total = map.kernels.reduce((n, k) => n + k.bytes, 0) || 1;
    for (const k of map.kernels) {
      const row = document.createElement("tr");
      row.tabIndex = 0;
      row.dataset.kernel = k.number;
      row.setAttribute("aria-label", "kernel " + k.number + ", " + k.name + ", lines " + k.at.join(" ") + ", " + bytes(k.bytes));
      cell(row, k.number); cell(row, k.name); cell(row, k.at.join(", ")); cell(row, bytes(k.bytes));
      cell(row, k.measuredUs === null ? "est. " + k.estimateUs.toFixed(1) + " us" : k.measuredUs.toFixed(1) + " us");
      const bar = document.createElement("span");
      bar.className = "bar";
      bar.style.width = Math.max(2, Math.round(120 * k.bytes / total)) + "px";
      cell(row, "").append(bar);
      const go = type => { lightKernel(k.number); send(type, k.at); if (type === "click" && k.codeLines) code.children[k.codeLines[0]]?.scrollIntoView({ block: "start" }); };
      row.addEventListener("mouseenter", () => go("hover"));
      row.addEventListener("click", () => go("click"));
      row.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); go("click"); } });
      rows.append(row);
    }
    map.code.split("\\n").forEach((text, i) => {
      const line = document.createElement("div");
      line.className = "line";
      line.textContent = text;
      const source = map.codeToSource[i] || [];
      if (source.length) {
        line.dataset.source = source.join(" ");
        line.addEventListener("mouseenter", () => { unlight(); lightSource(new Set(source)); send("hover", source); });
        line.addEventListener("click", () => send("click", source));
      }
      code.append(line);
    });
  }

  function lightSource(lines) {
    let first = null;
    for (const e of code.children) {
      if ((e.dataset.source || "").split(" ").some(l => l && lines.has(Number(l)))) { e.classList.add("lit"); first ??= e; }
    }
    return first;
  }

  function lightKernel(number) {
    unlight();
    for (const r of rows.children) if (Number(r.dataset.kernel) === number) r.classList.add("lit");
    const k = map.kernels.find(x => x.number === number);
    if (k) lightSource(new Set(k.at));
  }

  window.addEventListener("message", ({ data }) => {
    if (data.type === "map") { map = data.map || null; draw(); }
    else if (data.type === "light" && map) {
      unlight();
      for (const n of map.sourceToKernels[data.line] || []) for (const r of rows.children) if (Number(r.dataset.kernel) === n) r.classList.add("lit");
      lightSource(new Set([data.line]))?.scrollIntoView({ block: "nearest" });
    }
  });
  send("ready", []);
})();
</script>
</body>
</html>`;
}
