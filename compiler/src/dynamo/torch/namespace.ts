// The torch package: its modules by name, and what each holds. In: an import or attribute. Out: operators of the table
// under their names, native functions, and Python parts run by the interpreter. What is not known is absent on torch
// itself (hasattr tells), unknown on lesser modules.
import { lookupPython } from "../../aten/registry";
import { func } from "../builtins/define";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { PyClass, PyDict, type PyModule, type Value } from "../objects/values";
import { type Factory, libraryCode } from "../stdlib/modules";
import type { FrameRunner } from "../trace/runner";
import { applyFunction } from "./autograd_function";
import { checkpointResults } from "./checkpoint";
import { CompileApi } from "./compile_api";
import type { Torch } from "./context";
import { DISTRIBUTIONS_TEXT, OTHER_DISTRIBUTIONS } from "./distributions/text";
import { factory, isFactory } from "./factories";
import { foreachFunction } from "./foreach";
import { addcdiv, functionalFunction, namespaceTarget, op, torchTarget } from "./functional";
import { weightNorm } from "./functional_inlined";
import { HELPERS_TEXT, MODES_TEXT, WRAP_INLINE_TEXT } from "./modes";
import { fillTorch, variableClass } from "./namespace_functions";
import { enterAutocast, exitAutocast, privateC, setGrad } from "./namespace_modes";
import { autogradBackward, autogradGrad, fillCuda, fillLibrary, initFunction, recurrent } from "./namespace_modules";
import { HARMLESS, METHOD_FUNCTIONS, OTHER_FUNCTIONS, PYTHON_FUNCTIONAL, SUBMODULES } from "./namespace_names";
import type { TorchParts } from "./namespace_parts";
import { fillSurroundings } from "./namespace_surroundings";
import { bufferClass, installClasses } from "./namespace_types";
import { installModuleNatives, MODULE_TEXT } from "./nn_base";
import { LAYER_HOME, LAYER_UNITS } from "./nn_layers/index";
import { opsNamespace } from "./ops_namespace";
import { PARALLEL_TEXT } from "./parallel_text";
import { fillPrivate, neverTrue, PRIVATE_TEXT } from "./private_names";
import { REPARAMETRIZE_TEXT } from "./reparametrize_text";
import { fillSparse } from "./sparse";
import { symbolGuest, unknownGuest } from "./symbols";
import { tensorGuest } from "./tensor_guest";
import { TRAINING_TEXT } from "./training_text";
import { VMAP_TEXT } from "./vmap_text";

export class TorchNamespace implements TorchParts {
  readonly torch: Torch;
  readonly api: CompileApi;
  private readonly modules = new Map<string, PyModule>();
  private modes: PyDict | null = null;
  private helpers: PyDict | null = null;
  private trainer: PyDict | null = null;
  private norms: PyDict | null = null;
  private distributions: PyDict | null = null;
  private nn: PyDict | null = null;
  private readonly loadedUnits = new Set<string>();
  private inline: Value = null;

  constructor(
    readonly vm: Machine,
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
    installClasses(this);
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

  mode(name: string): Value {
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
      b("_set_grad_enabled", ([on]) => setGrad(this, vm.truthy(on ?? true)));
      b("_is_compiling", () => torch.trace !== null);
      b("_autocast_dtype", ([device]) => torch.dtype(device === "cpu" ? "bfloat16" : "float16"));
      b("_enter_autocast", args => enterAutocast(this, args));
      b("_exit_autocast", ([prev]) => exitAutocast(this, prev ?? null));
      b("_config_get", ([m, n]) => this.api.configGet(m ?? null, String(n)));
      b("_config_set", ([m, n, v]) => {
        this.api.configSet(m ?? null, String(n), v ?? null);
        return null;
      });
      this.run("modes", MODES_TEXT, "hidden", "grad_mode.py", d);
    }
    return this.modes.get(name) ?? null;
  }

