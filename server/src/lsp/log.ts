// The server's log in the client's log channel, by levels. What is less urgent than the level that the settings ask for is not
// sent; a client that sorts by level itself asks for all of it.
import { type Connection, LogMessageNotification, MessageType } from "vscode-languageserver/node";

export const LOG_LEVELS = ["error", "warning", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  /** something of ours failed */
  error(message: string): void;
  /** something outside is missing or went away; what depends on it does not work */
  warning(message: string): void;
  /** which decisions are shown, and why; what came and went */
  info(message: string): void;
  /** each analysis and each command, with its time */
  debug(message: string): void;
}

/** `level` is asked for each message, so that a change of the settings counts from then on */
export function logTo(connection: Connection, level: () => LogLevel): Log {
  const send = (name: LogLevel, type: MessageType, message: string): void => {
    if (LOG_LEVELS.indexOf(name) <= LOG_LEVELS.indexOf(level()))
      void connection.sendNotification(LogMessageNotification.type, { type, message });
  };
  return {
    error: m => send("error", MessageType.Error, m),
    warning: m => send("warning", MessageType.Warning, m),
    info: m => send("info", MessageType.Info, m),
    debug: m => send("debug", MessageType.Debug, m),
  };
}
