// What torch keeps for a whole program: dtypes, devices, classes, modes, configuration, and the sinks for operators.
// In: the machine and the capture's options. Out: Torch, which every file of this folder is handed.

import { STATIC_GUARDS } from "../../aten/dim_math";
import { type GraphMetaBuilder, makeMetaBuilder } from "../../aten/meta_builder";
import {
  type Device,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  LayoutArg,
  type MemoryFormat,
  MemoryFormatArg,
  PyComplex,
  PyFloat,
} from "../../aten/types";
import type { FxGraph } from "../../fx/graph";
import type { FakeTensor, StackFrame } from "../../fx/types";
import { type Expr, int, intValue } from "../../inductor/symbolic/expr";
import type { Machine } from "../interp/machine";
import { PyClass, PyNamed, PyObject, PyTuple, type Value } from "../objects/values";
import { Decisions } from "../trace/decisions";
import type { CaptureEvent, CaptureOptions, Diagnostic, Fill, RuntimeStep, RuntimeTensor } from "../types";
import { DataSizes } from "./data_sizes";
import { PySymInt, PyTensor, Storage } from "./objects";
import { type Probe, type TraceSink, Unsupported } from "./sink";
import { Tape } from "./tape";

export const DTYPES: Readonly<Record<string, DType>> = {
  float64: "float64",
  double: "float64",
  float32: "float32",
  float: "float32",
  float16: "float16",
  half: "float16",
  bfloat16: "bfloat16",
  float8_e4m3fn: "float8_e4m3fn",
  float8_e5m2: "float8_e5m2",
  int64: "int64",
  long: "int64",
  int32: "int32",
  int: "int32",
  int16: "int16",
  short: "int16",
  int8: "int8",
  uint8: "uint8",
  uint16: "uint16",
  uint32: "uint32",
  uint64: "uint64",
  bool: "bool",
  complex64: "complex64",
  cfloat: "complex64",
  complex128: "complex128",
  cdouble: "complex128",
};

export { isComplexDType, isDifferentiableDType, isFloatDType, itemSize } from "../../aten/ops/helpers/dtypes";

export interface AutocastState {
  readonly enabled: boolean;
  readonly device: string;
  readonly dtype: DType;
}

export class Torch {
  readonly tensorClass: PyClass;
  readonly parameterClass: PyClass;
  readonly sizeClass: PyClass;
  readonly dtypeClass: PyClass;
  readonly deviceClass: PyClass;
  readonly layoutClass: PyClass;
  readonly formatClass: PyClass;
  /** the class Module of the prelude, once it is loaded */
  moduleClass: PyClass | null = null;
  /** how many opaque operators have been called */
  opaqueOperators = 0;
  /** and how many have run outside of a graph */
  eagerOperators = 0;
  private readonly dtypes = new Map<DType, PyNamed>();
  private readonly formats = new Map<MemoryFormat, PyNamed>();
  readonly strided: PyNamed;
  readonly metaStatic: GraphMetaBuilder;

  gradEnabled = true;
  inferenceMode = false;
  deterministic = false;
  /** torch.set_float32_matmul_precision's */
  float32Precision = "highest";
  /** whether torch.backends.cuda.matmul has been told to allow TF32 */
  allowsTf32: () => boolean = () => false;
  /** whether torch.backends.cudnn still allows TF32, as it does unless told otherwise */
  cudnnAllowsTf32: () => boolean = () => true;
  defaultDtype: DType;
  defaultDevice: Device = { type: "cpu", index: null };
  autocast: AutocastState = { enabled: false, device: "cuda", dtype: "float16" };
  /** torch._inductor.config and torch._dynamo.config by dotted name */
  config: Map<string, unknown>;
  readonly dynamoConfig = new Map<string, unknown>();
  readonly functorchConfig = new Map<string, unknown>();
  /** custom operators and their fake implementations by "ns::name" */
  readonly customOps = new Map<string, Value>();
  readonly fakes = new Map<string, Value>();
  /** makes the callable of a custom operator; set where operators are dispatched */
  customOp: (name: string, fn: Value) => Value = (name, fn) => {
    this.customOps.set(name, fn);
    return fn;
  };
  /** artifacts switched on by set_logs */
  logs = new Set<string>();
  trace: TraceSink | null = null;
  /** a frame of torch's own that stacks show, and how many frames are outside of it */
  innerFrame: { readonly frame: StackFrame; readonly depth: number } | null = null;
  /** number of the checkpoint() call that runs, its operators are computed again in the backward pass; null: none */
  checkpoint: number | null = null;
  private checkpoints = 0;
  probe: Probe | null = null;
  readonly events: CaptureEvent[] = [];
  readonly steps: RuntimeStep[] = [];
  /** leaves that need grad and took part in something since the last backward() */
  readonly leaves = new Set<PyTensor>();
  /** answers given to questions nobody can answer here, with where they were asked */
  decideUnknown: (what: string) => boolean = () => true;
  readonly decisions = new Decisions();
  /** what the next traces rest on besides what they see themselves */
  readonly pendingAssumptions: string[] = [];
  assumeLater(text: string): void {
    if (this.trace) this.trace.note(text);
    else if (!this.pendingAssumptions.includes(text)) this.pendingAssumptions.push(text);
  }
  /** outside of a trace: how many elements an operator selects by its data, known or taken to be all of them */
  dataSize: () => number = () => 1;
  /** module classes whose instances the program called */
  readonly calledClasses = new Set<PyClass>();
  /** how many tensors were filled so far */
  filled = 0;
  private runtimeIds = 0;

