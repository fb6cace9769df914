// The dispatcher above functionalization: what runs when a traced program calls an operator. In: calls over Values.
// Out: nodes of the tracer's graph, and the tape. Promises: in PyTorch's order: compositions are taken apart, autograd
// records, functionalization replaces views and writes, and what is left is traced.

import { type ArgsHost, makeArgs } from "../aten/args";
import { type BindHost, type Bound, bindArguments, keywords } from "../aten/bind";
import { floatKey } from "../aten/float_parameter";
import { isContiguous, wrapDim } from "../aten/meta_builder";
import { isDifferentiableDType } from "../aten/ops/helpers/dtypes";
import { promoteElementwise } from "../aten/promotion";
import { mustLookup, packetOf } from "../aten/registry";
import { parseSchema } from "../aten/schema";
import {
  type Args,
  type ArgValue,
  type Derivative,
  DeviceArg,
  DTypeArg,
  type GraphBuilder,
  MemoryFormatArg,
  OpError,
  type OpRecord,
  PyComplex,
  PyFloat,
  type Result,
  type TensorMeta,
} from "../aten/types";
import type { FakeTensor } from "../fx/types";
import { compareText, int } from "../inductor/symbolic/expr";
import type { Autocast } from "./autocast";
import { applyDerivative, evaluateFunction, type GradHost, gradInputs } from "./autograd";
import { mapBound, tensorsOf } from "./call_args";
import { FunctionalTensor } from "./functional";
import { SavedVariables } from "./saved_variables";
import { takeFunctionNames, takeOperatorNames, takeWrapperNames } from "./symbolic_names";
import { isTraced, many, TracedTensor } from "./traced_tensor";
import { single, type TraceContext, Tracer } from "./tracer";
import { type Edge, type GradFunction, type GradInput, isValue, metaOf, Value, type ValueView } from "./value";

/** what a derivative's formulas read of the forward pass, besides their other arguments */
interface Saves {
  readonly results: ReadonlySet<number>;
  readonly self: boolean;
}

export class Dispatcher implements GradHost {
  readonly builder: GraphBuilder<Value>;
  readonly host: BindHost<Value> & ArgsHost<Value>;
  gradEnabled: boolean;
  ambientAutocast = false;
  /** the regions that calls stand in */
  autocast: Autocast | null = null;
  private depth = 0;
  private nextSeq = 0;
  private readonly known: Map<Derivative, Map<string, Saves>>;
  private readonly variables = new SavedVariables();

  constructor(
    readonly tracer: Tracer,
    gradEnabled: boolean,
    /** symbolic arithmetic takes node names (symbolic_names.ts) */
    private readonly nameGaps = false,
    known = new Map<Derivative, Map<string, Saves>>(),
  ) {
    this.gradEnabled = gradEnabled;
    this.known = known;
    const defaults = tracer.defaults;
    this.host = { isTensor: isValue, isDim: tracer.math.isDim, int, specialize: d => tracer.specialize(d) };
    this.builder = {
      ...tracer.math,
      meta: v => metaOf(v),
      computeNow: d => void tracer.toArgument(d),
      call: (op, args, kwargs) => single(this.callByName(op, args, kwargs), op),
      callMany: (op, args, kwargs) => many(this.callByName(op, args, kwargs)) as Value[],
      isTensor: isValue,
      promote: (kind, ...operands) => promoteElementwise(kind, operands, defaults.dtype),
      wrapDim,
      isContiguous: (v, format) => isContiguous(tracer.math, v.tensor.meta, format),
      literal: spec => this.wrap(tracer.literal(spec)),
      training: () => this.gradEnabled,
      defaultDType: () => defaults.dtype,
      defaultDevice: () => defaults.device,
      config: defaults.config,
      fail: (message, pythonType) => {
        throw new OpError(message, pythonType);
      },
    };
  }

  args(bound: Bound<Value>): Args<Value> {
    return makeArgs(bound, this.host);
  }
  inContext<R>(context: TraceContext, body: () => R): R {
    return this.tracer.withContext(context, body);
  }
  withOriginal<R>(packet: string, body: () => R): R {
    return this.tracer.withOriginal(packet, body);
  }

  /** size arithmetic is traced with the program's own operators, not with what autograd's engine runs */
  private get takesNames(): boolean {
    return this.nameGaps && !this.tracer.context.isBackward;
  }

  /** a Value for an input or a fresh result */
  wrap(t: TracedTensor): Value {
    return new Value(FunctionalTensor.fresh(t));
  }

