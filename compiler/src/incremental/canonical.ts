// Any value of a graph as text that is equal exactly where the values are: the parts of a memo's key. In: metas,
// arguments, configuration. Out: text in an array of pieces. Every field counts, so that one added later does too.
import { mayBeParameter } from "../aten/float_parameter";
import { PyFloat } from "../aten/types";
import { FxNode } from "../fx/graph";
import type { FloatSlots } from "./float_slots";

/** Thrown at a value that has no such text (a function); what holds it is not remembered. */
export class NotComparable extends Error {}

export class Canonical {
  readonly pieces: string[] = [];
  private readonly numbers = new Map<FxNode, number>();

  private floats: FloatSlots | null = null;

  /** nodes are known by their place in the graph */
  number(nodes: readonly FxNode[]): void {
    for (const n of nodes) this.numbers.set(n, this.numbers.size);
  }

  text(s: string): void {
    this.pieces.push(JSON.stringify(s));
  }

  /** a node's arguments: floats that may be parameters are known by their slot, not by their value */
  arguments(v: unknown, floats: FloatSlots): void {
    this.floats = floats;
    this.value(v);
    this.floats = null;
  }

  value(v: unknown): void {
    const { pieces } = this;
    switch (typeof v) {
      case "string":
        pieces.push(JSON.stringify(v));
        return;
      case "number":
        pieces.push(Object.is(v, -0) ? "-0" : String(v));
        return;
      case "bigint":
        pieces.push(`${v}n`);
        return;
      case "boolean":
      case "undefined":
        pieces.push(String(v));
        return;
      case "object":
        if (v === null) pieces.push("null");
        else this.object(v);
        return;
      default:
        throw new NotComparable(typeof v);
    }
  }

  private object(v: object): void {
    const { pieces } = this;
    if (v instanceof FxNode) {
      const number = this.numbers.get(v);
      if (number === undefined) throw new NotComparable("a node of another graph");
      pieces.push(`%${number}`);
    } else if (v instanceof PyFloat && this.floats && mayBeParameter(v.value)) {
      pieces.push(`$${this.floats.slot(v)}`);
    } else if (isInterned(v)) {
      // interned: one id is one expression
      pieces.push(`#${v.id}`);
    } else if (Array.isArray(v)) {
      pieces.push("[");
      for (const x of v) this.value(x);
      pieces.push("]");
    } else if (v instanceof Set) {
      pieces.push("Set(");
      for (const x of v) this.value(x);
      pieces.push(")");
    } else if (v instanceof Map) {
      pieces.push("Map(");
      for (const [k, x] of v) {
        this.value(k);
        this.value(x);
      }
      pieces.push(")");
    } else {
      pieces.push(`${v.constructor?.name ?? ""}{`);
      this.fields(v, NONE);
      pieces.push("}");
    }
  }

  /** the fields of an object but those left out */
  fields(v: object, except: ReadonlySet<string>): void {
    for (const [k, x] of Object.entries(v)) {
      if (x === undefined || except.has(k)) continue;
      this.pieces.push(k);
      this.value(x);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function isInterned(v: object): v is { readonly id: number } {
  return "kind" in v && "id" in v && "cache" in v && typeof v.id === "number";
}
