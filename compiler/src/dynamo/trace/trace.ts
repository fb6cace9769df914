// One trace of one frame: the graph, its inputs with their sources, symbols, guards, and the names of nodes. In: what the
// interpreter reports (Observer) and operators (TraceSink). Out: the pre-grad graph once finish() is called.
import type { ShapeGuards } from "../../aten/dim_math";
import { type GraphMetaBuilder, makeMetaBuilder } from "../../aten/meta_builder";
import { OpError, PyFloat } from "../../aten/types";
import { shownName } from "../../fx/bodies";
import { FxGraph, type FxNode } from "../../fx/graph";
import type { Argument, FakeTensor, FakeValue, NodeOp, StackFrame } from "../../fx/types";
import { type Expr, type ExprLike, int, intValue, mul } from "../../inductor/symbolic/expr";
import { ShapeEnv, type SymbolPolicy } from "../../inductor/symbolic/shape_env";
import type { Observer } from "../interp/api";
import type { Frame, PyFunction } from "../interp/frame";
import { numpyDtype, withoutDtype } from "../objects/numpy_scalar";
import { PyBuiltin, PyClass, PyDict, PyList, PyModule, PyObject, PyTuple, type Value } from "../objects/values";
import type { Torch } from "../torch/context";
import { carryGuesses, noteCarried } from "../torch/guessed_shapes";
import { PySymFloat, PySymInt, PyTensor } from "../torch/objects";
import type { EmitOptions, TraceSink } from "../torch/sink";
import { GuardSet } from "./guards";
import { InlinedCalls } from "./inlined_calls";
import {
  attributeSource,
  closureSource,
  globalSource,
  itemSource,
  localSource,
  memberSource,
  placeholderName,
  type Source,
  stackSource,
} from "./source";
import { shownFrames } from "./stack_frames";
import { WrittenObjects } from "./written_objects";

export interface TraceInput {
  readonly node: FxNode;
  readonly source: Source;
  readonly kind: "tensor" | "symint" | "symfloat";
  readonly value: PyTensor | number;
}

/** sizes seen at earlier compiles of this frame, by source; null: it changed, so it is symbolic from now on */
export type FrameState = Map<string, (number | null)[]>;

export interface TraceSettings {
  readonly dynamic: boolean | null;
  readonly state: FrameState;
  /** a repeated call of a compiled frame: nothing is symbolic, nothing is remembered */
  readonly quiet: boolean;
  readonly assumeStaticByDefault: boolean;
}

export class Trace implements TraceSink, Observer {
  readonly graph = new FxGraph();
  readonly env = new ShapeEnv();
  readonly metaBuilder: GraphMetaBuilder;
  readonly guards = new GuardSet();
  readonly inputs: TraceInput[] = [];
  readonly assumed: string[] = [];
  readonly sources = new Map<PyObject, Source>();
  readonly written = new WrittenObjects();
  private readonly adopted: PyTensor[] = [];
  private readonly symbolNodes = new Map<Expr, FxNode>();
  private readonly intInputs = new Map<string, PySymInt>();
  private readonly rootDepth: number;
  /** parameters (and, in a resumed frame, all locals) that were not stored to yet */
  private readonly untouched = new Set<string>();

  constructor(
    private readonly torch: Torch,
    readonly root: Frame,
    private readonly settings: TraceSettings,
  ) {
    this.rootDepth = torch.vm.frames.length;
    const shapeGuards: ShapeGuards = {
      evaluate: c => this.decide(c),
      known: c => this.env.evaluateStatic(c),
      hint: e => this.hint(e),
      unbacked: () => {
        if (torch.dynamoConfig.get("capture_dynamic_output_shape_ops") === true) return this.env.createUnbacked();
        throw new OpError("Operator's output shape depends on input data", "DynamicOutputShapeException");
      },
    };
    this.metaBuilder = makeMetaBuilder(shapeGuards, torch.metaDefaults);
    this.registerEntry();
  }

  unbackedInt(): Expr {
    return this.env.createUnbacked();
  }

  // ---- sources of what the frame starts with

  private registerEntry(): void {
    const f = this.root;
    f.code.varnames.forEach((name, i) => {
      const v = f.locals[i];
      if (v === undefined || name.startsWith(".")) return;
      this.untouched.add(name);
      this.know(v, localSource(name));
    });
    for (const [i, name] of f.code.cellNames.entries()) {
      const v = f.cells[i]?.value;
      if (v !== undefined) this.know(v, localSource(name));
    }
    for (const [i, name] of f.code.freeNames.entries()) {
      const v = f.cells[f.code.cellNames.length + i]?.value;
      if (v !== undefined) this.know(v, localSource(name));
    }
    f.stack.forEach((v, i) => {
      this.know(v, stackSource(i));
    });
  }