  helper(name: string): Value | undefined {
    if (!this.helpers) {
      const d = this.vm.dict([["__name__", "torch.helpers"]]);
      this.helpers = d;
      d.set("torch", this.module("torch") ?? null);
      const builtin = (name: string, f: (args: readonly Value[]) => Value): void => {
        d.set(name, this.vm.builtin(name, f));
      };
      builtin("_apply_function", args => this.applyFunction(args));
      builtin("_checkpoint_enter", args => this.torch.enterCheckpoint(args));
      builtin("_checkpoint_exit", ([outer]) => this.torch.leaveCheckpoint(outer ?? null));
      builtin("_checkpoint_results", ([result, reentrant]) =>
        checkpointResults(this.torch, result ?? null, reentrant ?? null),
      );
      builtin("_followed_by_sample", () => {
        this.torch.trace?.note("vmap was followed sample by sample");
        return null;
      });
      this.run("helpers", HELPERS_TEXT + VMAP_TEXT + PRIVATE_TEXT + PARALLEL_TEXT, "hidden", "helpers.py", d);
    }
    return this.helpers.get(name) ?? this.training(name);
  }

  private reparametrize(name: string): Value | undefined {
    if (!this.norms) {
      if (!new RegExp(`^(class|def) ${name}\\b`, "m").test(REPARAMETRIZE_TEXT)) return undefined;
      const d = this.vm.dict([["__name__", "torch.nn.utils.parametrize"]]);
      d.set("torch", this.module("torch") ?? null);
      for (const where of ["hook", "parametrized"] as const)
        d.set(`_weight_norm_${where}`, weightNorm(this.torch, where));
      this.norms = d;
      this.run("reparametrize", REPARAMETRIZE_TEXT, "nn_modules", "torch/nn/utils/parametrize.py", d);
    }
    return name.startsWith("__") ? undefined : this.norms.get(name);
  }

