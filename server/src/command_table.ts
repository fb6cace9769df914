// What there is on the command line: every command with its options, as parsing, --help and error messages know them.
// In: nothing. Out: plain data, so that a start for --help loads no command.
import { defaultSessionOptions, presetNames, targetNames } from "@fuselens/compiler/vocabulary";

export interface OptionEntry {
  /** what stands for its value; absent: it takes none */
  readonly value?: string;
  readonly what: string;
  /** may be given several times */
  readonly repeatable?: true;
  /** set by other programs, and no business of people's */
  readonly hidden?: true;
}

export type OptionEntries = Readonly<Record<string, OptionEntry>>;

export interface CommandEntry {
  /** its arguments as the usage line shows them, options aside */
  readonly args: string;
  readonly what: string;
  readonly options: OptionEntries;
  /** takes the options of commands that compile */
  readonly compiles: boolean;
  readonly examples: readonly string[];
}

const usual = defaultSessionOptions();
const choices = (names: readonly string[], usually: string): string =>
  names.map(n => (n === usually ? `${n} (the default)` : n)).join(", ");

export const COMPILE_OPTIONS: OptionEntries = {
  preset: { value: "NAME", what: `whose decisions: ${choices(presetNames(), usual.preset)}` },
  config: { value: "NAME=VALUE", what: "a setting of torch._inductor.config", repeatable: true },
  target: { value: "NAME", what: `the GPU: ${choices(targetNames(), usual.target)}` },
  env: { value: "NAME=VALUE", what: "what os.environ holds", repeatable: true },
  imports: { value: "WHICH", what: "plain (the default) or present: libraries that are imported inside try" },
  training: { what: "modules that the file never calls: in train() with grad, forward and backward" },
};

const JSON_OUTPUT: OptionEntry = { what: "plain data instead of text" };
const WORKER: OptionEntry = { value: "ENDPOINT", what: "a worker that runs already; without it, one is started" };
const CLIENT_KEYS: OptionEntry = { value: "DIR", what: "the keys that the worker knows this client by" };

export const COMMANDS = {
  run: {
    args: "FILE",
    what: "run a file or notebook, print the logs that it asks for",
    options: { out: { value: "DIR", what: "a file for each cell's text instead" } },
    compiles: true,
    examples: ["fuselens run model.py", "fuselens run notebook.ipynb --out logs"],
  },
  explain: {
    args: "FILE",
    what: "kernels, the lines behind them, reasons, bytes",
    options: { json: JSON_OUTPUT },
    compiles: true,
    examples: ["fuselens explain model.py", "fuselens explain model.py --json --config max_fusion_size=16"],
  },
  emit: {
    args: "FILE --stage STAGE",
    what: "one stage's text (pre_grad_graphs, ir_post_fusion, output_code, ...)",
    options: {
      stage: { value: "STAGE", what: "the artifact, under its name in TORCH_LOGS" },
      header: { value: "WHICH", what: "of output_code: inductor (the default) or standalone" },
    },
    compiles: true,
    examples: ["fuselens emit model.py --stage output_code"],
  },
  values: {
    args: "FILE",
    what: "run the plan on the CPU executor, print its outputs",
    options: {
      json: { what: "on one line; of --verify, plain data instead of text" },
      verify: { what: "each graph fused against unfused instead: how far outputs are off, and whether they agree" },
      worker: WORKER,
    },
    compiles: true,
    examples: ["fuselens values model.py --json", "fuselens values model.py --verify"],
  },
  bench: {
    args: "FILE",
    what: "time it on a worker",
    options: {
      worker: WORKER,
      keys: CLIENT_KEYS,
      against: { value: "NAMES", what: "eager, compile or both with a comma between: what else is timed" },
      seconds: { value: "NUMBER", what: "how long each kernel is timed" },
      fresh: { what: "nothing out of the worker's cache" },
      json: JSON_OUTPUT,
    },
    compiles: true,
    examples: ["fuselens bench model.py --worker tcp://gpu:5555 --keys keys/me --against eager,compile"],
  },
  diff: {
    args: "BASE HEAD [FILE...]",
    what: "what a change does to kernels, bytes and graph breaks",
    options: {
      "fail-on": { value: "MEASURES", what: "end with 1 where HEAD has more: kernels, bytes, breaks, commas between" },
      json: JSON_OUTPUT,
    },
    compiles: true,
    examples: ["fuselens diff old.py new.py", "fuselens diff main HEAD model.py --fail-on kernels,bytes"],
  },
  check: {
    args: "FILE LOG",
    what: "our decisions against a TORCH_LOGS log",
    options: { json: JSON_OUTPUT },
    compiles: true,
    examples: ["TORCH_LOGS=fusion,output_code python model.py 2> log", "fuselens check model.py log"],
  },
  worker: {
    args: "[pair]",
    what: "a benchmark worker; pair: a client's keys, put on the worker's allow-list",
    options: {
      bind: { value: "ENDPOINT", what: "where it answers; tcp:// takes --keys" },
      keys: { value: "DIR", what: "the worker's keys and allow-list" },
      cache: { value: "DIR", what: "where kernels and results are kept" },
      "no-cache": { what: "keep nothing" },
      python: { value: "PROGRAM", what: "a Python with PyTorch and Triton, for the GPUs" },
      gpus: { value: "N", what: "how many GPUs" },
      "compile-processes": { value: "N", what: "how many kernels are compiled at once; 0: as they are launched" },
      name: { value: "NAME", what: "of pair: what the client is called" },
      out: { value: "DIR", what: "of pair: where its keys go" },
    },
    compiles: false,
    examples: [
      "fuselens worker --bind tcp://0.0.0.0:5555 --keys keys --python .venv/bin/python",
      "fuselens worker pair --keys keys --name laptop --out laptop-keys",
    ],
  },
  lsp: {
    args: "--stdio",
    what: "the language server",
    options: {
      stdio: { what: "on stdin and stdout" },
      clientProcessId: { value: "PID", what: "the editor", hidden: true },
    },
    compiles: false,
    examples: ["fuselens lsp --stdio"],
  },
  doctor: {
    args: "",
    what: "what is there, what is missing, how to mend it",
    options: { worker: WORKER, keys: CLIENT_KEYS, json: JSON_OUTPUT },
    compiles: false,
    examples: ["fuselens doctor --worker tcp://gpu:5555 --keys keys/me"],
  },
  report: {
    args: "FILE",
    what: "a bug report: versions and the smallest input that shows it",
    options: { out: { value: "FILE", what: "where it goes instead of stdout" } },
    compiles: true,
    examples: ["fuselens report model.py --out report.md"],
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;

export type CommandName = keyof typeof COMMANDS;

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The command's own options and, where it compiles, those that all such commands take. */
export function optionsOf(name: CommandName): OptionEntries {
  const { options, compiles }: CommandEntry = COMMANDS[name];
  return compiles ? { ...options, ...COMPILE_OPTIONS } : options;
}
