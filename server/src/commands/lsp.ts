// fuselens lsp --stdio: the language server on stdin and stdout; everything else that prints goes to stderr.
import {
  createConnection,
  ProposedFeatures,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import type { CompileThread } from "../analysis/compile_thread";
import { guardMessages } from "../lsp/message_guard";
import { startServer } from "../lsp/server";
import { parseCommand } from "../options";
import { serverPaths } from "../paths";

export async function main(argv: string[], compileThread: CompileThread): Promise<number> {
  parseCommand("lsp", argv);
  const writer = new StreamMessageWriter(process.stdout);
  const connection = createConnection(ProposedFeatures.all, new StreamMessageReader(process.stdin), writer, {
    messageStrategy: guardMessages(writer),
  });
  console.log = console.error; // a stray print must not break the protocol
  // a client that answers one request with an error must not end the server for all others
  process.on("unhandledRejection", e => console.error(e instanceof Error ? (e.stack ?? e.message) : String(e)));
  startServer(connection, serverPaths(), compileThread);
  return new Promise(() => undefined); // the connection's exit notification ends the process
}
