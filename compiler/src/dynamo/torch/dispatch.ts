// One call of an operator: arguments to graph arguments, the record's meta rule, the node (or, outside a trace, a step
// that the replay runs), and the results as Python values. In: spelling and Python arguments. Out: tensors.
import { resolveOverload } from "../../aten/bind";
import { isExpr } from "../../aten/dim_math";
import { isOutVariant } from "../../aten/out_variants";
import { lookupPython } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import { type ArgValue, type Dim, OpError, type OpRecord, type TensorMeta } from "../../aten/types";
import { FxGraph } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import { float } from "../../inductor/symbolic/expr";
import { type Kwargs, PyList, PyTuple, type Value } from "../objects/values";
import { isDifferentiableDType, isFloatDType, type Torch } from "./context";
import { Converter, isMeta } from "./convert";
import type { FakeResult } from "./fake_shapes";
import { beyondGuess, noteGuessed } from "./guessed_shapes";
import { itemValue } from "./item_values";
import { knownParts, knownResult, runsOf, store } from "./known";
import type { KnownCall } from "./known_call";
import { PyTensor } from "./objects";
import { finish, finishItems, finishMany, type OpCall, type PreparedCall } from "./results";
import { SUPPORTABLE } from "./sink";
import { sparseResult } from "./sparse_results";

const fits64Bits = (i: bigint): boolean => BigInt.asIntN(64, i) === i || BigInt.asUintN(64, i) === i;

/** what an operator costs in instructions of plain Python */
const OPERATOR_STEPS = 600;

