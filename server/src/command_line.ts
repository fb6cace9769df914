// The command line: `fuselens COMMAND ...`. In: commands by name. Exit status: as exit_status.ts
// says; where a command can't do its work, with one clear line on stderr.
import { nearest } from "@fuselens/compiler/vocabulary";
import { COMMANDS, isCommand } from "./command_table";
import { UsageError } from "./errors";
import { EXIT } from "./exit_status";
import { commandHelp, generalHelp } from "./help";
import { terminalText } from "./render/output";
import { VERSION } from "./version";

export type Commands = Readonly<Record<string, () => Promise<{ main(argv: string[]): Promise<number> }>>>;

async function main(commands: Commands, argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  const helps = (word: string | undefined): boolean => word === "--help" || word === "-h";
  if (name === undefined || name === "help" || helps(name)) {
    const [of] = rest;
    process.stdout.write(of !== undefined && isCommand(of) ? commandHelp(of) : generalHelp());
    return name === undefined ? EXIT.failed : EXIT.fine;
  }
  if (name === "--version" || name === "version") {
    process.stdout.write(`fuselens ${VERSION}\n`);
    return EXIT.fine;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load || !isCommand(name)) throw new UsageError(unknownCommand(name));
  if (rest.some(helps)) {
    process.stdout.write(commandHelp(name));
    return EXIT.fine;
  }
  return (await load()).main(rest);
}

function unknownCommand(name: string): string {
  const meant = nearest(name, Object.keys(COMMANDS), 2);
  return `no command '${name}'${meant ? `: did you mean '${meant}'?` : ""}; 'fuselens --help' lists them`;
}

/** Runs the command that the process was started with; its answer becomes the exit status. */
export function runCommand(commands: Commands): void {
  main(commands, process.argv.slice(2)).then(
    status => {
      process.exitCode = status;
    },
    (error: unknown) => {
      const text =
        error instanceof UsageError
          ? error.message
          : error instanceof Error
            ? (error.stack ?? error.message)
            : String(error);
      process.stderr.write(`fuselens: ${terminalText(text)}\n`);
      process.exitCode = EXIT.failed;
    },
  );
}