  constructor(
    readonly vm: Machine,
    readonly options: CaptureOptions,
  ) {
    const t = vm.types;
    this.tensorClass = vm.klass("Tensor", [t.object], "torch");
    this.parameterClass = vm.klass("Parameter", [this.tensorClass], "torch.nn.parameter");
    this.sizeClass = vm.klass("Size", [t.tuple], "torch");
    this.dtypeClass = vm.klass("dtype", [t.object], "torch");
    this.deviceClass = vm.klass("device", [t.object], "torch");
    this.layoutClass = vm.klass("layout", [t.object], "torch");
    this.formatClass = vm.klass("memory_format", [t.object], "torch");
    this.strided = new PyNamed(this.layoutClass, "torch.strided", new LayoutArg("strided"));
    this.defaultDtype = options.defaultDtype ?? "float32";
    this.config = new Map(options.config);
    const defaults = {
      dtype: this.defaultDtype,
      device: this.defaultDevice,
      config: (name: string) => this.config.get(name),
      autocast: () => (this.autocast.enabled ? this.autocast : null),
    };
    // read when a rule asks, so that set_default_dtype and `with torch.device` are seen
    const live = Object.defineProperties(defaults, {
      dtype: { get: () => this.defaultDtype },
      device: { get: () => this.defaultDevice },
    });
    this.metaDefaults = live;
    const guards = { ...STATIC_GUARDS, unbacked: () => int(this.dataSize()) };
    this.metaStatic = makeMetaBuilder(guards, live);
  }
  readonly metaDefaults: { dtype: DType; device: Device; config: (name: string) => unknown };

  get meta(): GraphMetaBuilder {
    return this.trace?.metaBuilder ?? this.metaStatic;
  }

  breakOn(gb: Unsupported["gb"]): Unsupported {
    return new Unsupported(gb);
  }

  // ---- named objects

  dtype(d: DType): PyNamed {
    let v = this.dtypes.get(d);
    if (!v) {
      v = new PyNamed(this.dtypeClass, `torch.${d}`, new DTypeArg(d));
      this.dtypes.set(d, v);
    }
    return v;
  }
  device(d: Device): PyNamed {
    const text = d.index === null ? `device(type='${d.type}')` : `device(type='${d.type}', index=${d.index})`;
    return new PyNamed(this.deviceClass, text, new DeviceArg(d));
  }
  memoryFormat(f: MemoryFormat): PyNamed {
    let v = this.formats.get(f);
    if (!v) {
      v = new PyNamed(this.formatClass, `torch.${f}`, new MemoryFormatArg(f));
      this.formats.set(f, v);
    }
    return v;
  }

  asDtype(v: Value | undefined): DType | undefined {
    if (v instanceof PyNamed && v.data instanceof DTypeArg) return v.data.dtype;
    const t = this.vm.types;
    if (v === t.float) return "float64";
    if (v === t.int) return "int64";
    if (v === t.bool) return "bool";
    return undefined;
  }

  /** a device from torch.device(...), "cuda:0", an index, or None */
  asDevice(v: Value | undefined): Device | undefined {
    if (v === undefined || v === null) return undefined;
    if (v instanceof PyNamed && v.data instanceof DeviceArg) return v.data.device;
    if (typeof v === "number") return { type: "cuda", index: v };
    if (typeof v === "string") {
      // an index that nobody knows here is the first
      const m = /^(cuda|cpu|meta|mps|xpu|npu|hpu|musa)(?::(?:(\d+)|<unknown .*))?$/.exec(v);
      if (!m)
        return this.vm.raise(
          "RuntimeError",
          `Expected one of cpu, cuda, meta device type at start of device string: ${v}`,
        );
      if (m[1] === "cpu") return { type: "cpu", index: null };
      if (m[1] === "meta") return { type: "meta", index: null };
      return { type: "cuda", index: Number(m[2] ?? 0) };
    }
    return undefined;
  }

  // ---- tensors

  size(dims: readonly Value[]): PyTuple {
    return new PyTuple(this.sizeClass, dims);
  }

  /** a size as Python sees it: an int, or a symbol of the trace */
  dimValue(d: Dim): Value {
    const n = intValue(d as Expr);
    if (n !== undefined) return n;
    const trace = this.trace;
    if (!trace) return this.meta.hint(d);
    return new PySymInt(this.vm.types.int, d as Expr, null, trace);
  }

  /** A size that the program reads of a tensor. Numbers are not followed: all later graphs may rest on what it rests on. */
  sizeValue(t: PyTensor, size: Dim): Value {
    for (const a of this.dataSizes.of(t.runtimeId)) this.assumeLater(a);
    return this.dimValue(size);
  }

