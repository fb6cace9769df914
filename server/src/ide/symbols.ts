// Document symbols: under each compiled function its kernels, each over the lines that it computes.
import type { ReportRoot } from "@fuselens/compiler";
import { formatBytes, formatTime } from "../render/units";
import { isLaunched, numberOf, titleOf } from "./lookup";
import type { EditorProgram, Span } from "./model";

export interface KernelSymbol {
  readonly name: string;
  readonly detail: string;
  readonly kind: "root" | "kernel";
  readonly span: Span;
  readonly children: readonly KernelSymbol[];
}

export function kernelSymbols(program: EditorProgram): KernelSymbol[] {
  return program.roots.filter(r => r.compilations.length > 0).map(root => rootSymbol(program, root));
}

function rootSymbol(program: EditorProgram, root: ReportRoot): KernelSymbol {
  const children = root.compilations.flatMap(i => {
    const graph = program.compilations[i]?.graph;
    if (!graph) return [];
    return graph.kernels.flatMap((k, kernel): KernelSymbol[] => {
      if (!isLaunched(k)) return [];
      // lines outside the root (a helper of the file) would put the child outside its parent
      const inside = k.at.filter(l => l >= root.span.line && l <= root.span.endLine);
      const first = inside[0] ?? root.span.line;
      const symbol: KernelSymbol = {
        name: `${graph.kind === "backward" ? "backward kernel" : "kernel"} ${numberOf(program, { compilation: i, kernel })}: ${titleOf(k)}`,
        detail: `${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}`,
        kind: "kernel",
        span: { line: first, column: 0, endLine: inside[inside.length - 1] ?? first, endColumn: 0 },
        children: [],
      };
      return [symbol];
    });
  });
  return { name: root.name, detail: `${children.length} kernels`, kind: "root", span: root.span, children };
}
