// Folders, watched files and settings of the workspace, and what follows from them for the compiler. In: notifications.
// Out: thread options; `onChange` when they (or a file that something imports) changed.

import type { MeasuredWays } from "@fuselens/compiler";
import { defaultSessionOptions, targetNames } from "@fuselens/compiler/vocabulary";
import type { DeviceInfo } from "@fuselens/gpu-worker/protocol";
import type { Connection, WorkspaceFolder } from "vscode-languageserver/node";
import type { ThreadOptions, TrainedRoot } from "../analysis/messages";
import { pathOf } from "./documents";
import { type FoundTorch, findTorch, readExamples } from "./environment";
import { defaultPreset, readSettings, type Settings } from "./settings";

export class Workspace {
  settings: Settings = readSettings({});
  /** paths of the workspace's folders */
  folders: readonly string[] = [];
  /** what workers measured of ways to compute matrix products */
  readonly choices = new Map<string, MeasuredWays>();
  private torch: FoundTorch | null = null;
  private trained: readonly TrainedRoot[] = [];
  private workerTarget: string | null = null;

  setFolders(folders: readonly (WorkspaceFolder | string)[]): void {
    this.folders = folders.map(f => pathOf(typeof f === "string" ? f : f.uri));
    this.torch = findTorch(this.folders);
  }

  changeFolders(added: readonly WorkspaceFolder[], removed: readonly WorkspaceFolder[]): void {
    const gone = new Set(removed.map(f => pathOf(f.uri)));
    const kept = this.folders.filter(f => !gone.has(f));
    this.setFolders([...kept, ...added.map(f => pathOf(f.uri)).filter(f => !kept.includes(f))]);
  }

  /** true if the GPU that decides is another one now */
  setDevices(devices: readonly DeviceInfo[]): boolean {
    const before = this.workerTarget;
    this.workerTarget = devices.flatMap(d => targetOf(d.title) ?? [])[0] ?? null;
    return this.settings.target === null && before !== this.workerTarget;
  }

  /** shows a root module in training where it was shown in inference, and the other way; true: in training */
  switchMode(path: string, root: string): boolean {
    const others = this.trained.filter(t => t.path !== path || t.root !== root);
    const training = others.length === this.trained.length;
    this.trained = training ? [...others, { path, root }] : others;
    return training;
  }

  threadOptions(overrides: Partial<ThreadOptions> = {}): ThreadOptions {
    const defaults = defaultSessionOptions();
    return {
      preset: this.settings.preset ?? this.torch?.preset ?? defaultPreset(),
      target: this.settings.target ?? this.workerTarget ?? defaults.target,
      config: Object.entries(this.settings.config),
      choices: [...this.choices],
      environment: Object.entries(this.settings.environment),
      imports: this.settings.imports,
      stepBudget: defaults.stepBudget,
      examples: readExamples(this.folders),
      folders: this.folders,
      training: this.trained,
      ...overrides,
    };
  }

  /** how the options came about, one line for the log */
  describe(): string {
    const o = this.threadOptions();
    const preset = this.settings.preset
      ? "from the settings"
      : this.torch
        ? `nearest to torch ${this.torch.version} in the workspace's environment`
        : "the newest: no torch in the workspace's environment";
    const target = this.settings.target ? "from the settings" : this.workerTarget ? "the worker's GPU" : "the default";
    return `preset ${o.preset} (${preset}), target ${o.target} (${target})`;
  }
}

/** "NVIDIA H100 80GB HBM3" → "h100" */
export function targetOf(title: string): string | null {
  const plain = title.toLowerCase().replace(/[^a-z0-9]/g, "");
  return targetNames().find(n => plain.includes(n)) ?? null;
}

/** Settings from the client's own store, for clients that are asked rather than tell. */
export async function pullSettings(connection: Connection): Promise<unknown> {
  try {
    return await connection.workspace.getConfiguration("fuselens");
  } catch {
    return null;
  }
}
