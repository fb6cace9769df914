// Settings as clients send them (initializationOptions, workspace/didChangeConfiguration or an answer to
// workspace/configuration, under `fuselens`), read once into one value. Unknown or wrong values take the default; those that
// decide what is compiled are told of.
import {
  checkConfig,
  defaultSessionOptions,
  type PresetName,
  presetNames,
  targetNames,
} from "@fuselens/compiler/vocabulary";
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
  /** of presets, targets and options that can't be meant and were left out: one sentence each, for the user */
  readonly problems: readonly string[];
  /** of options that are kept and decide nothing: for the log */
  readonly remarks: readonly string[];
}

const MISSED_FUSION_BYTES = 1_000_000;

export function readSettings(given: unknown): Settings {
  const at = (path: string): unknown => lookUp(given, path);
  const preset = choice("preset", at("preset"), presetNames());
  const target = choice("target", at("target"), targetNames());
  const config = readConfig(at("config"));
  const missed = at("diagnostics.missedFusionBytes");
  const seconds = at("benchmark.seconds");
  return {
    preset: preset.value,
    target: target.value,
    config: config.values,
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
    problems: [...preset.problems, ...target.problems, ...config.problems],
    remarks: config.remarks,
  };
}

interface Choice<T> {
  readonly value: T | null;
  readonly problems: readonly string[];
}

/** one of `names`; null where nothing, or nothing of them, is set */
function choice<T extends string>(setting: string, given: unknown, names: readonly T[]): Choice<T> {
  if (given === undefined || given === null || given === "") return { value: null, problems: [] };
  const value = names.find(n => n === given);
  if (value !== undefined) return { value, problems: [] };
  const problem = `fuselens.${setting}: there is no ${setting} ${JSON.stringify(given)}; there are ${names.join(", ")}`;
  return { value: null, problems: [problem] };
}

/** options of torch._inductor.config without those that checkConfig takes for a mistake */
function readConfig(given: unknown): Pick<Settings, "problems" | "remarks"> & { readonly values: Settings["config"] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const remarks: string[] = [];
  const record = asRecord(given);
  if (!record && given !== undefined && given !== null)
    problems.push("fuselens.config: an object of torch._inductor.config names and values is expected");
  for (const [name, value] of Object.entries(record ?? {})) {
    const problem = checkConfig(name, value);
    if (!problem || problem.kind === "unread") values[name] = value;
    if (problem) (problem.kind === "unread" ? remarks : problems).push(`fuselens.config: ${problem.text}`);
  }
  return { values, problems, remarks };
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
