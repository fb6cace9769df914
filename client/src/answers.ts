// The server's answers as this extension reads them: plain data, documented where the server makes them.

export type { KernelLines, KernelMap, MappedKernel } from "@fuselens/server/ide/kernel_map";
export type { HistoryEntry } from "@fuselens/server/ide/measurements";
export type { ShownComparison } from "@fuselens/server/lsp/commands/compare";
export type { ExampleAnswer } from "@fuselens/server/lsp/commands/examples";
export type { ShownGraph, ShownGraphs } from "@fuselens/server/lsp/commands/graph";
export type { ShownDocument, Target } from "@fuselens/server/lsp/commands/target";
export type { Analysed } from "@fuselens/server/lsp/notifications";
export type { WorkerStatus } from "@fuselens/server/worker/pool";
