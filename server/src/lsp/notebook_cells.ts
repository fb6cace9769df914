// A notebook cell's text as Python: IPython's magics and shell lines become statements that do nothing, line by line.

/** cell magics whose body is Python all the same */
const PYTHON_CELLS = /^%%(time|timeit|capture|prun|memit)\b/;

export function cellText(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const [first = ""] = lines;
  const foreign = /^\s*%%/.test(first) && !PYTHON_CELLS.test(first.trim());
  return lines.map(line => (foreign ? commented(line) : pythonLine(line))).join("\n");
}

function pythonLine(line: string): string {
  const magic = /^(\s*)([%!]|\?\S|\S+\?{1,2}\s*$)/.exec(line);
  if (!magic || /^\s*#/.test(line)) return line;
  // `pass` keeps a block that has nothing else in it
  return `${magic[1]}pass  # ${line.trim()}`;
}

function commented(line: string): string {
  return `# ${line}`;
}
