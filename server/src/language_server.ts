// The language server, a bundle of its own: what it loads at its start holds neither the compiler nor what benchmarks need.
import type { CompileThread } from "./analysis/compile_thread";
import { runCommand } from "./command_line";
import { main } from "./commands/lsp";

export function start(compileThread: CompileThread): void {
  runCommand({ lsp: async () => ({ main: argv => main(argv, compileThread) }) });
}
