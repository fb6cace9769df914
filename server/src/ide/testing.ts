// Test only: small programs made by hand, each part with what a test leaves out filled in.
import type { KernelRefusal, ReportKernel, ReportRefusal, SourceEntry } from "@fuselens/compiler";
import type { EditorCompilation, EditorGraph, EditorProgram } from "./model";

export const FILE = "/m.py";

export function kernel(given: Partial<ReportKernel>): ReportKernel {
  return {
    name: "triton_poi_fused_0",
    type: "SchedulerNode",
    nodes: ["op0"],
    origins: ["add"],
    lines: [1],
    at: [1],
    reads: ["arg0_1"],
    writes: ["buf0"],
    bytes: 1000,
    estimate_us: 2,
    assumed: [],
    ...given,
  };
}

export function refusal(given: Partial<KernelRefusal>): KernelRefusal {
  const plain: ReportRefusal = {
    code: "no_shared_data",
    a: "op0",
    b: "op1",
    detail: "no shared data",
    aIndex: "d0",
    bIndex: "d1",
    buffer: "arg0_1",
    aAccess: "reads",
    bAccess: "reads",
    bytesLost: 500,
    lines: [[1], [2]],
    at: [[1], [2]],
  };
  return { ...plain, kernels: [0, 1], ...given };
}

export function compilation(graph: Partial<EditorGraph>, given: Partial<EditorCompilation> = {}): EditorCompilation {
  return {
    graph: {
      name: "f",
      kind: "inference",
      bytes: 2000,
      peak_bytes: 3000,
      saved_bytes: [],
      inputs: [],
      aten: 1,
      kernels: [],
      refusals: [],
      ...graph,
    },
    codeKey: "key",
    blockers: [],
    opaque: [],
    symbols: [],
    peakBytes: 3000,
    ...given,
  };
}

/** line, from column, to column */
export function entry(line: number, from: number, to: number, given: Partial<SourceEntry> = {}): SourceEntry {
  return {
    file: FILE,
    span: { line, column: from, endLine: line, endColumn: to },
    compilation: 0,
    node: "add",
    target: "aten.add.Tensor",
    type: "f32[8, 4][4, 1]cuda:0",
    kernels: [0],
    callers: [],
    ...given,
  };
}

export function program(given: Partial<EditorProgram>): EditorProgram {
  return {
    file: FILE,
    preset: "nightly-2026-11",
    target: "h100",
    compilations: [],
    roots: [],
    diagnostics: [],
    graphBreaks: [],
    source: [],
    estimates: [],
    ...given,
  };
}
