// What reaches the handlers: a request that comes before initialize or after shutdown, or whose parameters are no object,
// is answered with the error that the protocol has for it; a notification of that kind is dropped.
import type { Message, MessageStrategy, MessageWriter } from "vscode-languageserver/node";

const SERVER_NOT_INITIALIZED = -32002;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

interface Call {
  readonly id?: number | string | null;
  readonly method?: unknown;
  readonly params?: unknown;
}

export function guardMessages(writer: MessageWriter): MessageStrategy {
  let state: "new" | "running" | "shut" = "new";
  const refuse = (call: Call, code: number, message: string): void => {
    if (call.id === undefined) return;
    const answer = { jsonrpc: "2.0", id: call.id, error: { code, message } };
    void writer.write(answer as Message).catch(() => undefined);
  };
  return {
    handleMessage(message, next) {
      const call = message as Call;
      if (typeof call.method !== "string") return next(message); // an answer to a request of ours
      const { method, params } = call;
      const always = method === "exit" || method.startsWith("$/");
      if (method === "initialize" && state === "new" && isRecord(params)) state = "running";
      else if (method === "initialize" && state !== "new")
        return refuse(call, INVALID_REQUEST, "the server is initialized already");
      else if (state === "new" && !always)
        return refuse(call, SERVER_NOT_INITIALIZED, `${method} came before initialize`);
      else if (state === "shut" && !always) return refuse(call, INVALID_REQUEST, `${method} came after shutdown`);
      if (method === "shutdown") state = "shut";
      else if (method !== "exit" && !isRecord(params))
        return refuse(call, INVALID_PARAMS, `the parameters of ${method} are no object`);
      return next(message);
    },
  };
}

function isRecord(x: unknown): boolean {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}
