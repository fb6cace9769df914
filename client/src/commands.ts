// Palette, lens, menu and key commands: each asks the server and shows what it answers. Errors are one line.
import * as vscode from "vscode";
import type { ShownDocument, Target } from "./answers";
import type { Benchmarks } from "./benchmarks";
import { compareConfigurations } from "./comparison";
import { setExampleInputs } from "./example_inputs";
import type { GraphView } from "./graph_view";
import type { KernelMapPanel } from "./kernel_map";
import type { OutputDocuments } from "./output_documents";
import { activeTarget, type Server } from "./server";
import { openExample } from "./walkthrough";
import { pairWorker, selectWorker } from "./workers";

export interface CommandHost {
  readonly server: Server;
  readonly documents: OutputDocuments;
  readonly kernelMap: KernelMapPanel;
  readonly graph: GraphView;
  readonly benchmarks: Benchmarks;
}

/** what a command was called with: a target from a lens or a code action, or nothing from the palette */
type Given = Target & Readonly<Record<string, unknown>>;

const STAGES: readonly (readonly [stage: string, detail: string])[] = [
  ["pre_grad_graphs", "what Dynamo captured"],
  ["aot_joint_graph", "forward and backward in one"],
  ["aot_graphs", "after AOTAutograd and the partitioner"],
  ["post_grad_graphs", "after Inductor's graph passes"],
  ["ir_pre_fusion", "loop IR before fusion"],
  ["fusion", "what was tried, round by round, and why not"],
  ["ir_post_fusion", "loop IR after fusion"],
  ["schedule", "kernels in launch order"],
  ["output_code", "the generated Python and Triton"],
  ["graph_breaks", "where Dynamo stopped, and why"],
  ["recompiles", "which guards failed"],
  ["scheduler_graph", "operations and buffers as DOT"],
];

export function registerCommands(context: vscode.ExtensionContext, host: CommandHost): void {
  const { server, documents, kernelMap, graph, benchmarks } = host;
  const register = (name: string, run: (given: Given | undefined, more: unknown) => Promise<void>): void => {
    const guarded = async (given?: Given, more?: unknown): Promise<void> => {
      try {
        await run(given && typeof given.uri === "string" ? given : undefined, more);
      } catch (e) {
        void vscode.window.showErrorMessage(`FuseLens: ${e instanceof Error ? e.message : String(e)}`);
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(`fuselens.${name}`, guarded));
  };
  /** a command on a document: the one that it was given, or the active one */
  const onTarget = (name: string, run: (target: Given, more: unknown) => Promise<void>): void =>
    register(name, async (given, more) => {
      const target = given ?? activeTarget();
      if (target) await run(target as Given, more);
    });
  const show = (name: string): void =>
    onTarget(name, async target => documents.show(await server.ask<ShownDocument>(`fuselens.${name}`, target)));

  show("showOutputCode");
  show("showKernels");
  show("showReasons");
  onTarget("showStage", async target => {
    const items = STAGES.map(([label, description]) => ({ label, description }));
    const picked = await vscode.window.showQuickPick(items, { title: "Stage (TORCH_LOGS artifact)" });
    if (!picked) return;
    await documents.show(await server.ask<ShownDocument>("fuselens.showStage", { ...target, stage: picked.label }));
  });
  onTarget("showKernelMap", target => kernelMap.show(target));
  onTarget("showSchedulerGraph", target => graph.show(target));
  onTarget("compare", target => compareConfigurations(server, documents, target));
  onTarget("setExampleInputs", target => setExampleInputs(server, target));
  onTarget("switchMode", async target => {
    const { summary } = await server.ask<{ summary: string }>("fuselens.switchMode", target);
    vscode.window.setStatusBarMessage(`FuseLens: ${summary}`, 5000);
  });
  onTarget("benchmark", (target, against) =>
    benchmarks.run(target, Array.isArray(against) ? against.map(String) : undefined),
  );
  register("showBenchmarks", () => benchmarks.show());
  register("copyBenchmarks", async () => vscode.env.clipboard.writeText(benchmarks.markdown()));
  register("selectWorker", () => selectWorker(context, server));
  register("pairWorker", () => pairWorker(context, server));
  register("doctor", async () => documents.show(await server.ask<ShownDocument>("fuselens.doctor", null)));
  show("bugReport");
  register("showLog", async () => server.showLog());
  register("restartServer", () => server.restart());
  register("openExample", () => openExample(context));
  register("toggleGutter", () => toggle("gutter.enabled"));
  register("toggleInlayHints", async () => {
    const on = vscode.workspace.getConfiguration("fuselens").get("inlayHints.shapes", true);
    for (const name of ["inlayHints.shapes", "inlayHints.kernels"]) await set(name, !on);
  });
  register("menu", menu);
}

async function toggle(name: string): Promise<void> {
  await set(name, !vscode.workspace.getConfiguration("fuselens").get(name, true));
}

async function set(name: string, value: boolean): Promise<void> {
  await vscode.workspace.getConfiguration("fuselens").update(name, value, vscode.ConfigurationTarget.Global);
}

/** what the status item offers */
async function menu(): Promise<void> {
  const items: (vscode.QuickPickItem & { readonly command?: string })[] = [
    { label: "$(symbol-class) Show kernels and reasons", command: "showKernels" },
    { label: "$(split-horizontal) Show kernel map", command: "showKernelMap" },
    { label: "$(code) Show output code", command: "showOutputCode" },
    { label: "$(type-hierarchy) Show scheduler graph", command: "showSchedulerGraph" },
    { label: "$(list-tree) Show IR of a stage", command: "showStage" },
    { label: "$(diff) Compare configurations", command: "compare" },
    { label: "$(symbol-array) Set example inputs", command: "setExampleInputs" },
    { label: "$(mortar-board) Switch between training and inference", command: "switchMode" },
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: "$(dashboard) Benchmark", command: "benchmark" },
    { label: "$(history) Show benchmarks", command: "showBenchmarks" },
    { label: "$(server) Select worker", command: "selectWorker" },
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: "$(paintcan) Switch gutter colours", command: "toggleGutter" },
    { label: "$(whole-word) Switch inlay hints", command: "toggleInlayHints" },
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: "$(pulse) Check the installation", command: "doctor" },
    { label: "$(output) Show log", command: "showLog" },
    { label: "$(bug) Write a bug report", command: "bugReport" },
    { label: "$(debug-restart) Restart server", command: "restartServer" },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: "FuseLens" });
  if (chosen?.command) await vscode.commands.executeCommand(`fuselens.${chosen.command}`);
}