  /** remembers where an object was found first */
  private know(v: Value, source: Source): void {
    if (!(v instanceof PyObject) || this.sources.has(v) || numpyDtype(v) !== null) return;
    if (v instanceof PyModule ? v.file === null : v instanceof PyBuiltin || v instanceof PySymInt) return;
    if (v instanceof PyTensor && v.proxy?.trace === this) return;
    if (v instanceof PyClass && v.place === null) return;
    this.sources.set(v, source);
    if (!(v instanceof PyTensor)) this.guards.value(source, v);
  }

  private sourceOf(o: Value): Source | undefined {
    return o instanceof PyObject ? this.sources.get(o) : undefined;
  }

  /** a value read through a source: guarded if plain, symbolic if that is the policy */
  private loaded(given: Value, source: Source): Value {
    // numpy's scalars are constants like Python's numbers
    const v = withoutDtype(given);
    if (v instanceof PyObject) {
      this.know(v, source);
      return v;
    }
    if (typeof v === "number" && !this.settings.quiet && this.isDynamicInt(source, v)) return this.intInput(source, v);
    if (v instanceof PyFloat && !this.settings.quiet && this.isDynamicFloat(source, v.value)) {
      return this.floatInput(source, v);
    }
    this.guards.value(source, v);
    return v;
  }

  private isDynamicInt(source: Source, v: number): boolean {
    if (source.owned !== null || source.name.startsWith("G[")) return false;
    const { state, dynamic } = this.settings;
    const seen = state.get(source.name);
    if (seen === undefined) state.set(source.name, [v]);
    else if (seen[0] !== v) state.set(source.name, [null]);
    if (dynamic === false || v === 0 || v === 1) return false;
    return dynamic === true || state.get(source.name)?.[0] === null;
  }

  private intInput(source: Source, v: number): Value {
    const known = this.intInputs.get(source.name);
    if (known) return known;
    const policy: SymbolPolicy = this.settings.dynamic === true ? "duck" : "dynamic";
    const expr = this.env.createSymbol(source.name, v, policy, { positive: true });
    if (intValue(expr) !== undefined) return v;
    const node = this.symbolPlaceholder(expr, source, v, placeholderName(source.name));
    this.guards.ints.push({ source, symbol: expr });
    const s = new PySymInt(this.torch.vm.types.int, expr, node, this);
    this.intInputs.set(source.name, s);
    return s;
  }

  private isDynamicFloat(source: Source, v: number): boolean {
    const { state, dynamic } = this.settings;
    if (source.name.startsWith("G[") || dynamic === false || !Number.isFinite(v)) return false;
    if (this.torch.config.get("triton.cudagraphs") === true) return false;
    const seen = state.get(source.name);
    if (seen === undefined) state.set(source.name, [v]);
    else if (seen[0] !== v) state.set(source.name, [null]);
    return dynamic === true || state.get(source.name)?.[0] === null;
  }

  /** a float enters as a 0-d float64 tensor, read with item() */
  private floatInput(source: Source, v: PyFloat): Value {
    const known = this.floatInputs.get(source.name);
    if (known) return known;
    const meta = this.metaBuilder.tensor([], { dtype: "float64", device: { type: "cpu", index: null } }) as FakeTensor;
    const placeholder = this.insertPlaceholder(placeholderName(source.name), meta, source.name);
    this.inputs.push({ node: placeholder, source, kind: "symfloat", value: v.value });
    const expr = this.env.createFloatSymbol(source.name, v.value);
    const node = this.emit("call_method", "item", [placeholder], new Map(), { symFloat: expr });
    const s = new PySymFloat(this.torch.vm.types.float, v, expr, node, this);
    this.floatInputs.set(source.name, s);
    return s;
  }
  private readonly floatInputs = new Map<string, PySymFloat>();

  // ---- Observer

