// Log records as TORCH_LOGS prints them. In: level, artifact, message. Out: one text with the chosen prefix.
export type LogLevel = "DEBUG" | "INFO" | "WARNING";

/** torch._logging's artifact names that we print */
export const ARTIFACTS = [
  "pre_grad_graphs",
  "aot_joint_graph",
  "aot_graphs",
  "post_grad_graphs",
  "ir_pre_fusion",
  "fusion",
  "ir_post_fusion",
  "schedule",
  "output_code",
  "graph_breaks",
  "recompiles",
  "scheduler_graph",
] as const;
export type Artifact = (typeof ARTIFACTS)[number];

export interface LogRecord {
  readonly level: LogLevel;
  readonly artifact: Artifact;
  readonly message: string;
  /** written by torch without the logging module, so no format applies */
  readonly raw?: boolean;
}

const DEFAULT_FORMAT = "[%(levelname)s]:%(message)s";

/**
 * The record's text under a TORCH_LOGS_FORMAT (Python %-style). As torch's formatter does, a message of several lines
 * keeps its lines; only %(levelname)s and %(message)s are known, other fields print empty.
 */
export function formatRecord(record: LogRecord, format: string | null): string {
  if (record.raw) return record.message;
  return (format ?? DEFAULT_FORMAT).replace(/%\((\w+)\)[-#0 +]*\d*(?:\.\d+)?[sdf]/g, (_, field: string) =>
    field === "levelname" ? record.level : field === "message" ? record.message : "",
  );
}
