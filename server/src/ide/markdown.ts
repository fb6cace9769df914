// The one escaping function for Markdown, and code fences that their content can't end.

/** Text from the user's file as inert Markdown: no markup, no line ends, no HTML, no addresses made links. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n\f\0\u2028\u2029]+/g, " ")
    .replace(/[\\`*_{}[\]()#+\-.!|<>&~@]|:(?=\/\/)/g, c =>
      c === "<" ? "&lt;" : c === ">" ? "&gt;" : c === "&" ? "&amp;" : `\\${c}`,
    );
}

/** Text as inline code, whatever backticks it holds. */
export function inlineCode(text: string): string {
  const clean = text.replace(/[\r\n\f\0\u2028\u2029]+/g, " ");
  const longest = Math.max(0, ...[...clean.matchAll(/`+/g)].map(m => m[0].length));
  const fence = "`".repeat(longest + 1);
  const pad = clean.startsWith("`") || clean.endsWith("`") ? " " : "";
  return `${fence}${pad}${clean}${pad}${fence}`;
}

/** Text as a code block, whatever fences it holds. */
export function codeBlock(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(m => m[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