  loadedLocal(name: string, value: Value, frame: Frame): Value {
    if (frame !== this.root || !this.untouched.has(name)) return value;
    if (value instanceof PyTensor && value.proxy?.trace !== this) {
      // the name that it is read under when it becomes an input is the one that counts
      this.sources.set(value, this.tensorSource(value, localSource(name)));
      return value;
    }
    return this.loaded(value, localSource(name));
  }
  /** a tensor keeps a source that is no plain local (a module's parameter passed as an argument stays one) */
  private tensorSource(t: PyTensor, local: Source): Source {
    const known = this.sources.get(t);
    return known && !/^L\['\w+'\]$/.test(known.name) ? known : local;
  }
  loadedGlobal(name: string, value: Value, frame: Frame): Value {
    if (frame.globals.get(name) === undefined || frame.code.file.library !== "user") return value;
    if (frame.globals === this.root.globals) return this.loaded(value, globalSource(name));
    const module = frame.func?.module?.name ?? "module";
    const globals = frame.globals;
    const source: Source = {
      name: `G['__import_${module.replace(/\./g, "_dot_")}'].${name}`,
      owned: null,
      fetch: () => globals.get(name),
    };
    return this.loaded(value, source);
  }
  loadedDeref(name: string, value: Value, frame: Frame): Value {
    if (frame === this.root) {
      if (frame.code.freeNames.includes(name) || this.untouched.has(name)) return this.loaded(value, localSource(name));
      return value;
    }
    const f = frame.func;
    const base = f ? this.sources.get(f) : undefined;
    const index = frame.code.freeNames.indexOf(name);
    if (!base || index < 0) return value;
    return this.loaded(value, closureSource(base, index));
  }
  loadedAttribute(owner: Value, name: string, value: Value): Value {
    const base = this.sourceOf(owner);
    if (!base || owner instanceof PyTensor || !(owner instanceof PyObject)) return value;
    if (this.torch.isModule(owner)) {
      for (const dict of ["_parameters", "_buffers", "_modules"] as const) {
        const d = owner.attrs?.get(dict);
        if (!(d instanceof PyDict) || d.get(name) !== value) continue;
        const v = this.loaded(value, memberSource(base, dict, name));
        // reading a module's tensor makes it an input at once
        if (v instanceof PyTensor && v.proxy?.trace !== this) this.nodeOf(v);
        return v;
      }
    }
    if (this.written.has(owner) || isMethodLike(value)) return value;
    const own = owner instanceof PyModule ? owner.dict.get(name) : owner.attrs?.get(name);
    if (own !== value && !(owner instanceof PyClass) && owner.cls.lookup(name) !== value) return value;
    const v = this.loaded(value, attributeSource(base, name, this.torch.isModule(owner)));
    if (v instanceof PyTensor && this.torch.isModule(owner) && v.proxy?.trace !== this) this.nodeOf(v);
    return v;
  }
  loadedItem(owner: Value, key: Value, value: Value): Value {
    const base = this.sourceOf(owner);
    if (!base || (owner instanceof PyObject && this.written.has(owner))) return value;
    if (!(owner instanceof PyList || owner instanceof PyTuple || owner instanceof PyDict)) return value;
    const index = typeof key === "number" && key < 0 && !(owner instanceof PyDict) ? key + owner.items.length : key;
    const source = itemSource(base, index);
    return source ? this.loaded(value, source) : value;
  }
  called(f: PyFunction, args: readonly Value[]): void {
    if (f.code.file.library !== "user") return;
    for (const t of this.calls.tensors(f, args)) if (this.sources.has(t)) this.nodeOf(t);
  }
  private readonly calls = new InlinedCalls(f => !this.sources.has(f));
  mutated(owner: Value, attribute?: string): void {
    if (owner instanceof PyTensor || !(owner instanceof PyObject)) return;
    const before = this.sources.has(owner) || owner === this.root.globals || this.isGlobals(owner);
    if (before) this.written.add(owner, attribute);
  }
  private isGlobals(o: PyObject): boolean {
    return o instanceof PyDict && o.get("__name__") !== undefined && o.get("__module_object__") !== undefined;
  }
  stored(name: string, value: Value, frame: Frame | null): void {
    if (frame === this.root) this.untouched.delete(name);
    if (!(value instanceof PyTensor) || name.startsWith(".")) return;
    const p = value.proxy;
    if (!p || p.trace !== this || p.named || p.node.op === "placeholder") return;
    p.named = true;
    if (shownName(p.node) !== name) this.graph.rename(p.node, name);
  }

  // ---- TraceSink

  decide(condition: Expr): boolean {
    const v = this.env.evaluate(condition, "evaluate_expr");
    if (v === undefined) {
      throw new OpError("Could not guard on data-dependent expression", "GuardOnDataDependentSymNode");
    }
    this.torch.probe?.decided(condition, v);
    return v;
  }
  hint(e: Expr): number {
    return this.env.hint(e) ?? 2;
  }
  note(assumption: string): void {
    if (!this.assumed.includes(assumption)) this.assumed.push(assumption);
  }

