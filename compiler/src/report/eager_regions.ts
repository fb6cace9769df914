// Regions of a captured graph as eager Python writes them: autocast as `with` blocks, an autograd.Function as a function whose
// gradients another makes. In: a graph and the lines of its print, a node each. Out: lines that Python runs.
import { FUNCTION_APPLY, FUNCTION_BEGIN, FUNCTION_GRAD } from "../fx/bodies";
import { type FxGraph, FxNode } from "../fx/graph";
import { argumentText } from "../fx/print";
import { type Argument, TupleArg } from "../fx/types";

const ENTER = "torch.amp.autocast_mode._enter_autocast";
const EXIT = "torch.amp.autocast_mode._exit_autocast";
const INDENT = "    ";

/** what a graph with an autograd.Function needs above its function */
export const WITH_GRADIENT = [
  "",
  "",
  "class WithGradient(torch.autograd.Function):",
  "    @staticmethod",
  "    def forward(ctx, function, *inputs):",
  "        results, ctx.gradients = function(*inputs)",
  "        return results",
  "",
  "    @staticmethod",
  "    def backward(ctx, *gradients):",
  "        return (None, *ctx.gradients(*gradients))",
];

export const hasFunctions = (graph: FxGraph): boolean => graph.nodes.some(n => n.target === FUNCTION_APPLY);

/** whether something that an autograd.Function makes is read behind it, but for its results: no function can hand it out */
export function functionsLeak(graph: FxGraph): boolean {
  const at = (n: FxNode): number => graph.indexOf(n);
  return graph.nodes.some(apply => {
    const [begin] = apply.args;
    if (apply.target !== FUNCTION_APPLY || !(begin instanceof FxNode)) return false;
    const inner = graph.nodes.slice(at(begin) + 1, at(apply));
    return inner.some(n => [...n.users].some(u => at(u) > at(apply)));
  });
}

/** `lines`: of the function's body, each node's begins with its name */
export function withRegions(graph: FxGraph, lines: readonly string[]): string[] {
  const regions = new Regions(graph);
  return lines.flatMap(l => regions.line(l));
}

class Regions {
  private readonly nodes: ReadonlyMap<string, FxNode>;
  private depth = 0;
  /** names that functions close over are not forgotten in them */
  private readonly keepsNames: boolean;
  /** the autograd.Function in hand has come to its backward */
  private inBackward = false;

  constructor(graph: FxGraph) {
    this.nodes = new Map(graph.nodes.map(n => [n.name, n]));
    this.keepsNames = hasFunctions(graph);
  }

  line(text: string): string[] {
    const node = this.nodes.get(/^ *(\w+)(?=: "| = )/.exec(text)?.[1] ?? "");
    switch (node?.target) {
      case ENTER:
        return this.enter(node);
      case EXIT:
        return this.within(1, [`${INDENT}pass`]);
      case FUNCTION_BEGIN:
        return this.begin(node);
      case FUNCTION_GRAD:
        return this.gradient(node);
      case FUNCTION_APPLY:
        return this.apply(node);
      default:
        return this.placed([(this.keepsNames ? text.replace(/; {2}(\w+ = )+None$/, "") : text).trimEnd()]);
    }
  }

  private placed(lines: readonly string[]): string[] {
    return lines.map(l => (l === "" ? l : INDENT.repeat(this.depth) + l));
  }

  /** the last lines of `levels` blocks */
  private within(levels: number, lines: readonly string[]): string[] {
    const out = this.placed(lines);
    this.depth -= levels;
    return out;
  }

  private enter(node: FxNode): string[] {
    const [device, dtype, enabled, cache] = node.args.map(argumentText);
    const head = `with torch.autocast(${device}, dtype=${dtype}, enabled=${enabled}, cache_enabled=${cache}):`;
    const out = this.placed([INDENT + head]);
    this.depth++;
    return out;
  }

  private begin(node: FxNode): string[] {
    const out = this.placed([`${INDENT}def ${node.name}(*inputs):`]);
    this.depth++;
    this.inBackward = false;
    const inputs = listed(node.args[0] ?? null);
    return [...out, ...this.placed(inputs.length > 0 ? [`${INDENT}${tuple(inputs)} = inputs`] : [])];
  }

  private gradient(node: FxNode): string[] {
    return [
      ...this.toBackward(),
      ...this.placed([`${INDENT}${node.name} = gradients[${argumentText(node.args[1] ?? 0)}]`]),
    ];
  }

  private toBackward(): string[] {
    if (this.inBackward) return [];
    this.inBackward = true;
    const out = this.placed([`${INDENT}def backward(*gradients):`]);
    this.depth++;
    return out;
  }

  private apply(node: FxNode): string[] {
    const [begin, outs = null, , given = null] = node.args;
    if (!(begin instanceof FxNode)) throw new Error(`${node.name} applies nothing`);
    const before = this.toBackward();
    const back = this.within(1, [`${INDENT}return ${tuple(listed(given))}`]);
    const results = this.within(1, [`${INDENT}return ${tuple(listed(outs))}, backward`]);
    const args = [begin, ...listed(begin.args[0] ?? null)].map(argumentText).join(", ");
    return [...before, ...back, ...results, ...this.placed([`${INDENT}${node.name} = WithGradient.apply(${args})`])];
  }
}

const tuple = (items: readonly Argument[]): string => argumentText(new TupleArg(items));

const listed = (a: Argument): readonly Argument[] => (Array.isArray(a) ? (a as readonly Argument[]) : []);
