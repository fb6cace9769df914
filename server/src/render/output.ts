// Everything that the command line prints. Names, messages and paths come from files that somebody else may have written,
// and a terminal obeys control characters: here they are shown, not sent.

/** C0 and C1 but tab and line feed, DEL, and the marks that turn the direction of writing */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not get through
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of any number of lines with nothing in it that a terminal obeys: ESC becomes `\x1b`, as Python's repr has it. */
export function terminalText(text: string): string {
  return text.replace(OBEYED, c => {
    const code = c.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The same on one line, so that no name makes a line of its own. */
export function terminalLine(text: string): string {
  return terminalText(text.replace(/\s*[\r\n\f\v\x85\u2028\u2029]+\s*/g, " "));
}

/** JSON, one value: what a terminal obeys is escaped as JSON escapes, so the value is the same. */
export function jsonText(value: unknown, indent: number | undefined = 1): string {
  const shown = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value, null, indent).replace(OBEYED, shown)}\n`;
}

/** prints what is written for people */
export function print(text: string): void {
  process.stdout.write(terminalText(text));
}

export function printJson(value: unknown, indent?: number): void {
  process.stdout.write(jsonText(value, indent));
}

/** prints what a program printed or what is generated: as it is into a file or a pipe, shown on a terminal */
export function printRaw(text: string): void {
  process.stdout.write(process.stdout.isTTY ? terminalText(text) : text);
}

/** prints one line about what went wrong */
export function printError(line: string): void {
  process.stderr.write(`${terminalLine(line)}\n`);
}
