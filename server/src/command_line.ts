// The command line: `fuselens COMMAND ...`. In: commands by name. Exit status: as exit_status.ts
// says; where a command can't do its work, with one clear line on stderr.
import { UsageError } from "./errors";
import { EXIT } from "./exit_status";
import { terminalText } from "./render/output";
import { VERSION } from "./version";

export type Commands = Readonly<Record<string, () => Promise<{ main(argv: string[]): Promise<number> }>>>;

const HELP = `usage: fuselens COMMAND [options]

  run FILE [--out DIR]          run a file or notebook, print the logs that it asks for
  explain FILE [--json]         kernels, the lines behind them, reasons, bytes
  emit FILE --stage STAGE       one stage's text (pre_grad_graphs, ir_post_fusion, output_code, ...)
  values FILE --json [--verify] run the plan on the CPU executor, print its outputs
  bench FILE [--worker EP] [--against eager,compile]
  diff BASE HEAD [--fail-on kernels,bytes,breaks]
  check FILE LOG                our decisions against a TORCH_LOGS log
  worker [--bind ENDPOINT]      a benchmark worker
  lsp --stdio                   the language server
  doctor                        what is there, what is missing, how to mend it
  report FILE [--out FILE]      a bug report: versions and the smallest input that shows it

Commands that compile take --preset NAME, --config NAME=VALUE (repeatable), --target NAME,
--env NAME=VALUE (repeatable: what os.environ holds), --imports plain|present (guarded imports),
--training (modules that the file never calls: in train() with grad, forward and backward).

Exit status: 0 fine; 1 the file has errors, values disagree (values --verify, check), a change is worse (diff --fail-on),
something is missing (doctor); 2 it could not be done, stderr says why.
`;

async function main(commands: Commands, argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(HELP);
    return name === undefined ? EXIT.failed : EXIT.fine;
  }
  if (name === "--version" || name === "version") {
    process.stdout.write(`fuselens ${VERSION}\n`);
    return EXIT.fine;
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    process.stdout.write(HELP);
    return EXIT.fine;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new UsageError(`no command '${name}'; 'fuselens --help' lists them`);
  return (await load()).main(rest);
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
