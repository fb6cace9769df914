// The torch package: its modules by name, and what each holds. In: an import or attribute. Out: operators of the table
// under their names, native functions, and Python parts run by the interpreter. What is not known is absent on torch
// itself (hasattr tells), unknown on lesser modules.
import { lookupPython } from "../../aten/registry";
import { DTypeArg, LayoutArg, type MemoryFormat, PyFloat } from "../../aten/types";
import { defineNew, func, method, native, property } from "../builtins/define";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import {
  type PyBuiltin,
  PyClass,
  PyDict,
  PyInstance,
  PyList,
  type PyModule,
  PyNamed,
  PyObject,
  PyTuple,
  type Value,
} from "../objects/values";
import { type Factory, libraryCode } from "../stdlib/modules";
import type { FrameRunner } from "../trace/runner";
import { applyFunction } from "./autograd_function";
import { CompileApi } from "./compile_api";
import { DTYPES, isComplex, isFloating, itemSize, type Torch } from "./context";
import { isTensorLike, runOp } from "./dispatch";
import { factory, isFactory, legacyTensor, tensorFromData, underArray } from "./factories";
import { foreachFunction } from "./foreach";
import { addcdiv, functionalFunction, namespaceTarget, op, torchTarget } from "./functional";
import { HELPERS_TEXT, MODES_TEXT, WRAP_INLINE_TEXT } from "./modes";
import { installModuleNatives, MODULE_TEXT } from "./nn_base";
import { LAYER_HOME, LAYER_UNITS } from "./nn_layers";
import { PySymInt, PyTensor } from "./objects";
import { opsNamespace } from "./ops_namespace";
import { REPARAMETRIZE_TEXT } from "./reparametrize_text";
import { symbolGuest, unknownGuest } from "./symbols";
import { tensorGuest } from "./tensor_methods";
import { TRAINING_TEXT } from "./training_text";

const FORMATS: readonly MemoryFormat[] = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"];

const LEGACY: Readonly<Record<string, string>> = {
  FloatTensor: "float32",
  DoubleTensor: "float64",
  HalfTensor: "float16",
  BFloat16Tensor: "bfloat16",
  LongTensor: "int64",
  IntTensor: "int32",
  ShortTensor: "int16",
  CharTensor: "int8",
  ByteTensor: "uint8",
  BoolTensor: "bool",
};

/** calls that set something FuseLens does not follow, or ask about it: they do nothing here */
const HARMLESS =
  /^(manual_seed|seed|set_num_threads|set_printoptions|set_float32_matmul_precision|set_default_tensor_type|set_warn_always|use_deterministic_algorithms|set_num_interop_threads|_assert_async|_assert_scalar|save|set_rng_state|_set_deterministic_algorithms|set_deterministic_debug_mode|_check|_check_is_size|_check_value|_check_index|_check_type)$/;

/** functions of torch.nn.functional that are Python over others */
const PYTHON_FUNCTIONAL: ReadonlySet<string> = new Set(["softmin", "triplet_margin_with_distance_loss"]);

export class TorchNamespace {
  readonly torch: Torch;
  readonly api: CompileApi;
  private readonly modules = new Map<string, PyModule>();
  private modes: PyDict | null = null;
  private helpers: PyDict | null = null;
  private trainer: PyDict | null = null;
  private norms: PyDict | null = null;
  private nn: PyDict | null = null;
  private readonly loadedUnits = new Set<string>();
  private inline: Value = null;

  constructor(
    private readonly vm: Machine,
    torch: Torch,
    runner: FrameRunner,
  ) {
    this.torch = torch;
    vm.guests.push(symbolGuest(torch), unknownGuest(torch), tensorGuest(torch));
    this.api = new CompileApi(
      torch,
      runner,
      name => this.mode(name),
      () => this.wrapInline(),
    );
    this.installClasses();
  }

  readonly factory: Factory = name => (name === "torch" || name.startsWith("torch.") ? this.module(name) : undefined);

  // ---- Python parts

  private run(name: string, text: string, library: "nn_modules" | "hidden", shown: string, dict: PyDict): void {
    const frame = new Frame(libraryCode(name, text, library, shown), dict, null, []);
    frame.names = dict;
    this.outsideTrace(() => this.vm.run(frame));
  }

  /** library code is loaded on first use, which may be while a frame is traced: that leaves nothing in the trace */
  private outsideTrace<T>(f: () => T): T {
    const { vm, torch } = this;
    const saved = { trace: torch.trace, observer: vm.observer, hook: vm.traceHook, frameHook: vm.frameHook };
    torch.trace = null;
    vm.observer = null;
    vm.traceHook = null;
    vm.frameHook = null;
    try {
      return f();
    } finally {
      torch.trace = saved.trace;
      vm.observer = saved.observer;
      vm.traceHook = saved.hook;
      vm.frameHook = saved.frameHook;
    }
  }

  private wrapInline(): Value {
    if (this.inline === null) {
      const dict = this.vm.dict([["__name__", "torch._dynamo.external_utils"]]);
      this.run("wrap_inline", WRAP_INLINE_TEXT, "hidden", "external_utils.py", dict);
      this.inline = dict.get("wrap_inline") ?? null;
    }
    return this.inline;
  }

  private mode(name: string): Value {
    const { vm, torch } = this;
    if (!this.modes) {
      const d = vm.dict([["__name__", "torch.autograd.grad_mode"]]);
      this.modes = d;
      const b = (n: string, f: (args: readonly Value[]) => Value): void => {
        d.set(
          n,
          vm.builtin(n, args => f(args)),
        );
      };
      b("is_grad_enabled", () => torch.gradEnabled);
      b("_set_grad_enabled", ([on]) => this.setGrad(vm.truthy(on ?? true)));
      b("_enter_autocast", args => this.enterAutocast(args));
      b("_exit_autocast", ([prev]) => this.exitAutocast(prev ?? null));
      b("_config_get", ([m, n]) => this.api.configGet(m ?? null, String(n)));
      b("_config_set", ([m, n, v]) => {
        this.api.configSet(m ?? null, String(n), v ?? null);
        return null;
      });
      this.run("modes", MODES_TEXT, "hidden", "grad_mode.py", d);
    }
    return this.modes.get(name) ?? null;
  }

