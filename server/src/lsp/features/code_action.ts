// textDocument/codeAction: example inputs, dynamic sizes, the reasons, a comparison with an option the other way.
import {
  type CodeAction,
  CodeActionKind,
  type CodeActionParams,
  type Command,
  type TextEdit,
} from "vscode-languageserver/node";
import { type Action, actionsAt } from "../../ide/actions";
import type { ServerContext } from "../context";
import type { View } from "../view";

export const ACTION_KINDS = [CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite, CodeActionKind.Source];

export async function codeActions(ctx: ServerContext, params: CodeActionParams): Promise<(CodeAction | Command)[]> {
  const { uri } = params.textDocument;
  if (ctx.generated.isGenerated(uri)) return [];
  const view = await ctx.view(uri);
  if (!view) return [];
  const first = params.range.start.line + view.lines.firstLine;
  const range = { first, last: Math.max(first, params.range.end.line + view.lines.firstLine) };
  const config = Object.fromEntries(ctx.threadOptions().config);
  const { only } = params.context;
  return actionsAt(view.program, view.path, view.unitLines(), range, { config })
    .filter(a => !only?.length || only.some(k => a.kind === k || a.kind.startsWith(`${k}.`)))
    .flatMap((a): (CodeAction | Command)[] =>
      ctx.client.actionLiterals ? [literal(view, a, params)] : commandOf(view, a),
    );
}

function literal(view: View, a: Action, params: CodeActionParams): CodeAction {
  const solved = params.context.diagnostics.filter(
    d => d.source === "fuselens" && a.solves.some(code => String(d.code).includes(code)),
  );
  const edits = (a.edits ?? []).flatMap((e): TextEdit[] =>
    view.lines.holds(e.line)
      ? [
          {
            range: view.range({ line: e.line, column: e.column, endLine: e.line, endColumn: e.endColumn }),
            newText: e.text,
          },
        ]
      : [],
  );
  return {
    title: a.title,
    kind: a.kind,
    ...(solved.length ? { diagnostics: solved } : {}),
    ...(edits.length ? { edit: { changes: { [view.uri]: edits } } } : {}),
    ...(a.command ? { command: command(view, a, a.command) } : {}),
  };
}

function commandOf(view: View, a: Action): Command[] {
  return a.command ? [command(view, a, a.command)] : [];
}

function command(view: View, a: Action, c: NonNullable<Action["command"]>): Command {
  return { title: a.title, command: c.name, arguments: [{ uri: view.uri, ...c.argument }] };
}
