// A TORCH_LOGS log, read for decisions. In: the text, under torch's default prefix or TORCH_LOGS_FORMAT's
// [LEVEL]:message. Out: per compiled graph its kernels in launch order, nodes after fusion, refusals.

export interface LoggedGraph {
  /** from the output code; null where the log holds none */
  readonly kernels: readonly string[] | null;
  /** names of the nodes after fusion; null where the log holds no such dump */
  readonly nodes: readonly string[] | null;
  /** "op0_op1" (members in order) → reason */
  readonly refusals: ReadonlyMap<string, string>;
}

/** torch's own prefix: V0226 12:00:00.000000 123 torch/_inductor/scheduler.py:2500] [0/0] [__fusion] */
const PREFIXES = [
  /^[VDIWE]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ [^\]]*\] (?:\[[^\]]*\] )*/,
  /^\[(?:DEBUG|INFO|WARNING|ERROR)\]:/,
];
const KERNEL_CALL = /^\s+(?:buf\d+ = )?(triton_\w+|extern_kernels\.\w+|torch\.ops\.[\w.]+)(?:\.run)?\(/;

interface Open {
  kernels: string[] | null;
  nodes: string[] | null;
  refusals: Map<string, string>;
}

export function parseTorchLog(text: string): LoggedGraph[] {
  const graphs: Open[] = [];
  let current: Open | null = null;
  let mode: "none" | "after" | "code" = "none";
  // the dump of a member follows its `snodes[i] =` line and is no node of its own
  let skipMember = false;
  const start = (): Open => {
    const g: Open = { kernels: null, nodes: null, refusals: new Map() };
    graphs.push(g);
    return g;
  };
  for (const raw of text.split(/\r?\n/)) {
    const prefix = PREFIXES.find(p => p.test(raw));
    const line = prefix ? raw.replace(prefix, "") : raw;
    if (/^BEFORE FUSION/.test(line)) {
      current = start();
      mode = "none";
    } else if (/^===== attempting fusion \(1\//.test(line)) {
      if (!current || current.kernels || current.nodes) current = start();
      mode = "none";
    } else if (/^AFTER FUSION/.test(line)) {
      current ??= start();
      current.nodes = [];
      mode = "after";
    } else if (/^Output code:/.test(line)) {
      if (!current || current.kernels) current = start();
      current.kernels = [];
      mode = "code";
    } else if (/^(Output code written|TRACED GRAPH|Schedule:)/.test(line)) mode = "none";
    else if (mode === "after") {
      const node = /^(op\d+(?:_op\d+)*): \w+\(/.exec(line);
      const member = /^op\d+(?:_op\d+)*\.snodes\[/.test(line);
      if (member) skipMember = true;
      else if (node) {
        if (skipMember) skipMember = false;
        else current?.nodes?.push(node[1] as string);
      }
    } else if (mode === "code") {
      const call = KERNEL_CALL.exec(line);
      if (call) current?.kernels?.push(call[1] as string);
    }
    const refused = /^cannot fuse (\S+) with (\S+): (.*)$/.exec(line);
    if (refused && current) current.refusals.set(`${refused[1]}_${refused[2]}`, refused[3] as string);
  }
  return graphs;
}