  private callByName(
    op: string,
    args: readonly ArgValue<Value>[],
    kwargs: Readonly<Record<string, ArgValue<Value>>> = {},
  ): Result<Value> {
    const record = mustLookup(op);
    const r = bindArguments(parseSchema(record.schema), args, keywords(kwargs), this.host);
    if (!r.ok) throw new Error(`${op} called with wrong arguments: ${r.message}`);
    return this.call(record, r.bound);
  }

  /** Runs one operator. @throws OpError on what PyTorch refuses */
  call(record: OpRecord, bound: Bound<Value>): Result<Value> {
    if (this.depth > 200) throw new Error(`composition of ${record.name} does not end`);
    this.depth++;
    try {
      const { autocast } = this;
      const cast = autocast?.call(record, bound);
      if (autocast && cast !== undefined) return autocast.outside(() => this.call(record, cast));
      if (record.composite !== undefined) {
        if (this.takesNames) takeFunctionNames(this.tracer, record, bound);
        return record.composite(this.builder, this.args(bound));
      }
      return this.autograd(record, bound);
    } finally {
      this.depth--;
    }
  }

  private autograd(record: OpRecord, bound: Bound<Value>): Result<Value> {
    this.variables.refuseOverwritten(record, bound, d => this.builder.hint(d));
    const tensors = tensorsOf(bound, isValue);
    for (const v of tensors) this.catchUp(v);
    const tracked = this.gradEnabled && tensors.some(v => v.requiresGrad);
    const writes = bound.schema.parameters.some(p => p.mutated);
    if (!tracked) return writes ? this.write(record, bound) : this.below(record, bound);
    if (writes) return this.trackedWrite(record, bound);
    const derivative = record.derivative;
    if (derivative === undefined) {
      // An operator without a formula of its own is differentiable through its decomposition.
      const r = record.decompose?.(this.builder, this.args(bound));
      if (r !== undefined) return r;
      const result = this.below(record, bound);
      if (
        many(result).some(v => v !== null && isDifferentiableDType(metaOf(v).dtype)) &&
        !record.tags?.includes("factory")
      ) {
        throw new OpError(`derivative for ${packetOf(record.name)} is not implemented`, "NotImplementedError");
      }
      return result;
    }
    if (derivative.kind === "none") return this.below(record, bound);
    const seqNr = this.nextSeq++;
    const context = { ...this.tracer.context, seqNr };
    return this.inContext(context, () => {
      const result = this.below(record, bound);
      this.record(record, bound, bound, result, seqNr);
      return result;
    });
  }

  /** puts the function that made `result` on the tape */
  private record(
    record: OpRecord,
    bound: Bound<Value>,
    edgesOf: Bound<Value>,
    result: Result<Value>,
    seqNr: number,
  ): void {
    const derivative = record.derivative;
    if (derivative === undefined || derivative.kind === "none") return;
    const inputs = gradInputs(derivative, edgesOf);
    if (inputs.every(i => i.edge === null)) return;
    const outputs = many(result);
    const metas = outputs.map(v =>
      v === null ? ({ ...metaOf(inputs0(bound)), shape: [], stride: [] } as TensorMeta) : metaOf(v),
    );
    const saved = new Map<number, Value>();
    const saves = this.saves(derivative, bound, inputs, metas).results;
    const fn: GradFunction = {
      seqNr,
      record,
      derivative,
      bound: mapBound(bound, isValue, v => this.variables.save(v)),
      inputs,
      outputs: metas,
      saved,
      results: outputs.map(v => (v === null ? null : this.variables.save(v))),
      context: this.tracer.context,
    };
    // results are saved in alphabetical order of their names
    const names = parseSchema(record.schema).returns.map(r => r.name ?? "");
    const order = [...outputs.keys()];
    if (names.length === order.length) order.sort((i, j) => compareText(names[i] ?? "", names[j] ?? ""));
    for (const i of order) {
      const v = outputs[i] ?? null;
      if (v === null || !isDifferentiableDType(metaOf(v).dtype) || record.nonDifferentiable?.includes(i)) continue;
      if (saves.has(i)) {
        const kept = this.withOriginal("aten.detach", () =>
          this.untracked(() => this.builder.call("aten.alias.default", [v])),
        );
        saved.set(i, this.variables.save(kept));
      }
      v.edge = { fn, index: i };
    }
  }

