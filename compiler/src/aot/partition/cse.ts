// Common subexpressions of the joint graph (compile_utils.fx_graph_cse). In: a functional graph. Out: the same graph in
// which equal calls are computed once. Promises: random operators, empty tensors and whatever shares memory with an
// output stay apart; survivors keep their names.

import { isExpr } from "../../aten/dim_math";
import { floatKey } from "../../aten/float_parameter";
import { DeviceArg, DTypeArg, LayoutArg, MemoryFormatArg, PyComplex, PyFloat } from "../../aten/types";
import { type FxGraph, FxNode } from "../../fx/graph";
import { deviceText } from "../../fx/print";
import { type Argument, EllipsisArg, OpaqueArg, SliceArg, TupleArg } from "../../fx/types";
import { storageOf } from "../../passes/storage";
import { isImpure, isRandom } from "../purity";

export function eliminateCommonSubexpressions(graph: FxGraph): void {
  const outputStorages = new Set(graph.output.inputs.map(storageOf));
  const ids = new Map(graph.nodes.map((n, i) => [n, i]));
  const seen = new Map<string, { readonly key: string; readonly node: FxNode }>();
  for (const node of [...graph.nodes]) {
    if (
      node.op !== "call_function" ||
      isImpure(node) ||
      isRandom(node) ||
      /^aten\.empty\b|_local_scalar_dense/.test(node.target)
    )
      continue;
    if (outputStorages.has(storageOf(node))) continue;
    const key = `${node.target}(${node.args.map(a => argumentKey(a, ids)).join(",")}|${[...node.kwargs].map(([k, v]) => `${k}=${argumentKey(v, ids)}`).join(",")})`;
    // Python's hashes of -1 and -2 are the same, and of calls with one hash only the first is remembered
    const hash = key.replaceAll("number-2", "number-1");
    const first = seen.get(hash);
    if (first === undefined) seen.set(hash, { key, node });
    else if (first.key === key) {
      node.replaceAllUsesWith(first.node);
      graph.erase(node);
    }
  }
}

/** text in which equal arguments of equal Python types are equal */
function argumentKey(a: Argument, ids: ReadonlyMap<FxNode, number>): string {
  if (a instanceof FxNode) return `%${ids.get(a)}`;
  if (Array.isArray(a)) return `[${(a as readonly Argument[]).map(x => argumentKey(x, ids)).join(",")}]`;
  if (a instanceof TupleArg) return `(${a.items.map(x => argumentKey(x, ids)).join(",")})`;
  if (a instanceof SliceArg) return `slice(${[a.start, a.stop, a.step].map(x => argumentKey(x, ids)).join(",")})`;
  if (a instanceof PyFloat) return `f${floatKey(a)}`;
  if (a instanceof PyComplex) return `c${a.re},${a.im}`;
  if (a instanceof DTypeArg) return a.dtype;
  if (a instanceof DeviceArg) return deviceText(a.device);
  if (a instanceof LayoutArg) return a.layout;
  if (a instanceof MemoryFormatArg) return a.format;
  if (a instanceof EllipsisArg) return "...";
  if (a instanceof OpaqueArg) return `@${a.text}`;
  if (isExpr(a)) return `e${a.id}`;
  return typeof a === "string" ? JSON.stringify(a) : `${typeof a}${String(a)}`;
}
