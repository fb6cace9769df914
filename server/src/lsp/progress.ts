// Work-done progress: on the token that the client gave, else on one that the server asks for, else none.
import { type CancellationToken, WorkDoneProgressReporter } from "vscode-languageserver/node";
import type { Cancellation } from "../analysis/side_thread";
import type { ServerContext } from "./context";

export interface Progress {
  report(percentage: number, message: string): void;
  done(): void;
  /** the request's cancel or the progress bar's, whichever comes first */
  readonly cancellation: Cancellation;
}

export async function startProgress(
  ctx: ServerContext,
  title: string,
  message: string,
  token: CancellationToken | null,
  given?: WorkDoneProgressReporter,
): Promise<Progress> {
  const listeners: (() => void)[] = [];
  let cancelled = token?.isCancellationRequested ?? false;
  const cancel = (): void => {
    if (cancelled) return;
    cancelled = true;
    for (const l of listeners) l();
  };
  token?.onCancellationRequested(cancel);
  const cancellation: Cancellation = {
    get isCancellationRequested() {
      return cancelled;
    },
    onCancellationRequested: listener => {
      listeners.push(listener);
    },
  };
  // the reporter that the library hands to a handler does nothing where the client sent no token
  const reporter = given && !WorkDoneProgressReporter.isNullInstance(given) ? given : await serverProgress(ctx, cancel);
  reporter?.begin(title, 0, message, true);
  return {
    report: (percentage, text) => reporter?.report(percentage, text),
    done: () => reporter?.done(),
    cancellation,
  };
}

async function serverProgress(ctx: ServerContext, cancel: () => void): Promise<WorkDoneProgressReporter | undefined> {
  if (!ctx.client.progress) return undefined;
  const created = await ctx.connection.window.createWorkDoneProgress();
  created.token.onCancellationRequested(cancel);
  return created;
}
