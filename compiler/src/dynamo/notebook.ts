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

/** the first line of a cell whose text is not Python */
const FOREIGN_CELL =
  /^\s*%%(?:bash|sh|script|html|HTML|javascript|js|latex|markdown|svg|SVG|perl|ruby|writefile|file|cmd|sql|R|cython)\b/;

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

/** why the text of an .ipynb has no cells to read; null where it has */
export function notebookFault(path: string, text: string): string | null {
  if (!path.endsWith(".ipynb") || text.trim() === "") return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (e) {
    return `this is no notebook: ${e instanceof Error ? e.message : "its JSON is broken"}`;
  }
  if (typeof parsed === "object" && parsed !== null) {
    if ("cells" in parsed && Array.isArray(parsed.cells)) return null;
    if ("worksheets" in parsed)
      return "notebooks of format 3 and older are not read; `jupyter nbconvert --to notebook` makes this one newer";
  }
  return "this is no notebook: it has no list of cells";
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
    // magics, shell lines and questions are IPython's, not Python's; a cell magic of another language takes its whole cell
    const foreign = FOREIGN_CELL.test(source);
    const plain = foreign ? "" : source.replace(/^([ \t]*)(?:[%!?].*|[\w.]+\?\??[ \t]*)$/gm, "$1pass");
    return { text: plain, name: "<cell>", index: i + 1 };
  });
}