  private helper(name: string): Value | undefined {
    if (!this.helpers) {
      const d = this.vm.dict([["__name__", "torch.helpers"]]);
      this.helpers = d;
      d.set("torch", this.module("torch") ?? null);
      const builtin = (name: string, f: (args: readonly Value[]) => Value): void => {
        d.set(name, this.vm.builtin(name, f));
      };
      builtin("_apply_function", args => this.applyFunction(args));
      builtin("_checkpoint_enter", () => this.torch.enterCheckpoint());
      builtin("_checkpoint_exit", ([outer]) => this.torch.leaveCheckpoint(outer ?? null));
      this.run("helpers", HELPERS_TEXT, "hidden", "helpers.py", d);
    }
    return this.helpers.get(name) ?? this.training(name);
  }

  private reparametrize(name: string): Value | undefined {
    if (!this.norms) {
      if (!new RegExp(`^(class|def) ${name}\\b`, "m").test(REPARAMETRIZE_TEXT)) return undefined;
      const d = this.vm.dict([["__name__", "torch.nn.utils.parametrize"]]);
      d.set("torch", this.module("torch") ?? null);
      this.norms = d;
      this.run("reparametrize", REPARAMETRIZE_TEXT, "nn_modules", "torch/nn/utils/parametrize.py", d);
    }
    return name.startsWith("__") ? undefined : this.norms.get(name);
  }

  /** datasets, optimizers: only for programs that train */
  private training(name: string): Value | undefined {
    if (!this.trainer) {
      if (!new RegExp(`^(class|def) ${name}\\b|\\b${name} =`, "m").test(TRAINING_TEXT)) return undefined;
      const d = this.vm.dict([["__name__", "torch.helpers"]]);
      d.set("torch", this.module("torch") ?? null);
      this.trainer = d;
      this.run("training", TRAINING_TEXT, "hidden", "training.py", d);
    }
    return this.trainer.get(name);
  }

  /** classes of torch.nn; units are compiled when one of their names is asked for */
  nnClass(name: string): Value | undefined {
    const { vm } = this;
    if (!this.nn) {
      const d = vm.dict([["__name__", "torch.nn.modules"]]);
      this.nn = d;
      d.set("torch", this.module("torch") ?? null);
      d.set("F", this.module("torch.nn.functional") ?? null);
      d.set("Parameter", this.torch.parameterClass);
      d.set("_repeat", this.helper("_repeat") ?? null);
      d.set(
        "_recurrent",
        vm.builtin("_recurrent", ([self, x, hx]) => this.recurrent(self ?? null, x ?? null, hx ?? null)),
      );
      this.run("Module", MODULE_TEXT, "nn_modules", "torch/nn/modules/module.py", d);
      const cls = d.get("Module");
      if (cls instanceof PyClass) installModuleNatives(this.torch, cls, d);
    }
    if (name === "Module") return this.nn.get("Module");
    const unit = LAYER_HOME.get(name);
    if (unit === undefined) return undefined;
    this.loadUnit(unit);
    return this.nn.get(name);
  }

  private loadUnit(unit: string): void {
    if (this.loadedUnits.has(unit) || !this.nn) return;
    this.loadedUnits.add(unit);
    const text = LAYER_UNITS.get(unit) ?? "";
    for (const m of text.matchAll(/\b_?[A-Z]\w*|\b_activation|\b_clones/g)) {
      const other = LAYER_HOME.get(m[0]);
      if (other !== undefined && other !== unit) this.loadUnit(other);
    }
    this.run(unit, text, "nn_modules", `torch/nn/modules/${unit.toLowerCase()}.py`, this.nn);
  }

  // ---- modes

  private setGrad(on: boolean): Value {
    const { torch } = this;
    torch.trace?.emit("call_function", "torch._C._set_grad_enabled", [on], new Map(), null);
    torch.gradEnabled = on;
    return null;
  }

  private enterAutocast(args: readonly Value[]): Value {
    const { torch, vm } = this;
    const [device, dtype, enabled, cache] = args;
    const kind = String(device ?? "cuda");
    const chosen = torch.asDtype(dtype) ?? (kind === "cpu" ? "bfloat16" : "float16");
    const before = torch.autocast;
    torch.trace?.emit(
      "call_function",
      "torch.amp.autocast_mode._enter_autocast",
      [
        kind,
        dtype === null || dtype === undefined ? null : new DTypeArg(chosen),
        vm.truthy(enabled ?? true),
        typeof cache === "boolean" ? cache : null,
      ],
      new Map(),
      null,
    );
    torch.autocast = { enabled: vm.truthy(enabled ?? true), device: kind, dtype: chosen };
    return new PyNamed(vm.types.object, "autocast", { before, node: torch.trace?.graph.nodes.at(-1) ?? null });
  }
  private exitAutocast(prev: Value): Value {
    const { torch } = this;
    if (prev instanceof PyNamed) {
      const data = prev.data as { before: Torch["autocast"]; node: import("../../fx/graph").FxNode | null };
      // the graph that it was entered in may have ended at a break
      if (torch.trace && data.node && torch.trace.graph.nodes.includes(data.node)) {
        torch.trace.emit("call_function", "torch.amp.autocast_mode._exit_autocast", [data.node], new Map(), null);
      }
      torch.autocast = data.before;
    }
    return null;
  }

  private applyFunction([cls, args, kw]: readonly Value[]): Value {
    const { vm, torch } = this;
    const kwargs =
      kw instanceof PyDict ? new Map(kw.entries().map(([k, v]) => [String(k), v] as const)) : vm.emptyKwargs;
    const makeContext = () => vm.call(this.helper("_Context") ?? null, []);
    return applyFunction(torch, cls ?? null, vm.toArray(args ?? null), kwargs, makeContext);
  }