  takeSequenceNumber(): number {
    return this.nextSeq++;
  }
  zerosLike(meta: TensorMeta | undefined): Value {
    if (meta === undefined) throw new Error("zeros like nothing");
    const { dtype, device } = meta;
    return this.builder.call("aten.zeros.default", [meta.shape], {
      dtype: new DTypeArg(dtype),
      device: new DeviceArg(device),
    });
  }

  private untracked<R>(body: () => R): R {
    const outer = this.gradEnabled;
    this.gradEnabled = false;
    try {
      return body();
    } finally {
      this.gradEnabled = outer;
    }
  }

  unpack(v: Value): Value {
    return this.variables.unpack(v, t => this.wrap(t));
  }

  /** Which results the derivative's formulas read, and whether `self`: found by evaluating them once beside the graph. */
  private saves(
    derivative: GradFunction["derivative"],
    bound: Bound<Value>,
    inputs: readonly GradInput[],
    outputs: readonly TensorMeta[],
  ): Saves {
    const key = `${inputs.map(i => (i.edge ? 1 : 0)).join("")}|${describe(bound)}`;
    const known = this.known.get(derivative) ?? new Map<string, Saves>();
    this.known.set(derivative, known);
    const before = known.get(key);
    if (before !== undefined) return before;
    const used = { results: new Set<number>(), self: false };
    known.set(key, used);
    const beside = new Tracer(this.tracer.guards, this.tracer.defaults);
    beside.adoptSymbols(this.tracer);
    const scratch = new Dispatcher(beside, false, false, this.known);
    const stand = (meta: TensorMeta): Value => {
      const node = beside.graph.create("placeholder", "x", [], new Map(), {
        val: meta as FakeTensor,
        stack: [],
        fromNode: [],
      });
      return scratch.wrap(new TracedTensor(node, meta as FakeTensor));
    };
    const stands = mapBound(bound, isValue, v => stand(metaOf(v)));
    try {
      applyDerivative(
        scratch,
        { derivative, bound: stands, inputs, outputs },
        outputs.map(m => (isDifferentiableDType(m.dtype) ? stand(m) : null)),
        i => {
          used.results.add(i);
          return stand(outputs[i] as TensorMeta);
        },
      );
    } catch (e) {
      // The formula fails again, in the open, when the backward pass runs it.
      if (!(e instanceof OpError)) throw e;
    }
    const self = stands.values.get("self");
    used.self = isValue(self) && self.tensor.sync(beside).node.users.size > 0;
    return used;
  }

  /** functionalization of an operator that writes nothing */
  private below(record: OpRecord, bound: Bound<Value>): Result<Value> {
    if (this.takesNames) takeOperatorNames(this.tracer, record, bound);
    const result = this.withOriginal(record.original ?? packetOf(record.name), () => this.functionalize(record, bound));
    if (this.takesNames) for (const v of many(result)) if (v !== null) takeWrapperNames(this.tracer, v.tensor.meta);
    return result;
  }

  private functionalize(record: OpRecord, bound: Bound<Value>): Result<Value> {
    if (record.viewOf !== undefined) return this.makeView(record, bound, record.viewOf);
    const traced = mapBound(bound, isValue, v => v.tensor.sync(this.tracer));
    const r = this.tracer.call(record, traced);
    if (!Array.isArray(r)) return this.wrapResult(r as TracedTensor, bound);
    return (r as readonly (TracedTensor | null)[]).map(t => (t === null ? null : this.wrapResult(t, bound)));
  }

  /** a result; one that is an argument itself (an operator that turned out to do nothing) stays that tensor */
  private wrapResult(t: TracedTensor, bound: Bound<Value>): Value {
    for (const v of tensorsOf(bound, isValue)) if (v.tensor.stale === t) return new Value(v.tensor);
    return this.wrap(t);
  }

  private makeView(record: OpRecord, bound: Bound<Value>, viewOf: string): Result<Value> {
    const base = bound.values.get(viewOf);
    if (!isValue(base)) throw new Error(`${record.name} views no tensor`);
    const traced = mapBound(bound, isValue, v => v.tensor.sync(this.tracer));
    const views = base.tensor.view(this.tracer, record, traced);
    const values = views.map((t, index) => {
      if (t === null) return null;
      const v = new Value(t);
      if (record.hiddenView === undefined) v.noteBase(base, { record, bound, index });
      return v;
    });
    return parseSchema(record.schema).returns[0]?.type.list || values.length !== 1 ? values : (values[0] as Value);
  }

