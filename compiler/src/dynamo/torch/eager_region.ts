// Operators outside of a trace that run as one step. In: code that calls operators. Out: one graph of them, with the
// tensors that it takes and gives. Promises: whatever ends a trace (data asked for, printing, ...) ends it with Unsupported.
import { OpError } from "../../aten/types";
import { FxGraph, type FxNode } from "../../fx/graph";
import { type Argument, type FakeValue, type NodeOp, TupleArg } from "../../fx/types";
import { type Expr, intValue } from "../../inductor/symbolic/expr";
import type { Torch } from "./context";
import { inputMeta } from "./convert";
import type { PySymFloat, PySymInt, PyTensor } from "./objects";
import type { EmitOptions, TraceSink } from "./sink";

const DATA = "Could not guard on data-dependent expression";

class Region implements TraceSink {
  readonly graph = new FxGraph();
  readonly inputs = new Map<PyTensor, FxNode>();
  private readonly made = new Map<PyTensor, FxNode>();
  readonly metaBuilder: TraceSink["metaBuilder"];

  constructor(private readonly torch: Torch) {
    this.metaBuilder = torch.metaStatic;
  }

  nodeOf(t: PyTensor): FxNode {
    const known = this.made.get(t) ?? this.inputs.get(t);
    if (known) return known;
    const before = this.graph.nodes.find(n => n.op !== "placeholder");
    const node = this.graph.create(
      "placeholder",
      `arg${this.inputs.size}`,
      [],
      new Map(),
      inputMeta(t, t.meta),
      before ? { before } : {},
    );
    this.inputs.set(t, node);
    return node;
  }
  nodeOfSym(s: PySymInt | PySymFloat): Argument {
    return "expr" in s && s.node === null ? s.expr : (s.node as FxNode);
  }
  emit(
    op: NodeOp,
    target: string,
    args: readonly Argument[],
    kwargs: ReadonlyMap<string, Argument>,
    val: FakeValue | undefined,
    options: EmitOptions = {},
  ): FxNode {
    const opaque = options.opaque === undefined ? {} : { opaque: options.opaque };
    return this.graph.create(op, target, args, kwargs, { val, stack: [], fromNode: [], ...opaque });
  }
  adopt(t: PyTensor, node: FxNode): void {
    this.made.set(t, node);
  }
  decide(): boolean {
    throw new OpError(DATA, "GuardOnDataDependentSymNode");
  }
  hint(e: Expr): number {
    return intValue(e) ?? 1;
  }
  unbackedInt(): Expr {
    throw new OpError(DATA, "GuardOnDataDependentSymNode");
  }
  note(assumption: string): void {
    this.torch.pendingAssumptions.push(assumption);
  }
}

/** Runs `body` outside of any trace; what it computes becomes one step that gives the tensors that `results` picks. */
export function asOneStep<T>(torch: Torch, body: () => T, results: (value: T) => readonly PyTensor[]): T {
  const region = new Region(torch);
  torch.trace = region;
  let value: T;
  try {
    value = body();
  } finally {
    torch.trace = null;
  }
  const outputs = results(value);
  const nodes = outputs.map(t => region.nodeOf(t));
  region.graph.create("output", "output", [new TupleArg(nodes)], new Map(), {
    val: undefined,
    stack: [],
    fromNode: [],
  });
  torch.eagerStep(region.graph, [...region.inputs.keys()], outputs);
  return value;
}