  nodeOf(t: PyTensor): FxNode {
    this.torch.probe?.touched(t);
    if (t.proxy?.trace === this) return t.proxy.node;
    return this.tensorInput(t);
  }

  adopt(t: PyTensor, node: FxNode): void {
    t.setProxy({ trace: this, node, named: false });
    this.adopted.push(t);
  }

  nodeOfSym(s: PySymInt | PySymFloat): Argument {
    if (s instanceof PySymFloat) return s.node;
    const n = intValue(s.expr);
    if (n !== undefined) return n;
    return s.node ?? this.symbolNodes.get(s.expr) ?? s.expr;
  }

  emit(
    op: NodeOp,
    target: string,
    args: readonly Argument[],
    kwargs: ReadonlyMap<string, Argument>,
    val: FakeValue | undefined,
    options: EmitOptions = {},
  ): FxNode {
    const { checkpoint } = this.torch;
    const meta = {
      val,
      stack: options.placeless ? [] : [...this.stack(), ...(options.extraFrames ?? [])],
      fromNode: [],
      ...(options.opaque === undefined ? {} : { opaque: options.opaque }),
      ...(this.assumed.length > 0 ? { assumed: [...this.assumed] } : {}),
      ...(checkpoint === null ? {} : { recompute: "prefer_recompute" as const, checkpoint }),
    };
    const dunder = op === "call_method" ? /^__(\w+)__$/.exec(target)?.[1] : undefined;
    const candidate = options.candidate ?? dunder;
    const node = this.graph.create(op, target, args, kwargs, meta, candidate ? { candidate } : {});
    this.torch.probe?.emitted(node);
    return node;
  }

  /** the frames from the compiled one inwards, library frames left out; where that leaves none, the call from outside */
  stack(): StackFrame[] {
    const { frames } = this.torch.vm;
    const at = this.torch.innerFrame?.depth ?? frames.length;
    const own = shownFrames(frames.slice(this.rootDepth, at));
    if (this.torch.innerFrame) own.push(this.torch.innerFrame.frame, ...shownFrames(frames.slice(at)));
    if (own.length > 0) return own;
    const caller = shownFrames(frames.slice(0, this.rootDepth)).at(-1);
    return caller ? [{ ...caller, reportOnly: true }] : [];
  }

  // ---- inputs

  private insertPlaceholder(target: string, val: FakeValue, source: string): FxNode {
    const before = this.graph.nodes.find(n => n.op !== "placeholder");
    const unique = this.uniqueTarget(target);
    const meta = { val, stack: [], fromNode: [], source };
    return this.graph.create("placeholder", unique, [], new Map(), meta, before ? { before } : {});
  }
  private uniqueTarget(target: string): string {
    const taken = (t: string): boolean => this.inputs.some(i => i.node.target === t);
    if (!taken(target)) return target;
    for (let i = 0; ; i++) if (!taken(`${target}_${i}`)) return `${target}_${i}`;
  }

  /** a size is named by its symbol, a number of the program's by where it was found */
  private symbolPlaceholder(
    expr: Expr,
    source: Source,
    value: number,
    name = expr.kind === "sym" ? expr.name : "s",
  ): FxNode {
    const known = this.symbolNodes.get(expr);
    if (known) return known;
    const node = this.insertPlaceholder(name, expr, source.name);
    this.symbolNodes.set(expr, node);
    this.inputs.push({ node, source, kind: "symint", value });
    return node;
  }

  private tensorInput(t: PyTensor): FxNode {
    const source = this.sources.get(t) ?? this.unsourced(t);
    const meta = this.inputMeta(t, source);
    for (const [i, d] of [...meta.shape, ...meta.stride].entries()) {
      if (d.kind !== "sym") continue;
      const rank = meta.shape.length;
      const part = i < rank ? `.size()[${i}]` : `.stride()[${i - rank}]`;
      this.symbolPlaceholder(d, { name: source.name + part, owned: null, fetch: () => undefined }, this.hint(d));
    }
    const node = this.insertPlaceholder(placeholderName(source.name), meta, source.name);
    if (meta.requiresGrad && !t.isLeaf) node.meta.nonLeaf = true;
    this.inputs.push({ node, source, kind: "tensor", value: t });
    this.guards.tensors.push({ source, meta });
    noteCarried(t, node);
    t.setProxy({ trace: this, node, named: true });
    this.originalMetas.set(t, t.meta);
    t.meta = meta;
    this.adopted.push(t);
    return node;
  }
  /** what an input looked like outside; its meta has symbols while the trace lasts */
  private readonly originalMetas = new Map<PyTensor, FakeTensor>();

