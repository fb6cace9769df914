// The settings under `fuselens`, as the server takes them. Names of programs, endpoints and keys are machine-scoped, so
// a workspace can't set them, and the server gets them only where the workspace is trusted.
import * as vscode from "vscode";

export function readSettings(): Record<string, unknown> {
  const c = vscode.workspace.getConfiguration("fuselens");
  const trusted = vscode.workspace.isTrusted;
  return {
    rich: true,
    trusted,
    // the channel sorts by level itself
    log: { level: "debug" },
    preset: c.get("preset", "auto"),
    target: c.get("target", "auto"),
    config: c.get("config", {}),
    worker: {
      endpoint: trusted ? c.get("worker.endpoint", "") : "",
      keys: trusted ? c.get("worker.keys", "") : "",
    },
    benchmark: { against: c.get("benchmark.against", []), seconds: c.get("benchmark.seconds", 0.5) },
    inlayHints: { shapes: c.get("inlayHints.shapes", true), kernels: c.get("inlayHints.kernels", true) },
    codeLens: { enabled: c.get("codeLens.enabled", true) },
    suggestions: { enabled: c.get("suggestions.enabled", true) },
    definition: { enabled: c.get("definition.enabled", false) },
    diagnostics: {
      missedFusionBytes: c.get("diagnostics.missedFusionBytes", 1_000_000),
      graphBreaks: c.get("diagnostics.graphBreaks", true),
      assumed: c.get("diagnostics.assumed", true),
    },
  };
}
