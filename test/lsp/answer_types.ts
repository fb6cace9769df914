// What the VS Code client reads is what the server answers. The two packages share no code, so each writes its types down;
// the compiler checks here that every answer of the server's can be read as the client reads it. Nothing is run.
import type * as read from "../../client/src/answers";
import type { KernelLines, KernelMap } from "../../server/src/ide/kernel_map";
import type { HistoryEntry } from "../../server/src/ide/measurements";
import type { ShownComparison } from "../../server/src/lsp/commands/compare";
import type { ExampleAnswer } from "../../server/src/lsp/commands/examples";
import type { ShownGraphs } from "../../server/src/lsp/commands/graph";
import type { ShownDocument } from "../../server/src/lsp/commands/target";
import type { WorkerStatus } from "../../server/src/worker/pool";

export const READS = {
  lines: (x: KernelLines): read.KernelLines => x,
  map: (x: KernelMap): read.KernelMap => x,
  history: (x: HistoryEntry): read.HistoryEntry => x,
  comparison: (x: ShownComparison): read.ShownComparison => x,
  examples: (x: ExampleAnswer & { readonly edit: null }): read.ExampleAnswer => x,
  graphs: (x: ShownGraphs): read.ShownGraphs => x,
  document: (x: ShownDocument): read.ShownDocument => x,
  worker: (x: WorkerStatus): read.WorkerStatus => x,
};
