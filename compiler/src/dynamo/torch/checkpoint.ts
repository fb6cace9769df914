// What checkpoint() gives inside of a trace: the results of a call of the module that holds the region's operators. In: what
// the region returned. Out: the same with tensors of the calling graph.
import { CHECKPOINT } from "../../fx/bodies";
import { PyList, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { PyTensor } from "./objects";

export function checkpointResults(torch: Torch, result: Value, useReentrant: Value): Value {
  const { trace, vm } = torch;
  // a region within another is part of that one's module
  if (trace === null || torch.checkpoint !== null) return result;
  const results = tensorsIn(result);
  if (results.length === 0) return result;
  const keywords = typeof useReentrant === "boolean" ? [["use_reentrant", useReentrant] as const] : [];
  const call = trace.emit(
    "call_function",
    CHECKPOINT,
    [results.map(t => trace.nodeOf(t))],
    new Map(keywords),
    results.map(t => t.meta),
  );
  const items = results.map((t, i): Value => {
    const item = torch.newTensor(t.meta, t.storage, t.cls);
    item.isLeaf = false;
    trace.adopt(item, trace.emit("call_function", "operator.getitem", [call, i], new Map(), t.meta));
    return item;
  });
  if (result instanceof PyTensor) return items[0] ?? null;
  let next = 0;
  const renewed = (result as PyTuple | PyList).items.map(v => (v instanceof PyTensor ? (items[next++] ?? null) : v));
  return result instanceof PyList ? vm.list(renewed) : vm.tuple(renewed);
}

/** the tensors that a call gives, alone or in a tuple or list */
function tensorsIn(result: Value): PyTensor[] {
  const items = result instanceof PyTuple || result instanceof PyList ? result.items : [result];
  return items.filter(v => v instanceof PyTensor);
}