  /** an operator that writes its arguments, without autograd */
  private write(record: OpRecord, bound: Bound<Value>): Result<Value> {
    const written = bound.schema.parameters.filter(p => p.mutated);
    return this.withOriginal(packetOf(record.functional ?? record.name), () => {
      const functional = record.functional === undefined ? undefined : mustLookup(record.functional);
      if (functional === undefined)
        throw new OpError(`${packetOf(record.name)} has no functional form`, "NotImplementedError");
      const traced = mapBound(bound, isValue, v => v.tensor.sync(this.tracer));
      if (functional.viewOf !== undefined) return this.becomeView(functional, bound, traced);
      // The result's shape and dtype must fit the tensor that is written.
      this.tracer.metaOf(record, traced);
      const { parameters } = parseSchema(functional.schema);
      const values = new Map([...traced.values].filter(([k]) => parameters.some(p => p.name === k)));
      const given = traced.values.get("out");
      // a factory makes what it is told to write into
      if (functional.tags?.includes("factory") && given instanceof TracedTensor) {
        values.set("dtype", new DTypeArg(given.meta.dtype)).set("device", new DeviceArg(given.meta.device));
      }
      const results = this.functionalResults(functional, values);
      const targets = written.flatMap(p => targetsOf(bound.values.get(p.name)));
      const extra = results.length - targets.length;
      for (const [i, target] of targets.entries()) {
        const r = results[extra + i];
        if (!r) continue;
        target.tensor.write(this.tracer, r);
        target.tensor.storage.writtenUnderGrad ||= this.gradEnabled;
      }
      if (bound.schema.returns.length === 0) return [];
      if (extra > 0) return results.slice(0, extra).map(r => (r === null ? null : this.wrap(r)));
      return bound.schema.returns[0]?.type.list || targets.length !== 1 ? targets : (targets[0] as Value);
    });
  }

  /** an in-place change of sizes and strides: the tensor goes on as a view of what it was */
  private becomeView(view: OpRecord, bound: Bound<Value>, traced: Bound<TracedTensor>): Value {
    const self = bound.values.get("self");
    if (!isValue(self)) throw new Error(`${view.name} views no tensor`);
    const schema = parseSchema(view.schema);
    self.tensor = self.tensor.becomeView(this.tracer, view, { schema, values: traced.values });
    return self;
  }

  /** what the functional form of a writing operator computes; a composite one runs as it does above autograd */
  private functionalResults(
    form: OpRecord,
    values: ReadonlyMap<string, ArgValue<TracedTensor>>,
  ): readonly (TracedTensor | null)[] {
    const bound = { schema: parseSchema(form.schema), values };
    if (form.composite === undefined) return many(this.tracer.call(form, bound));
    const results = many(
      this.call(
        form,
        mapBound(bound, isTraced, t => this.wrap(t)),
      ),
    );
    return results.map(v => v?.tensor.sync(this.tracer) ?? null);
  }

  /** a write to a tensor that autograd follows: the tensor continues as the functional operator's result */
  private trackedWrite(record: OpRecord, bound: Bound<Value>): Result<Value> {
    if (record.functional === undefined)
      throw new OpError(`${packetOf(record.name)} has no functional form`, "NotImplementedError");
    const form = mustLookup(record.functional);
    const functional = record.derivative === undefined ? form : { ...form, derivative: record.derivative };
    const targets = bound.schema.parameters.filter(p => p.mutated).flatMap(p => targetsOf(bound.values.get(p.name)));
    for (const t of targets) {
      if (t.edge !== null && "leaf" in t.edge && t.viewOf === null && !t.mayBeWritten) {
        throw new OpError("a leaf Variable that requires grad is being used in an in-place operation.");
      }
    }
    const seqNr = this.nextSeq++;
    return this.inContext({ ...this.tracer.context, seqNr }, () => {
      const before = mapBound(bound, isValue, v => {
        if (!targets.some(t => t.tensor.storage === v.tensor.storage)) return v;
        const kept = new Value(v.tensor.snapshot(this.tracer));
        kept.edge = v.edge;
        return kept;
      });
      const schema = parseSchema(functional.schema);
      const values = new Map([...before.values].filter(([k]) => schema.parameters.some(p => p.name === k)));
      const recorded = this.keepSelf(functional.derivative, { schema, values }, targets);
      const result = this.write(record, bound);
      const after = targets.length > 0 ? targets : (many(result).filter(v => v !== null) as Value[]);
      const outputs = after.map(t => new Value(t.tensor));
      this.record(functional, recorded, recorded, outputs.length === 1 ? (outputs[0] as Value) : outputs, seqNr);
      for (const [i, t] of after.entries()) this.rebase(t, (outputs[i] as Value).edge);
      return result;
    });
  }

