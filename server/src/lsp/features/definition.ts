// textDocument/definition and textDocument/implementation: from an expression to the kernels that compute it in the
// generated code, and from generated code to the source lines that it stems from.
import type { DefinitionParams, Location } from "vscode-languageserver/node";
import { kernelAtLine } from "../../ide/generated";
import { entriesAt, kernelsOf, rootOf } from "../../ide/lookup";
import type { ServerContext } from "../context";
import { type GeneratedView, lineRange } from "../generated_documents";
import type { View } from "../view";

export async function definition(ctx: ServerContext, params: DefinitionParams): Promise<Location[]> {
  const { uri } = params.textDocument;
  if (ctx.generated.isGenerated(uri)) {
    const made = await ctx.generated.open(ctx, uri);
    return made ? sourceOf(made, params.position.line) : [];
  }
  const view = await ctx.view(uri);
  if (!view) return [];
  const entries = entriesAt(view.program, view.path, view.position(params.position));
  return kernelLocations(ctx, view, kernelsOf(entries));
}

/** where the kernels are defined in the code of the roots that they belong to */
export async function kernelLocations(
  ctx: ServerContext,
  view: View,
  kernels: ReturnType<typeof kernelsOf>,
): Promise<Location[]> {
  const out: Location[] = [];
  const byRoot = new Map(
    kernels.map(k => [rootOf(view.program, k.compilation)?.name, rootOf(view.program, k.compilation)]),
  );
  for (const root of byRoot.values()) {
    const made = await ctx.generated.forRoot(ctx, view, root);
    if (!made) continue;
    ctx.generated.write(made);
    for (const k of made.generated.kernels) {
      if (!kernels.some(r => r.compilation === k.ref.compilation && r.kernel === k.ref.kernel)) continue;
      const [first, last] = k.definition ?? [k.launches[0], k.launches[0]];
      if (first !== undefined) out.push({ uri: made.uri, range: lineRange(made, first, last) });
    }
  }
  return out;
}

export function sourceOf(made: GeneratedView, line: number): Location[] {
  const lines = made.generated.toSource[line] ?? [];
  const own = lines.length ? lines : atOf(made, line);
  const all = made.source.unitLines();
  return own.flatMap(l => {
    const text = all[l - 1] ?? "";
    const column = text.length - text.trimStart().length;
    return made.source.locate({ line: l, column, endLine: l, endColumn: text.length }) ?? [];
  });
}

function atOf(made: GeneratedView, line: number): readonly number[] {
  const kernel = kernelAtLine(made.generated, line);
  if (!kernel) return [];
  return made.source.program.compilations[kernel.ref.compilation]?.graph.kernels[kernel.ref.kernel]?.at ?? [];
}
