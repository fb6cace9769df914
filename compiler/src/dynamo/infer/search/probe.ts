// Watches a trial run of a function over guessed tensors: which sizes the code asks about, which tensors the last operator
// read. In: the tensors that stand in the holes. Out: decisions as functions of those tensors' sizes.
import type { FxNode } from "../../../fx/graph";
import { evaluateNumber, numberFunction } from "../../../inductor/symbolic/evaluate";
import { type Expr, freeSymbols, type SymExpr } from "../../../inductor/symbolic/expr";
import type { PyTensor } from "../../torch/objects";
import type { Probe } from "../../torch/sink";
import type { Decision } from "../types";

/** questions kept: the last ones decide, and a deep model asks many thousands */
const KEPT = 4000;

interface Asked {
  readonly condition: Expr;
  readonly holds: boolean;
  readonly after: number;
}

interface Place {
  readonly hole: string;
  readonly dim: number;
}

export class SizeProbe implements Probe {
  operators = 0;
  private asked: Asked[] = [];
  private recent: PyTensor[] = [];
  /** what the last operator read: plain Python that fails on its result fails because of that */
  private read: PyTensor[] = [];
  private readonly origins = new Map<FxNode, ReadonlySet<string>>();
  /** what was written into a tensor in place */
  private readonly written = new Map<FxNode, FxNode[]>();
  /** the holes behind tensors of traces that are over and of operators outside of traces, which later frames read */
  private readonly earlier = new WeakMap<PyTensor, ReadonlySet<string>>();
  /** as the first failing trace left it */
  private frozen: { readonly decisions: readonly Decision[]; readonly touched: readonly string[] } | null = null;

  constructor(private readonly tensors: ReadonlyMap<string, readonly PyTensor[]>) {}

  decided(condition: Expr, holds: boolean): void {
    if (this.frozen || freeSymbols(condition).size === 0) return;
    this.asked.push({ condition, holds, after: this.operators });
    if (this.asked.length > KEPT * 2) this.asked = this.asked.slice(-KEPT);
  }

  touched(t: PyTensor): void {
    if (!this.frozen) this.recent.push(t);
  }

  emitted(node: FxNode): void {
    if (this.frozen) return;
    this.noteWrite(node);
    for (const t of this.recent) this.noteInput(t);
    // reading a size is no step forward
    if (node.op === "placeholder" || node.target === "operator.getitem" || !hasTensors(node)) return;
    this.operators++;
    if (this.recent.length > 0) this.read = this.recent;
    this.recent = [];
  }

  released(t: PyTensor): void {
    if (this.frozen || !t.proxy) return;
    const holes = this.originsOf(t.proxy.node);
    if (holes.size > 0) this.earlier.set(t, holes);
  }

  ranEagerly(from: Iterable<PyTensor>, made: readonly PyTensor[]): void {
    if (this.frozen) return;
    const holes = new Set([...from].flatMap(t => [...this.holesOf(t)]));
    for (const t of made) this.earlier.set(t, holes);
    this.operators++;
    if (this.recent.length > 0) this.read = this.recent;
    this.recent = [];
  }

  failed(hint: (s: SymExpr) => number | undefined): void {
    if (this.frozen) return;
    const places = new Map<SymExpr, Place>();
    for (const [hole, list] of this.tensors) {
      for (const t of list) {
        t.meta.shape.forEach((e, dim) => {
          if (e.kind === "sym" && !places.has(e)) places.set(e, { hole, dim });
        });
      }
    }
    const decisions = this.asked.slice(-KEPT).map(a => decision(a, places, hint));
    this.frozen = { decisions, touched: this.touchedHoles() };
  }

  get decisions(): readonly Decision[] {
    return this.frozen?.decisions ?? [];
  }
  /** also where an operator outside of a trace has failed */
  get touchedNames(): readonly string[] {
    return this.frozen?.touched ?? this.touchedHoles();
  }