  /** starts a checkpointed region; gives the one around it. What the region is given are inputs before what it reaches */
  enterCheckpoint(given: readonly Value[]): number | null {
    if (this.trace) for (const v of given) if (v instanceof PyTensor) this.trace.nodeOf(v);
    const outer = this.checkpoint;
    this.checkpoint = this.checkpoints++;
    if (outer === null) this.trace?.graph.openBody("wrap_body");
    return outer;
  }
  leaveCheckpoint(outer: Value): Value {
    this.checkpoint = typeof outer === "number" ? outer : null;
    if (this.checkpoint === null && this.trace) this.trace.graph.body = null;
    return null;
  }

  newTensor(meta: FakeTensor, storage = new Storage(), cls = this.tensorClass): PyTensor {
    const t = new PyTensor(cls, meta, storage);
    storage.root ??= t;
    return t;
  }

  hints(t: PyTensor): number[] {
    return t.meta.shape.map(d => intValue(d) ?? this.meta.hint(d));
  }

  runtime(t: PyTensor): RuntimeTensor {
    return t.runtime(x => ({
      id: this.runtimeIds++,
      meta: x.meta,
      sizes: this.hints(x),
      strides: x.meta.stride.map(d => intValue(d) ?? this.meta.hint(d)),
    }));
  }

  /** a compiled call is under way (its frames, or what runs between them) */
  compiling = false;
  private silent = 0;
  get stepsPaused(): boolean {
    return this.silent > 0;
  }
  /** operators run until the returned function is called leave no steps (a create step says the same shorter) */
  pauseSteps(): () => void {
    this.silent++;
    return () => {
      this.silent--;
    };
  }

  emit(e: CaptureEvent): void {
    if (e.kind === "runtime" && this.silent > 0) return;
    if (e.kind === "runtime") this.steps.push(e.step);
    this.events.push(e);
  }
  step(s: RuntimeStep): void {
    // a write without gradients leaves a tensor's graph as it was
    if (this.silent === 0 && this.gradEnabled) this.tape.note(s);
    this.dataSizes.follow(s);
    this.emit({ kind: "runtime", step: s });
  }
  /** operators that ran outside of a trace, as one step at the line that runs */
  eagerStep(graph: FxGraph, inputs: readonly PyTensor[], outputs: readonly PyTensor[]): void {
    const frame = this.vm.frames[this.vm.frames.length - 1];
    this.step({
      kind: "eager",
      graph,
      inputs: inputs.map(t => this.runtime(t)),
      outputs: outputs.map(t => this.runtime(t)),
      gradEnabled: this.gradEnabled,
      span: frame?.code.instructions[frame.pc - 1]?.at.span ?? { line: 1, column: 0, endLine: 1, endColumn: 0 },
    });
  }
  readonly dataSizes = new DataSizes();
  private readonly tape = new Tape();
  /** false where values that these roots' gradients need were freed by an earlier backward() */
  beginBackward(roots: readonly PyTensor[], retain: boolean): boolean {
    return !this.tape.backward(
      roots.map(t => this.runtime(t)),
      retain,
    );
  }
  /** backward() outside of a trace: the replay computes the gradients, here they only begin to exist */
  runBackward(roots: readonly PyTensor[], span: Diagnostic["span"], grads?: readonly (PyTensor | null)[]): void {
    const leaves = [...this.leaves].map(t => {
      if (t.grad) t.grad.storage.wrote();
      else t.setGrad(this.newTensor({ ...t.meta, requiresGrad: false }));
      return { of: this.runtime(t), grad: this.runtime(t.grad as PyTensor) };
    });
    this.step({
      kind: "backward",
      roots: roots.map(t => this.runtime(t)),
      grads: roots.map((_, i) => {
        const g = grads?.[i];
        return g ? this.runtime(g) : null;
      }),
      leaves,
      span,
    });
    this.leaves.clear();
  }
  noteLeaf(t: PyTensor): void {
    if (t.isLeaf && t.meta.requiresGrad && this.gradEnabled) this.leaves.add(t);
  }
  create(t: PyTensor, fill: Fill): void {
    this.step({ kind: "create", tensor: this.runtime(t), fill });
  }
  nextFill(): number {
    return this.filled++;
  }

  /** metas outside a trace have no symbols */
  concrete(m: FakeTensor): FakeTensor {
    const fix = (e: Expr): Expr => (intValue(e) === undefined ? int(this.meta.hint(e)) : e);
    return { ...m, shape: m.shape.map(fix), stride: m.stride.map(fix), storageOffset: fix(m.storageOffset) };
  }

  isModule(v: Value): boolean {
    return v instanceof PyObject && this.isModuleClass(v.cls);
  }
  isModuleClass(v: Value | undefined): v is PyClass {
    return this.moduleClass !== null && v instanceof PyClass && v.isSubclassOf(this.moduleClass);
  }
}

export { PyComplex, PyFloat };
