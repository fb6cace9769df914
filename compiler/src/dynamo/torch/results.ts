// What an operator's call leaves: nodes of the trace, or a step that the replay runs, and Python values. In: the call with
// its graph arguments and the metas of its results. Out: tensors.
import { parseSchema } from "../../aten/schema";
import { type ArgValue, DTypeArg, type OpRecord, type TensorMeta } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import { type Argument, type FakeTensor, type NodeMeta, TupleArg } from "../../fx/types";
import { property } from "../builtins/define";
import { unrecorded } from "../objects/journal";
import { type PyClass, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import type { Converter } from "./convert";
import { PyTensor, type Storage } from "./objects";
import type { EmitOptions } from "./sink";

const returnTypes = new WeakMap<Torch, Map<string, PyClass>>();

/** an operator as a program calls it */
export interface OpCall {
  readonly op: "call_function" | "call_method";
  /** as the graph prints it */
  readonly target: string;
  /** key of the operator table */
  readonly spelling: string;
  /** name in error messages */
  readonly display?: string;
  readonly options?: EmitOptions;
  /** arguments that the graph shows but the operator does not take (getattr's name) */
  readonly suffix?: readonly Argument[];
}

/** a call whose arguments are what its node in the graph takes; `conv` made them, and knows the graph */
export interface PreparedCall {
  readonly call: OpCall;
  readonly conv: Converter;
  readonly args: readonly Argument[];
  readonly kwargs: ReadonlyMap<string, Argument>;
}

/** one operator outside of a trace, in the autocast region that it ran in */
function eagerNode({ call, conv, args, kwargs }: PreparedCall, meta: NodeMeta): FxNode {
  const { torch, graph } = conv;
  const { enabled, device, dtype } = torch.autocast;
  const none = (): NodeMeta => nodeMeta(undefined);
  const enter = enabled
    ? graph.create(
        "call_function",
        "torch.amp.autocast_mode._enter_autocast",
        [device, new DTypeArg(dtype), true, null],
        new Map(),
        none(),
      )
    : null;
  const node = graph.create(call.op, call.target, args, kwargs, meta);
  if (enter) graph.create("call_function", "torch.amp.autocast_mode._exit_autocast", [enter], new Map(), none());
  return node;
}

function nodeMeta(val: NodeMeta["val"], opaque?: string): NodeMeta {
  return opaque === undefined ? { val, stack: [], fromNode: [] } : { val, stack: [], fromNode: [], opaque };
}

/** the tensor that an operator of one result gives; `self`: what it wrote in place, `storage`: the base's where it is a view */
export function finish(
  prepared: PreparedCall,
  meta: FakeTensor,
  { storage, self }: { readonly storage?: Storage | undefined; readonly self?: PyTensor | undefined } = {},
): Value {
  const { call, conv, args, kwargs } = prepared;
  const { torch, graph } = conv;
  const trace = torch.trace;
  if (trace) {
    const node = trace.emit(call.op, call.target, args, kwargs, meta, call.options);
    const t = torch.newTensor(
      meta,
      storage,
      self?.cls.isSubclassOf(torch.parameterClass) ? torch.tensorClass : self?.cls,
    );
    t.isLeaf = !meta.requiresGrad;
    trace.adopt(t, node);
    return t;
  }
  const node = eagerNode(prepared, nodeMeta(meta, call.options?.opaque));
  const out = self ?? torch.newTensor(meta, storage);
  if (!self) out.isLeaf = !meta.requiresGrad;
  graph.create("output", "output", [new TupleArg([node])], new Map(), nodeMeta(undefined));
  eagerStep(conv, [out]);
  return out;
}

interface ManyOptions {
  readonly storage: Storage | undefined;
  /** the list that the operator wrote in place */
  readonly written: ArgValue<TensorMeta> | undefined;
}

/** the same for several results */
export function finishMany(
  prepared: PreparedCall,
  metas: readonly (FakeTensor | null)[],
  record: OpRecord,
  options: ManyOptions,
): Value {
  return resultTuple(prepared.conv.torch, record, finishItems(prepared, metas, options));
}

/** several results, each an item of the call's node */
export function finishItems(
  prepared: PreparedCall,
  metas: readonly (FakeTensor | null)[],
  { storage, written }: ManyOptions,
): Value[] {
  const { call, conv, args, kwargs } = prepared;
  const { torch, graph } = conv;
  const trace = torch.trace;
  const node = trace
    ? trace.emit(call.op, call.target, args, kwargs, [...metas], call.options)
    : eagerNode(prepared, nodeMeta([...metas], call.options?.opaque));
  const { candidate: _, opaque: __, ...itemOptions } = call.options ?? {};
  const inplace = Array.isArray(written) ? (written as readonly TensorMeta[]).map(w => conv.byMeta.get(w)) : [];
  const nodes: Argument[] = [];
  const items = metas.map((meta, i): Value => {
    if (!meta) return null;
    const old = inplace[i];
    // the call gives nothing: what it wrote are its arguments
    if (old && !trace) return old;
    const item = trace
      ? trace.emit("call_function", "operator.getitem", [node, i], new Map(), meta, itemOptions)
      : graph.create("call_function", "operator.getitem", [node, i], new Map(), nodeMeta(meta));
    nodes.push(item);
    const t = torch.newTensor(meta, old?.storage ?? storage);
    t.isLeaf = !meta.requiresGrad;
    trace?.adopt(t, item);
    return t;
  });
  if (!trace) {
    graph.create("output", "output", [new TupleArg(nodes)], new Map(), nodeMeta(undefined));
    eagerStep(conv, items.filter((t, i) => t instanceof PyTensor && !inplace[i]) as PyTensor[]);
  }
  return items;
}

/** torch.return_types: a tuple whose items have names where the schema gives them */
function resultTuple(torch: Torch, record: OpRecord, items: readonly Value[]): Value {
  const { vm } = torch;
  const schema = parseSchema(record.schema);
  const names = schema.returns.map(r => r.name);
  if (names.length !== items.length || names.some(n => n === null || /^(out\d*|result\d*)$/.test(n))) {
    return vm.tuple(items);
  }
  const mine = returnTypes.get(torch) ?? new Map<string, PyClass>();
  returnTypes.set(torch, mine);
  const cls = mine.get(schema.packet) ?? unrecorded(() => returnType(torch, schema.packet, names));
  mine.set(schema.packet, cls);
  return new PyTuple(cls, items);
}

function returnType({ vm }: Torch, name: string, fields: readonly (string | null)[]): PyClass {
  const cls = vm.klass(name, [vm.types.tuple], "torch.return_types");
  fields.forEach((f, i) => {
    property(vm, cls, f ?? "", self => (self instanceof PyTuple ? (self.items[i] ?? null) : null));
  });
  return cls;
}

/** what ran outside of a trace, for the replay */
export function eagerStep({ torch, graph, eager }: Converter, outputs: readonly PyTensor[]): void {
  torch.eagerOperators++;
  torch.probe?.ranEagerly(eager.keys(), outputs);
  torch.eagerStep(graph, [...eager.keys()], outputs);
}
