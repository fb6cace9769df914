// Fuzzing what is generated: programs whose names, strings, comments and path hold hostile text are compiled, and every
// text that comes out is read by the real parser of its target: it must be well-formed and hold the text as data only.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultSessionOptions, type Program, Session, schedulerDot } from "@fuselens/compiler";
import { historyTable } from "../../../client/src/history_table";
import { assemble } from "../../../gpu-worker/src/cpu/assemble";
import { explainText } from "../../../server/src/ide/explain_text";
import { hoverAt } from "../../../server/src/ide/hover";
import { kernelMap } from "../../../server/src/ide/kernel_map";
import { codeBlock, escapeMarkdown, inlineCode } from "../../../server/src/ide/markdown";
import { type HistoryEntry, Measurements } from "../../../server/src/ide/measurements";
import { editorProgram } from "../../../server/src/ide/model";
import { reasonsPage } from "../../../server/src/ide/reasons_page";
import { shownGraph } from "../../../server/src/lsp/commands/graph";
import { jsonText, terminalLine } from "../../../server/src/render/output";
import { signatureOf } from "../findings";
import { minimiseText } from "../minimise";
import type { Context, Counts } from "../mode";
import { Random } from "../random";
import { hostile, hostileProgram, MARK } from "./hostile";
import { Pages } from "./pages";

type Verdict = string | null;
export interface Checkers {
  python(text: string): Promise<Verdict>;
  wat(text: string): Promise<Verdict>;
  dot(text: string): Verdict;
  markdown(text: string): Verdict;
  html(text: string): Verdict;
  terminal(text: string): Verdict;
  json(text: string): Verdict;
  /** DOT to SVG */
  draw(text: string): string;
  end(): void;
}

type Target = "python" | "wat" | "dot" | "markdown" | "html" | "terminal" | "json";
type Draw = Checkers["draw"];

export async function fuzzInjection(context: Context): Promise<Counts> {
  const made = (await import(pathToFileURL(join(context.root, "test", "fuzz", "injection", "checkers.mjs")).href)) as {
    startCheckers(mark: string, assemble: (text: string) => Promise<WebAssembly.Module>): Promise<Checkers>;
  };
  const checkers = await made.startCheckers(MARK, assemble);
  const pages = await Pages.load(context);
  const counts = { programs: 0, python: 0, wat: 0, dot: 0, markdown: 0, html: 0, terminal: 0, json: 0 };
  try {
    for (let i = context.firstCase; context.more(); i++) {
      const r = new Random(context.seed).fork(i);
      const { path, text } = hostileProgram(r);
      counts.programs += 1;
      for (const found of await check(checkers, pages, path, text, r, counts)) {
        const signature = signatureOf(found.detail);
        if (context.findings.known(found.kind, signature)) continue;
        const fails = async (smaller: string): Promise<boolean> => {
          const again = await check(checkers, pages, path, smaller, new Random(i), { ...counts });
          return again.some(f => f.kind === found.kind && signatureOf(f.detail) === signature);
        };
        const input = `${JSON.stringify(path)}\n${await minimiseText(text, fails, context.trials)}`;
        context.findings.add({ mode: "injection", ...found, signature, seed: context.seed, case: i, input });
      }
    }
  } finally {
    checkers.end();
  }
  return counts;
}

interface Found {
  readonly kind: string;
  readonly detail: string;
}

/** what is wrong with the outputs, once for each target */
export async function check(
  checkers: Checkers,
  pages: Pages,
  path: string,
  text: string,
  r: Random,
  counts: Record<Target, number>,
): Promise<readonly Found[]> {
  let program: Program;
  try {
    program = new Session(p => (p === path ? text : undefined), {
      ...defaultSessionOptions(),
      wat: true,
      artifacts: new Set(["scheduler_graph"]),
    }).run(path);
  } catch (e) {
    return [{ kind: "crash", detail: e instanceof Error ? (e.stack ?? e.message) : String(e) }];
  }
  const found = new Map<string, Found>();
  for (const [target, output] of outputs(program, text, r, pages, checkers.draw)) {
    counts[target] += 1;
    const kind = `malformed-${target}`;
    const wrong = found.has(kind) ? null : await checkers[target](output);
    if (wrong !== null) found.set(kind, { kind, detail: `${wrong}\n${excerpt(output)}` });
  }
  return [...found.values()];
}

function* outputs(program: Program, text: string, r: Random, pages: Pages, draw: Draw): Generator<[Target, string]> {
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
  yield ["markdown", reasonsPage(editor, hostile(r), refusals, [], lines)];
  yield [
    "markdown",
    `${escapeMarkdown(hostile(r))} and ${inlineCode(hostile(r))}\n\n${codeBlock(hostile(r), "python")}\n\nend`,
  ];
  yield ["markdown", historyTable([historyEntry(r)])];
  yield ["terminal", explainText(program.report)];
  for (const d of program.diagnostics) yield ["terminal", `${terminalLine(`model.py: ${d.message}`)}\n`];
  yield ["json", jsonText(program.report)];
  const codes = program.compilations.map(c => c.outputCode);
  yield ["html", pages.kernelMap(kernelMap(editor, undefined, codes, new Measurements()), hostile(r))];
  yield ["html", pages.benchmarks([historyEntry(r)], hostile(r))];
  const graphs = program.compilations.flatMap(c => (c.schedulerGraph ? [shownGraph(c.schedulerGraph, [])] : []));
  for (const page of pages.graph({ uri: "file:///m.py", title: hostile(r), graphs }, draw)) yield ["html", page];
}

/** a run whose every text is hostile: names come from the file, the device's from whoever runs the worker */
function historyEntry(r: Random): HistoryEntry {
  return { id: 1, when: 0, file: hostile(r), root: hostile(r), graph: hostile(r), kind: "inference", kernels: 1, bytes: 8, where: hostile(r), medianUs: 1, p20Us: 1, p80Us: 1, count: 1, bytesPerSecond: 8, shareOfCopy: null, maxError: 0, eagerUs: 1, compileUs: null, cachedSeconds: null }; // biome-ignore format: one record
}

function excerpt(output: string): string {
  const at = output.indexOf(MARK);
  return output.slice(Math.max(0, at - 300), at + 300);
}
