// Source and output code side by side: which kernels a source line feeds, which source lines an output line stems from.
import type { Program, ReportRoot } from "@fuselens/compiler";
import { launched } from "./lookup";
import type { Measurements } from "./measurements";

export interface MappedKernel {
  /** from 1, over all graphs of the map, in launch order */
  readonly number: number;
  readonly name: string;
  readonly graph: string;
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly bytes: number;
  readonly estimateUs: number;
  readonly measuredUs: number | null;
  /** lines of `code` (0-based) that belong to this kernel's definition */
  readonly codeLines: readonly [number, number] | null;
}

export interface KernelMap {
  readonly kernels: readonly MappedKernel[];
  /** output code of the graphs, one after another */
  readonly code: string;
  /** per line of `code`: source lines */
  readonly codeToSource: readonly (readonly number[])[];
  /** source line → numbers of the kernels that compute something of it */
  readonly sourceToKernels: Readonly<Record<number, readonly number[]>>;
}

export function kernelMap(program: Program, root: ReportRoot | undefined, measured: Measurements): KernelMap {
  const indices = root ? root.compilations : program.compilations.map((_, i) => i);
  const kernels: MappedKernel[] = [];
  const codeLines: string[] = [];
  const codeToSource: (readonly number[])[] = [];
  const sourceToKernels: Record<number, number[]> = {};
  for (const i of indices) {
    const c = program.compilations[i];
    if (!c) continue;
    const times = measured.get(c.outputCode.standalone);
    const text = c.outputCode.standalone.split("\n");
    const offset = codeLines.length;
    for (const k of launched(c.graph.kernels)) {
      const number = kernels.length + 1;
      const span = definitionLines(text, k.name);
      kernels.push({
        number,
        name: k.name,
        graph: `${c.graph.name} (${c.graph.kind})`,
        lines: k.lines,
        at: k.at,
        bytes: k.bytes,
        estimateUs: k.estimate_us,
        measuredUs: times?.kernels.get(k.name)?.medianUs ?? null,
        codeLines: span && [span[0] + offset, span[1] + offset],
      });
      for (const line of k.at) sourceToKernels[line] = [...(sourceToKernels[line] ?? []), number];
    }
    codeLines.push(...text);
    text.forEach((_, n) => codeToSource.push(c.outputCode.lines[n] ?? []));
  }
  return { kernels, code: codeLines.join("\n"), codeToSource, sourceToKernels };
}

/** from the decorator above `def NAME(` to the last indented line of its body */
function definitionLines(text: readonly string[], name: string): readonly [number, number] | null {
  const at = text.findIndex(l => l.startsWith(`def ${name}(`));
  if (at < 0) return null;
  let start = at;
  while (start > 0 && text[start - 1]?.trim()) start--;
  let end = at;
  while (
    end + 1 < text.length &&
    (text[end + 1]?.startsWith(" ") || (text[end + 1] === "" && text[end + 2]?.startsWith(" ")))
  )
    end++;
  return [start, end];
}
