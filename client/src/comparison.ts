// Compare Configurations: two presets or option values, their kernels (or output code) in a diff view.
import * as vscode from "vscode";
import type { ShownComparison, Target } from "./answers";
import type { OutputDocuments } from "./output_documents";
import type { Server } from "./server";

interface Configuration {
  readonly preset?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** options worth switching, with what they do */
const OPTIONS: readonly (readonly [name: string, detail: string])[] = [
  ["triton.mix_order_reduction", "row and column reductions of one tensor in one kernel"],
  ["triton.nested_reduction", "a reduction over groups inside another one's rows"],
  ["loop_ordering_after_fusion", "loops reordered so that nodes share what they read"],
  ["combo_kernels", "independent kernels launched as one"],
  ["max_autotune", "matrix products from templates, into which what follows may fuse"],
  ["epilogue_fusion", "elementwise operations at the end of a template"],
  ["triton.tiling_prevents_reduction_fusion", "transposed copies kept out of reductions"],
  ["triton.tiling_prevents_pointwise_fusion", "elementwise kernels of different tiles kept apart"],
  ["aggressive_fusion", "nodes fused that share no data"],
  ["split_reductions", "large reductions in two passes"],
];

const PRESETS = ["nightly-2026-11", "torch-2.11", "fuselens"];

export async function compareConfigurations(
  server: Server,
  documents: OutputDocuments,
  target: Target & { readonly config?: Readonly<Record<string, unknown>>; readonly right?: Configuration },
): Promise<void> {
  const right = target.right ?? (target.config ? { config: target.config } : await pick());
  if (!right) return;
  const options = { location: vscode.ProgressLocation.Notification, title: "FuseLens: comparing", cancellable: true };
  const { uri, root } = target;
  const answer = await vscode.window.withProgress(options, (_, token) =>
    server.ask<ShownComparison>("fuselens.compare", { uri, root, right }, token),
  );
  await showDiff(documents, answer, root ?? uri.replace(/^.*\//, ""));
}

async function pick(): Promise<Configuration | undefined> {
  const items: (vscode.QuickPickItem & { readonly configuration?: Configuration })[] = [
    { label: "Presets", kind: vscode.QuickPickItemKind.Separator },
    ...PRESETS.map(preset => ({ label: preset, description: "preset", configuration: { preset } })),
    { label: "Options", kind: vscode.QuickPickItemKind.Separator },
    ...OPTIONS.flatMap(([name, detail]) =>
      [true, false].map(value => ({
        label: `${name} = ${value ? "True" : "False"}`,
        detail,
        configuration: { config: { [name]: value } },
      })),
    ),
    { label: "Other", kind: vscode.QuickPickItemKind.Separator },
    { label: "Another option…", description: "NAME=VALUE of torch._inductor.config" },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Compare today's configuration with",
    matchOnDetail: true,
  });
  if (!chosen || chosen.configuration) return chosen?.configuration;
  const text = await vscode.window.showInputBox({
    title: "Option of torch._inductor.config",
    placeHolder: "max_fusion_size=128",
    validateInput: t => (/^[\w.]+=.+$/.test(t) ? undefined : "NAME=VALUE"),
  });
  if (text === undefined) return undefined;
  const at = text.indexOf("=");
  return { config: { [text.slice(0, at)]: literal(text.slice(at + 1).trim()) } };
}

/** True, False, None, numbers, else text */
function literal(text: string): unknown {
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  if (/^none$/i.test(text)) return null;
  return Number.isNaN(Number(text)) ? text.replace(/^(['"])(.*)\1$/, "$2") : Number(text);
}

async function showDiff(documents: OutputDocuments, answer: ShownComparison, what: string): Promise<void> {
  const name = (title: string): string => title.replace(/[\\/]+/g, "_");
  const left = documents.put(`${name(what)} (${name(answer.left.title)}).txt`, answer.left.text);
  const right = documents.put(`${name(what)} (${name(answer.right.title)}).txt`, answer.right.text);
  await vscode.commands.executeCommand(
    "vscode.diff",
    left,
    right,
    `${what}: ${answer.left.title} ↔ ${answer.right.title}`,
  );
  const choice = await vscode.window.showInformationMessage(`FuseLens: ${answer.summary}`, "Output code", "Summary");
  if (choice === "Summary") await documents.show(answer);
  if (choice !== "Output code") return;
  const code = (side: ShownComparison["left"]): vscode.Uri =>
    documents.put(`${name(what)} (${name(side.title)}).py`, side.code);
  await vscode.commands.executeCommand("vscode.diff", code(answer.left), code(answer.right), `${what}: output code`);
}
