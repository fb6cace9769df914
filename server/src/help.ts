// Texts of --help: the commands, or one of them with its options and an example. Out: lines of at most 120 characters.
import { COMMANDS, COMPILE_OPTIONS, type CommandEntry, type CommandName, type OptionEntries } from "./command_table";

const EXIT_STATUS = `Exit status: 0 fine; 1 the file has errors, values disagree (values --verify, check), a change is worse
(diff --fail-on), something is missing (doctor); 2 it could not be done, stderr says why.
`;

export function generalHelp(): string {
  const rows = Object.entries(COMMANDS).map(([name, c]): Row => [`${name} ${c.args}`.trim(), c.what]);
  return `usage: fuselens COMMAND [options]

${table(rows)}
Commands that compile take:
${table(optionRows(COMPILE_OPTIONS))}
'fuselens COMMAND --help' shows a command's own options, with an example.

${EXIT_STATUS}`;
}

export function commandHelp(name: CommandName): string {
  const c: CommandEntry = COMMANDS[name];
  const usage = ["usage: fuselens", name, ...(c.args === "" ? [] : [c.args]), "[options]"].join(" ");
  const compiling = c.compiles ? `As all commands that compile:\n${table(optionRows(COMPILE_OPTIONS))}\n` : "";
  return `${usage}

${c.what}

${table(optionRows(c.options))}
${compiling}For example:
${c.examples.map(e => `  ${e}\n`).join("")}`;
}

type Row = readonly [term: string, what: string];

function optionRows(options: OptionEntries): Row[] {
  return Object.entries(options).flatMap(([name, o]): Row[] =>
    o.hidden ? [] : [[`--${name}${o.value ? ` ${o.value}` : ""}`, `${o.what}${o.repeatable ? " (repeatable)" : ""}`]],
  );
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([term]) => term.length));
  return rows.map(([term, what]) => `  ${term.padEnd(width)}  ${what}\n`).join("");
}