  private unsourced(t: PyTensor): Source {
    const source: Source = { name: `G['__tensor_${this.inputs.length}']`, owned: null, fetch: () => t };
    this.sources.set(t, source);
    return source;
  }

  private inputMeta(t: PyTensor, source: Source): FakeTensor {
    const sizes = t.meta.shape.map(d => intValue(d) ?? 1);
    const policies = this.policies(t, source, sizes);
    const base: FakeTensor = { ...t.meta, storageOffset: int(0) };
    if (policies.every(p => p === "static")) return base;
    const shape = sizes.map((n, i) => this.env.createSymbol(`${source.name}.size()[${i}]`, n, policies[i] ?? "static"));
    const strides = t.meta.stride.map(d => intValue(d) ?? 1);
    return { ...base, shape, stride: this.symbolicStrides(source, sizes, shape, strides) };
  }

  private policies(t: PyTensor, source: Source, sizes: readonly number[]): SymbolPolicy[] {
    const { dynamic, state, quiet } = this.settings;
    const isStatic = (): SymbolPolicy[] => sizes.map(() => "static");
    if (quiet) return isStatic();
    const owned = source.owned !== null || t.cls.isSubclassOf(this.torch.parameterClass);
    const marked = (i: number): SymbolPolicy | undefined => {
      const m = t.marks?.get(i);
      return m === "dynamic" ? "dynamic" : m === "unbacked" ? "unbacked" : m === "static" ? "static" : undefined;
    };
    if (owned) return sizes.map((_, i) => marked(i) ?? "static");
    const seen = state.get(source.name);
    if (!seen) state.set(source.name, [...sizes]);
    else if (seen.length === sizes.length) {
      state.set(
        source.name,
        seen.map((s, i) => (s === sizes[i] ? s : null)),
      );
    }
    const changed = state.get(source.name);
    return sizes.map((_, i) => {
      const mark = marked(i);
      if (mark) return mark;
      if (dynamic === false) return "static";
      if (changed?.[i] === null && changed.length === sizes.length) return "dynamic";
      return dynamic === true ? "duck" : "static";
    });
  }

  /** strides as products of sizes where the numbers allow it, else symbols of their own (ShapeEnv's rule) */
  private symbolicStrides(
    source: Source,
    sizes: readonly number[],
    shape: readonly Expr[],
    strides: readonly number[],
  ): Expr[] {
    const out: (Expr | undefined)[] = strides.map(s => (s === 0 || s === 1 ? int(s) : undefined));
    const order = strides.map((s, i) => ({ s, i })).sort((a, b) => a.s - b.s || b.i - a.i);
    const product = (i: number): [number, Expr] => [
      (sizes[i] ?? 1) * (strides[i] ?? 1),
      mul(shape[i] as ExprLike, out[i] as ExprLike),
    ];
    while (out.some(s => s === undefined)) {
      const known = new Map<number, Expr>();
      out.forEach((s, i) => {
        if (s !== undefined) known.set(...product(i));
      });
      let found = false;
      for (const { s, i } of order) {
        const e = out[i] === undefined ? known.get(s) : undefined;
        if (!e) continue;
        out[i] = e;
        known.set(...product(i));
        found = true;
      }
      if (found) continue;
      const next = order.find(({ i }) => out[i] === undefined);
      if (!next) break;
      out[next.i] = this.env.createSymbol(`${source.name}.stride()[${next.i}]`, next.s, "duck");
    }
    return out.map(s => s ?? int(1));
  }

  /** after the trace: tensors are ordinary again, symbols are numbers */
  release(): void {
    carryGuesses(this.torch, this.graph.nodes, this.adopted);
    for (const t of this.adopted) {
      this.torch.probe?.released(t);
      const fix = (e: Expr): Expr => (intValue(e) === undefined ? int(this.hint(e)) : e);
      const outside = this.originalMetas.get(t);
      const m = t.meta;
      const own =
        outside?.requiresGrad === m.requiresGrad ? outside : outside && { ...outside, requiresGrad: m.requiresGrad };
      t.meta = own ?? { ...m, shape: m.shape.map(fix), stride: m.stride.map(fix), storageOffset: fix(m.storageOffset) };
      t.proxy = null;
    }
  }
}

function isMethodLike(v: Value): boolean {
  return v instanceof PyObject && (v.cls.name === "method" || v instanceof PyBuiltin);
}
