// textDocument/references: everything that a kernel is tied to, on both sides: the expressions that it computes, its
// definition, its launches.
import type { Location, ReferenceParams } from "vscode-languageserver/node";
import { kernelAtLine } from "../../ide/generated";
import { spansOf } from "../../ide/highlight";
import { entriesAt, type KernelRef, kernelsOf, rootOf } from "../../ide/lookup";
import type { ServerContext } from "../context";
import { lineRange } from "../generated_documents";
import type { View } from "../view";
import { kernelLocations } from "./definition";

export async function references(ctx: ServerContext, params: ReferenceParams): Promise<Location[]> {
  const { uri } = params.textDocument;
  if (ctx.generated.isGenerated(uri)) {
    const made = await ctx.generated.open(ctx, uri);
    const kernel = made && kernelAtLine(made.generated, params.position.line);
    return kernel ? everywhere(ctx, made.source, [kernel.ref], params.context.includeDeclaration) : [];
  }
  const view = await ctx.view(uri);
  if (!view) return [];
  const kernels = kernelsOf(entriesAt(view.program, view.path, view.position(params.position)));
  return everywhere(ctx, view, kernels, params.context.includeDeclaration);
}

async function everywhere(
  ctx: ServerContext,
  view: View,
  kernels: readonly KernelRef[],
  declaration: boolean,
): Promise<Location[]> {
  if (!kernels.length) return [];
  const source = spansOf(view.program, view.path, kernels).flatMap(span => view.locate(span) ?? []);
  const definitions = declaration ? await kernelLocations(ctx, view, [...kernels]) : [];
  const launches: Location[] = [];
  const roots = new Map(
    kernels.map(k => [rootOf(view.program, k.compilation)?.name, rootOf(view.program, k.compilation)]),
  );
  for (const root of roots.values()) {
    const made = await ctx.generated.forRoot(ctx, view, root);
    if (!made) continue;
    ctx.generated.write(made);
    for (const k of made.generated.kernels) {
      if (!kernels.some(r => r.compilation === k.ref.compilation && r.kernel === k.ref.kernel)) continue;
      for (const l of k.launches) launches.push({ uri: made.uri, range: lineRange(made, l) });
    }
  }
  return [...source, ...definitions, ...launches];
}
