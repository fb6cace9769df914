// Fuzzing what is generated: programs whose names, strings, comments and path hold hostile text are compiled, and every
// text that comes out is read by the real parser of its target: it must be well-formed and hold the text as data only.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultSessionOptions, type Program, Session, schedulerDot } from "@fuselens/compiler";
import { hoverAt } from "../../../server/src/ide/hover";
import { codeBlock, escapeMarkdown, inlineCode } from "../../../server/src/ide/markdown";
import { editorProgram } from "../../../server/src/ide/model";
import { reasonsPage } from "../../../server/src/ide/reasons_page";
import { signatureOf } from "../findings";
import { minimiseText } from "../minimise";
import type { Context, Counts } from "../mode";
import { Random } from "../random";
import { hostile, hostileProgram, MARK } from "./hostile";

export interface Checkers {
  python(text: string): Promise<string | null>;
  wat(text: string): string | null;
  dot(text: string): string | null;
  markdown(text: string): string | null;
  end(): void;
}

type Target = "python" | "wat" | "dot" | "markdown";

export async function fuzzInjection(context: Context): Promise<Counts> {
  const made = (await import(pathToFileURL(join(context.root, "test", "fuzz", "injection", "checkers.mjs")).href)) as {
    startCheckers(mark: string): Promise<Checkers>;
  };
  const checkers = await made.startCheckers(MARK);
  const counts = { programs: 0, python: 0, wat: 0, dot: 0, markdown: 0 };
  try {
    for (let i = context.firstCase; context.more(); i++) {
      const r = new Random(context.seed).fork(i);
      const { path, text } = hostileProgram(r);
      counts.programs += 1;
      const found = await check(checkers, path, text, r, counts);
      if (!found || context.findings.known(found.kind, signatureOf(found.detail))) continue;
      const signature = signatureOf(found.detail);
      const fails = async (smaller: string): Promise<boolean> => {
        const again = await check(checkers, path, smaller, new Random(i), { ...counts });
        return again?.kind === found.kind && signatureOf(again.detail) === signature;
      };
      const input = `${JSON.stringify(path)}\n${await minimiseText(text, fails, context.trials)}`;
      context.findings.add({ mode: "injection", ...found, signature, seed: context.seed, case: i, input });
    }
  } finally {
    checkers.end();
  }
  return counts;
}

export async function check(
  checkers: Checkers,
  path: string,
  text: string,
  r: Random,
  counts: Record<Target, number>,
): Promise<{ kind: string; detail: string } | null> {
  let program: Program;
  try {
    program = new Session(p => (p === path ? text : undefined), {
      ...defaultSessionOptions(),
      wat: true,
      artifacts: new Set(["scheduler_graph"]),
    }).run(path);
  } catch (e) {
    return { kind: "crash", detail: e instanceof Error ? (e.stack ?? e.message) : String(e) };
  }
  for (const [target, output] of outputs(program, text, r)) {
    counts[target] += 1;
    const wrong = await checkers[target](output);
    if (wrong === null) continue;
    return { kind: `malformed-${target}`, detail: `${wrong}\n${excerpt(output)}` };
  }
  return null;
}

function* outputs(program: Program, text: string, r: Random): Generator<[Target, string]> {
  for (const c of program.compilations) {
    yield ["python", c.outputCode.inductor];
    yield ["python", c.outputCode.standalone];
    if (c.outputCode.eager !== null) yield ["python", c.outputCode.eager];
    for (const k of c.wat) yield ["wat", k.text];
    if (c.schedulerGraph)
      yield ["dot", schedulerDot({ ...c.schedulerGraph, name: hostile(r) }, undefined, [hostile(r)])];
  }
  const editor = editorProgram(program, text);
  const lines = text.split("\n");
  for (const e of program.source.slice(0, 12)) {
    const shown = hoverAt(editor, program.report.file, { line: e.span.line, column: e.span.column }, () => undefined);
    if (shown) yield ["markdown", shown.markdown];
  }
  const refusals = program.report.graphs.flatMap(g => g.refusals).slice(0, 20);
  yield ["markdown", reasonsPage(editor, hostile(r), refusals, lines)];
  yield [
    "markdown",
    `${escapeMarkdown(hostile(r))} and ${inlineCode(hostile(r))}\n\n${codeBlock(hostile(r), "python")}\n\nend`,
  ];
}

function excerpt(output: string): string {
  const at = output.indexOf(MARK);
  return output.slice(Math.max(0, at - 300), at + 300);
}
