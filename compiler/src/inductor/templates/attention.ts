// Attention as a template sees it. In: a call of one of PyTorch's attention kernels and what unpacks its first result.
// Out: what is multiplied, added and masked. Promises: null where the template does not compute what the call does
// (dropout, other results in use, dtypes that tensor cores do not take).
import type { ArgValue } from "../../aten/types";
import { PyFloat } from "../../aten/types";
import { isBufferView } from "../ir/buffer_view";
import { isHalf } from "../ir/dtypes";
import { buffersRead } from "../ir/graph_facts";
import type { Buffer, BufferView, ExternOperation, LoweredGraph, Operation } from "../ir/types";
import { type Expr, int, intValue } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";

/** out[b, h, m, :] = softmax over n of (scale * q[b, h, m] . k[b, h', n] + bias[b, h, m, n]) times v[b, h', n] */
export interface Attention {
  readonly op: ExternOperation;
  readonly q: BufferView;
  readonly k: BufferView;
  readonly v: BufferView;
  readonly bias: BufferView | null;
  /** row m sees columns up to m */
  readonly causal: boolean;
  readonly scale: number;
  /** query heads that share a head of k and v */
  readonly group: number;
}

const CALL = /^torch\.ops\.aten\._scaled_dot_product_(cudnn|efficient|flash)_attention\.default$/;
const WIDEST_HEAD = 256;

export function attentionOf(op: ExternOperation, sv: SizeVars): Attention | null {
  const kind = CALL.exec(op.kernel ?? "")?.[1];
  if (kind === undefined) return null;
  const [q, k, v] = op.args.slice(0, 3).map(viewOf);
  const rest = kind === "flash" ? op.args.slice(3) : op.args.slice(5);
  const bias = kind === "flash" ? null : viewOf(op.args[3]);
  if (!q || !k || !v || [q, k, v].some(t => t.size.length !== 4 || !isHalf(t.dtype))) return null;
  // kernels load a buffer as what it holds
  if ([q, k, v, bias].some(t => t?.reinterpreted)) return null;
  if (number(rest[0] ?? 0) !== 0) return null;
  const width = intValue(q.size[3] as Expr);
  if (width === undefined || intValue(v.size[3] as Expr) !== width || width > WIDEST_HEAD || !isPower(width))
    return null;
  const group = sv.sizeHint(q.size[1] as Expr, 1) / sv.sizeHint(k.size[1] as Expr, 1);
  if (!Number.isInteger(group) || [q, k, v].some(t => intValue(t.stride[3] as Expr) !== 1)) return null;
  const scale = op.kwargs.scale;
  return {
    op,
    q,
    k,
    v,
    bias: bias && withFourDimensions(bias),
    causal: rest[1] === true,
    scale: scale === undefined || scale === null ? 1 / Math.sqrt(width) : number(scale),
    group,
  };
}

/** missing leading dimensions are broadcast */
function withFourDimensions(v: BufferView): BufferView {
  const missing = Array.from({ length: 4 - v.size.length });
  return { ...v, size: [...missing.map(() => int(1)), ...v.size], stride: [...missing.map(() => int(0)), ...v.stride] };
}

/** PyTorch's kernels are at their best without a bias; with one they read it apart from the scores or fall back */
export const attentionPays = (a: Attention): boolean => a.bias !== null;

const isPower = (n: number): boolean => n >= 16 && (n & (n - 1)) === 0;

const viewOf = (a: ArgValue<BufferView> | undefined): BufferView | null => (isBufferView(a) ? a : null);

const number = (a: ArgValue<BufferView>): number => (a instanceof PyFloat ? a.value : Number(a));

/** The graph with calls of attention kernels made templates, each in place of what unpacks the call's only used result. */
export function withAttentionTemplates(
  graph: LoweredGraph,
  takes: (a: Attention, op: ExternOperation) => boolean,
): LoweredGraph {
  const unpacks = new Map<string, ExternOperation[]>();
  for (const op of graph.operations) {
    if (op.kind !== "extern" || op.irClass !== "MultiOutput") continue;
    for (const r of op.reads) unpacks.set(r.buffer, [...(unpacks.get(r.buffer) ?? []), op]);
  }
  const used = new Set<string>();
  for (const o of graph.outputs) if (o !== null && "buffer" in o) used.add(o.buffer);
  for (const op of graph.operations) for (const name of buffersRead(op)) used.add(name);
  const replaced = new Map<Operation, Operation | null>();
  const buffers = new Map<string, Buffer>(graph.buffers);
  for (const op of graph.operations) {
    if (op.kind !== "extern" || op.device.type !== "cuda") continue;
    const a = attentionOf(op, graph.sizevars);
    const items = op.outputs.flatMap(o => unpacks.get(o) ?? []);
    const item = items.find(i => (i.index ?? 0) === 0);
    const others = items.filter(i => i !== item);
    const out = item?.outputs[0];
    if (!a || !item || out === undefined || others.some(i => i.outputs.some(o => used.has(o))) || !takes(a, op))
      continue;
    const made: ExternOperation = { ...op, name: item.name, outputs: [out], irClass: "TemplateBuffer" };
    const buffer = buffers.get(out);
    if (!buffer) continue;
    buffers.set(out, { ...buffer, irClass: "TemplateBuffer" });
    for (const o of op.outputs) buffers.delete(o);
    for (const i of others) {
      for (const o of i.outputs) buffers.delete(o);
      replaced.set(i, null);
    }
    replaced.set(op, null);
    replaced.set(item, made);
  }
  if (replaced.size === 0) return graph;
  const operations = graph.operations.flatMap(op => {
    const other = replaced.get(op);
    return other === undefined ? [op] : other === null ? [] : [other];
  });
  return { ...graph, operations, buffers };
}
