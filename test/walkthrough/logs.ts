// Reading our own logs back: what a dump or a fusion log states, as data, so that tests can hold it against the program.
import { defaultSessionOptions, formatRecord, type Program, Session, type SessionOptions } from "@fuselens/compiler";

export function runSource(path: string, source: string, options: Partial<SessionOptions> = {}): Program {
  return new Session(p => (p === path ? source : undefined), { ...defaultSessionOptions(), ...options }).run(path);
}

/** printed output by notebook cell, from 1 */
export function outputs(program: Program): Map<number, string> {
  const cells = new Map<number, string>();
  let cell = 1;
  for (const e of program.events) {
    if (e.kind === "cell") cell = e.index;
    else
      cells.set(
        cell,
        (cells.get(cell) ?? "") + (e.kind === "print" ? e.text : `${formatRecord(e.record, program.logFormat)}\n`),
      );
  }
  return cells;
}

export interface DumpedNode {
  readonly name: string;
  readonly type: string;
  readonly fields: ReadonlyMap<string, string>;
  /** index0.. of the loop body, and the operations' text */
  readonly body: readonly string[];
}

/** the nodes of one BEFORE FUSION or AFTER FUSION message */
export function dumpedNodes(message: string): DumpedNode[] {
  const nodes: { name: string; type: string; fields: Map<string, string>; body: string[] }[] = [];
  let inBody = false;
  let open: { node: { fields: Map<string, string> }; key: string } | null = null;
  for (const line of message.split("\n")) {
    const head = /^(op\d+(?:_op\d+)*): (\w+)\(/.exec(line);
    const field = /^(op\d+(?:_op\d+)*)\.([\w.]+) = (.*)$/.exec(line);
    const node = nodes[nodes.length - 1];
    if (head) {
      nodes.push({ name: head[1] ?? "", type: head[2] ?? "", fields: new Map(), body: [] });
      inBody = false;
    } else if (field && node) {
      open = { node, key: field[2] ?? "" };
      node.fields.set(open.key, field[3] ?? "");
    } else if (/^class op\d+_loop_body:/.test(line)) inBody = true;
    else if (inBody && /^ {4}/.test(line)) node?.body.push(line.trim());
    else if (/^\w+_layout = /.test(line))
      node?.fields.set(line.slice(0, line.indexOf(" = ")), line.slice(line.indexOf(" = ") + 3));
    else if (open && line.trim()) open.node.fields.set(open.key, `${open.node.fields.get(open.key) ?? ""}\n${line}`);
  }
  return nodes;
}

export interface PrintedDep {
  readonly buffer: string;
  readonly index: string;
  readonly ranges: ReadonlyMap<string, string>;
}

export function memoryDeps(text: string): PrintedDep[] {
  return [...text.matchAll(/MemoryDep\('(\w+)', ([^{]*), \{([^}]*)\}/g)].map(m => ({
    buffer: m[1] ?? "",
    index: m[2] ?? "",
    ranges: new Map([...(m[3] ?? "").matchAll(/(\w+): ([^,]+)/g)].map(r => [r[1] ?? "", r[2] ?? ""])),
  }));
}