export function runOp(torch: Torch, call: OpCall, args: readonly Value[], kwargs: Kwargs): Value {
  const { vm } = torch;
  const grad = kwargs.get("requires_grad");
  if (grad !== undefined && vm.truthy(grad)) return createdWithGrad(torch, call, args, kwargs);
  if (kwargs.has("generator")) return runOp(torch, call, args, withoutGenerator(torch, kwargs));
  vm.charge(OPERATOR_STEPS);
  const trace = torch.trace;
  const graph = trace?.graph ?? new FxGraph();
  const conv = new Converter(torch, graph);
  conv.realize([...args, ...kwargs.values()]);
  const positional = args.map(a => conv.convert(a));
  const keyword = [...kwargs].map(([k, v]) => [k, conv.convert(v)] as const);
  if (conv.unknown !== null && conv.tensors.length === 0) return vm.unknown(`${call.target}(${conv.unknown})`);
  const records = lookupPython(call.spelling);
  const prepared: PreparedCall = {
    call,
    conv,
    args: [...positional.map(p => p.arg), ...(call.suffix ?? [])],
    kwargs: new Map(keyword.map(([k, c]) => [k, c.arg] as const)),
  };
  const m = torch.meta;
  if (records.length === 0 || conv.unknown !== null) {
    const size = (positional[2] ?? keyword.find(([k]) => k === "size")?.[1])?.bound;
    return opaqueOp(prepared, sparseResult(torch, call.target, conv.tensors, size));
  }
  const host = { isTensor: isMeta, isDim: (x: unknown): x is Dim => isExpr(x) };
  const given = new Map(keyword.map(([k, c]) => [k, c.bound] as const));
  const resolved = resolveOverload<TensorMeta>(
    records,
    positional.map(p => p.bound),
    given,
    host,
    call.display ?? call.target.split(".").pop() ?? call.target,
  );
  if (!resolved.ok) {
    const out = kwargs.get("out");
    if (out !== undefined) return runInto(torch, call, args, kwargs, out);
    return withScalars(torch, call, args, kwargs) ?? vm.raise("TypeError", resolved.message);
  }
  const { record, bound } = resolved;
  let result: ReturnType<OpRecord["meta"]>;
  torch.dataSizes.begin();
  torch.dataSize = () => countOf(torch, conv.tensors, call.target);
  try {
    result = m.run(record, bound);
  } catch (e) {
    if (!(e instanceof OpError)) throw e;
    const out = isOutVariant(record) && OUT_RESIZED.test(e.message) ? kwargs.get("out") : undefined;
    if (out !== undefined) return resizedOut(torch, call, args, kwargs, out);
    const beyond = e.pythonType === "RuntimeError" ? beyondGuess(torch, record, bound.values, conv.tensors) : undefined;
    if (beyond === undefined) return failedOp(torch, record.name, call, e);
    const why = `the shape of what ${call.target} gets is not known here`;
    return opaqueOp({ ...prepared, call: { ...call, options: { ...call.options, opaque: why } } }, beyond);
  }
  const schema = parseSchema(record.schema);
  for (const p of schema.parameters) {
    const given = bound.values.get(p.name);
    if (typeof given === "bigint" && (p.type.base === "Scalar" || p.type.base === "Tensor") && !fits64Bits(given))
      vm.raise("OverflowError", "int too big to convert");
    // a parameter of type float takes a number, so the symbol is fixed to its value
    const s = p.type.base === "float" ? conv.floats.get(given ?? null) : undefined;
    if (s) s.node.meta.val = { symFloat: float(s.hint.value) };
  }
  const written = schema.parameters.find(p => p.mutated);
  const target = written ? bound.values.get(written.name) : undefined;
  const needsGrad = wantsGrad(torch, conv, record);
  if (needsGrad && isOutVariant(record)) refuseGrad(torch, call);
  const metas = (Array.isArray(result) ? result : [result]) as readonly (TensorMeta | null)[];
  const typed = metas.map(x => (x === null ? null : withGrad(x as FakeTensor, needsGrad)));
  const self = isMeta(target) ? conv.byMeta.get(target) : undefined;
  const base = record.viewOf === undefined ? undefined : bound.values.get(record.viewOf);
  const baseTensor = isMeta(base) ? conv.byMeta.get(base) : undefined;
  const storage = self?.storage ?? baseTensor?.storage;
  if (self) {
    if (!trace && needsGrad) refuseLeaf(torch, self, "");
    const values = trace || !self.known ? undefined : writtenValues(torch, record, bound.values, conv, self);
    markWritten(self, needsGrad);
    self.known = values ?? null;
    const reshaped = record.tags?.includes("view") ? typed[0] : null;
    if (reshaped) {
      const { shape, stride, storageOffset } = reshaped;
      self.meta = { ...self.meta, shape, stride, storageOffset };
    }
  }
  const learn =
    written || (trace && (conv.tensors.length === 0 || !conv.tensors.every(few)))
      ? null
      : knowledge(torch, record, bound.values, conv);
  if (!Array.isArray(result)) {
    const meta = typed[0];
    if (!meta) return null;
    const made = finish(prepared, meta, { storage, self });
    if (made instanceof PyTensor && record.name === "aten.add.Tensor") made.sum = sumOf(bound.values, conv) ?? null;
    if (learn && made instanceof PyTensor) {
      made.known = knownResult({ ...learn, shape: torch.hints(made), dtype: meta.dtype }) ?? null;
    }
    return made;
  }
  const lists = written !== undefined && self === undefined;
  const made = finishMany(prepared, typed, record, { storage, written: lists ? target : undefined });
  if (learn) learnParts(torch, learn, made);
  return made;
}

/** torch.zeros(8, requires_grad=True): a leaf outside of a trace; Dynamo makes none inside of one */
function createdWithGrad(torch: Torch, call: OpCall, args: readonly Value[], kwargs: Kwargs): Value {
  if (torch.trace)
    throw torch.breakOn({
      type: "Attempted to use tensor creation function with requires_grad=True",
      number: "0225",
      explanation: "Dynamo does not support this.",
      hints: ["Create the tensor outside the compiled region.", "Do not set `requires_grad=True`.", SUPPORTABLE],
      context: `fn=${call.target}`,
    });
  const made = runOp(torch, call, args, new Map([...kwargs].filter(([k]) => k !== "requires_grad")));
  if (made instanceof PyTensor) made.meta = { ...made.meta, requiresGrad: true };
  return made;
}

