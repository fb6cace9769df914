// fuselens.workerStatus, fuselens.selectWorker {endpoint, keys}: which worker measures, and what devices it has.
import type { WorkerStatus } from "../../worker/pool";
import type { ServerContext } from "../context";
import { asResponseError } from "./benchmark";
import { invalid } from "./target";

export function workerStatus(ctx: ServerContext): Promise<WorkerStatus> {
  return ctx.workers.status();
}

/** Connects at once, so that a wrong endpoint or key is told now and not at the first benchmark. */
export async function selectWorker(ctx: ServerContext, argument: unknown): Promise<WorkerStatus> {
  const { endpoint, keys } = (typeof argument === "object" && argument !== null ? argument : {}) as {
    endpoint?: unknown;
    keys?: unknown;
  };
  if (endpoint !== null && endpoint !== undefined && typeof endpoint !== "string")
    throw invalid("endpoint is a string or null");
  if (keys !== null && keys !== undefined && typeof keys !== "string") throw invalid("keys is a folder or null");
  // where the client refuses workers, a command may not bring one in by the back door
  ctx.workers.configure({ endpoint: endpoint || null, keys: keys || null, trusted: ctx.settings.trusted });
  try {
    await ctx.workers.describe();
  } catch (e) {
    // what was chosen before still measures
    ctx.workers.configure({ ...ctx.settings.worker, trusted: ctx.settings.trusted });
    throw asResponseError(e);
  }
  await ctx.workerChanged();
  return ctx.workers.status();
}
