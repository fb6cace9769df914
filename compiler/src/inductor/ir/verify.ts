// What a lowered graph promises, stated as checks. In: a LoweredGraph. Out: what is broken, as text; empty when all holds.
// Promises: nothing is changed; every problem names the operation or buffer that it is about.
import { type Expr, freeSymbols, intValue, type SymExpr } from "../symbolic/expr";
import { operandsOf } from "./body_operands";
import type { Block, BodyNode, LoopBody } from "./loop_body";
import type { Buffer, BufferView, ComputedOperation, LoweredGraph, Operation } from "./types";

export function verifyLowered(g: LoweredGraph): string[] {
  const problems: string[] = [];
  const defined = new Set<string>([...g.inputs.filter(i => i.layout !== null).map(i => i.name), ...g.constants.keys()]);
  const operations = new Set<string>();
  for (const op of g.operations) {
    if (!/^op\d+$/.test(op.name)) problems.push(`${op.name}: not an operation's name`);
    if (operations.has(op.name)) problems.push(`${op.name}: defined twice`);
    operations.add(op.name);
    if (op.origins.length === 0) problems.push(`${op.name}: has no origins`);
    checkReads(op, g, defined, problems);
    for (const name of op.outputs) checkOutput(op, name, g.buffers.get(name), problems);
    for (const name of op.outputs) defined.add(name);
    if (op.kind === "computed") checkComputed(op, g, problems);
  }
  for (const b of g.buffers.values()) checkLayout(b, g, problems);
  for (const o of g.outputs) if (o !== null && "buffer" in o) checkView("output", o, defined, problems);
  for (const list of g.foreachLists)
    for (const name of list) if (!operations.has(name)) problems.push(`foreach: no operation ${name}`);
  const inputs = new Set(g.inputs.map(i => i.name));
  for (const name of [...g.mutatedInputs, ...g.donated]) if (!inputs.has(name)) problems.push(`${name}: not an input`);
  return problems;
}

function checkOutput(op: Operation, name: string, b: Buffer | undefined, problems: string[]): void {
  if (b === undefined) problems.push(`${op.name}: writes ${name}, which is no buffer`);
  else if (b.operation !== op.name)
    problems.push(`${op.name}: writes ${name}, which says it belongs to ${b.operation ?? "none"}`);
}

/** every buffer that is read was written before; concatenations read parts that are written in place */
function checkReads(op: Operation, g: LoweredGraph, defined: ReadonlySet<string>, problems: string[]): void {
  const need = (name: string): void => {
    if (!defined.has(name)) problems.push(`${op.name}: reads ${name} before it is written`);
  };
  switch (op.kind) {
    case "computed":
      for (const n of allNodes(op.body)) if (n.op === "load" || n.op === "load_seed") need(n.buffer);
      return;
    case "extern":
      for (const r of op.reads) checkView(op.name, r, defined, problems);
      for (const m of op.mutates) if (!g.buffers.has(m)) problems.push(`${op.name}: mutates ${m}, which is no buffer`);
      return;
    case "nop":
      for (const r of op.reads) need(r);
      return;
    default: {
      const never: never = op;
      return never;
    }
  }
}

function checkView(who: string, v: BufferView, defined: ReadonlySet<string>, problems: string[]): void {
  if (!defined.has(v.buffer)) problems.push(`${who}: reads ${v.buffer} before it is written`);
  if (v.size.length !== v.stride.length)
    problems.push(`${who}: a view of ${v.buffer} has ${v.size.length} sizes and ${v.stride.length} strides`);
}

function checkLayout(b: Buffer, g: LoweredGraph, problems: string[]): void {
  const { layout } = b;
  switch (layout.kind) {
    case "flexible":
      problems.push(`${b.name}: its layout was never decided`);
      return;
    case "non_owning":
      if (!g.buffers.has(layout.base)) problems.push(`${b.name}: a slice of ${layout.base}, which is no buffer`);
      break;
    case "mutation":
      if (!g.buffers.has(layout.target)) problems.push(`${b.name}: writes into ${layout.target}, which is no buffer`);
      return; // a view's shape over the storage's strides
    case "fixed":
      break;
    case "multi_output":
    case "none":
      return;
    default: {
      const never: never = layout;
      return never;
    }
  }
  if (layout.size.length !== layout.stride.length)
    problems.push(`${b.name}: ${layout.size.length} sizes, ${layout.stride.length} strides`);
}

function allNodes(body: LoopBody): BodyNode[] {
  return [body.block, ...body.subblocks.values()].flatMap(b => b.nodes);
}

