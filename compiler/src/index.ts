// The compiler's public door.

export { IN_EVAL, IN_TRAINING } from "./dynamo/assume/roots";
export type { Diagnostic } from "./dynamo/types";
export { TARGETS, type TargetProperties, targetByName, targetNames } from "./inductor/ir/target";
export type { MeasuredWays } from "./inductor/templates/ways";
export {
  configNames,
  isPresetName,
  type PresetName,
  parseConfigValue,
  presetNames,
  presets,
} from "./presets";
export { type BetterPlace, type BetterSchedule, betterSchedule, type ScheduledGraph } from "./report/better_schedule";
export { type KernelRefusal, keptApart } from "./report/kept_apart";
export { ARTIFACTS, type Artifact, formatRecord, type LogRecord } from "./report/log";
export { REASONS, type ReasonText } from "./report/reasons";
export { schedulerDot } from "./report/scheduler_graph";
export type * from "./report/types";
export type * from "./report/value_program";
export { defaultSessionOptions, type RunControl, Session, type SessionOptions } from "./session";
