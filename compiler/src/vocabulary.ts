// The compiler's words without the compiler: presets, targets, options, reasons and what is read off reports. A process
// that shows what another thread has compiled loads this alone.

export { type ConfigProblem, checkConfig } from "./config_check";
export { IN_EVAL, IN_TRAINING } from "./dynamo/infer/modes";
export { TARGETS, type TargetProperties, targetByName, targetNames } from "./inductor/ir/target";
export { type OperandWay, wayParts } from "./inductor/operand_layouts/ways";
export { nearest } from "./nearest";
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
export { LAYOUT_REASONS } from "./report/layout_reasons";
export { ARTIFACTS, type Artifact, formatRecord, type LogRecord } from "./report/log";
export { REASONS, type ReasonText } from "./report/reasons";
export { schedulerDot } from "./report/scheduler_dot";
export { defaultSessionOptions, type SessionOptions } from "./session_options";