function checkComputed(op: ComputedOperation, g: LoweredGraph, problems: string[]): void {
  const { body } = op;
  const say = (text: string): void => {
    problems.push(`${op.name}: ${text}`);
  };
  const agree = (sizes: readonly Expr[], own: readonly Expr[], vars: readonly SymExpr[], what: string): void => {
    if (sizes.length !== own.length || sizes.length !== vars.length || sizes.some((s, i) => s !== own[i]))
      say(`${what} sizes and loops disagree`);
  };
  agree(op.sizes[0], body.iterSizes, body.iterVars, "iteration");
  agree(op.sizes[1], body.reduceSizes, body.reduceVars, "reduction");
  const known = new Set<SymExpr>([...body.iterVars, ...body.reduceVars, ...body.indirect]);
  for (const [name, e] of body.indexing) {
    for (const s of freeSymbols(e)) {
      const isSize = s.symKind === "size" || s.symKind === "unbacked" || s.symKind === "float";
      if (!isSize && !known.has(s)) say(`${name} uses ${s.name}, which no loop defines`);
    }
  }
  const stores = allNodes(body).filter(n => n.op === "store" || n.op === "store_reduction");
  if (stores.length !== 1) say(`${stores.length} stores`);
  for (const s of stores)
    if ((s.op === "store" || s.op === "store_reduction") && !op.outputs.includes(s.buffer)) say(`stores ${s.buffer}`);
  checkBlock(body.block, body, say);
  checkBounds(body, g, say);
  for (const n of allNodes(body))
    if (n.op === "load" && !g.buffers.has(n.buffer)) say(`loads ${n.buffer}, which is no buffer`);
}

/** A linear index stays within the storage it reads or writes; under a mask it need not, since nothing is read there. */
function checkBounds(body: LoopBody, g: LoweredGraph, say: (text: string) => void): void {
  const ranges = new Map<SymExpr, Expr>();
  for (const [i, v] of body.iterVars.entries()) ranges.set(v, body.iterSizes[i] as Expr);
  for (const [i, v] of body.reduceVars.entries()) ranges.set(v, body.reduceSizes[i] as Expr);
  for (const n of body.block.nodes) {
    if (n.op !== "load" && n.op !== "store" && n.op !== "store_reduction") continue;
    const index = n.at.op === "get_index" ? body.indexing.get(n.at.index) : undefined;
    const numbers = storageNumbers(n.buffer, g);
    if (index === undefined || numbers === undefined || !isLinear(index, ranges)) continue;
    const { lower, upper } = g.sizevars.bounds(index, ranges);
    if (lower < 0 || upper >= numbers)
      say(`${n.name} steps from ${lower} to ${upper} through ${n.buffer} of ${numbers} elements`);
  }
}

/** elements of a buffer's storage, if all is known */
function storageNumbers(name: string, g: LoweredGraph): number | undefined {
  const layout = g.buffers.get(name)?.layout;
  if (layout === undefined || layout.kind === "multi_output" || layout.kind === "none") return undefined;
  if (layout.kind === "mutation") return storageNumbers(layout.target, g);
  let last = intValue(layout.offset) ?? Number.NaN;
  for (const [i, s] of layout.size.entries())
    last += ((intValue(s) ?? Number.NaN) - 1) * (intValue(layout.stride[i] as Expr) ?? Number.NaN);
  return Number.isNaN(last) ? undefined : last + 1;
}

/** sums and products of numbers and loop variables alone: only there is interval arithmetic exact */
function isLinear(e: Expr, ranges: ReadonlyMap<SymExpr, Expr>): boolean {
  if (e.kind === "int") return true;
  if (e.kind === "sym") return ranges.has(e);
  return (e.kind === "add" || e.kind === "mul") && e.args.every(a => isLinear(a, ranges));
}

/** operations use only what stands before them in their own block */
function checkBlock(block: Block, body: LoopBody, say: (text: string) => void): void {
  const seen = new Set<BodyNode>();
  const names = new Set<string>();
  for (const n of block.nodes) {
    if (names.has(n.name)) say(`two operations are named ${n.name}`);
    names.add(n.name);
    for (const a of operandsOf(n)) if (!seen.has(a)) say(`${n.name} uses ${a.name} before it is there`);
    if (n.op === "get_index" && !body.indexing.has(n.index)) say(`${n.name} reads ${n.index}, which is no index`);
    if (n.op === "masked") {
      const inner = body.subblocks.get(n.subblock);
      if (inner === undefined || inner.result === null) say(`${n.name} runs ${n.subblock}, which yields nothing`);
      else checkBlock(inner, body, say);
    }
    seen.add(n);
  }
  if (block.result !== null && !seen.has(block.result)) say("a block yields what it has not computed");
}
