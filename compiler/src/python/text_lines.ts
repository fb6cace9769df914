// What of a line is code, and where the code of one line stands in another that differs by spaces and comments alone.
// Strings are looked at as far as to tell that a `#` in them begins no comment; whether two lines mean the same is for
// the syntax tree to say.

/** the line without its comment and what surrounds its code; may cut a string that spans lines, in every text alike */
export function codeOf(line: string): string {
  return line.slice(0, commentStart(line)).trim();
}

/** the offset at which a comment begins, else the line's length */
function commentStart(line: string): number {
  let quote: string | null = null;
  for (let i = 0; i < line.length; i++) {
    const c = line[i] ?? "";
    if (quote !== null) {
      if (c === "\\") i++;
      else if (c === quote) quote = null;
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "#") return i;
  }
  return line.length;
}

/** the same characters but for spaces */
export function sameInk(a: string, b: string): boolean {
  return a === b || a.replace(/\s+/g, "") === b.replace(/\s+/g, "");
}

/** the column in `to` of the character that stands at `column` in `from`; both have the same ink before it */
export function columnIn(from: string, to: string, column: number): number {
  if (from === to) return column;
  let ink = 0;
  for (let i = 0; i < column; i++) if (!isSpace(from, i)) ink++;
  // the next character with ink, or just behind the last one at an end
  for (let i = 0; i < to.length; i++) {
    if (isSpace(to, i)) continue;
    if (ink === 0) return i;
    ink--;
  }
  return to.length;
}

/** as columnIn, for the column behind a last character */
export function endColumnIn(from: string, to: string, column: number): number {
  return column === 0 ? 0 : columnIn(from, to, column - 1) + 1;
}

function isSpace(s: string, i: number): boolean {
  const c = s.charCodeAt(i);
  return c === 32 || (c >= 9 && c <= 13) || c === 0xfeff || c === 0xa0;
}
