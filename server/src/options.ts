// Options that every compiling command takes, parsed once. Out: a SessionOptions and the file to compile.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";
import {
  checkConfig,
  defaultSessionOptions,
  isPresetName,
  nearest,
  parseConfigValue,
  presetNames,
  type SessionOptions,
  targetNames,
} from "@fuselens/compiler/vocabulary";
import { type CommandName, type OptionEntries, optionsOf } from "./command_table";
import { UsageError } from "./errors";
import { printError } from "./render/output";

type OptionSpec = NonNullable<ParseArgsConfig["options"]>;

export interface CommandLine {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Parses the arguments of a command against its options in the table. Errors are UsageErrors. */
export function parseCommand(command: CommandName, argv: readonly string[]): CommandLine {
  const known = optionsOf(command);
  const options: OptionSpec = {};
  for (const [name, o] of Object.entries(known))
    options[name] = { type: o.value === undefined ? "boolean" : "string", multiple: o.repeatable === true };
  try {
    const { positionals, values } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    return { positionals, values };
  } catch (e) {
    const text = e instanceof Error ? (e.message.split("\n")[0] ?? e.message) : String(e);
    const unknown = /^Unknown option '([^']*)'/.exec(text)?.[1]; // Node goes on about positional arguments
    throw new UsageError(unknown === undefined ? text : unknownOption(command, unknown, known));
  }
}

function unknownOption(command: CommandName, written: string, known: OptionEntries): string {
  const names = Object.entries(known).flatMap(([name, o]) => (o.hidden ? [] : [`--${name}`]));
  const meant = nearest(written, names, Math.max(1, Math.floor((written.length - 2) / 3)));
  const others = meant ? `did you mean '${meant}'?` : `there are ${names.join(", ")}`;
  return `no option '${written}': ${others} ('fuselens ${command} --help' says what each does)`;
}

export function sessionOptions(values: Readonly<Record<string, unknown>>): SessionOptions {
  const options = defaultSessionOptions();
  const preset = values["preset"];
  if (typeof preset === "string") {
    if (!isPresetName(preset)) throw new UsageError(`no preset '${preset}'; there are ${presetNames().join(", ")}`);
    options.preset = preset;
  }
  const target = values["target"];
  if (typeof target === "string") {
    if (!targetNames().includes(target))
      throw new UsageError(`no target '${target}'; there are ${targetNames().join(", ")}`);
    options.target = target;
  }
  for (const entry of (values["config"] as string[] | undefined) ?? []) {
    const at = entry.indexOf("=");
    if (at < 1) throw new UsageError(`--config takes NAME=VALUE, not '${entry}'`);
    const name = entry.slice(0, at);
    const value = parseConfigValue(entry.slice(at + 1));
    const problem = checkConfig(name, value);
    // an option of Inductor's that no decision rests on does no harm; anything else would silently change what is compiled
    if (problem?.kind === "unread") printError(`fuselens: ${problem.text}`);
    else if (problem) throw new UsageError(`--config ${entry}: ${problem.text}`);
    options.config.set(name, value);
  }
  const environment = new Map<string, string>();
  for (const entry of (values["env"] as string[] | undefined) ?? []) {
    const at = entry.indexOf("=");
    if (at < 1) throw new UsageError(`--env takes NAME=VALUE, not '${entry}'`);
    environment.set(entry.slice(0, at), entry.slice(at + 1));
  }
  if (environment.size > 0) options.environment = environment;
  const imports = values["imports"];
  if (typeof imports === "string") {
    if (imports !== "plain" && imports !== "present")
      throw new UsageError(`--imports takes plain or present, not '${imports}'`);
    options.imports = imports;
  }
  if (values["training"] === true) options.training = () => true;
  return options;
}

const NOT_PYTHON = /\.(md|txt|json|ya?ml|toml|rst|html?|c|cc|cpp|cu|h|js|ts|png|pt|pth|safetensors|so|zip)$/i;

/** The only argument, a FILE of Python, which must be there and readable. */
export function requireFile(line: CommandLine): string {
  return requireFiles(line, ["FILE"])[0] as string;
}

/** Arguments of these names, all of them files; FILE is one of Python. */
export function requireFiles(line: CommandLine, names: readonly string[]): string[] {
  const more = line.positionals[names.length];
  if (more !== undefined) throw new UsageError(`one argument too many: ${more}`);
  return names.map((name, i) => {
    const given = line.positionals[i];
    if (given === undefined) throw new UsageError(`a ${name} is missing`);
    const path = resolve(given);
    if (!existsSync(path)) throw new UsageError(`no such file: ${given}`);
    if (!statSync(path).isFile()) throw new UsageError(`not a file: ${given}`);
    if (name === "FILE" && NOT_PYTHON.test(given))
      throw new UsageError(`${given} is neither Python (.py) nor a notebook (.ipynb)`);
    return path;
  });
}
