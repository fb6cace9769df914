// Patterns of Python's re as JavaScript's regular expressions. In: a pattern and its flags. Out: source and flags for RegExp.
// What is the same in both languages stands as it is.

/** values of re's flags */
export const FLAGS = { A: 256, I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 } as const;

const END = "(?![\\s\\S])";
const START = "(?<![\\s\\S])";

export interface Translated {
  readonly source: string;
  readonly flags: string;
}

/** @throws SyntaxError from RegExp, not here: a pattern that JavaScript does not know is passed on */
export function translate(pattern: string, given: number): Translated {
  const inline = /^\(\?([aiLmsux]+)\)/.exec(pattern);
  let flags = given;
  for (const letter of inline?.[1] ?? "") flags |= FLAGS[letter.toUpperCase() as keyof typeof FLAGS];
  const has = (f: keyof typeof FLAGS): boolean => (flags & FLAGS[f]) !== 0;
  const source = rewritten(pattern.slice(inline?.[0].length ?? 0), has("M"), has("X"));
  return { source, flags: `${has("I") ? "i" : ""}${has("M") ? "m" : ""}${has("S") ? "s" : ""}` };
}

function rewritten(p: string, lines: boolean, verbose: boolean): string {
  let out = "";
  for (let i = 0; i < p.length; ) {
    const rest = p.slice(i);
    const special = /^(\\[AZ]|\(\?P<|\(\?P=\w+\)|\(\?#[^)]*\)|\{,\d+\})/.exec(rest)?.[0];
    const letter = p.charAt(i);
    if (special !== undefined) {
      out += ofSpecial(special);
      i += special.length;
    } else if (letter === "\\") {
      out += p.slice(i, i + 2);
      i += 2;
    } else if (letter === "[") {
      const whole = /^\[\^?\]?(?:[^\]\\]|\\[\s\S])*\]?/.exec(rest)?.[0] ?? "[";
      // a bracket that comes first is one of the letters
      out += whole.replace(/^(\[\^?)\](?=.)/, "$1\\]");
      i += whole.length;
    } else if (letter === "$" && !lines) {
      // the end, or before the newline there
      out += `(?=\n?${END})`;
      i++;
    } else if (verbose && /[\s#]/.test(letter)) {
      i += (letter === "#" ? /^[^\n]*/.exec(rest)?.[0].length : 1) ?? 1;
    } else {
      out += letter;
      i++;
    }
  }
  return out;
}

function ofSpecial(special: string): string {
  if (special === "\\A") return START;
  if (special === "\\Z") return END;
  if (special === "(?P<") return "(?<";
  if (special.startsWith("(?P=")) return `\\k<${special.slice(4, -1)}>`;
  return special.startsWith("{") ? `{0${special.slice(1)}` : "";
}
