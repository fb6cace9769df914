// workspace/executeCommand: dispatch by name. Results are plain data that any client can show; a client that shows
// nothing of its own accord, but can open documents, has them opened.
import {
  type CancellationToken,
  type ExecuteCommandParams,
  MessageType,
  ShowMessageNotification,
  type WorkDoneProgressReporter,
} from "vscode-languageserver/node";
import { type KernelLines, type KernelMap, kernelLinesOf, kernelMap } from "../../ide/kernel_map";
import { asResponseError, benchmark } from "../commands/benchmark";
import { compare } from "../commands/compare";
import { exampleInputs } from "../commands/examples";
import { showSchedulerGraph } from "../commands/graph";
import { switchMode } from "../commands/mode";
import { bugReport, doctor } from "../commands/support";
import { asTarget, failed, invalid, rootIn, type Target, viewOf } from "../commands/target";
import { showKernels, showOutputCode, showReasons, showStage } from "../commands/texts";
import { selectWorker, workerStatus } from "../commands/worker";
import type { ServerContext } from "../context";
import type { View } from "../view";

type Command = (
  ctx: ServerContext,
  target: Target,
  token: CancellationToken,
  progress: WorkDoneProgressReporter,
) => Promise<unknown>;

const ON_DOCUMENTS: Readonly<Record<string, Command>> = {
  "fuselens.showOutputCode": showOutputCode,
  "fuselens.showKernels": showKernels,
  "fuselens.showReasons": showReasons,
  "fuselens.showStage": showStage,
  "fuselens.showSchedulerGraph": showSchedulerGraph,
  "fuselens.compare": compare,
  "fuselens.exampleInputs": exampleInputs,
  "fuselens.benchmark": benchmark,
  "fuselens.bugReport": bugReport,
  "fuselens.switchMode": switchMode,
  "fuselens.kernelLines": async (ctx, target) => {
    const view = await viewOf(ctx, target);
    return linesInPart(view, kernelLinesOf(view.program, rootIn(view, target), ctx.measurements));
  },
  "fuselens.kernelMap": async (ctx, target) => {
    const view = await viewOf(ctx, target);
    const codes = await ctx.analyzer.codes(view.analysis);
    if (!codes) throw failed("the document changed; try again");
    return mapInPart(view, kernelMap(view.program, rootIn(view, target), codes, ctx.measurements));
  },
};

const ON_SERVER: Readonly<Record<string, (ctx: ServerContext, argument: unknown) => unknown>> = {
  "fuselens.workerStatus": workerStatus,
  "fuselens.selectWorker": selectWorker,
  "fuselens.doctor": async ctx => {
    const answer = await doctor(ctx);
    if (!ctx.client.rich) await showTo(ctx, answer);
    return answer;
  },
  "fuselens.history": ctx => ctx.measurements.history(),
  "fuselens.clearHistory": ctx => ctx.measurements.clearHistory(),
};

export const COMMANDS: readonly string[] = [...Object.keys(ON_DOCUMENTS), ...Object.keys(ON_SERVER)];

export async function executeCommand(
  ctx: ServerContext,
  params: ExecuteCommandParams,
  token: CancellationToken,
  progress: WorkDoneProgressReporter,
): Promise<unknown> {
  const [argument] = params.arguments ?? [];
  if (Object.hasOwn(ON_SERVER, params.command)) return ON_SERVER[params.command]?.(ctx, argument) ?? null;
  const command = Object.hasOwn(ON_DOCUMENTS, params.command) ? ON_DOCUMENTS[params.command] : undefined;
  if (!command) throw invalid(`no command ${params.command}`);
  try {
    const answer = await command(ctx, asTarget(argument), token, progress);
    if (!ctx.client.rich) await showTo(ctx, answer);
    return answer;
  } catch (e) {
    throw asResponseError(e);
  }
}

/** Lines as the document counts them: a notebook's cell has its own, and knows nothing of other cells' lines. */
function linesInPart(view: View, all: KernelLines): KernelLines {
  if (view.unit.parts.length === 1) return all;
  const own = (lines: readonly number[]): number[] =>
    lines.filter(l => view.lines.holds(l)).map(l => l - view.lines.firstLine + 1);
  const sourceToKernels: Record<number, readonly number[]> = {};
  for (const [line, kernels] of Object.entries(all.sourceToKernels)) {
    const [at] = own([Number(line)]);
    if (at !== undefined) sourceToKernels[at] = kernels;
  }
  return { ...all, kernels: all.kernels.map(k => ({ ...k, lines: own(k.lines), at: own(k.at) })), sourceToKernels };
}

function mapInPart(view: View, map: KernelMap): KernelMap {
  if (view.unit.parts.length === 1) return map;
  const codeToSource = map.codeToSource.map(lines =>
    lines.filter(l => view.lines.holds(l)).map(l => l - view.lines.firstLine + 1),
  );
  return { ...map, ...linesInPart(view, map), codeToSource };
}

async function showTo(ctx: ServerContext, answer: unknown): Promise<void> {
  const { title, text, uri, summary } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  // a notification: nobody waits for an answer to it
  if (typeof summary === "string")
    void ctx.connection.sendNotification(ShowMessageNotification.type, {
      type: MessageType.Info,
      message: `FuseLens: ${summary}`,
    });
  if (!ctx.client.showDocument || typeof title !== "string" || typeof text !== "string") return;
  const shown = typeof uri === "string" ? uri : ctx.generated.writeText(title, text);
  await ctx.connection.window.showDocument({ uri: shown, takeFocus: true });
}
