// Source and output code side by side: which kernels a source line feeds, which source lines an output line stems from.
import type { ReportRoot } from "@fuselens/compiler";
import { targetByName } from "@fuselens/compiler/vocabulary";
import { type Generated, generatedCode, type OutputCodes } from "./generated";
import { isLaunched, numberOf, titleOf } from "./lookup";
import type { Measurements } from "./measurements";
import type { EditorProgram } from "./model";

export interface MappedKernel {
  /** as everywhere in the editor, over all graphs of the file */
  readonly number: number;
  readonly name: string;
  readonly graph: string;
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly bytes: number;
  readonly estimateUs: number;
  readonly measuredUs: number | null;
  /** part of the time of all kernels of the map, measured where all are, else estimated; 0 to 1 */
  readonly share: number;
  /** part of the bandwidth limit that it reaches, or is expected to reach; null where it moves nothing */
  readonly ofBandwidth: number | null;
  /** lines of `code` (0-based) that belong to this kernel's definition; null where there is none, or no code */
  readonly codeLines: readonly [number, number] | null;
}

/** the kernels behind source lines alone: what the gutter needs */
export interface KernelLines {
  readonly kernels: readonly MappedKernel[];
  /** source line → numbers of the kernels that compute something of it */
  readonly sourceToKernels: Readonly<Record<number, readonly number[]>>;
  /** bytes per second that the bars are drawn against */
  readonly bandwidth: number;
}

export interface KernelMap extends KernelLines {
  /** output code of the graphs, one after another */
  readonly code: string;
  /** per line of `code`: source lines */
  readonly codeToSource: readonly (readonly number[])[];
}

export function kernelLinesOf(
  program: EditorProgram,
  root: ReportRoot | undefined,
  measured: Measurements,
): KernelLines {
  const indices = root ? root.compilations : program.compilations.map((_, i) => i);
  const bandwidth = targetByName(program.target).memoryBandwidth;
  const found: (Omit<MappedKernel, "share"> & { readonly time: number })[] = [];
  for (const i of indices) {
    const c = program.compilations[i];
    if (!c) continue;
    const times = measured.get(c.codeKey);
    // a measurement's own copy bandwidth is the limit of the device that it was made on
    const limit = times?.shareOfCopy ? times.bytesPerSecond / times.shareOfCopy : bandwidth;
    c.graph.kernels.forEach((k, kernel) => {
      if (!isLaunched(k)) return;
      const m = times?.kernels.get(k.name);
      const us = m?.medianUs ?? k.estimate_us;
      found.push({
        number: numberOf(program, { compilation: i, kernel }),
        name: titleOf(k),
        graph: `${c.graph.name} (${c.graph.kind})`,
        lines: k.lines,
        at: k.at,
        bytes: k.bytes,
        estimateUs: k.estimate_us,
        measuredUs: m?.medianUs ?? null,
        ofBandwidth: k.bytes > 0 && us > 0 ? Math.min(1, k.bytes / (us * 1e-6) / limit) : null,
        codeLines: null,
        time: us,
      });
    });
  }
  const all = found.every(k => k.measuredUs !== null);
  const timeOf = (k: (typeof found)[number]): number => (all ? k.time : k.estimateUs);
  const total = found.reduce((t, k) => t + timeOf(k), 0) || 1;
  const sourceToKernels: Record<number, number[]> = {};
  for (const k of found)
    for (const line of k.at) {
      sourceToKernels[line] ??= [];
      sourceToKernels[line].push(k.number);
    }
  return {
    kernels: found.map(k => {
      const { time: _, ...rest } = k;
      return { ...rest, share: timeOf(k) / total };
    }),
    sourceToKernels,
    bandwidth,
  };
}

export function kernelMap(
  program: EditorProgram,
  root: ReportRoot | undefined,
  codes: OutputCodes,
  measured: Measurements,
): KernelMap {
  const generated: Generated = generatedCode(program, root, codes);
  const lines = kernelLinesOf(program, root, measured);
  return {
    ...lines,
    kernels: lines.kernels.map((k, i) => ({ ...k, codeLines: generated.kernels[i]?.definition ?? null })),
    code: generated.text,
    codeToSource: generated.toSource,
  };
}