  private touchedHoles(): string[] {
    const tensors = this.recent.length > 0 ? this.recent : this.read;
    return [...new Set(tensors.flatMap(t => [...this.holesOf(t)]))];
  }

  private holesOf(t: PyTensor): Set<string> {
    const out = new Set(this.earlier.get(t));
    for (const [hole, list] of this.tensors) if (list.includes(t)) out.add(hole);
    this.noteInput(t);
    if (t.proxy) for (const h of this.originsOf(t.proxy.node)) out.add(h);
    return out;
  }

  /** `x[i] = y`, x.copy_(y) and the like: from here on, x comes from y as well */
  private noteWrite(node: FxNode): void {
    if (!/(^operator\.setitem|[^_]_)$/.test(node.target)) return;
    const [into, ...from] = node.inputs;
    for (let base = into; base; base = base.target === "operator.getitem" ? base.inputs[0] : undefined)
      this.written.set(base, [...(this.written.get(base) ?? []), ...from]);
  }

  /** an input of this frame that was made before it comes from what was read there */
  private noteInput(t: PyTensor): void {
    const node = t.proxy?.node;
    const before = this.earlier.get(t);
    if (node?.op === "placeholder" && before && !this.origins.has(node)) this.origins.set(node, before);
  }

  /** holes that a node's value comes from; iterative, since graphs are deep */
  private originsOf(node: FxNode): ReadonlySet<string> {
    const byNode = new Map<FxNode, string>();
    for (const [hole, list] of this.tensors) for (const t of list) if (t.proxy) byNode.set(t.proxy.node, hole);
    const waiting = [node];
    const open = new Set<FxNode>();
    while (waiting.length > 0) {
      const n = waiting[waiting.length - 1] as FxNode;
      if (this.origins.has(n)) {
        waiting.pop();
        continue;
      }
      open.add(n);
      const inputs = [...n.inputs, ...(this.written.get(n) ?? [])];
      // what is written into a tensor may come from it
      const missing = inputs.filter(i => !this.origins.has(i) && !open.has(i));
      if (missing.length > 0 && n.op !== "placeholder") {
        waiting.push(...missing);
        continue;
      }
      waiting.pop();
      const own = byNode.get(n);
      this.origins.set(
        n,
        new Set([...(own === undefined ? [] : [own]), ...inputs.flatMap(i => [...(this.origins.get(i) ?? [])])]),
      );
    }
    return this.origins.get(node) ?? new Set();
  }
}

function hasTensors({ meta: { val } }: FxNode): boolean {
  return Array.isArray(val) || (typeof val === "object" && val !== null && "shape" in val);
}

/** whole numbers that a condition is about: those that stand in it, and what its sides come to */
function constantsOf(e: Expr, hint: (s: SymExpr) => number | undefined, out = new Set<number>()): Set<number> {
  if (e.kind === "int") out.add(e.value);
  if (e.kind === "sym") return out;
  if (e.kind === "relation") {
    for (const side of e.args) {
      const v = evaluateNumber(side, hint);
      if (v !== undefined && Number.isInteger(v)) out.add(v);
    }
  }
  for (const a of e.args) constantsOf(a, hint, out);
  return out;
}

function decision(a: Asked, places: ReadonlyMap<SymExpr, Place>, hint: (s: SymExpr) => number | undefined): Decision {
  const symbols = freeSymbols(a.condition);
  const over = [...symbols].flatMap(s => {
    const p = places.get(s as SymExpr);
    return p ? [p] : [];
  });
  return {
    holds: a.holds,
    after: a.after,
    over,
    constants: [...constantsOf(a.condition, hint)].filter(n => n > 0),
    along: (hole, dims, beside = []) => {
      const value = numberFunction(a.condition, s => {
        const p = places.get(s);
        if (p && p.hole === hole && dims.includes(p.dim)) return "free";
        return beside.find(c => p && p.hole === c.hole && c.dims.includes(p.dim))?.size ?? hint(s);
      });
      return size => {
        const n = value(size);
        return n === undefined ? undefined : n !== 0;
      };
    },
  };
}