/** tensors of one number where an operator takes numbers: torch reads them, which ends a graph; undefined: there are none */
function withScalars(torch: Torch, call: OpCall, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const { vm } = torch;
  const one = (v: Value): v is PyTensor => v instanceof PyTensor && v.meta.shape.length === 0;
  // the first argument of a method is the tensor that it is called on
  const from = call.op === "call_method" ? 1 : 0;
  const sizes = (v: Value): readonly Value[] => (v instanceof PyList || v instanceof PyTuple ? v.items : [v]);
  const scalars = [...args.slice(from), ...kwargs.values()].flatMap(sizes).filter(one);
  if (scalars.length === 0) return undefined;
  if (torch.trace) {
    return failedOp(
      torch,
      "aten._local_scalar_dense.default",
      call,
      new OpError(`${call.target} reads a number that only the data knows`, "GuardOnDataDependentSymNode"),
    );
  }
  const numbers = new Map(scalars.map(t => [t, itemValue(torch, t, `the number that ${call.target} reads`)] as const));
  const number = (v: Value): Value => {
    if ((v instanceof PyList || v instanceof PyTuple) && v.items.some(one)) return vm.tuple(v.items.map(number));
    return one(v) ? (numbers.get(v) ?? v) : v;
  };
  const plain = args.map((v, i) => (i < from ? v : number(v)));
  return runOp(torch, call, plain, new Map([...kwargs].map(([k, v]) => [k, number(v)] as const)));
}

const OUT_RESIZED = /^out= of shape .* would have to be resized/;

/** out= of another size than the result: resized outside of a trace, where Dynamo leaves it to the program */
function resizedOut(torch: Torch, call: OpCall, args: readonly Value[], kwargs: Kwargs, out: Value): Value {
  if (torch.trace)
    throw torch.breakOn({
      type: "Shape mismatch with out= tensor variant",
      number: "0247",
      explanation: `Shape mismatch when calling ${call.target} with \`out=\`.`,
      hints: [SUPPORTABLE],
      context: `fn=${call.target}`,
    });
  return runInto(torch, call, args, kwargs, out);
}

/** out= of an operator that has no such variant in the table: computed, then copied to where the caller wants it */
function runInto(torch: Torch, call: OpCall, args: readonly Value[], kwargs: Kwargs, out: Value): Value {
  const rest = new Map(kwargs);
  rest.delete("out");
  const made = runOp(torch, call, args, rest);
  const targets = out instanceof PyTuple || out instanceof PyList ? out.items : [out];
  const results = made instanceof PyTuple || made instanceof PyList ? made.items : [made];
  targets.forEach((t, i) => {
    const r = results[i];
    if (!(t instanceof PyTensor) || !(r instanceof PyTensor)) return;
    // one of another size is resized
    if (torch.hints(t).join() !== torch.hints(r).join()) {
      const { shape, stride } = torch.meta.tensor(r.meta.shape, t.meta) as FakeTensor;
      t.meta = { ...t.meta, shape, stride };
    }
    runOp(torch, { op: "call_method", target: "copy_", spelling: "Tensor.copy_" }, [t, r], new Map());
  });
  return out === null ? made : out;
}

/** a tensor of one number that is another one and so much more */
function sumOf(values: ReadonlyMap<string, ArgValue<TensorMeta>>, conv: Converter): PyTensor["sum"] | undefined {
  const [self, other] = [values.get("self"), values.get("other")];
  const from = isMeta(self) ? conv.byMeta.get(self) : undefined;
  return from && from.meta.shape.length === 0 && typeof other === "number" ? { from, more: other } : undefined;
}

/** in a trace few numbers are followed: those that a program reads after a break, such as the greatest of some lengths */
const few = (t: PyTensor): boolean => t.known !== null && t.known.length <= 8;