  /** a write whose formula reads the value that it overwrites saves a copy of it first */
  private keepSelf(derivative: OpRecord["derivative"], bound: Bound<Value>, targets: readonly Value[]): Bound<Value> {
    const self = bound.values.get("self");
    if (!isValue(self) || derivative === undefined || derivative.kind === "none") return bound;
    const inputs = gradInputs(derivative, bound);
    if (inputs.every(i => i.edge === null)) return bound;
    if (!this.saves(derivative, bound, inputs, targets.map(metaOf)).self) return bound;
    const copy = this.withOriginal("aten.clone", () =>
      this.untracked(() => this.builder.call("aten.clone.default", [self])),
    );
    copy.edge = self.edge;
    return { ...bound, values: new Map([...bound.values, ["self", copy]]) };
  }

  /** a written tensor's new history; a write through a view becomes part of its root's */
  private rebase(t: Value, edge: Edge | null): void {
    const view = t.viewOf;
    t.version++;
    if (view === null || edge === null || "leaf" in edge) {
      t.edge = edge;
      return;
    }
    const { root, steps } = view;
    if (root.edge !== null && "leaf" in root.edge && !root.mayBeWritten) {
      throw new OpError("a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    const written = metaOf(root);
    const self: GradInput = { name: "self", item: null, edge: root.edge, meta: written };
    const inner: GradFunction = { ...edge.fn, inputs: [self, ...edge.fn.inputs.slice(1)] };
    root.edge = {
      fn: {
        ...inner,
        seqNr: this.nextSeq++,
        outputs: [written],
        context: this.tracer.context,
        apply: grads => this.copySlices(inner, steps, written, grads[0] as Value),
      },
      index: 0,
    };
    root.version++;
    this.catchUp(t);
  }

  /** a view of a root, taken again */
  private replay(root: Value, steps: readonly ValueView[]): Value {
    let v = root;
    for (const { record, bound, index } of steps) {
      const values = new Map<string, ArgValue<Value>>([...bound.values, [record.viewOf ?? "self", v]]);
      v = many(this.call(record, { schema: bound.schema, values }))[index] as Value;
    }
    return v;
  }

  /** the history of a view whose root was written: that of the view taken anew */
  private catchUp(v: Value): void {
    const view = v.viewOf;
    if (view === null || !v.behindRoot) return;
    v.caughtUp();
    if (this.gradEnabled && view.root.edge !== null) v.edge = this.replay(view.root, view.steps).edge;
  }

  /**
   * Backward of a write through a view (torch's CopySlices): the written part of the gradient goes through the write's
   * formulas and back into its place, the rest passes by.
   */
  private copySlices(
    inner: GradFunction,
    steps: readonly ValueView[],
    root: TensorMeta,
    grad: Value,
  ): (Value | null)[] {
    const b = this.builder;
    const result = b.call("aten.new_empty_strided.default", [grad, root.shape, root.stride]);
    b.call("aten.copy_.default", [result, grad]);
    const part = this.replay(result, steps);
    const own = b.call("aten.clone.default", [part], { memory_format: new MemoryFormatArg("contiguous_format") });
    const [self, ...others] = evaluateFunction(this, inner, [own]);
    if (inner.inputs[0]?.edge === null) return [null, ...others];
    if (self) b.call("aten.copy_.default", [part, self]);
    else b.call("aten.zero_.default", [part]);
    return [result, ...others];
  }
}

function targetsOf(v: ArgValue<Value> | undefined): Value[] {
  if (isValue(v)) return [v];
  return Array.isArray(v) ? (v as readonly unknown[]).filter(isValue) : [];
}

function inputs0(bound: Bound<Value>): Value {
  const [first] = tensorsOf(bound, isValue);
  if (first === undefined) throw new Error("a recorded operator has a tensor argument");
  return first;
}

/** the non-tensor arguments and the ranks of tensors, as a key: what a formula may branch on */
function describe(bound: Bound<Value>): string {
  const text = (v: unknown): string => {
    if (isValue(v)) return `t${v.tensor.meta.shape.length}${v.tensor.meta.dtype}`;
    if (Array.isArray(v)) return `[${v.map(text).join()}]`;
    if (v instanceof PyFloat) return `f${floatKey(v)}`;
    if (v instanceof PyComplex) return `c${v.re},${v.im}`;
    return typeof v === "object" && v !== null ? v.constructor.name : String(v);
  };
  return [...bound.values].map(([k, v]) => `${k}=${text(v)}`).join();
}