  private recurrent(self: Value, x: Value, hx: Value): Value {
    const { vm, torch } = this;
    if (torch.trace) {
      const mode = vm.str(vm.getattr(self, "mode"));
      throw torch.breakOn({
        type: "Attempted to wrap RNN, GRU, or LSTM",
        number: "0014",
        explanation: "Dynamo does not support RNN, GRU, or LSTM.",
        hints: [
          "Set torch._dynamo.config.allow_rnn=True to enable experimental support for RNN, GRU, and LSTM in Dynamo",
        ],
        context: mode,
      });
    }
    if (!(x instanceof PyTensor)) return vm.unknown("an RNN's output");
    void hx;
    const hidden = vm.index(vm.getattr(self, "hidden_size"));
    const layers = vm.index(vm.getattr(self, "num_layers"));
    const directions = vm.truthy(vm.getattr(self, "bidirectional")) ? 2 : 1;
    const batchFirst = vm.truthy(vm.getattr(self, "batch_first"));
    const m = torch.metaStatic;
    const batch = x.meta.shape[batchFirst ? 0 : 1] ?? m.int(1);
    const make = (shape: readonly (number | typeof batch)[]): PyTensor => {
      const t = torch.newTensor(m.tensor(shape, x.meta) as PyTensor["meta"]);
      torch.create(t, { how: "full", value: 0 });
      return t;
    };
    const out = make([...x.meta.shape.slice(0, -1), hidden * directions]);
    const h = make([layers * directions, batch, hidden]);
    const lstm = vm.str(vm.getattr(self, "mode")) === "LSTM";
    return vm.tuple([out, lstm ? vm.tuple([h, make([layers * directions, batch, hidden])]) : h]);
  }

  // ---- classes

  private installClasses(): void {
    const { vm, torch } = this;
    const isTensor = (v: Value | undefined): v is PyTensor => v instanceof PyTensor;
    defineNew(vm, torch.parameterClass, (cls, args, kw) => {
      const data = args[0] ?? kw.get("data");
      const source = isTensor(data) ? data : (vm.call(factory(torch, "empty"), [0]) as PyTensor);
      const grad = args[1] ?? kw.get("requires_grad") ?? true;
      const p = torch.newTensor({ ...source.meta, requiresGrad: vm.truthy(grad) }, source.storage, cls);
      p.isLeaf = true;
      p.storage.root = p;
      p.takeRuntime(source);
      return p;
    });
    defineNew(vm, torch.tensorClass, (cls, args, kw) => {
      if (cls !== torch.tensorClass && isTensor(args[0])) return torch.newTensor(args[0].meta, args[0].storage, cls);
      return legacyTensor(torch, torch.defaultDtype, args, kw);
    });
    defineNew(vm, torch.sizeClass, (_c, [it]) => torch.size(it === undefined ? [] : vm.toArray(it)));
    method(vm, torch.sizeClass, "numel", ([s]) =>
      s instanceof PyTuple ? s.items.reduce((a, x) => vm.binary("*", a, x), 1 as Value) : 0,
    );
    method(
      vm,
      torch.sizeClass,
      "__repr__",
      ([s]) => `torch.Size([${s instanceof PyTuple ? s.items.map(x => vm.repr(x)).join(", ") : ""}])`,
    );
    defineNew(vm, torch.deviceClass, (_c, args, kw) => {
      const first = args[0] ?? kw.get("type") ?? kw.get("device") ?? null;
      const index = args[1] ?? kw.get("index");
      const d = torch.asDevice(first);
      if (!d) return vm.raise("TypeError", "device(): argument 'type' must be str");
      return torch.device(
        index === undefined || index === null ? explicit(first, d) : { type: d.type, index: vm.index(index) },
      );
    });
    property(vm, torch.deviceClass, "type", v => torch.asDevice(v)?.type ?? "cpu");
    property(vm, torch.deviceClass, "index", v => torch.asDevice(v)?.index ?? null);
    method(vm, torch.deviceClass, "__eq__", ([a, b]) => {
      const [x, y] = [torch.asDevice(a), b instanceof PyNamed ? torch.asDevice(b) : undefined];
      return x !== undefined && y !== undefined && x.type === y.type && x.index === y.index;
    });
    method(vm, torch.deviceClass, "__hash__", ([a]) => vm.str(a ?? null));
    method(vm, torch.deviceClass, "__str__", ([a]) => {
      const d = torch.asDevice(a);
      return d ? (d.index === null ? d.type : `${d.type}:${d.index}`) : "";
    });
    const outer: Torch["defaultDevice"][] = [];
    method(vm, torch.deviceClass, "__enter__", ([d]) => {
      outer.push(torch.defaultDevice);
      torch.defaultDevice = torch.asDevice(d) ?? torch.defaultDevice;
      return d ?? null;
    });
    method(vm, torch.deviceClass, "__exit__", () => {
      torch.defaultDevice = outer.pop() ?? torch.defaultDevice;
      return null;
    });
    const flag = (name: string, test: (d: Parameters<typeof isFloating>[0]) => boolean): void =>
      property(vm, torch.dtypeClass, name, v => test(torch.asDtype(v) ?? "float32"));
    flag("is_floating_point", isFloating);
    flag("is_complex", isComplex);
    flag("is_signed", d => !/^(uint|bool)/.test(d));
    property(vm, torch.dtypeClass, "itemsize", v => itemSize(torch.asDtype(v) ?? "float32"));
    method(vm, torch.dtypeClass, "to_complex", () => torch.dtype("complex64"));
    method(vm, torch.dtypeClass, "to_real", () => torch.dtype("float32"));
    this.vm.guests.push({
      hash: v => (v instanceof PyNamed && v.cls === torch.deviceClass ? `\u0000d${v.text}` : undefined),
    });
  }

  // ---- modules

