// What a command's argument says: a document, a root in it, and what else the command takes. Checked here, once.
import type { ReportRoot } from "@fuselens/compiler";
import { LSPErrorCodes, ResponseError } from "vscode-languageserver/node";
import type { ServerContext } from "../context";
import type { View } from "../view";

export interface Target {
  readonly uri: string;
  readonly root?: string;
  readonly [name: string]: unknown;
}

/** A text for the client to show; `uri` where it can be opened as a document that follows the source. */
export interface ShownDocument {
  readonly title: string;
  readonly language: "python" | "markdown" | "plaintext" | "dot";
  readonly text: string;
  readonly uri?: string;
}

export function asTarget(value: unknown): Target {
  if (typeof value !== "object" || value === null || typeof (value as Target).uri !== "string")
    throw invalid("the first argument must be {uri, root?}");
  const target = value as Target;
  return typeof target.root === "string" ? target : { ...target, root: undefined };
}

export async function viewOf(ctx: ServerContext, target: Target): Promise<View> {
  // a command from generated code means the source behind it
  const made = ctx.generated.isGenerated(target.uri) ? await ctx.generated.open(ctx, target.uri) : null;
  const view = made?.source ?? (await ctx.view(target.uri));
  if (!view) throw invalid(`no open document ${target.uri}`);
  return view;
}

export function rootIn(view: View, target: Target): ReportRoot | undefined {
  const root = view.program.roots.find(r => r.name === target.root);
  if (target.root !== undefined && !root) throw invalid(`${target.root} is not compiled in this document`);
  return root;
}

/** indices of the root's compilations, of all where no root is named */
export function indicesOf(view: View, root: ReportRoot | undefined): readonly number[] {
  return root ? root.compilations : view.program.compilations.map((_, i) => i);
}

export function invalid(message: string): ResponseError<void> {
  return new ResponseError(-32602, message);
}

export function failed(message: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, message);
}
