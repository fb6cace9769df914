// The compiler's public door.

export type { Diagnostic } from "./dynamo/types";
export type { MeasuredWays } from "./inductor/templates/ways";
export type * from "./report/types";
export type * from "./report/value_program";
export { type RunControl, Session } from "./session";
export * from "./vocabulary";
