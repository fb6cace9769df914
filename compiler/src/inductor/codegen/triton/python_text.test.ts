import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insideTripleQuotes, pythonComment, pythonString } from "./python_text";

const python = spawnSync("python3", ["--version"]).status === 0;

/** what Python's own parser makes of modules: their statements as `ast.dump` shows them, or the error */
function parsed(modules: readonly string[]): unknown[] {
  const script = [
    "import ast, json, sys",
    "out = []",
    "for text in json.load(sys.stdin):",
    "    try:",
    "        tree = ast.parse(text)",
    "        out.append([n.value.value if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) else ast.dump(n) for n in tree.body])",
    "    except Exception as e:",
    "        out.append(repr(e))",
    "json.dump(out, sys.stdout)",
  ].join("\n");
  const r = spawnSync("python3", ["-c", script], { input: JSON.stringify(modules), encoding: "utf8" });
  expect(r.stderr).toBe("");
  return JSON.parse(r.stdout) as unknown[];
}

const nasty = [
  "plain",
  "a'b",
  'a"b',
  `both ' and "`,
  "'''",
  '"""',
  "ends with '",
  "ends with \\",
  "line\nimport os",
  "line\rimport os",
  "line\r\nimport os",
  "feed\fimport os",
  "tab\v\x1c\x1d\x1e\x85import os",
  "nul\0byte",
  "u2028\u2028import os",
  "u2029\u2029import os",
  "emoji \u{1f600} and é",
];
const texts = [
  ...nasty,
  ...fc.sample(
    fc.string({
      unit: fc.constantFrom("'", '"', "\\", "\n", "\r", "\f", "\0", "\u2028", "#", "a", " "),
      maxLength: 12,
    }),
    {
      numRuns: 200,
      seed: 1,
    },
  ),
];

describe.skipIf(!python)("text in Python source", () => {
  it("never ends the string that it stands in, and reads back the same", () => {
    const read = parsed(texts.map(t => `x = ${pythonString(t)}`));
    expect(read).toEqual(texts.map(t => [t]));
  });

  it("never ends the triple-quoted string that it stands in, and reads back the same", () => {
    const read = parsed(texts.map(t => `x = '''${insideTripleQuotes(t)}'''`));
    expect(read).toEqual(texts.map(t => [t]));
  });

  it("never ends the comment that it stands in", () => {
    const read = parsed(texts.map(t => `${pythonComment(`# ${t}`)}\nx = 1`));
    expect(read).toEqual(texts.map(() => [1]));
  });
});
