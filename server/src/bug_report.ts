// What a bug report needs: versions, the options, what went wrong, and the smallest part of a file that still shows it.
// Nothing from the environment: no variables, no names of folders or users.
import { defaultSessionOptions, type Program, Session, type SessionOptions } from "@fuselens/compiler";
import { codeBlock } from "./ide/markdown";
import { VERSION } from "./version";

/** compiles that making the input small may cost */
const MOST_COMPILES = 150;
/** what the file is called in the report */
const NAME = "/report/model.py";

/**
 * Markdown. `editor`: name and version of the program that asks, where one does. Once `shouldStop` holds, no more is
 * compiled and the text is of no use.
 */
export function bugReport(
  text: string,
  options = defaultSessionOptions(),
  editor: string | null = null,
  shouldStop = (): boolean => false,
): string {
  const whole = symptomOf(text, options, shouldStop);
  const small = whole === null ? text : shortened(text, t => symptomOf(t, options, shouldStop) === whole);
  const config = [...options.config].map(([k, v]) => `${k}=${String(v)}`).join(", ");
  return [
    "## What went wrong",
    whole ?? "Nothing that FuseLens itself sees: say here what you expected, and what came instead.",
    "## Versions",
    `fuselens ${VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}${editor === null ? "" : `, ${editor}`}`,
    `preset ${options.preset}, target ${options.target}${config ? `, ${config}` : ""}`,
    "## Input",
    whole === null
      ? `The file, ${text.length} characters. Take out what must not be seen before you send it.`
      : `${small.length} of ${text.length} characters, which still show it. Read them before you send them.`,
    codeBlock(small.replace(/\n$/, ""), "python"),
    "",
  ].join("\n\n");
}

/** what is FuseLens's own fault, in a form that does not depend on where it stands; null if it sees none */
function symptomOf(text: string, options: SessionOptions, shouldStop: () => boolean): string | null {
  if (shouldStop()) return null;
  let program: Program;
  try {
    program = new Session(p => (p === NAME ? text : undefined), options).run(NAME, { shouldStop });
  } catch (e) {
    return `crash: ${e instanceof Error ? e.message : String(e)}`;
  }
  const own = program.diagnostics.find(d => d.code === "internal" || d.message.includes("failed here"));
  return own ? `${own.code}: ${own.message}` : null;
}

/** lines are left out, ever fewer at a time, while `same` holds */
export function shortened(text: string, same: (t: string) => boolean): string {
  let lines = text.split(/(?<=\n)/);
  let left = MOST_COMPILES;
  for (let size = Math.ceil(lines.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < lines.length && left > 0; ) {
      const rest = [...lines.slice(0, at), ...lines.slice(at + size)];
      left -= 1;
      if (rest.length && same(rest.join(""))) lines = rest;
      else at += size;
    }
  }
  return lines.join("");
}
