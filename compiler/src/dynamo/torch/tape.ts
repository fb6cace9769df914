// What backward() will find of the graph behind a tensor. In: runtime steps as they happen. Out: whether a graph that a
// backward() needs was freed by an earlier one. Promises: says so only where values were saved for sure.
import type { FxGraph } from "../../fx/graph";
import { FxNode } from "../../fx/graph";
import type { RuntimeStep, RuntimeTensor } from "../types";

interface Entry {
  readonly parents: readonly Entry[];
  /** an operator of it keeps values for its gradient */
  readonly saves: boolean;
  freed: boolean;
}

/** operators whose gradient needs no value, only shapes */
const LINEAR =
  /(^|\.)(add|radd|iadd|sub|rsub|isub|neg|sum|mean|view|view_as|reshape|t|T|mT|transpose|permute|expand|clone|contiguous|to|type|float|double|half|bfloat16|cuda|cpu|cat|stack|squeeze|unsqueeze|flatten|getitem|detach|_to_copy|slice|select|alias)_?(\.|$)/;

export class Tape {
  private readonly entries = new Map<number, Entry>();

  note(step: RuntimeStep): void {
    if (step.kind !== "eager" && step.kind !== "call") return;
    const inputs = step.inputs.flatMap(i => (typeof i === "number" ? [] : [i]));
    const outputs = step.outputs.flatMap(o => (o?.meta.requiresGrad ? [o] : []));
    if (!outputs.length) return;
    const graph = step.kind === "eager" ? step.graph : step.frame.graph;
    const parents = inputs.flatMap(i => this.entries.get(i.id) ?? []);
    const entry: Entry = { parents, saves: saves(graph), freed: false };
    for (const o of outputs) this.entries.set(o.id, entry);
  }

  /** Frees the graph behind the roots unless it is retained; true if some of it that is needed was freed before. */
  backward(roots: readonly RuntimeTensor[], retain: boolean): boolean {
    const open = roots.flatMap(r => this.entries.get(r.id) ?? []);
    const seen = new Set<Entry>(open);
    let missing = false;
    for (let entry = open.pop(); entry; entry = open.pop()) {
      if (entry.freed && entry.saves) missing = true;
      for (const p of entry.parents) {
        if (seen.has(p)) continue;
        seen.add(p);
        open.push(p);
      }
    }
    if (!missing && !retain) for (const e of seen) e.freed = true;
    return missing;
  }
}

function saves(graph: FxGraph): boolean {
  return graph.nodes.some(n => {
    if (n.op !== "call_function" && n.op !== "call_method") return false;
    if (LINEAR.test(n.target)) return false;
    // times a number of the program
    if (/(^|\.)r?i?(mul|truediv|div)_?(\.|$)/.test(n.target)) return n.args.filter(a => a instanceof FxNode).length > 1;
    return true;
  });
}