/** what small eager results are computed from */
function knowledge(
  torch: Torch,
  record: OpRecord,
  values: ReadonlyMap<string, ArgValue<TensorMeta>>,
  conv: Converter,
): Omit<KnownCall, "shape" | "dtype"> | null {
  if (conv.tensors.some(t => t.known === null)) return null;
  return {
    name: record.name,
    args: values,
    valuesOf: m => conv.byMeta.get(m)?.known ?? null,
    sizeOf: d => torch.meta.hint(d),
  };
}

/** larger tensors are not followed where they are written in place: loops do that */
const MOST_WRITTEN = 1024;

/** the values of a tensor that an operator writes in place: what the operator gives that makes a new one */
function writtenValues(
  torch: Torch,
  record: OpRecord,
  values: ReadonlyMap<string, ArgValue<TensorMeta>>,
  conv: Converter,
  self: PyTensor,
): (number | boolean)[] | undefined {
  const name = record.name.replace(/_(?=\.)/, "");
  if (name === record.name || record.tags?.includes("view") || (self.known?.length ?? 0) > MOST_WRITTEN)
    return undefined;
  const learn = knowledge(torch, record, values, conv);
  return learn ? knownResult({ ...learn, name, shape: torch.hints(self), dtype: self.meta.dtype }) : undefined;
}

function learnParts(torch: Torch, c: Omit<KnownCall, "shape" | "dtype">, made: Value): void {
  if (!(made instanceof PyTuple) && !(made instanceof PyList)) return;
  const tensors = made.items.filter(t => t instanceof PyTensor);
  const parts = knownParts(
    c,
    tensors.map(t => torch.hints(t)),
  );
  parts?.forEach((p, i) => {
    const t = tensors[i];
    if (t) t.known = p.data.map(v => store(t.meta.dtype, v));
  });
}

/** what is drawn is not known whichever generator draws it; one of the program's own ends the graph */
function withoutGenerator(torch: Torch, kwargs: Kwargs): Kwargs {
  const rest = new Map(kwargs);
  rest.delete("generator");
  if (torch.trace && (kwargs.get("generator") ?? null) !== null)
    throw torch.breakOn({
      type: "Failed to convert args/kwargs to proxy",
      number: "0055",
      explanation: "Missing `as_proxy()` implementation for some arg/kwarg.",
      hints: [],
      context: "call_function args: UserDefinedObjectVariable(Generator)",
    });
  return rest;
}

const UNIQUE = /\.unique(_consecutive)?$/;

/** how many elements an operator outside of a trace finds in its data: counted if known, else all of them */
export function countOf(torch: Torch, tensors: readonly PyTensor[], what: string): number {
  const mask = tensors.find(t => t.meta.dtype === "bool") ?? tensors[0];
  if (!mask) return 1;
  if (mask.known && UNIQUE.test(what)) return runsOf(mask.known.map(Number), what.endsWith("unique")).values.length;
  if (mask.known) return mask.known.filter(v => Number(v) !== 0).length;
  torch.vm.report(
    "data-dependent",
    `the size of what ${what.split(".").pop() ?? what} returns depends on data; it is taken to keep every element`,
    "information",
  );
  torch.dataSizes.assume(`${what} keeps every element`);
  return torch.hints(mask).reduce((a, b) => a * b, 1);
}

/** an error of the operator; one whose result has a size that only the data decides ends the graph */
function failedOp(torch: Torch, name: string, call: OpCall, e: OpError): Value {
  const dynamic = e.pythonType === "DynamicOutputShapeException";
  if (!dynamic && e.pythonType !== "GuardOnDataDependentSymNode") return torch.vm.raise(e.pythonType, e.message);
  if (torch.trace) {
    throw torch.breakOn({
      type: dynamic ? "Dynamic shape operator" : "Data dependent operator",
      number: dynamic ? "0036" : "0033",
      explanation: dynamic
        ? `Operator \`${name}\`'s output shape depends on input Tensor data.`
        : `Operator \`${name}\` has a non-Tensor output whose value is dependent on the data of Tensor inputs.`,
      hints: dynamic
        ? [
            "Enable tracing of dynamic shape operators with `torch._dynamo.config.capture_dynamic_output_shape_ops = True`",
          ]
        : [],
      context: name,
    });
  }
  // outside of a trace nobody knows the size: the result is unknown
  torch.vm.report("data-dependent", `the shape of ${call.target} depends on data`, "information");
  return torch.vm.unknown(`${call.target}(...)`);
}

