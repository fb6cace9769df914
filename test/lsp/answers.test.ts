// The extension shares no file with the server, so it says by itself what answers look like. Here the two are held against
// each other: what the server sends must be what the extension reads. The compiler checks that; nothing runs.
import { expectTypeOf, it } from "vitest";
import type * as read from "../../client/src/answers";
import type { KernelMap } from "../../server/src/ide/kernel_map";
import type { HistoryEntry } from "../../server/src/ide/measurements";
import type { ShownComparison } from "../../server/src/lsp/commands/compare";
import type { ExampleAnswer } from "../../server/src/lsp/commands/examples";
import type { ShownGraphs } from "../../server/src/lsp/commands/graph";
import type { ShownDocument } from "../../server/src/lsp/commands/target";
import type { Analysed } from "../../server/src/lsp/notifications";
import type { WorkerStatus } from "../../server/src/worker/pool";

it("answers are what the extension reads", () => {
  expectTypeOf<KernelMap>().toMatchTypeOf<read.KernelMap>();
  expectTypeOf<HistoryEntry>().toMatchTypeOf<read.HistoryEntry>();
  expectTypeOf<ShownComparison>().toMatchTypeOf<read.ShownComparison>();
  expectTypeOf<Pick<ExampleAnswer, "root" | "parameters" | "inputs" | "assumed">>().toMatchTypeOf<
    Pick<read.ExampleAnswer, "root" | "parameters" | "inputs" | "assumed">
  >();
  expectTypeOf<ShownGraphs>().toMatchTypeOf<read.ShownGraphs>();
  expectTypeOf<ShownDocument>().toMatchTypeOf<read.ShownDocument>();
  expectTypeOf<Analysed>().toMatchTypeOf<read.Analysed>();
  expectTypeOf<WorkerStatus>().toMatchTypeOf<read.WorkerStatus>();
});
