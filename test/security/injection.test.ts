// Whatever stands in a user's comments, strings and names, generated Python stays a valid file and holds it as comment
// only. Python's own parser judges; where there is no python3 the test says so and checks the escapes alone.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSessionOptions, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";

const HOSTILE = [
  "\r",
  "\f",
  "\0",
  "\u2028",
  "\u2029",
  "\u0085",
  "\x1b[31m",
  "'''",
  '"""',
  "\\",
  "\\N{BULLET}",
  ";; (",
  "*/",
  "-->",
  "`",
  "\ud800",
];
const PAYLOAD = "open('/tmp/fuselens_was_here','w').write('x')";

/** sources whose statement lines hold the text in a comment, in a string, or both */
function sources(text: string): string[] {
  const body = (line: string): string =>
    `import torch\n\n\n@torch.compile\ndef f(x, y):\n    ${line}\n    return z.sum(dim=-1)\n\n\nf(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))\n`;
  return [
    body(`z = x + y  # ${text}${PAYLOAD}`),
    body(`z = (x + y) * len(${JSON.stringify(text)} or "a")  # ''' ${PAYLOAD} '''`),
    body(`z = {"k${text.replace(/["\\\r\n]/g, "")}": x + y}["k${text.replace(/["\\\r\n]/g, "")}"]`),
  ];
}

function python(): string | null {
  try {
    execFileSync("python3", ["-c", "pass"], { stdio: "ignore" });
    return "python3";
  } catch {
    return null;
  }
}

const CHECK = `
import ast, sys
for path in sys.argv[1:]:
    text = open(path, newline="", encoding="utf-8", errors="surrogatepass").read()
    tree = ast.parse(text, path)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "open"]
    assert not calls, path + " calls what the comment said"
`;

describe("generated Python", () => {
  it("is valid whatever the user's text holds, and runs none of it", () => {
    const folder = mkdtempSync(join(tmpdir(), "fuselens-injection-"));
    const files: string[] = [];
    for (const [i, hostile] of HOSTILE.entries()) {
      for (const [j, source] of sources(hostile).entries()) {
        const name = `/work${hostile.replace(/[\0\ud800]/g, "")}/model.py`;
        const program = new Session(p => (p === name ? source : undefined), defaultSessionOptions()).run(name);
        for (const c of program.compilations) {
          for (const [header, text] of [
            ["inductor", c.outputCode.inductor],
            ["standalone", c.outputCode.standalone],
            ["eager", c.outputCode.eager ?? ""],
          ] as const) {
            // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not get through
            expect(text, `${JSON.stringify(hostile)} in ${header}`).not.toMatch(/[\r\f\0\u2028\u2029\u0085\x1b]/);
            const file = join(folder, `${i}_${j}_${header}.py`);
            writeFileSync(file, text);
            files.push(file);
          }
        }
      }
    }
    expect(files.length).toBeGreaterThan(HOSTILE.length * 3);
    const interpreter = python();
    if (!interpreter) {
      console.log("no python3 here: the generated files were not parsed by Python itself");
      return;
    }
    execFileSync(interpreter, ["-c", CHECK, ...files], { stdio: "pipe" });
  });
});
