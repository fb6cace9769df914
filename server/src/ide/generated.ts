// The output code of a root's graphs as one document, tied to the source: which source lines a line stems from, which
// kernel a line belongs to. In: a program and the texts of its graphs. Out: plain data, 0-based lines of the document.
import type { OutputCode, ReportRoot } from "@fuselens/compiler";
import { isLaunched, type KernelRef, kernelOf, numberOf } from "./lookup";
import type { EditorProgram } from "./model";

export type Header = "standalone" | "inductor";
/** texts by index into EditorProgram.compilations */
export type OutputCodes = readonly (OutputCode | undefined)[];

export interface GeneratedKernel {
  readonly ref: KernelRef;
  /** as everywhere in the editor, over all graphs of the file */
  readonly number: number;
  readonly name: string;
  /** lines of its definition, decorator included; null for a kernel that is not generated */
  readonly definition: readonly [number, number] | null;
  /** lines of `call` that launch it */
  readonly launches: readonly number[];
}

export interface Generated {
  readonly text: string;
  readonly lines: readonly string[];
  /** per line: source lines (innermost frames) */
  readonly toSource: readonly (readonly number[])[];
  readonly kernels: readonly GeneratedKernel[];
}

export function generatedCode(
  program: EditorProgram,
  root: ReportRoot | undefined,
  codes: OutputCodes,
  header: Header = "standalone",
): Generated {
  const indices = root ? root.compilations : program.compilations.map((_, i) => i);
  const lines: string[] = [];
  const toSource: (readonly number[])[] = [];
  const kernels: GeneratedKernel[] = [];
  for (const compilation of indices) {
    const code = codes[compilation];
    const graph = program.compilations[compilation]?.graph;
    if (!code || !graph) continue;
    if (lines.length) separate(lines, toSource);
    const offset = lines.length;
    const text = code[header].split("\n");
    graph.kernels.forEach((k, kernel) => {
      if (!isLaunched(k)) return;
      const definition = definitionLines(text, k.name);
      kernels.push({
        ref: { compilation, kernel },
        number: numberOf(program, { compilation, kernel }),
        name: k.name,
        definition: definition && [definition[0] + offset, definition[1] + offset],
        launches: launchLines(text, k.name, definition).map(l => l + offset),
      });
    });
    lines.push(...text);
    // only the standalone text comes with origins line by line; elsewhere a kernel's lines stand for its definition
    if (header === "standalone") toSource.push(...text.map((_, i) => code.lines[i] ?? []));
    else toSource.push(...text.map(() => []));
  }
  if (header !== "standalone") {
    for (const k of kernels) {
      const at = kernelOf(program, k.ref)?.at ?? [];
      for (const l of k.launches) toSource[l] = at;
      if (k.definition) for (let l = k.definition[0]; l <= k.definition[1]; l++) toSource[l] = at;
    }
  }
  return { text: lines.join("\n"), lines, toSource, kernels };
}

function separate(lines: string[], toSource: (readonly number[])[]): void {
  for (let i = 0; i < 2; i++) {
    lines.push("");
    toSource.push([]);
  }
}

/** The kernel whose definition or launch holds the line. */
export function kernelAtLine(g: Generated, line: number): GeneratedKernel | undefined {
  return (
    g.kernels.find(k => k.definition && k.definition[0] <= line && line <= k.definition[1]) ??
    g.kernels.find(k => k.launches.includes(line))
  );
}

/** Lines of the document that stem from one of the source lines. */
export function linesFromSource(g: Generated, source: ReadonlySet<number>): number[] {
  return g.toSource.flatMap((s, i) => (s.some(l => source.has(l)) ? [i] : []));
}

/** from the decorator (or the comments above it) over `def NAME(` to the last indented line of its body */
function definitionLines(text: readonly string[], name: string): readonly [number, number] | null {
  if (name === "") return null;
  const at = text.findIndex(l => l.startsWith(`def ${name}(`) || l.startsWith(`${name} = async_compile.`));
  if (at < 0) return null;
  let start = at;
  while (start > 0 && text[start - 1]?.trim()) start--;
  let end = at;
  if (text[at]?.startsWith("def ")) {
    while (
      end + 1 < text.length &&
      (/^\s/.test(text[end + 1] ?? "") || (text[end + 1] === "" && /^\s/.test(text[end + 2] ?? "")))
    )
      end++;
  } else while (end + 1 < text.length && !/^'''/.test(text[end] ?? "")) end++;
  return [start, end];
}

function launchLines(text: readonly string[], name: string, definition: readonly [number, number] | null): number[] {
  if (name === "") return [];
  const out: number[] = [];
  text.forEach((line, i) => {
    if (definition && i >= definition[0] && i <= definition[1]) return;
    const at = line.indexOf(name);
    if (at < 0 || !/^\s/.test(line)) return;
    const next = line[at + name.length];
    if (next === "." || next === "(") out.push(i);
  });
  return out;
}
