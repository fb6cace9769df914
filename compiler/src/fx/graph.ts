// Graph and its nodes: creation, naming (torch.fx's _Namespace), use lists, erasure.
// In: operators and arguments from a tracer. Out: a graph whose use lists always agree with its arguments.
import { Namespace } from "./namespace";
import { type Argument, FxNode, type NodeMeta, type NodeOp, type TensorConstant } from "./types";

export { FxNode, mapNodes, type TensorConstant, visitNodes } from "./types";

export class FxGraph {
  /** by attribute name, what get_attr nodes read */
  readonly constants = new Map<string, TensorConstant>();
  readonly nodes: FxNode[] = [];
  private names = new Namespace();
  /** the called module that nodes are now made in; names are its own there */
  body: string | null = null;
  private readonly bodyNames = new Map<string, Namespace>();

  get namespace(): Namespace {
    return this.names;
  }

  /** opens a called module of that name, with a number behind it */
  openBody(wanted: string): void {
    let number = 0;
    while (this.bodyNames.has(`${wanted}_${number}`)) number++;
    this.body = `${wanted}_${number}`;
    this.bodyNames.set(this.body, new Namespace());
  }

  /** renames a node among those of the module that it lies in */
  rename(node: FxNode, wanted: string): void {
    const { body } = node.meta;
    if (body !== undefined) node.meta.shown = this.bodyNames.get(body)?.create(wanted) ?? wanted;
    node.name = this.namespace.create(body === undefined ? wanted : `${body}__${node.meta.shown}`);
  }

  placeholders(): FxNode[] {
    return this.nodes.filter(n => n.op === "placeholder");
  }
  get output(): FxNode {
    const last = this.nodes[this.nodes.length - 1];
    if (last?.op !== "output") throw new Error("graph has no output node yet");
    return last;
  }

  /** nodes that the graph returns, by position; null for what is no node */
  returned(): (FxNode | null)[] {
    const first = this.output.args[0];
    const items: readonly unknown[] = Array.isArray(first) ? first : isTuple(first) ? first.items : [first];
    return items.map(x => (x instanceof FxNode ? x : null));
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
    const { body } = this;
    let wanted = opts.candidate ?? candidateName(op, target);
    if (body !== null && op !== "placeholder") {
      meta.body = body;
      meta.shown = this.bodyNames.get(body)?.create(wanted) ?? wanted;
      wanted = `${body}__${meta.shown}`;
    }
    const name = this.namespace.create(wanted);
    const node = new FxNode(this, name, op, target, meta);
    node.setArguments(args, kwargs);
    if (opts.before) {
      node.near = this.indexOf(opts.before);
      this.nodes.splice(node.near, 0, node);
    } else node.near = this.nodes.push(node) - 1;
    return node;
  }

  /**
   * A node's position, found from where it last stood: a pass that edits many nodes would otherwise search the whole
   * graph for each. -1: it is not in the graph.
   */
  indexOf(node: FxNode): number {
    const { nodes } = this;
    if (node.erased || node.graph !== this) return -1;
    let below = Math.min(node.near, nodes.length - 1);
    let above = below + 1;
    while (below >= 0 || above < nodes.length) {
      if (nodes[below] === node) node.near = below;
      else if (nodes[above] === node) node.near = above;
      else {
        below--;
        above++;
        continue;
      }
      return node.near;
    }
    return -1;
  }

  has(node: FxNode): boolean {
    return node.graph === this && !node.erased;
  }

  erase(node: FxNode): void {
    if (node.users.size) throw new Error(`${node.name} still has users`);
    const at = this.indexOf(node);
    node.setArguments([], new Map());
    node.erased = true;
    if (at >= 0) this.nodes.splice(at, 1);
  }

  /** removes nodes without users, last first, unless `impure` keeps them; placeholders and the output stay */
  eliminateDeadCode(impure: (n: FxNode) => boolean): void {
    for (let i = this.nodes.length - 1; i >= 0; i--) {
      const n = this.nodes[i] as FxNode;
      if (n.op === "placeholder" || n.op === "output" || n.users.size > 0 || impure(n)) continue;
      n.setArguments([], new Map());
      n.erased = true;
    }
    this.reorder(this.nodes.filter(n => !n.erased));
  }

  /** Names of nodes that are gone are free again, as in a copy of the graph. */
  renewNames(): void {
    this.names = new Namespace();
    for (const n of this.nodes) this.names.create(n.name);
  }

  /** These nodes and no others, in this order, as if copied one by one. */
  restrictTo(order: readonly FxNode[]): void {
    const kept = new Set(order);
    for (const n of this.nodes) {
      if (kept.has(n)) continue;
      n.setArguments([], new Map());
      n.erased = true;
    }
    this.reorder(order);
    this.renewNames();
  }

  /** the graph's nodes in a new order */
  reorder(order: readonly FxNode[]): void {
    const { nodes } = this;
    nodes.length = order.length;
    for (const [i, n] of order.entries()) {
      nodes[i] = n;
      n.near = i;
    }
  }
}

const isTuple = (x: unknown): x is { readonly items: readonly unknown[] } =>
  typeof x === "object" && x !== null && "items" in x;

/** the name that torch.fx starts from: snake case of the function's own name, the packet name for ATen overloads */
function candidateName(op: NodeOp, target: string): string {
  if (op === "placeholder") return snake(target);
  if (op === "call_method") return methodName(target);
  if (op === "output") return "output";
  let name = functionNames.get(target);
  if (name === undefined) {
    name = functionName(target);
    functionNames.set(target, name);
  }
  return name;
}

function methodName(target: string): string {
  let name = methodNames.get(target);
  if (name === undefined) {
    name = snake(target);
    methodNames.set(target, name);
  }
  return name;
}

/** as many as there are functions and methods */
const functionNames = new Map<string, string>();
const methodNames = new Map<string, string>();

function functionName(target: string): string {
  const parts = target.split(".");
  // an overload of an operator is named by its packet: space.name.overload
  const overload =
    /^(aten|prims|inductor_prims|inductor|quantized|torchvision|higher_order)\.\w+\./.test(target) ||
    /^(?!torch\.|operator\.|math\.|builtins\.)\w+\.\w+\.\w+$/.test(target);
  const last = (overload ? parts[1] : parts[parts.length - 1]) ?? target;
  return snake(last.replace(/^__(.*)__$/, "$1"));
}

function snake(s: string): string {
  return s.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
}