function wantsGrad(torch: Torch, conv: Converter, record: OpRecord): boolean {
  if (!torch.gradEnabled || torch.inferenceMode) return false;
  if (record.derivative?.kind === "none" || /(^|[._])detach/.test(record.name)) return false;
  return conv.tensors.some(t => t.meta.requiresGrad);
}

function withGrad(m: FakeTensor, needsGrad: boolean): FakeTensor {
  const requiresGrad = needsGrad && isDifferentiableDType(m.dtype);
  return m.requiresGrad === requiresGrad ? m : { ...m, requiresGrad };
}

/** what autograd says to `out=` */
function refuseGrad(torch: Torch, call: OpCall): never {
  const name = call.display ?? call.target.split(".").pop() ?? call.target;
  return torch.vm.raise(
    "RuntimeError",
    `${name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.`,
  );
}

/** what autograd says to a write into a leaf, or into a view of one; in a trace AOTAutograd finds it */
export function refuseLeaf(torch: Torch, t: PyTensor, part: "" | "a view of "): void {
  const { root } = t.storage;
  const refuse = (which: string): never =>
    torch.vm.raise(
      "RuntimeError",
      `${which}a leaf Variable that requires grad is being used in an in-place operation.`,
    );
  if (!t.meta.requiresGrad) return;
  if (t.isLeaf) refuse(part);
  else if (root !== null && root !== t && root.isLeaf && root.meta.requiresGrad) refuse("a view of ");
}

function markWritten(t: PyTensor, needsGrad: boolean): void {
  t.storage.wrote();
  t.known = null;
  if (needsGrad && !t.meta.requiresGrad && isFloatDType(t.meta.dtype)) {
    t.meta = { ...t.meta, requiresGrad: true };
    t.isLeaf = false;
  }
}

/** an operator the table does not know: the graph goes on, the node says that nobody can compile it */
export function opaqueOp(prepared: PreparedCall, shaped?: FakeResult): Value {
  const { call, conv } = prepared;
  const { torch } = conv;
  const why =
    call.options?.opaque ??
    (conv.unknown === null
      ? `${call.target} is not in FuseLens's operator table`
      : `${conv.unknown} is not known here`);
  torch.vm.report("opaque-operator", `${why}; it is kept as an opaque operator`, "warning");
  torch.opaqueOperators++;
  const first = conv.tensors[0];
  const like = shaped === undefined ? first?.meta : shaped;
  if (!like) return torch.vm.unknown(`${call.target}(...)`);
  if (shaped === undefined)
    torch.trace?.note(`the result of ${call.target} is taken to be shaped like its first tensor`);
  const needsGrad = torch.gradEnabled && conv.tensors.some(t => t.meta.requiresGrad);
  const opaque = { ...prepared, call: { ...call, options: { ...call.options, opaque: why } } };
  if (Array.isArray(like)) {
    const metas = (like as readonly (FakeTensor | null)[]).map(m => (m === null ? null : withGrad(m, needsGrad)));
    return torch.vm.tuple(finishItems(opaque, metas, { storage: undefined, written: undefined }));
  }
  const made = finish(opaque, withGrad(like as FakeTensor, needsGrad));
  if (shaped === undefined && made instanceof PyTensor) noteGuessed(made);
  // what is cut at places that nobody knows is all in one part
  return CUTS.test(call.target) ? torch.vm.tuple([made]) : made;
}

const CUTS = /(^|\.)(split|split_with_sizes|tensor_split|chunk)$/;

export function isTensorLike(v: Value): boolean {
  if (v instanceof PyTensor) return true;
  if (v instanceof PyList || v instanceof PyTuple) return v.items.some(isTensorLike);
  return false;
}
