// What a loop body computes, apart from the buffers it works on: equal layers of a network have bodies of one shape.
// In: a body. Out: a text that is equal for two bodies exactly if they differ in nothing but their buffers' names, and
// those names in order of first use. Promises: worked out once per body; valid within one intern table.
import { floatKey } from "../../aten/float_parameter";
import type { Expr } from "../symbolic/expr";
import type { Block, BodyNode, ConstantValue, LoopBody, ScanCombine } from "./loop_body";

export interface BodyShape {
  readonly key: string;
  readonly buffers: readonly string[];
  /** every size and index that the text names by its id */
  readonly exprs: readonly Expr[];
}

const shapes = new WeakMap<LoopBody, BodyShape>();

export function bodyShape(body: LoopBody): BodyShape {
  let shape = shapes.get(body);
  if (shape === undefined) {
    shape = new ShapeWriter().body(body);
    shapes.set(body, shape);
  }
  return shape;
}

export const idsOf = (es: readonly Expr[]): string => {
  let text = "";
  for (const e of es) text += `${e.id},`;
  return text;
};

/** a number as text that tells -0 from 0 and 1 from true */
const literal = (v: ConstantValue): string => (typeof v === "boolean" ? (v ? "T" : "F") : floatKey(v));

class ShapeWriter {
  private readonly buffers = new Map<string, number>();
  private readonly at = new Map<BodyNode, number>();
  private readonly exprs: Expr[] = [];
  private out = "";

  body(b: LoopBody): BodyShape {
    this.list(b.iterVars);
    this.list(b.reduceVars);
    this.list(b.iterSizes);
    this.list(b.reduceSizes);
    this.list(b.indirect);
    for (const [name, e] of b.indexing) {
      this.out += `${name}=`;
      this.expr(e);
    }
    this.block(b.block);
    for (const [name, block] of b.subblocks) {
      this.out += `{${name}:`;
      this.block(block);
      this.out += "}";
    }
    return { key: this.out, buffers: [...this.buffers.keys()], exprs: this.exprs };
  }

  private expr(e: Expr): void {
    this.out += `${e.id},`;
    this.exprs.push(e);
  }
  private list(es: readonly Expr[]): void {
    this.out += "[";
    for (const e of es) this.expr(e);
    this.out += "]";
  }
  private buffer(name: string): string {
    let n = this.buffers.get(name);
    if (n === undefined) {
      n = this.buffers.size;
      this.buffers.set(name, n);
    }
    return `b${n}`;
  }
  private ref(n: BodyNode): string {
    const known = this.at.get(n);
    if (known !== undefined) return `%${known}`;
    // a node that stands in no block: an index read where it is used
    this.node(n);
    return `%${this.at.get(n)}`;
  }
  private refs(ns: readonly BodyNode[]): string {
    return ns.map(n => this.ref(n)).join();
  }

  private block(b: Block): void {
    for (const n of b.nodes) if (!this.at.has(n)) this.node(n);
    this.out += b.result === null ? ";" : `->${this.ref(b.result)};`;
  }

  private combine(c: ScanCombine): string {
    for (const n of [...c.parameters, ...c.nodes]) if (!this.at.has(n)) this.node(n);
    return `${this.refs(c.parameters)}/${this.refs(c.results)}/${c.opNames.join()}`;
  }

  private node(n: BodyNode): void {
    const text = this.text(n);
    this.at.set(n, this.at.size);
    this.out += `${n.op}(${text})${n.name};`;
  }

  private text(n: BodyNode): string {
    switch (n.op) {
      case "get_index":
        return n.index;
      case "load":
        return `${this.buffer(n.buffer)}@${this.ref(n.at)}`;
      case "store":
        return `${this.buffer(n.buffer)}@${this.ref(n.at)}=${this.ref(n.value)},${n.mode ?? ""}`;
      case "store_reduction":
        return `${this.buffer(n.buffer)}@${this.ref(n.at)}=${this.ref(n.value)}`;
      case "constant":
        return `${literal(n.value)},${n.dtype}`;
      case "index_expr":
        return `${this.ref(n.at)},${n.dtype}`;
      case "to_dtype":
      case "to_dtype_bitcast":
        return `${this.ref(n.x)},${n.dtype},${n.srcDtype ?? ""}`;
      case "set_indirect":
        this.exprs.push(n.symbol, n.size);
        return `${n.symbol.id},${this.ref(n.x)},${n.size.id},${n.check},${n.wrapNeg}`;
      case "check_bounds":
        return `${this.ref(n.at)},${this.ref(n.size)},${n.lower},${n.upper}`;
      case "masked":
        return `${this.ref(n.mask)},${n.subblock},${literal(n.other)},${n.otherIsFloat}`;
      case "reduction": {
        const values = Array.isArray(n.value) ? (n.value as readonly BodyNode[]) : [n.value as BodyNode];
        return `${n.dtype},${n.srcDtype},${n.type},${Array.isArray(n.value)},${this.refs(values)}`;
      }
      case "scan":
        return `${n.dtypes.join()}/${this.combine(n.combine)}/${this.refs(n.values)}`;
      case "sort":
        return `${n.dtypes.join()}/${this.refs(n.values)}/${n.stable},${n.descending}`;
      case "getitem":
        return `${this.ref(n.x)},${n.item}`;
      case "load_seed":
        return `${this.buffer(n.buffer)},${n.offset}`;
      case "random":
        return `${n.kind},${this.ref(n.seed)},${this.ref(n.offset)}`;
      case "randint64":
        return `${this.ref(n.seed)},${this.ref(n.offset)},${this.ref(n.low)},${this.ref(n.high)}`;
      case "call":
        return `${n.fn},${this.refs(n.args)}`;
      default: {
        const never: never = n;
        return never;
      }
    }
  }
}
