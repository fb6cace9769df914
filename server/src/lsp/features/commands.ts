// workspace/executeCommand: output code, kernels, stage dumps, benchmark. Results are plain data that any client can
// show; VS Code opens them as read-only documents.
import { ARTIFACTS, type Artifact, type Program, Session } from "@fuselens/compiler";
import {
  type CancellationToken,
  type ExecuteCommandParams,
  LSPErrorCodes,
  ResponseError,
} from "vscode-languageserver/node";
import { kernelMap } from "../../ide/kernel_map";
import { readSource } from "../../options";
import { emitText } from "../../render/emit_text";
import { explainText } from "../../render/explain_text";
import { benchmarkRoot } from "../../worker/benchmark";
import type { ServerContext } from "../context";
import { pathOf } from "../convert";

export const COMMANDS = [
  "fuselens.showOutputCode",
  "fuselens.showKernels",
  "fuselens.showStage",
  "fuselens.kernelMap",
  "fuselens.benchmark",
  "fuselens.workerStatus",
] as const;

interface Target {
  readonly uri: string;
  readonly root?: string;
  readonly stage?: string;
  readonly header?: string;
  readonly fresh?: boolean;
}

/** A text for the client to show. */
export interface ShownDocument {
  readonly title: string;
  readonly language: "python" | "markdown" | "plaintext";
  readonly text: string;
}

export async function executeCommand(
  ctx: ServerContext,
  params: ExecuteCommandParams,
  token: CancellationToken,
): Promise<unknown> {
  const target = asTarget(params.arguments?.[0]);
  switch (params.command) {
    case "fuselens.showOutputCode": {
      const program = await programOf(ctx, target);
      const header = target.header === "inductor" ? "inductor" : "standalone";
      const text = selected(program, target)
        .map(c => c.outputCode[header])
        .join("\n");
      return { title: `${target.root ?? "output"}_code.py`, language: "python", text } satisfies ShownDocument;
    }
    case "fuselens.showKernels": {
      const program = await programOf(ctx, target);
      const graphs = selected(program, target).map(c => c.graph);
      return {
        title: `${target.root ?? "kernels"}.txt`,
        language: "plaintext",
        text: explainText({ ...program.report, graphs }),
      } satisfies ShownDocument;
    }
    case "fuselens.showStage": {
      const stage = ARTIFACTS.find(a => a === target.stage);
      if (!stage) throw invalid(`stage must be one of ${ARTIFACTS.join(", ")}`);
      return {
        title: `${stage}.txt`,
        language: "plaintext",
        text: await stageText(ctx, target, stage),
      } satisfies ShownDocument;
    }
    case "fuselens.kernelMap": {
      const program = await programOf(ctx, target);
      return kernelMap(
        program,
        program.roots.find(r => r.name === target.root),
        ctx.measurements,
      );
    }
    case "fuselens.benchmark": {
      const analysis = await ctx.current(target.uri);
      if (!analysis) throw new ResponseError(LSPErrorCodes.ContentModified, "the document changed; try again");
      return benchmarkRoot(ctx, analysis, target.root, target.fresh ?? true, token);
    }
    case "fuselens.workerStatus":
      return ctx.workers.status();
    default:
      throw invalid(`no command ${params.command}`);
  }
}

function asTarget(value: unknown): Target {
  if (typeof value !== "object" || value === null || typeof (value as Target).uri !== "string") {
    if (value === undefined) return { uri: "" };
    throw invalid("the first argument must be {uri, root?}");
  }
  return value as Target;
}

async function programOf(ctx: ServerContext, target: Target): Promise<Program> {
  const analysis = await ctx.current(target.uri);
  if (!analysis) throw invalid(`no open document ${target.uri}`);
  return analysis.program;
}

function selected(program: Program, target: Target): Program["compilations"] {
  const root = program.roots.find(r => r.name === target.root);
  return root ? root.compilations.flatMap(i => program.compilations[i] ?? []) : program.compilations;
}

/** Stage dumps are made on demand by a compile of their own, since logs cost time that typing should not pay. */
async function stageText(ctx: ServerContext, target: Target, stage: Artifact): Promise<string> {
  const analysis = await ctx.current(target.uri);
  if (!analysis) throw invalid(`no open document ${target.uri}`);
  const path = pathOf(target.uri);
  const session = new Session(readSource, { ...ctx.sessionOptions(), artifacts: new Set([stage]) });
  session.update(path, analysis.text);
  return emitText(session.run(path), stage);
}

function invalid(message: string): ResponseError<void> {
  return new ResponseError(-32602, message);
}
