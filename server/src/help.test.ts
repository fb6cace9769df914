// What --help says is what parsing takes, and a misspelt option gets the one that was meant.
import { describe, expect, it } from "vitest";
import { COMMANDS, type CommandName, isCommand, optionsOf } from "./command_table";
import { commandHelp, generalHelp } from "./help";
import { parseCommand } from "./options";

const names = Object.keys(COMMANDS) as CommandName[];

describe("--help", () => {
  it("of all commands names each of them, and fits a terminal", () => {
    for (const name of names) expect(generalHelp()).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    for (const text of [generalHelp(), ...names.map(commandHelp)])
      expect(Math.max(...text.split("\n").map(l => l.length))).toBeLessThanOrEqual(120);
  });

  it.each(names)("of %s has its usage, every option that it takes, and an example that parses", name => {
    const text = commandHelp(name);
    expect(text).toMatch(new RegExp(`^usage: fuselens ${name}\\b`));
    for (const [option, o] of Object.entries(optionsOf(name))) {
      expect(text.includes(`  --${option}`)).toBe(!o.hidden);
      expect(() => parseCommand(name, o.value ? [`--${option}`, "x"] : [`--${option}`])).not.toThrow();
    }
    for (const example of COMMANDS[name].examples.filter(e => e.startsWith("fuselens"))) {
      const [, of = "", ...rest] = example.split(" ");
      expect(isCommand(of) && parseCommand(of, rest)).toBeTruthy();
    }
  });
});

describe("an option that there is not", () => {
  it.each([
    ["explain", "--jsn", "--json"],
    ["diff", "--fail_on", "--fail-on"],
    ["values", "--verfy", "--verify"],
    ["worker", "--compile-process", "--compile-processes"],
  ] as const)("of %s that is nearly one names it: %s", (command, written, meant) => {
    expect(() => parseCommand(command, [written])).toThrow(
      `no option '${written}': did you mean '${meant}'? ('fuselens ${command} --help' says what each does)`,
    );
  });

  it("that is like none gets all of them", () => {
    expect(() => parseCommand("doctor", ["--verbosely"])).toThrow(
      "no option '--verbosely': there are --worker, --keys, --json (",
    );
  });
});