  module(name: string): PyModule | undefined {
    const known = this.modules.get(name);
    if (known) return known;
    const m = this.vm.newModule(name);
    this.modules.set(name, m);
    if (!this.fill(name, m)) {
      this.modules.delete(name);
      return undefined;
    }
    return m;
  }

  private sub(parent: string, name: string): PyModule | undefined {
    return SUBMODULES.has(`${parent}.${name}`) ? this.module(`${parent}.${name}`) : undefined;
  }

  private fill(name: string, m: PyModule): boolean {
    const { vm, torch, api } = this;
    const lazily = (f: (n: string) => Value | undefined): void => {
      m.lazy = n => this.sub(name, n) ?? f(n);
    };
    const ignore = (n: string): Value | undefined => (n.startsWith("__") ? undefined : vm.builtin(n, () => null));
    switch (name) {
      case "torch":
        this.fillTorch(m);
        lazily(n => this.torchAttribute(n));
        return true;
      case "torch.nn":
      case "torch.nn.modules":
        m.dict.set("Parameter", torch.parameterClass);
        m.dict.set("UninitializedParameter", torch.parameterClass);
        m.dict.set("Buffer", this.bufferClass());
        lazily(n => this.nnClass(n));
        return true;
      case "torch.nn.parameter":
        m.dict.set("Parameter", torch.parameterClass);
        m.dict.set("UninitializedParameter", torch.parameterClass);
        m.dict.set("Buffer", this.bufferClass());
        return true;
      case "torch.nn.functional":
        lazily(n => (PYTHON_FUNCTIONAL.has(n) ? this.helper(n) : functionalFunction(torch, n)));
        return true;
      case "torch.nn.init":
        lazily(n => this.initFunction(n));
        return true;
      case "torch.functional":
        lazily(n => (lookupPython(`torch.${n}`).length > 0 ? this.torchAttribute(n) : undefined));
        return true;
      case "torch._dynamo":
        api.dynamoModule(m);
        lazily(n => (n.startsWith("__") ? undefined : vm.unknown(`torch._dynamo.${n}`)));
        return true;
      case "torch._dynamo.config":
        api.configModule(m, () => torch.dynamoConfig, "");
        return true;
      case "torch._inductor":
        lazily(ignore);
        return true;
      case "torch._inductor.config":
        api.configModule(m, () => torch.config, "");
        return true;
      case "torch._functorch.config":
        api.configModule(m, () => torch.functorchConfig, "");
        return true;
      case "torch._functorch":
        lazily(ignore);
        return true;
      case "torch._logging":
        api.loggingModule(m);
        lazily(ignore);
        return true;
      case "torch.compiler":
        api.compilerModule(m);
        lazily(ignore);
        return true;
      case "torch.cuda":
        this.fillCuda(m);
        lazily(ignore);
        return true;
      case "torch.amp":
      case "torch.cuda.amp":
      case "torch.amp.autocast_mode":
        m.dict.set("autocast", this.mode(name === "torch.cuda.amp" ? "_CudaAutocast" : "autocast"));
        m.dict.set("GradScaler", this.helper("GradScaler") ?? null);
        for (const n of ["custom_fwd", "custom_bwd"]) {
          m.dict.set(
            n,
            vm.builtin(n, ([f]) => f ?? vm.builtin(n, ([g]) => g ?? null)),
          );
        }
        func(vm, m, "is_autocast_available", () => true);
        return true;
      case "torch.autograd":
        m.dict.set("Function", this.helper("Function") ?? null);
        func(vm, m, "backward", args => this.autogradBackward(args));
        func(vm, m, "grad", (args, kw) => this.autogradGrad(args, kw));
        func(vm, m, "Variable", ([t]) => t ?? null);
        func(vm, m, "set_detect_anomaly", () => null);
        m.dict.set("no_grad", this.mode("no_grad"));
        lazily(n => (n === "detect_anomaly" ? this.mode("_Null") : ignore(n)));
        return true;
      case "torch.autograd.function":
        m.dict.set("Function", this.helper("Function") ?? null);
        func(vm, m, "once_differentiable", ([f]) => f ?? null);
        return true;
      case "torch.optim":
      case "torch.optim.optimizer":
        lazily(n => this.helper(n));
        return true;
      case "torch.optim.lr_scheduler":
        lazily(n => (n.startsWith("__") ? undefined : (this.helper("_Scheduler") ?? null)));
        return true;
      case "torch.utils.checkpoint":
      case "torch.utils._pytree":
      case "torch.utils.data":
      case "torch.nn.utils.rnn":
        lazily(n => this.helper(n) ?? ignore(n));
        return true;
      case "torch.nn.utils.parametrizations":
        lazily(n => this.reparametrize(n.endsWith("_norm") ? `_parametrized_${n}` : n) ?? ignore(n));
        return true;
      case "torch.nn.utils.parametrize":
        lazily(n => this.reparametrize(n) ?? ignore(n));
        return true;
      case "torch.nn.utils":
        lazily(n => this.reparametrize(n) ?? this.helper(n) ?? ignore(n));
        return true;
      case "torch.nn.parallel":
        lazily(n => this.nnClass(n) ?? ignore(n));
        return true;
      case "torch.nn.utils.fusion":
      case "torch.nn.utils.clip_grad":
        lazily(n => this.helper(n) ?? ignore(n));
        return true;
      case "torch.linalg":
      case "torch.special":
      case "torch.fft": {
        const space = name.slice(6) as "linalg" | "special" | "fft";
        lazily(n => {
          const spelling = `torch.${space}.${n}`;
          const records = lookupPython(spelling);
          if (records.length === 0 && n.startsWith("_")) return undefined;
          return op(torch, n, {
            op: "call_function",
            target: records[0]?.printedAs ?? namespaceTarget(space, n),
            spelling,
          });
        });
        return true;
      }
      case "torch.ops":
        m.lazy = n => opsNamespace(torch, n);
        func(vm, m, "load_library", () => null);
        return true;
      case "torch.library":
        this.fillLibrary(m);
        return true;
      case "torch.jit":
        for (const n of ["is_scripting", "is_tracing"]) func(vm, m, n, () => false);
        for (const n of [
          "script",
          "ignore",
          "unused",
          "export",
          "script_method",
          "interface",
          "freeze",
          "optimize_for_inference",
        ]) {
          m.dict.set(
            n,
            vm.builtin(n, ([f]) =>
              f instanceof PyObject && !(f instanceof PyTuple) ? f : vm.builtin(n, ([g]) => g ?? null),
            ),
          );
        }
        func(vm, m, "annotate", ([, v]) => v ?? null);
        func(vm, m, "isinstance", ([v, c]) => vm.isInstance(v ?? null, c ?? null));
        func(vm, m, "trace", ([f]) => f ?? null);
        m.dict.set("Final", new PyNamed(vm.types.object, "torch.jit.Final"));
        m.dict.set("ScriptModule", this.nnClass("Module") ?? null);
        lazily(n => (n === "Attribute" ? vm.builtin(n, ([v]) => v ?? null) : ignore(n)));
        return true;
      case "torch.distributed":
        for (const n of ["is_available", "is_initialized", "is_torchelastic_launched"]) func(vm, m, n, () => false);
        func(vm, m, "get_rank", () => 0);
        func(vm, m, "get_world_size", () => 1);
        lazily(n => (/^[A-Z]/.test(n) ? vm.unknown(`torch.distributed.${n}`) : ignore(n)));
        return true;
      case "torch.nn.attention":
        m.dict.set("sdpa_kernel", this.mode("_Null"));
        lazily(n => (n.startsWith("__") ? undefined : vm.unknown(`torch.nn.attention.${n}`)));
        return true;
      case "torch.profiler":
      case "torch.autograd.profiler":
      case "torch.cuda.nvtx":
        lazily(n =>
          /^(range_push|range_pop|mark|schedule|tensorboard_trace_handler)$/.test(n) ? ignore(n) : this.mode("_Null"),
        );
        return true;
      case "torch.backends.cuda":
        lazily(n =>
          /^sdp_kernel$/.test(n)
            ? this.mode("_Null")
            : n.startsWith("is_") || n.endsWith("_enabled")
              ? vm.builtin(n, () => true)
              : ignore(n),
        );
        return true;
      case "torch.backends.mps":
      case "torch.backends.mkldnn":
      case "torch.backends.xeon":
      case "torch.mps":
      case "torch.xpu":
      case "torch.mtia":
        lazily(n => (/^(is_available|is_built)$/.test(n) ? vm.builtin(n, () => false) : ignore(n)));
        return true;
      case "torch.backends":
      case "torch.backends.cudnn":
      case "torch.backends.cuda.matmul":
      case "torch.backends.quantized":
        lazily(n => (n.startsWith("__") ? undefined : /^is_|available$/.test(n) ? vm.builtin(n, () => true) : false));
        return true;
      case "torch._higher_order_ops":
        lazily(n =>
          n === "cond"
            ? vm.builtin(n, ([p, a, b, xs]) => this.cond(p ?? null, a ?? null, b ?? null, xs ?? vm.tuple([])))
            : vm.unknown(`torch._higher_order_ops.${n}`),
        );
        return true;
      case "torch.types":
      case "torch.version":
        m.dict.set("cuda", "12.8");
        m.dict.set("hip", null);
        lazily(n => (n.startsWith("__") ? undefined : new PyNamed(vm.types.object, `torch.types.${n}`)));
        return true;
      case "torch.torch_version":
        return true;
      default:
        break;
    }
    if (name.startsWith("torch.nn.modules.") && SUBMODULES.has(name)) {
      lazily(
        n =>
          this.nnClass(n) ??
          (n === "_pair"
            ? this.repeater(2)
            : n === "_triple"
              ? this.repeater(3)
              : n === "_single"
                ? this.repeater(1)
                : undefined),
      );
      return true;
    }
    if (!SUBMODULES.has(name)) return false;
    lazily(n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`)));
    return true;
  }

  private repeater(n: number): Value {
    return this.vm.builtin("_ntuple", ([v]) => this.vm.call(this.helper("_repeat") ?? null, [n, v ?? null]));
  }

  private bufferClass(): Value {
    const { torch, vm } = this;
    return native(vm, "Buffer", ["data?", "*", "persistent?"], a => {
      const data = a.get("data");
      const t =
        data instanceof PyTensor
          ? torch.newTensor(data.meta, data.storage)
          : (vm.call(factory(torch, "empty"), [0]) as PyTensor);
      if (data instanceof PyTensor) t.takeRuntime(data);
      t.isBuffer = true;
      return t;
    });
  }

  private fillTorch(m: PyModule): void {
    const { vm, torch, api } = this;
    const d = m.dict;
    d.set("__version__", "2.11.0");
    d.set("Tensor", torch.tensorClass);
    d.set("Size", torch.sizeClass);
    d.set("device", torch.deviceClass);
    d.set("dtype", torch.dtypeClass);
    d.set("layout", torch.layoutClass);
    d.set("memory_format", torch.formatClass);
    d.set("strided", torch.strided);
    d.set("sparse_coo", new PyNamed(torch.layoutClass, "torch.sparse_coo", new LayoutArg("strided")));
    for (const [k, v] of Object.entries(DTYPES)) d.set(k, torch.dtype(v));
    for (const f of FORMATS) d.set(f, torch.memoryFormat(f));
    for (const [k, v] of Object.entries({ pi: Math.PI, e: Math.E, inf: Infinity, nan: Number.NaN }))
      d.set(k, new PyFloat(v));
    d.set("newaxis", null);
    d.set("compile", api.compileFunction());
    d.set("SymInt", vm.types.int);
    d.set("SymFloat", vm.types.float);
    d.set("SymBool", vm.types.bool);
    for (const [k, dtype] of Object.entries(LEGACY)) {
      const cls = vm.klass(k, [torch.tensorClass], "torch");
      defineNew(vm, cls, (_c, args, kw) => legacyTensor(torch, dtype as Parameters<typeof isFloating>[0], args, kw));
      d.set(k, cls);
    }
    for (const n of ["tensor", "as_tensor", "asarray"])
      func(vm, m, n, (args, kw) => tensorFromData(torch, args, kw, n)).module = "torch";
    func(vm, m, "from_numpy", ([x]) => {
      const t = underArray(x ?? null);
      return t instanceof PyTensor ? t : tensorFromData(torch, [t], vm.emptyKwargs, "tensor");
    });
    func(vm, m, "is_tensor", ([x]) => x instanceof PyTensor);
    func(vm, m, "is_storage", () => false);
    func(vm, m, "is_floating_point", ([x]) => x instanceof PyTensor && isFloating(x.meta.dtype));
    func(vm, m, "is_complex", ([x]) => x instanceof PyTensor && isComplex(x.meta.dtype));
    func(vm, m, "is_grad_enabled", () => torch.gradEnabled);
    func(vm, m, "is_inference_mode_enabled", () => torch.inferenceMode);
    func(vm, m, "is_autocast_enabled", () => torch.autocast.enabled);
    func(vm, m, "is_autocast_cpu_enabled", () => torch.autocast.enabled && torch.autocast.device === "cpu");
    for (const n of ["get_autocast_gpu_dtype", "get_autocast_dtype"])
      func(vm, m, n, () => torch.dtype(torch.autocast.dtype));
    func(vm, m, "get_default_dtype", () => torch.dtype(torch.defaultDtype));
    func(vm, m, "set_default_dtype", ([x]) => {
      torch.defaultDtype = torch.asDtype(x) ?? torch.defaultDtype;
      return null;
    });
    func(vm, m, "get_default_device", () => torch.device(torch.defaultDevice));
    func(vm, m, "set_default_device", ([x]) => {
      torch.defaultDevice = torch.asDevice(x) ?? { type: "cpu", index: null };
      return null;
    });
    func(vm, m, "numel", ([x]) => (x instanceof PyTensor ? vm.call(vm.getattr(x, "numel"), []) : 0));
    func(vm, m, "typename", ([x]) => vm.typeOf(x ?? null).name);
    func(vm, m, "are_deterministic_algorithms_enabled", () => torch.deterministic);
    func(vm, m, "get_num_threads", () => 8);
    func(vm, m, "get_rng_state", () => vm.unknown("torch.get_rng_state()"));
    func(vm, m, "initial_seed", () => 0);
    func(vm, m, "load", () => vm.unknown("torch.load(...)"));
    func(vm, m, "_assert", () => null);
    func(vm, m, "result_type", args => {
      const metas = args.map(a => (a instanceof PyTensor ? a.meta : (a as number)));
      return torch.dtype(torch.meta.promote("default", ...metas));
    });
    func(vm, m, "promote_types", ([a, b]) => torch.dtype(promoteDtypes(torch, a, b)));
    func(vm, m, "can_cast", () => true);
    func(vm, m, "broadcast_shapes", shapes => {
      const all = shapes.map(s => vm.toArray(typeof s === "number" ? vm.tuple([s]) : s));
      const rank = Math.max(0, ...all.map(s => s.length));
      const out = Array.from({ length: rank }, (_, i) => {
        const sizes = all.map(s => s[i - (rank - s.length)] ?? 1);
        return sizes.find(v => v !== 1) ?? 1;
      });
      return torch.size(out);
    });
    func(vm, m, "sym_max", args => args.reduce((a, b) => (vm.truthy(vm.compare(">", a, b)) ? a : b)));
    func(vm, m, "sym_min", args => args.reduce((a, b) => (vm.truthy(vm.compare("<", a, b)) ? a : b)));
    func(vm, m, "sym_int", ([x]) => x ?? 0);
    func(vm, m, "sym_float", ([x]) => vm.call(vm.types.float, [x ?? 0]));
    func(vm, m, "cond", ([p, a, b, xs]) => this.cond(p ?? null, a ?? null, b ?? null, xs ?? vm.tuple([])));
    func(vm, m, "vmap", ([f]) => f ?? null);
    func(vm, m, "get_float32_matmul_precision", () => "highest");
    func(vm, m, "use_deterministic_algorithms", ([on]) => {
      torch.deterministic = vm.truthy(on ?? false);
      return null;
    });
    d.set("finfo", this.limits("finfo"));
    d.set("iinfo", this.limits("iinfo"));
  }

  private limits(name: "finfo" | "iinfo"): Value {
    const { vm, torch } = this;
    const cls = vm.klass(name, [], "torch");
    defineNew(vm, cls, (c, [given]) => {
      const dtype = torch.asDtype(given) ?? torch.defaultDtype;
      const o = new PyInstance(c);
      o.attrs = vm.dict([
        ["dtype", dtype],
        ["bits", itemSize(dtype) * 8],
      ]);
      for (const [k, v] of Object.entries(LIMITS[dtype] ?? {}))
        o.attrs.set(k, name === "finfo" ? new PyFloat(Number(v)) : v);
      return o;
    });
    return cls;
  }

  private torchAttribute(name: string): Value | undefined {
    const { vm, torch } = this;
    if (name.startsWith("__")) return undefined;
    if (["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "autocast"].includes(name))
      return this.mode(name);
    if (name === "Generator" || name === "Event" || name === "Stream") return this.helper(name);
    if (isFactory(name)) return factory(torch, name);
    if (HARMLESS.test(name)) return vm.builtin(name, () => null);
    if (name.startsWith("_foreach_")) return foreachFunction(torch, name);
    if (name === "addcdiv") return addcdiv(torch);
    const spelling = `torch.${name}`;
    const records = lookupPython(spelling);
    if (records.length > 0) {
      return op(torch, name, {
        op: "call_function",
        target: records[0]?.printedAs ?? torchTarget(name),
        spelling,
        display: name,
      });
    }
    if (name === "_C") return this.privateC();
    // torch functions that exist but that the table lacks: the call becomes an opaque operator
    if (OTHER_FUNCTIONS.has(name)) return op(torch, name, { op: "call_function", target: torchTarget(name), spelling });
    if (name === "_inductor" || name === "_dynamo" || name === "_logging") return this.module(`torch.${name}`);
    return undefined;
  }

  private privateC(): Value {
    const { vm, torch } = this;
    const m = vm.newModule("torch._C");
    m.lazy = n => {
      if (n === "_set_grad_enabled") return vm.builtin(n, ([on]) => this.setGrad(vm.truthy(on ?? true)));
      if (n === "_nn") {
        const nn = vm.newModule("torch._C._nn");
        nn.lazy = k =>
          op(torch, k, {
            op: "call_function",
            target: `torch._C._nn.${k}`,
            spelling: lookupPython(`torch._C._nn.${k}`).length > 0 ? `torch._C._nn.${k}` : `torch.nn.functional.${k}`,
          });
        return nn;
      }
      return n.startsWith("__") ? undefined : vm.builtin(n, () => null);
    };
    return m;
  }

  private fillCuda(m: PyModule): void {
    const { vm } = this;
    func(vm, m, "is_available", () => true);
    func(vm, m, "is_initialized", () => true);
    func(vm, m, "is_bf16_supported", () => true);
    func(vm, m, "device_count", () => 1);
    func(vm, m, "current_device", () => 0);
    func(vm, m, "get_device_name", () => "NVIDIA H100 80GB HBM3");
    func(vm, m, "get_device_capability", () => vm.tuple([9, 0]));
    func(vm, m, "get_device_properties", () => {
      const o = new PyInstance(vm.klass("_CudaDeviceProperties", [], "torch.cuda"));
      o.attrs = vm.dict([
        ["name", "NVIDIA H100 80GB HBM3"],
        ["major", 9],
        ["minor", 0],
        ["multi_processor_count", 132],
        ["total_memory", 85899345920],
        ["shared_memory_per_block_optin", 232448],
      ]);
      return o;
    });
    for (const n of ["memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"])
      func(vm, m, n, () => 0);
    func(vm, m, "mem_get_info", () => vm.tuple([85899345920, 85899345920]));
    for (const n of ["Event", "Stream"]) m.dict.set(n, this.helper(n) ?? null);
    m.dict.set("device", this.mode("_Null"));
    m.dict.set("stream", this.mode("_Null"));
    m.dict.set("graph", this.mode("_Null"));
    for (const n of ["current_stream", "default_stream"])
      func(vm, m, n, () => vm.call(this.helper("Stream") ?? null, []));
  }

  private fillLibrary(m: PyModule): void {
    const { vm, torch } = this;
    const decorator = (f: (g: Value) => Value): PyBuiltin => vm.builtin("decorator", ([g]) => f(g ?? null));
    func(vm, m, "custom_op", ([name, fn]) => {
      const make = (g: Value): Value => torch.customOp(String(name), g);
      return fn === undefined || fn === null ? decorator(make) : make(fn);
    });
    func(vm, m, "triton_op", ([name, fn]) => {
      const make = (g: Value): Value => torch.customOp(String(name), g);
      return fn === undefined || fn === null ? decorator(make) : make(fn);
    });
    func(vm, m, "wrap_triton", ([k]) => k ?? null);
    for (const n of ["register_fake", "impl_abstract"]) {
      func(vm, m, n, ([name, fn]) => {
        const set = (g: Value): Value => {
          torch.fakes.set(customName(name ?? null), g);
          return g;
        };
        return fn === undefined || fn === null ? decorator(set) : set(fn);
      });
    }
    for (const n of ["define", "impl", "register_autograd", "register_kernel", "opcheck"]) {
      func(vm, m, n, args => {
        const last = args[args.length - 1];
        return last instanceof PyObject && !(last instanceof PyTuple) && !(last instanceof PyList) && args.length > 1
          ? null
          : decorator(g => g);
      });
    }
    m.dict.set("Library", this.mode("_Null"));
  }

  private initFunction(name: string): Value | undefined {
    const { vm } = this;
    if (name === "calculate_gain") {
      return native(vm, name, ["nonlinearity", "param?"], a => {
        const gains: Record<string, number> = { tanh: 5 / 3, relu: Math.SQRT2, selu: 0.75 };
        return new PyFloat(gains[vm.str(a.need("nonlinearity"))] ?? 1);
      });
    }
    if (name === "_calculate_fan_in_and_fan_out") {
      return vm.builtin(name, ([t]) => {
        if (!(t instanceof PyTensor)) return vm.tuple([1, 1]);
        const s = this.torch.hints(t);
        const field = s.slice(2).reduce((p, n) => p * n, 1);
        return vm.tuple([(s[1] ?? 1) * field, (s[0] ?? 1) * field]);
      });
    }
    if (!/_$|^(uniform|normal|constant|xavier\w*|kaiming\w*)$/.test(name)) return undefined;
    // values of parameters are given anew when a module is compiled; what an initialiser writes is not followed
    return vm.builtin(name, (args, kw) => {
      const t = args[0] ?? kw.get("tensor") ?? null;
      if (t instanceof PyTensor) {
        t.storage.version++;
        t.known = null;
      }
      return t;
    });
  }

  private autogradBackward(args: readonly Value[]): Value {
    const { vm } = this;
    const roots = args[0] instanceof PyTensor ? [args[0]] : vm.toArray(args[0] ?? vm.list([]));
    for (const r of roots) vm.call(vm.getattr(r, "backward"), []);
    return null;
  }

  private autogradGrad(args: readonly Value[], kw: ReadonlyMap<string, Value>): Value {
    const { vm, torch } = this;
    const inputs = args[1] ?? kw.get("inputs") ?? vm.tuple([]);
    const list = inputs instanceof PyTensor ? [inputs] : vm.toArray(inputs);
    return vm.tuple(
      list.map(t => (t instanceof PyTensor ? torch.newTensor({ ...t.meta, requiresGrad: false }) : null)),
    );
  }

  private cond(p: Value, a: Value, b: Value, xs: Value): Value {
    const { vm, torch } = this;
    torch.trace?.note("torch.cond: the first branch was taken");
    return vm.call(p === false ? b : a, vm.toArray(xs));
  }
}

function explicit(first: Value, d: { type: "cuda" | "cpu" | "meta"; index: number | null }): typeof d {
  // "cuda" without an index stays without one until a tensor is made
  return typeof first === "string" && first === "cuda" ? { type: "cuda", index: 0 } : d;
}

function customName(v: Value): string {
  return typeof v === "string" ? v : v instanceof PyObject && "name" in v ? String(v.name) : String(v);
}

function promoteDtypes(torch: Torch, a: Value | undefined, b: Value | undefined): Parameters<Torch["dtype"]>[0] {
  const m = torch.metaStatic;
  const like = (d: Value | undefined) =>
    m.tensor([1], { dtype: torch.asDtype(d) ?? "float32", device: torch.defaultDevice });
  return m.promote("default", like(a), like(b));
}

const LIMITS: Readonly<Record<string, Readonly<Record<string, number | bigint>>>> = {
  float32: {
    max: 3.4028234663852886e38,
    min: -3.4028234663852886e38,
    eps: 1.1920928955078125e-7,
    tiny: 1.1754943508222875e-38,
    smallest_normal: 1.1754943508222875e-38,
    resolution: 1e-6,
  },
  float64: {
    max: 1.7976931348623157e308,
    min: -1.7976931348623157e308,
    eps: 2.220446049250313e-16,
    tiny: 2.2250738585072014e-308,
    smallest_normal: 2.2250738585072014e-308,
    resolution: 1e-15,
  },
  float16: {
    max: 65504,
    min: -65504,
    eps: 0.0009765625,
    tiny: 0.00006103515625,
    smallest_normal: 0.00006103515625,
    resolution: 0.001,
  },
  bfloat16: {
    max: 3.3895313892515355e38,
    min: -3.3895313892515355e38,
    eps: 0.0078125,
    tiny: 1.1754943508222875e-38,
    smallest_normal: 1.1754943508222875e-38,
    resolution: 0.01,
  },
  float8_e4m3fn: { max: 448, min: -448, eps: 0.125, tiny: 0.015625, smallest_normal: 0.015625, resolution: 1 },
  float8_e5m2: {
    max: 57344,
    min: -57344,
    eps: 0.25,
    tiny: 0.00006103515625,
    smallest_normal: 0.00006103515625,
    resolution: 1,
  },
  int8: { max: 127, min: -128 },
  uint8: { max: 255, min: 0 },
  int16: { max: 32767, min: -32768 },
  int32: { max: 2147483647, min: -2147483648 },
  int64: { max: 9223372036854775807n, min: -9223372036854775808n },
};

const SUBMODULES = new Set(
  (
    "nn nn.functional nn.init nn.parameter nn.modules nn.parallel nn.utils nn.utils.rnn nn.utils.parametrizations " +
    "nn.utils.parametrize " +
    "nn.utils.fusion nn.utils.clip_grad nn.attention nn.attention.flex_attention nn.attention.bias nn.parallel nn.intrinsic " +
    "nn.quantized _dynamo _dynamo.config _dynamo.utils _dynamo.testing _inductor _inductor.config _inductor.utils _functorch " +
    "_functorch.config _logging compiler cuda cuda.amp cuda.nvtx cuda.graphs amp amp.autocast_mode autograd autograd.profiler " +
    "autograd.function autograd.functional optim optim.optimizer optim.lr_scheduler utils utils.checkpoint utils.data " +
    "utils._pytree utils.cpp_extension utils.benchmark utils.tensorboard utils._triton linalg special fft ops library jit " +
    "distributed distributed.tensor distributed.fsdp profiler backends backends.cuda backends.cuda.matmul backends.cudnn " +
    "backends.mps backends.mkldnn backends.quantized mps xpu mtia _higher_order_ops types version fx fx.experimental onnx " +
    "export distributions random testing functional sparse nested func hub _prims _prims_common _decomp _subclasses _guards " +
    "ao ao.quantization quantization masked overrides package storage multiprocessing cpu _library torch_version"
  )
    .split(" ")
    .map(n => `torch.${n}`)
    .concat(
      "activation batchnorm container conv dropout linear loss module normalization padding pooling rnn sparse transformer upsampling utils instancenorm"
        .split(" ")
        .map(n => `torch.nn.modules.${n}`),
    ),
);

const OTHER_FUNCTIONS = new Set(
  (
    "polar complex view_as_complex view_as_real stft istft median mode kthvalue histc unique unique_consecutive cummax " +
    "cummin logcumsumexp svd qr lu cholesky inverse pinverse det logdet matrix_exp matrix_power randperm multinomial " +
    "bernoulli normal poisson rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell cdist nanmedian quantile nanquantile corrcoef " +
    "cov renorm conj angle real imag sgn meshgrid cartesian_prod combinations tril_indices triu_indices dropout " +
    "feature_dropout alpha_dropout fused_moving_avg_obs_fake_quant quantize_per_tensor fake_quantize_per_tensor_affine " +
    "fake_quantize_per_channel_affine _scaled_mm _int_mm _grouped_mm _scaled_grouped_mm _weight_int8pack_mm " +
    "_weight_int4pack_mm hash_tensor narrow_copy argwhere nonzero masked_select bincount histogram diff gradient trapezoid " +
    "cumulative_trapezoid searchsorted bucketize scatter_reduce frombuffer sparse_coo_tensor sparse_csr_tensor"
  ).split(" "),
);

export { isTensorLike, PySymInt, runOp };
