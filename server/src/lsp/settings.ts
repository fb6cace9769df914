// Settings as clients send them (initializationOptions, workspace/didChangeConfiguration or an answer to
// workspace/configuration, under `fuselens`), read once into one value. Unknown or wrong values take the default.
import { defaultSessionOptions, isPresetName, type PresetName, targetNames } from "@fuselens/compiler/vocabulary";
import { LOG_LEVELS, type LogLevel } from "./log";

export interface Settings {
  /** null: the one nearest to the torch version of the workspace's environment, else the newest */
  readonly preset: PresetName | null;
  /** null: the worker's GPU where one is known, else the default target */
  readonly target: string | null;
  readonly config: Readonly<Record<string, unknown>>;
  /** what os.environ holds */
  readonly environment: Readonly<Record<string, string>>;
  readonly imports: "plain" | "present";
  readonly worker: { readonly endpoint: string | null; readonly keys: string | null };
  readonly trusted: boolean;
  /** the least urgent messages that go into the client's log */
  readonly logLevel: LogLevel;
  readonly benchmark: { readonly against: readonly ("eager" | "compile")[]; readonly seconds: number };
  readonly inlayHints: { readonly shapes: boolean; readonly kernels: boolean };
  readonly codeLens: boolean;
  /** say beside the preset's kernels what preset fuselens would save */
  readonly suggestions: boolean;
  readonly definition: boolean;
  readonly diagnostics: {
    readonly missedFusionBytes: number | null;
    readonly graphBreaks: boolean;
    readonly assumed: boolean;
  };
}

const MISSED_FUSION_BYTES = 1_000_000;

export function readSettings(given: unknown): Settings {
  const at = (path: string): unknown => lookUp(given, path);
  const preset = at("preset");
  const target = at("target");
  const missed = at("diagnostics.missedFusionBytes");
  const seconds = at("benchmark.seconds");
  return {
    preset: typeof preset === "string" && isPresetName(preset) ? preset : null,
    target: typeof target === "string" && targetNames().includes(target) ? target : null,
    config: asRecord(at("config")) ?? {},
    environment: Object.fromEntries(
      Object.entries(asRecord(at("environment")) ?? {}).map(([k, v]) => [k, String(v)] as const),
    ),
    imports: at("imports") === "present" ? "present" : "plain",
    worker: { endpoint: text(at("worker.endpoint") ?? at("workerEndpoint")), keys: text(at("worker.keys")) },
    trusted: at("trusted") !== false,
    logLevel: LOG_LEVELS.find(l => l === at("log.level")) ?? "info",
    benchmark: {
      against: list(at("benchmark.against")).filter(x => x === "eager" || x === "compile"),
      seconds: typeof seconds === "number" && seconds > 0 && seconds <= 60 ? seconds : 0.5,
    },
    inlayHints: { shapes: at("inlayHints.shapes") !== false, kernels: at("inlayHints.kernels") !== false },
    codeLens: at("codeLens.enabled") !== false,
    suggestions: at("suggestions.enabled") !== false,
    definition: at("definition.enabled") !== false,
    diagnostics: {
      missedFusionBytes: typeof missed === "number" ? (missed < 0 ? null : missed) : MISSED_FUSION_BYTES,
      graphBreaks: at("diagnostics.graphBreaks") !== false,
      assumed: at("diagnostics.assumed") !== false,
    },
  };
}

export function defaultPreset(): PresetName {
  return defaultSessionOptions().preset;
}

/** "a.b" as {a: {b}} or as {"a.b"} */
function lookUp(given: unknown, path: string): unknown {
  const record = asRecord(given);
  if (!record) return undefined;
  if (Object.hasOwn(record, path)) return record[path];
  const dot = path.indexOf(".");
  return dot < 0 || !Object.hasOwn(record, path.slice(0, dot))
    ? undefined
    : lookUp(record[path.slice(0, dot)], path.slice(dot + 1));
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function list(value: unknown): ("eager" | "compile")[] {
  return Array.isArray(value) ? value : [];
}
