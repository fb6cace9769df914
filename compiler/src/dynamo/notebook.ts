// The cells of a file. In: path and text. Out: one piece for a plain file, the code cells of an .ipynb, the parts of a
// file with `# %%` marks. Cells of notebooks restart line numbers and are named <cell>, as IPython's frames are.

export interface Cell {
  readonly text: string;
  /** how frames name the file */
  readonly name: string;
  /** 1-based among code cells; null for a plain file */
  readonly index: number | null;
}

interface NotebookCell {
  readonly cell_type?: string;
  readonly source?: string | readonly string[];
}

export function splitCells(path: string, text: string): Cell[] {
  if (path.endsWith(".ipynb")) return notebookCells(text);
  if (!/^# ?%%/m.test(text)) return [{ text, name: path, index: null }];
  // a marked script keeps its own lines: each cell is padded to where it stands
  const cells: Cell[] = [];
  const lines = text.split("\n");
  let from = 0;
  const flush = (to: number): void => {
    const part = lines.slice(from, to);
    if (part.some(l => l.trim() !== "" && !l.startsWith("#"))) {
      cells.push({ text: "\n".repeat(from) + part.join("\n"), name: path, index: cells.length + 1 });
    }
    from = to;
  };
  lines.forEach((l, i) => {
    if (/^# ?%%/.test(l)) flush(i);
  });
  flush(lines.length);
  return cells;
}

function notebookCells(text: string): Cell[] {
  let parsed: { cells?: readonly NotebookCell[] };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return [];
  }
  const code = (parsed.cells ?? []).filter(c => c.cell_type === "code");
  return code.map((c, i) => {
    const source = typeof c.source === "string" ? c.source : (c.source ?? []).join("");
    // magics and shell lines are IPython's, not Python's
    const plain = source.replace(/^(\s*)[%!].*$/gm, "$1pass");
    return { text: plain, name: "<cell>", index: i + 1 };
  });
}
