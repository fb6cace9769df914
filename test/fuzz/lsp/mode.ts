// Fuzzing the language server: a spawned server gets messages in the wrong order, of wrong types, about unknown documents,
// edits out of range and frames that are none, among honest ones. What the fuzzer believes of each document is what LSP
// says; at the end of a round the server's answer for it must be the one that it gives for a twin opened with that text.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Context, Counts } from "../mode";
import { cpuMs } from "../python/compiler_process";
import { mutate, ODD } from "../python/mutate";
import { Random } from "../random";
import { FrameReader, type Json } from "./frames";

const MESSAGES = 30;
/** ms of the server's CPU time in which what was asked must be answered; a compile may take 2 s of them */
const ANSWER_CPU_MS = 15_000;
const ANSWER_WALL_MS = 180_000;
const GROWTH_KB = 600_000;

const REQUESTS = [
  "hover", "codeLens", "inlayHint", "definition", "implementation", "references", "documentHighlight", "documentSymbol", "codeAction", "semanticTokens/full", "semanticTokens/range", "diagnostic", "completion", "rename",
].map(m => `textDocument/${m}`); // biome-ignore format: a table
const COMMANDS = ["fuselens.showOutputCode", "fuselens.showReasons", "fuselens.showStage", "fuselens.kernelMap", "fuselens.kernelLines", "fuselens.history", "fuselens.workerStatus", "fuselens.compare", "fuselens.nope", "__proto__"]; // biome-ignore format: a table
const WRONG: readonly Json[] = [null, 7, -1, 1e99, "x", "", true, [], {}, [null], { uri: 7 }, { uri: "file:///%" }, { line: -1, character: "a" }, "\ud800"]; // biome-ignore format: a table

interface Open {
  readonly uri: string;
  document: TextDocument;
}

export async function fuzzLsp(context: Context): Promise<Counts> {
  const counts = {
    rounds: 0,
    messages: 0,
    answers: 0,
    errors: 0,
    twins: 0,
    servers: 0,
    brokenFrames: 0,
    residentMb: 0,
  };
  let server: Server | null = null;
  let resident = 0;
  try {
    for (let i = context.firstCase; context.more(); i++) {
      const r = new Random(context.seed).fork(i);
      if (!server || server.ended) {
        server = new Server(join(context.root, "server", "bin", "fuselens.cjs"));
        resident = 0;
        counts.servers += 1;
        const early = r.fork(0);
        if (early.chance(0.3)) throwEarly(server, early, counts);
        await server.initialize();
      }
      const sent: string[] = [];
      const wrong = await round(server, r, context, counts, sent, i);
      counts.rounds += 1;
      if (wrong && !context.findings.known(wrong.kind, wrong.detail.slice(0, 120))) {
        const input = `${sent.join("\n")}\n-- stderr --\n${server.said.slice(-3000)}`;
        context.findings.add({ mode: "lsp", signature: wrong.detail.slice(0, 120), seed: context.seed, case: i, input, ...wrong }); // biome-ignore format: one record
      }
      if (wrong) server.end();
      else {
        const now = residentKb(server.pid);
        if (resident === 0 && server.rounds++ >= 5) resident = now;
        counts.residentMb = Math.round(now / 1000);
        if (resident > 0 && now > resident + GROWTH_KB && !context.findings.known("growth", "server"))
          context.findings.add({ mode: "lsp", kind: "growth", signature: "server", detail: `${now} kB, ${resident} kB at first`, seed: context.seed, case: i, input: "" }); // biome-ignore format: one record
      }
      if (server && !server.ended && r.chance(0.1)) {
        await breakFrames(server, r);
        counts.brokenFrames += 1;
        server = null;
      }
    }
  } finally {
    server?.end();
  }
  return counts;
}

