// In: a LoopBody. Out: the lines that Inductor prints for it in an IR dump (LoopBody.debug_str): ranges, numbered index
// expressions, then `body` and the masked blocks as small Python functions. Promises: pure; names are those in the body.
import { FloatParameter } from "../aten/float_parameter";
import type { DType } from "../aten/types";
import type { Block, BodyNode, ConstantValue, LoopBody } from "../inductor/ir/loop_body";
import { printLog } from "../inductor/symbolic/print_log";
import { pythonFloatRepr, pythonStringRepr, pythonTuple } from "./python_text";

export function printLoopBody(body: LoopBody): string[] {
  const ranges = [
    ...body.iterVars.map((v, i) => `${v.name}: ${printLog(body.iterSizes[i] ?? v)}`),
    ...body.reduceVars.map((v, i) => `${v.name}: ${printLog(body.reduceSizes[i] ?? v)}`),
  ];
  const lines = [`var_ranges = {${ranges.join(", ")}}`];
  for (const [name, index] of body.indexing) lines.push(`${name} = ${printLog(index)}`);
  lines.push(...printBlock("body", body.block, rootResult(body.block)));
  for (const [name, block] of body.subblocks) lines.push(...printBlock(name, block, block.result?.name ?? "None"));
  return lines;
}

/** A single reduction's store has no value in Inductor's IR; those of several outputs and plain stores return theirs. */
function rootResult(block: Block): string {
  if (block.result) return block.result.name;
  const last = block.nodes[block.nodes.length - 1];
  if (last?.op === "store") return last.name;
  if (last?.op === "store_reduction" && last.value.op === "getitem") return last.name;
  return "None";
}

function printBlock(name: string, block: Block, result: string): string[] {
  return [
    `def ${name}(self, ops):`,
    ...block.nodes.map(n => `    ${n.name} = ${printNode(n)}`),
    `    return ${result}`,
  ];
}

const torchType = (d: DType): string => `torch.${d}`;
const names = (nodes: readonly BodyNode[]): string => pythonTuple(nodes.map(n => n.name));
const bool = (b: boolean): string => (b ? "True" : "False");

/** A constant as Python holds it: floats of float dtypes, ints and bools of the others. */
export function constantText(value: ConstantValue, dtype: DType): string {
  if (value instanceof FloatParameter) return value.mark;
  if (typeof value === "boolean") return bool(value);
  if (dtype === "bool") return Number.isInteger(value) ? String(value) : pythonFloatRepr(value);
  if (dtype.startsWith("float") || dtype === "bfloat16" || !Number.isFinite(value)) return pythonFloatRepr(value);
  return Number.isInteger(value) ? String(value) : pythonFloatRepr(value);
}

function printNode(n: BodyNode): string {
  switch (n.op) {
    case "get_index":
      return `self.get_index('${n.index}')`;
    case "load":
      return `ops.load(${pythonStringRepr(n.buffer)}, ${n.at.name})`;
    case "store":
      return `ops.store(${pythonStringRepr(n.buffer)}, ${n.at.name}, ${n.value.name}, ${n.mode === null ? "None" : `'${n.mode}'`})`;
    case "store_reduction":
      return `ops.store_reduction(${pythonStringRepr(n.buffer)}, ${n.at.name}, ${n.value.name})`;
    case "constant":
      return `ops.constant(${constantText(n.value, n.dtype)}, ${torchType(n.dtype)})`;
    case "index_expr":
      return `ops.index_expr(${n.at.name}, ${torchType(n.dtype)})`;
    case "to_dtype":
      return `ops.to_dtype(${n.x.name}, ${torchType(n.dtype)}${n.srcDtype === null ? "" : `, src_dtype = ${torchType(n.srcDtype)}`})`;
    case "to_dtype_bitcast":
      return `ops.to_dtype_bitcast(${n.x.name}, ${torchType(n.dtype)}, ${torchType(n.srcDtype)})`;
    case "set_indirect":
      return `self.set_${n.symbol.name}(${n.x.name})`;
    case "check_bounds":
      return `ops.check_bounds(${n.at.name}, ${n.size.name}, ${bool(n.lower)}, ${bool(n.upper)})`;
    case "masked":
      return `self.${n.subblock}(${n.mask.name}, ${maskedOther(n.other, n.otherIsFloat)})`;
    case "reduction": {
      const value = "name" in n.value ? n.value.name : names(n.value);
      return `ops.reduction(${torchType(n.dtype)}, ${torchType(n.srcDtype)}, '${n.type}', ${value})`;
    }
    case "scan":
      return `self.${n.name}(${pythonTuple(n.dtypes.map(torchType))}, ${names(n.values)})`;
    case "sort":
      return `ops.sort(${pythonTuple(n.dtypes.map(torchType))}, ${names(n.values)}, ${bool(n.stable)}, ${bool(n.descending)})`;
    case "getitem":
      return `${n.x.name}[${n.item}]`;
    case "load_seed":
      return `ops.load_seed(${pythonStringRepr(n.buffer)}, ${n.offset})`;
    case "random":
      return `ops.${n.kind}(${n.seed.name}, ${n.offset.name})`;
    case "randint64":
      return `ops.randint64(${n.seed.name}, ${n.offset.name}, ${n.low.name}, ${n.high.name})`;
    case "call":
      return `ops.${n.fn}(${n.args.map(a => a.name).join(", ")})`;
    default: {
      const never: never = n;
      return never;
    }
  }
}

/** 0 and 0.0 are different constants to the CSE of Inductor's bodies, so the body remembers which it was. */
function maskedOther(other: number | boolean, isFloat: boolean): string {
  if (typeof other === "boolean") return bool(other);
  return isFloat || !Number.isInteger(other) ? pythonFloatRepr(other) : String(other);
}