  private distribution(name: string): Value | undefined {
    if (!this.distributions) {
      const d = this.vm.dict([["__name__", "torch.distributions"]]);
      d.set("torch", this.module("torch") ?? null);
      this.distributions = d;
      this.run("distributions", DISTRIBUTIONS_TEXT, "hidden", "torch/distributions/distribution.py", d);
    }
    if (name === "__all__") {
      const all = this.distributions.keys().filter(k => typeof k === "string" && !/^_|^(torch|math)$/.test(k));
      return this.vm.list(all);
    }
    const known = name.startsWith("__") || name === "torch" ? undefined : this.distributions.get(name);
    if (known === undefined && OTHER_DISTRIBUTIONS.has(name)) return this.vm.unknown(`torch.distributions.${name}`);
    if (known !== undefined || !/^[a-z]\w*$/.test(name)) return known;
    return this.module(`torch.distributions.${name}`);
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
        vm.builtin("_recurrent", ([self, x, hx]) => recurrent(this, self ?? null, x ?? null, hx ?? null)),
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

  private applyFunction([cls, args, kw, own]: readonly Value[]): Value {
    const { vm, torch } = this;
    const kwargs =
      kw instanceof PyDict ? new Map(kw.entries().map(([k, v]) => [String(k), v] as const)) : vm.emptyKwargs;
    const makeContext = () => own ?? vm.call(this.helper("_Context") ?? null, []);
    return applyFunction(torch, cls ?? null, vm.toArray(args ?? null), kwargs, makeContext);
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
        fillTorch(this, m);
        lazily(n => this.torchAttribute(n));
        return true;
      case "torch.nn":
      case "torch.nn.modules":
        m.dict.set("Parameter", torch.parameterClass);
        m.dict.set("UninitializedParameter", torch.parameterClass);
        m.dict.set("Buffer", bufferClass(this));
        lazily(n => this.nnClass(n));
        return true;
      case "torch.nn.parameter":
        m.dict.set("Parameter", torch.parameterClass);
        m.dict.set("UninitializedParameter", torch.parameterClass);
        m.dict.set("Buffer", bufferClass(this));
        return true;
      case "torch.nn.functional":
        lazily(n => (PYTHON_FUNCTIONAL.has(n) ? this.helper(n) : (functionalFunction(torch, n) ?? neverTrue(this, n))));
        return true;
      case "torch.nn.init":
        lazily(n => initFunction(this, n));
        return true;
      case "torch.hub":
        lazily(n =>
          n === "load"
            ? vm.getattr(vm.importModule("torch_hub", null), n)
            : n.startsWith("__")
              ? undefined
              : vm.unknown(`torch.hub.${n}`),
        );
        return true;
      case "torch.func":
      case "torch._functorch.apis":
        lazily(n => (n === "vmap" ? this.helper(n) : n.startsWith("__") ? undefined : vm.unknown(`torch.func.${n}`)));
        return true;
      case "torch.functional":
        lazily(n =>
          n === "F"
            ? vm.importModule("torch.nn.functional", null)
            : lookupPython(`torch.${n}`).length > 0
              ? this.torchAttribute(n)
              : undefined,
        );
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
        fillCuda(this, m);
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
        func(vm, m, "backward", args => autogradBackward(this, args));
        func(vm, m, "grad", (args, kw) => autogradGrad(this, args, kw));
        m.dict.set("Variable", variableClass(this));
        m.dict.set("set_detect_anomaly", this.mode("_Null"));
        m.dict.set("no_grad", this.mode("no_grad"));
        lazily(n => (n === "detect_anomaly" ? this.mode("_Null") : ignore(n)));
        return true;
      case "torch.autograd.variable":
        m.dict.set("Variable", this.module("torch.autograd")?.dict.get("Variable") ?? null);
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
      case "torch.utils.data.dataset":
      case "torch.utils.data.dataloader":
      case "torch.utils.data.sampler":
      case "torch.utils.data.distributed":
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
      case "torch.nn.utils.weight_norm":
      case "torch.nn.utils.spectral_norm":
        m.lazy = n => this.reparametrize(n) ?? this.sub(name, n) ?? this.helper(n) ?? ignore(n);
        return true;
      case "torch.nn.parallel":
      case "torch.nn.parallel.distributed":
      case "torch.nn.parallel.data_parallel":
        lazily(n => this.nnClass(n) ?? ignore(n));
        return true;
      case "torch.nn.quantized":
        lazily(n => (n === "FloatFunctional" ? this.nnClass(n) : undefined) ?? ignore(n));
        return true;
      case "torch.nn.parallel._functions":
      case "torch.nn.parallel.scatter_gather":
      case "torch.nn.parallel.replicate":
      case "torch.nn.parallel.parallel_apply":
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
        fillLibrary(this, m);
        return true;
      case "torch.sparse":
        fillSparse(this, m, lazily);
        return true;
      case "torch.distributions":
      case "torch.distributions.kl":
      case "torch.distributions.utils":
      case "torch.distributions.distribution":
      case "torch.distributions.transforms":
        lazily(n => this.distribution(n));
        return true;
      default:
        break;
    }
    if (fillSurroundings(this, name, m, lazily) || fillPrivate(this, name, m)) return true;
    // torch.distributions.normal and the like
    if (/^torch\.distributions\.\w+$/.test(name)) {
      lazily(n => this.distribution(n));
      return true;
    }
    if (name.startsWith("torch.nn.modules.") && SUBMODULES.has(name)) {
      lazily(
        n =>
          this.nnClass(n) ??
          (/^_(pair|triple|single)$/.test(n) ? this.module("torch.nn.modules.utils")?.dict.get(n) : undefined),
      );
      return true;
    }
    if (!SUBMODULES.has(name)) return false;
    lazily(n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`)));
    return true;
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
    if (name === "_C") return privateC(this);
    if (METHOD_FUNCTIONS.has(name))
      return vm.builtin(name, ([x, ...args], kw) => vm.call(vm.getattr(x ?? null, name), args, kw));
    // torch functions that exist but that the table lacks: the call becomes an opaque operator
    if (OTHER_FUNCTIONS.has(name)) return op(torch, name, { op: "call_function", target: torchTarget(name), spelling });
    if (name === "_inductor" || name === "_dynamo" || name === "_logging") return this.module(`torch.${name}`);
    return undefined;
  }
}