function residentKb(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** before initialize */
function throwEarly(server: Server, r: Random, counts: { messages: number }): void {
  for (const method of r.many(1, 5, () =>
    r.pick([...REQUESTS, "initialized", "shutdown_", "textDocument/didOpen", "$/cancelRequest"]),
  )) {
    counts.messages += 1;
    server.raw({
      jsonrpc: "2.0",
      ...(r.chance(0.5) ? { id: `early${r.below(1000)}` } : {}),
      method,
      params: r.pick(WRONG),
    });
  }
}

/** frames after which a connection can't go on: the server may end, but not hang, nor fill its memory */
async function breakFrames(server: Server, r: Random): Promise<void> {
  server.bytes(
    r.pick([
      "Content-Length: 99999999999\r\n\r\n{",
      "Content-Length: -1\r\n\r\n{}",
      "Content-Length: abc\r\n\r\n{}",
      "\r\n\r\n\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      `X: ${"y".repeat(1_000_000)}`,
      "Content-Length: 5\r\n\r\n{{{{{",
      "Content-Length: 2\r\n\r\n[]Content-Length: 4\r\n\r\nnull",
    ]),
  );
  server.closeInput();
  // an editor that is gone ends its server
  for (let i = 0; i < 100 && !server.ended; i++) await new Promise(resolve => setTimeout(resolve, 50));
  server.end();
}

async function round(
  server: Server,
  r: Random,
  context: Context,
  counts: { messages: number; answers: number; errors: number; twins: number },
  sent: string[],
  index: number,
): Promise<{ kind: string; detail: string } | null> {
  const open: Open[] = [];
  const asked: number[] = [];
  const say = (message: { [k: string]: Json }): void => {
    counts.messages += 1;
    sent.push(JSON.stringify(message).slice(0, 4000));
    server.raw(message);
  };
  const notify = (method: string, params: Json): void => say({ jsonrpc: "2.0", method, params });
  const request = (method: string, params: Json): number => {
    const id = server.nextId++;
    asked.push(id);
    say({ jsonrpc: "2.0", id, method, params });
    return id;
  };
  const openOne = (): void => {
    const uri = `file:///fuzz/${index}_${open.length}${r.pick(["", " a", "%C3%A9", "'\"", "%0A"])}.py`;
    const base = r.pick(context.corpus);
    const text = r.chance(0.5) ? base : mutate(base, r, context.corpus).slice(0, 20_000);
    const document = TextDocument.create(uri, "python", 1, text);
    open.push({ uri, document });
    notify("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: 1, text } });
  };
  openOne();
  for (let n = 0; n < MESSAGES; n++) {
    const at = r.pick(open);
    r.weighted<void>([
      [8, () => edit(at, r, notify)],
      [6, () => void request(r.pick(REQUESTS), paramsFor(at, r))],
      [3, () => void request(r.pick([...REQUESTS, "workspace/executeCommand", "codeLens/resolve", "nope/nope", "textDocument/didOpen", "fuselens/textDocumentContent"]), r.pick(WRONG))],
      [2, () => notify(r.pick(["textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "notebookDocument/didOpen", "notebookDocument/didChange", "$/cancelRequest", "$/nope", "window/workDoneProgress/cancel", "initialized"]), r.pick(WRONG))],
      [1, () => notify("$/cancelRequest", { id: r.pick([asked[asked.length - 1] ?? 1, 999_999, "x", null]) })],
      [1, () => notify("textDocument/didChange", { textDocument: { uri: "file:///unknown.py", version: 2 }, contentChanges: [{ text: "x" }] })],
      [1, () => notify("textDocument/didClose", { textDocument: { uri: `file:///unknown${r.below(9)}.py` } })],
      [2, () => void request("workspace/executeCommand", { command: r.pick(COMMANDS), arguments: [r.chance(0.5) ? { uri: at.uri, root: r.pick(["f", "", "__proto__"]), stage: "output_code" } : r.pick(WRONG)] })],
      [1, () => (open.length < 4 ? openOne() : undefined)],
      [1, () => say(r.pick<{ [k: string]: Json }>([{ jsonrpc: "2.0", id: server.nextId + 5000, result: null }, { jsonrpc: "2.0", method: 7 }, { id: 1 }, { jsonrpc: "1.0", method: "x" }]))],
    ]); // biome-ignore format: a table
  }
  // the last word on each document: what the server now holds must be what was sent
  const last = r.pick(open);
  const twin = `file:///fuzz/${index}_twin.py`;
  notify("textDocument/didOpen", {
    textDocument: { uri: twin, languageId: "python", version: 1, text: last.document.getText() },
  });
  const symbols = [last.uri, twin].map(uri => request("textDocument/codeLens", { textDocument: { uri } }));
  const hints = [last.uri, twin].map(uri =>
    request("textDocument/inlayHint", {
      textDocument: { uri },
      range: { start: { line: 0, character: 0 }, end: { line: 9999, character: 0 } },
    }),
  );
  const answered = await server.answered(asked);
  if (server.ended) return { kind: "crash", detail: `the server ended, ${server.how}: ${server.said.slice(-1500)}` };
  if (!answered) return { kind: "hang", detail: "a request got no answer" };
  for (const id of asked) {
    const a = server.answers.get(id);
    counts.answers += 1;
    if (a?.["error"]) counts.errors += 1;
    const message = (a?.["error"] as { message?: string } | undefined)?.message ?? "";
    if (/Cannot read propert|is not a function|is not iterable|Maximum call stack/.test(message))
      return { kind: "internal", detail: `a fault of the server's was answered: ${message}` };
  }
  const plain = (id: number, uri: string): string =>
    JSON.stringify(server.answers.get(id)?.["result"] ?? null).replaceAll(JSON.stringify(uri).slice(1, -1), "URI").replaceAll(encodeURIComponent(uri), "URI").replaceAll(/\d+_(?:\d+[^"]*?|twin)\.py/g, "FILE").replaceAll(/"version":\d+/g, "V"); // biome-ignore format: one expression
  for (const [mine, its] of [symbols, hints] as [number, number][]) {
    counts.twins += 1;
    const [a, b] = [plain(mine, last.uri), plain(its, twin)];
    if (server.answers.get(mine)?.["error"] || server.answers.get(its)?.["error"]) continue;
    if (a !== b)
      return {
        kind: "wrong-version",
        detail: `the document's answer is not its text's: ${a.slice(0, 600)} against ${b.slice(0, 600)}`,
      };
  }
  for (const { uri } of open) notify("textDocument/didClose", { textDocument: { uri } });
  notify("textDocument/didClose", { textDocument: { uri: twin } });
  for (const id of asked) server.answers.delete(id);
  return null;
}

/** an edit as LSP means it, ranges past the end included; what it makes of the text is what the library says */
function edit(at: Open, r: Random, notify: (method: string, params: Json) => void): void {
  const { document } = at;
  const lines = document.lineCount;
  const position = (): { line: number; character: number } => ({
    line: r.chance(0.1) ? r.pick([lines + 5, 1e6]) : r.below(lines + 1),
    character: r.chance(0.1) ? 1e6 : r.below(60),
  });
  const [a, b] = [position(), position()];
  const [start, end] = a.line < b.line || (a.line === b.line && a.character <= b.character) ? [a, b] : [b, a];
  const text = r.pick(["", "x", "\n", "    y = x + 1\n", "(", r.pick(ODD), "# a\r\n", "torch.relu(x)"]);
  const near = r.chance(0.8)
    ? { start, end: { line: start.line, character: start.character + r.below(5) } }
    : { start, end };
  const change = r.chance(0.95) ? { range: near, text } : { text: document.getText().slice(0, 500) };
  at.document = TextDocument.update(document, [change], document.version + 1);
  notify("textDocument/didChange", {
    textDocument: { uri: at.uri, version: at.document.version },
    contentChanges: [change as Json],
  });
}

function paramsFor(at: Open, r: Random): Json {
  const position = { line: r.pick([r.below(at.document.lineCount), 1e7]), character: r.pick([r.below(40), 1e7]) };
  const range = { start: position, end: { line: position.line + r.below(3), character: 5 } };
  return { textDocument: { uri: r.chance(0.9) ? at.uri : "file:///unknown.py" }, position, range, context: { diagnostics: [], includeDeclaration: true }, newName: "x" }; // biome-ignore format: one record
}

class Server {
  readonly answers = new Map<number, { readonly [k: string]: Json }>();
  nextId = 1;
  rounds = 0;
  said = "";
  private readonly child: ChildProcess;

  constructor(program: string) {
    this.child = spawn(process.execPath, [program, "lsp", "--stdio"], { stdio: ["pipe", "pipe", "pipe"] });
    this.child.stdin?.on("error", () => undefined);
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.said = `${this.said}${text}`.slice(-20_000);
    });
    const reader = new FrameReader(m => {
      if (typeof m["id"] === "number" && !("method" in m)) this.answers.set(m["id"], m);
      else if ("method" in m && "id" in m) this.raw({ jsonrpc: "2.0", id: m["id"] ?? null, result: null });
    });
    this.child.stdout?.on("data", (b: Buffer) => reader.push(b));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  get how(): string {
    return this.child.signalCode ?? `exit status ${this.child.exitCode}`;
  }

  async initialize(): Promise<void> {
    const id = this.nextId++;
    this.raw({
      jsonrpc: "2.0",
      id,
      method: "initialize",
      params: { processId: process.pid, rootUri: null, capabilities: {} },
    });
    await this.answered([id]);
    this.raw({ jsonrpc: "2.0", method: "initialized", params: {} });
  }

  raw(message: { readonly [k: string]: Json }): void {
    const body = JSON.stringify(message);
    this.bytes(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  bytes(text: string): void {
    if (!this.ended) this.child.stdin?.write(text);
  }

  closeInput(): void {
    this.child.stdin?.end();
  }

  end(): void {
    this.child.kill("SIGKILL");
  }

  /** false where one stays without an answer */
  async answered(ids: readonly number[]): Promise<boolean> {
    const start = Date.now();
    const began = cpuMs(this.pid);
    while (!this.ended) {
      if (ids.every(id => this.answers.has(id))) return true;
      if (cpuMs(this.pid) - began > ANSWER_CPU_MS || Date.now() - start > ANSWER_WALL_MS) return false;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    return false;
  }
}
