// Commands for when something is wrong: what is there and what is missing, and a bug report about a document.
import type { CancellationToken } from "vscode-languageserver/node";
import { examine, findingsText } from "../../doctor";
import type { ServerContext } from "../context";
import { startProgress } from "../progress";
import { failed, type ShownDocument, type Target } from "./target";

export async function doctor(ctx: ServerContext): Promise<ShownDocument> {
  const { worker, trusted } = ctx.settings;
  const { folders } = ctx;
  const findings = await examine({ folders, endpoint: worker.endpoint, keys: worker.keys, trusted });
  return { title: "fuselens_doctor.txt", language: "plaintext", text: findingsText(findings) };
}

/** {uri}; what the report holds of the document is made as small as still shows what went wrong */
export async function bugReport(ctx: ServerContext, target: Target, token: CancellationToken): Promise<ShownDocument> {
  // no analysis is waited for: it may be what fails
  const unit = ctx.documents.unitOf(target.uri);
  if (!unit) throw failed("no open document; open the file first");
  const progress = await startProgress(ctx, "FuseLens", "making the input of a bug report small", token);
  try {
    const request = { path: unit.path, overlay: ctx.overlay(), options: ctx.threadOptions() };
    const { text } = await ctx.side.run(request, { want: "report", editor: ctx.editor }, progress.cancellation);
    return { title: "fuselens_bug_report.md", language: "markdown", text };
  } finally {
    progress.done();
  }
}
