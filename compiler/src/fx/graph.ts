// Graph and its nodes: creation, naming (torch.fx's _Namespace), use lists, erasure.
// In: operators and arguments from a tracer. Out: a graph whose use lists always agree with its arguments.
import type { Device, DType } from "../aten/types";
import { Namespace } from "./namespace";
import { type Argument, type NodeMeta, type NodeOp, SliceArg, TupleArg } from "./types";

export class FxNode {
  /** users in order of first use; a node that uses this one twice stands once */
  readonly users = new Set<FxNode>();
  private inputNodes: FxNode[] = [];
  private argumentList: readonly Argument[] = [];
  private keywordMap: ReadonlyMap<string, Argument> = new Map();

  constructor(
    readonly graph: FxGraph,
    public name: string,
    readonly op: NodeOp,
    /** placeholder: its target name; call_function: "aten.add.Tensor", "torch.nn.functional.relu", "operator.getitem"; call_method: "relu" */
    public target: string,
    readonly meta: NodeMeta,
  ) {}

  get args(): readonly Argument[] {
    return this.argumentList;
  }
  get kwargs(): ReadonlyMap<string, Argument> {
    return this.keywordMap;
  }
  /** distinct nodes among the arguments, in order of first occurrence */
  get inputs(): readonly FxNode[] {
    return this.inputNodes;
  }

  setArguments(args: readonly Argument[], kwargs: ReadonlyMap<string, Argument> = this.keywordMap): void {
    for (const n of this.inputNodes) n.users.delete(this);
    this.argumentList = args;
    this.keywordMap = kwargs;
    const seen = new Set<FxNode>();
    for (const a of args) visitNodes(a, n => seen.add(n));
    for (const a of kwargs.values()) visitNodes(a, n => seen.add(n));
    this.inputNodes = [...seen];
    for (const n of this.inputNodes) n.users.add(this);
  }

  replaceInput(from: FxNode, to: Argument): void {
    const swap = (a: Argument): Argument => mapNodes(a, n => (n === from ? to : n));
    this.setArguments(this.argumentList.map(swap), new Map([...this.keywordMap].map(([k, v]) => [k, swap(v)])));
  }

  /** makes every user take `to` instead; `to` itself keeps its inputs */
  replaceAllUsesWith(to: Argument): void {
    for (const user of [...this.users]) if (user !== to) user.replaceInput(this, to);
  }
}

/** A tensor written out in the source, which the graph holds as an attribute; values are row-major. */
export interface TensorConstant {
  readonly values: readonly (number | bigint | boolean)[];
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly device: Device;
}

export class FxGraph {
  /** by attribute name, what get_attr nodes read */
  readonly constants = new Map<string, TensorConstant>();
  readonly nodes: FxNode[] = [];
  readonly namespace = new Namespace();

  placeholders(): FxNode[] {
    return this.nodes.filter(n => n.op === "placeholder");
  }
  get output(): FxNode {
    const last = this.nodes[this.nodes.length - 1];
    if (last?.op !== "output") throw new Error("graph has no output node yet");
    return last;
  }

  /** appends a node, or inserts it before `before`; `candidate` is the name to start from (default: from the target) */
  create(
    op: NodeOp,
    target: string,
    args: readonly Argument[],
    kwargs: ReadonlyMap<string, Argument>,
    meta: NodeMeta,
    opts: { candidate?: string; before?: FxNode } = {},
  ): FxNode {
    const name = this.namespace.create(opts.candidate ?? candidateName(op, target));
    const node = new FxNode(this, name, op, target, meta);
    node.setArguments(args, kwargs);
    if (opts.before) this.nodes.splice(this.nodes.indexOf(opts.before), 0, node);
    else this.nodes.push(node);
    return node;
  }

  erase(node: FxNode): void {
    if (node.users.size) throw new Error(`${node.name} still has users`);
    node.setArguments([], new Map());
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  /** removes nodes without users, last first, unless `impure` keeps them; placeholders and the output stay */
  eliminateDeadCode(impure: (n: FxNode) => boolean): void {
    for (let i = this.nodes.length - 1; i >= 0; i--) {
      const n = this.nodes[i];
      if (n && n.op !== "placeholder" && n.op !== "output" && n.users.size === 0 && !impure(n)) {
        n.setArguments([], new Map());
        this.nodes.splice(i, 1);
      }
    }
  }
}

/** the name that torch.fx starts from: snake case of the function's own name, the packet name for ATen overloads */
export function candidateName(op: NodeOp, target: string): string {
  if (op === "placeholder" || op === "call_method") return snake(target);
  if (op === "output") return "output";
  const parts = target.split(".");
  const aten =
    /^(aten|prims|inductor_prims|inductor|quantized|torchvision|higher_order)\./.test(target) && parts.length >= 3;
  const last = (aten ? parts[1] : parts[parts.length - 1]) ?? target;
  return snake(last.replace(/^__(.*)__$/, "$1"));
}

function snake(s: string): string {
  return s.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
}

/** calls f on every node inside an argument, in order */
export function visitNodes(a: Argument, f: (n: FxNode) => void): void {
  if (a instanceof FxNode) f(a);
  else if (Array.isArray(a)) for (const x of a) visitNodes(x, f);
  else if (a instanceof TupleArg) for (const x of a.items) visitNodes(x, f);
  else if (a instanceof SliceArg) for (const x of [a.start, a.stop, a.step]) visitNodes(x, f);
}

/** the argument with every node replaced by f(node) */
export function mapNodes(a: Argument, f: (n: FxNode) => Argument): Argument {
  if (a instanceof FxNode) return f(a);
  if (Array.isArray(a)) return (a as readonly Argument[]).map(x => mapNodes(x, f));
  if (a instanceof TupleArg) return new TupleArg(a.items.map(x => mapNodes(x, f)));
  if (a instanceof SliceArg) return new SliceArg(mapNodes(a.start, f), mapNodes(a.stop, f), mapNodes(a.step, f));
  return a;
}
