// Runs as a Markdown table, for the clipboard. Every text that is not our own stays text in whatever shows it.
import type { HistoryEntry } from "./answers";

/** One cell's text: no markup, no column of its own, no address that a viewer makes a link of. */
function cell(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/[\\`*_{}[\]()#+!|<>&~@]|:(?=\/\/)|(?<=www)\./gi, c =>
      c === "<" ? "&lt;" : c === ">" ? "&gt;" : c === "&" ? "&amp;" : `\\${c}`,
    );
}

/** newest first */
export function historyTable(entries: readonly HistoryEntry[]): string {
  const us = (n: number | null): string => (n === null ? "" : `${n.toFixed(1)} us`);
  const rows = [...entries]
    .reverse()
    .map(e =>
      [
        new Date(e.when).toISOString().slice(0, 16).replace("T", " "),
        cell(`${e.file}: ${e.root} (${e.kind})`),
        cell(e.where),
        String(e.kernels),
        us(e.medianUs),
        us(e.eagerUs),
        us(e.compileUs),
        e.maxError === null ? "" : e.maxError.toExponential(1),
      ].join(" | "),
    );
  const head = "when | what | where | kernels | median | eager | torch.compile | max error";
  return [`| ${head} |`, `|${"---|".repeat(8)}`, ...rows.map(r => `| ${r} |`)].join("\n");
}
