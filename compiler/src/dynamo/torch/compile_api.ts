// torch.compile, torch._dynamo, torch.compiler, torch._inductor.config, torch._logging: what programs say to the compiler.
// In: their calls. Out: compiled objects, configuration in torch's own names, and graph breaks asked for.
import { func, native } from "../builtins/define";
import type { NativeArgs } from "../interp/arguments";
import { PyFunction } from "../interp/frame";
import {
  type Kwargs,
  PyBuiltin,
  type PyClass,
  PyDict,
  PyFloat,
  PyInstance,
  PyList,
  type PyModule,
  PyNamed,
  PyObject,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { FrameRunner } from "../trace/runner";
import type { Torch } from "./context";
import { type CompileOptions, PyCompiled, PyTensor } from "./objects";
import { Unsupported } from "./sink";

const MODES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  default: {},
  "reduce-overhead": { "triton.cudagraphs": true },
  "max-autotune": { max_autotune: true, "triton.cudagraphs": true, coordinate_descent_tuning: true },
  "max-autotune-no-cudagraphs": { max_autotune: true, coordinate_descent_tuning: true },
};

function toPlain(v: Value): unknown {
  if (v instanceof PyFloat) return v.value;
  if (v instanceof PyList || v instanceof PyTuple) return v.items.map(toPlain);
  if (v instanceof PyDict) return Object.fromEntries(v.entries().map(([k, x]) => [String(k), toPlain(x)]));
  if (v instanceof PyObject) return v instanceof PyNamed ? v.text : undefined;
  return v;
}

function fromPlain(torch: Torch, x: unknown): Value {
  if (x === null || x === undefined) return null;
  if (typeof x === "string" || typeof x === "boolean") return x;
  if (typeof x === "number") return Number.isInteger(x) ? x : new PyFloat(x);
  if (Array.isArray(x)) return torch.vm.list(x.map(y => fromPlain(torch, y)));
  if (typeof x === "object") return torch.vm.dict(Object.entries(x).map(([k, y]) => [k, fromPlain(torch, y)] as const));
  return null;
}

export class CompileApi {
  private readonly compiledClass: PyClass;
  private optimizedModule: PyClass | null = null;
  private readonly configs = new Map<
    PyObject,
    { readonly store: () => Map<string, unknown>; readonly prefix: string }
  >();
  private readonly compiledModules = new Map<PyInstance, PyCompiled>();

  constructor(
    private readonly torch: Torch,
    private readonly runner: FrameRunner,
    /** classes of modes.ts */
    private readonly mode: (name: string) => Value,
    private readonly wrapInline: () => Value,
  ) {
    const { vm } = torch;
    this.compiledClass = vm.klass("function", [], "builtins");
    vm.guests.push({
      call: (f, args, kw) => (f instanceof PyCompiled ? this.callCompiled(f, args, kw) : this.beforeCall(f, args, kw)),
      getattr: (o, name) => {
        if (!(o instanceof PyCompiled) || o.attrs?.get(name) !== undefined) return undefined;
        if (name === "_torchdynamo_orig_callable" || name === "__wrapped__") return o.target;
        return name.startsWith("__") && name !== "__name__" && name !== "__doc__" && name !== "__qualname__"
          ? undefined
          : vm.getattrOrUndefined(o.target, name);
      },
    });
    this.compiledClass.dict.set(
      "__get__",
      (() => {
        const b = vm.builtin("__get__", ([f, self]) =>
          self === null || self === undefined ? (f ?? null) : vm.call(vm.types.method, [f ?? null, self]),
        );
        b.method = true;
        return b;
      })(),
    );
  }

  // ---- torch.compile

  compileFunction(): PyBuiltin {
    const { vm } = this.torch;
    const names = ["model?", "*", "fullgraph?", "dynamic?", "backend?", "mode?", "options?", "disable?"];
    return native(vm, "compile", names, a => {
      const options = this.readOptions(a);
      const model = a.get("model") ?? null;
      const disabled = vm.truthy(a.get("disable") ?? false);
      const wrap = (m: Value): Value => (disabled ? m : this.compiled(m, options));
      return model === null ? vm.builtin("compile", ([m]) => wrap(m ?? null)) : wrap(model);
    });
  }

  private readOptions(a: NativeArgs): CompileOptions {
    const { vm } = this.torch;
    const mode = a.get("mode") ?? null;
    const given = a.get("options") ?? null;
    if (mode !== null && given !== null) {
      vm.raise(
        "RuntimeError",
        "Either mode or options can be specified, but both can't be specified at the same time.",
      );
    }
    const options = new Map<string, unknown>();
    if (typeof mode === "string") {
      const known = Object.hasOwn(MODES, mode) ? MODES[mode] : undefined;
      if (!known)
        vm.raise("RuntimeError", `Unrecognized mode=${mode}, should be one of: ${Object.keys(MODES).join(", ")}`);
      for (const [k, v] of Object.entries(known ?? {})) options.set(k, v);
    }
    if (given instanceof PyDict) for (const [k, v] of given.entries()) options.set(String(k), toPlain(v));
    const dynamic = a.get("dynamic") ?? null;
    const backend = a.get("backend") ?? "inductor";
    return {
      fullgraph: vm.truthy(a.get("fullgraph") ?? false),
      dynamic: dynamic === null ? null : vm.truthy(dynamic),
      mode: typeof mode === "string" ? mode : null,
      backend: typeof backend === "string" ? backend : "custom",
      options,
      assumed: [],
    };
  }

  /** everything handed to torch.compile, and what of it was called */
  readonly created: PyCompiled[] = [];
  readonly called = new Set<PyCompiled>();

  compiled(target: Value, options: CompileOptions): Value {
    const { torch } = this;
    if (target instanceof PyUnknown) return target;
    if (torch.isModule(target)) {
      this.refill(target);
      return this.optimized(target as PyInstance, options);
    }
    const made = new PyCompiled(this.compiledClass, target, options);
    this.created.push(made);
    return made;
  }

  /** parameters of a compiled module take the values that the replay can make again */
  private refill(module: Value): void {
    const { vm, torch } = this;
    const silent = torch.trace !== null;
    if (silent) return;
    const named = vm.toArray(vm.call(vm.getattr(module, "named_parameters"), []));
    const parameters = named.flatMap(pair => {
      const [name, p] = vm.toArray(pair);
      if (typeof name !== "string" || !(p instanceof PyTensor)) return [];
      const how =
        p.meta.shape.length >= 2 ? "weight_matrix" : name.endsWith("weight") ? "weight_vector" : "other_parameter";
      return [{ name, tensor: torch.runtime(p), fill: { how, k: torch.nextFill() } as const }];
    });
    torch.step({ kind: "refill", parameters });
  }

  private get vm(): Torch["vm"] {
    return this.torch.vm;
  }

  /** OptimizedModule: a Module around the original, calls of which are compiled */
  private optimized(module: PyInstance, options: CompileOptions): PyInstance {
    const { vm, torch } = this;
    if (!this.optimizedModule) {
      const base = torch.moduleClass ?? vm.types.object;
      const cls = vm.klass("OptimizedModule", [base], "torch._dynamo.eval_frame");
      const own = (name: string, fn: (self: PyInstance, args: readonly Value[], kw: Kwargs) => Value): void => {
        const b = vm.builtin(name, ([self, ...args], kw) => fn(self as PyInstance, args, kw));
        b.method = true;
        cls.dict.set(name, b);
      };
      own("__call__", (self, args, kw) => {
        const holder = this.compiledModules.get(self);
        if (!holder) return null;
        return torch.trace ? vm.call(holder.target, args, kw) : this.callCompiled(holder, args, kw);
      });
      own("forward", (self, args, kw) => vm.call(self, args, kw));
      own("__getattr__", (self, [name]) => {
        const holder = this.compiledModules.get(self);
        const v = holder ? vm.getattrOrUndefined(holder.target, String(name)) : undefined;
        if (v !== undefined) return v;
        return vm.raise("AttributeError", `'OptimizedModule' object has no attribute '${String(name)}'`);
      });
      own("__setattr__", (self, [name, v]) => {
        const holder = this.compiledModules.get(self);
        if (holder) vm.setattr(holder.target, String(name), v ?? null);
        return null;
      });
      own("__len__", self => vm.length(this.compiledModules.get(self)?.target ?? null));
      own("__getitem__", (self, [k]) => vm.getitem(this.compiledModules.get(self)?.target ?? null, k ?? null));
      own("__iter__", self => vm.iterate(this.compiledModules.get(self)?.target ?? null));
      cls.dict.deleteKey("__len__");
      this.optimizedModule = cls;
    }
    const o = new PyInstance(this.optimizedModule);
    const modules = vm.dict([["_orig_mod", module]]);
    o.attrs = vm.dict([
      ["_parameters", vm.dict()],
      ["_buffers", vm.dict()],
      ["_modules", modules],
      ["_non_persistent_buffers_set", vm.set([])],
      ["_orig_mod", module],
    ]);
    const made = new PyCompiled(this.compiledClass, module, options);
    this.compiledModules.set(o, made);
    this.created.push(made);
    return o;
  }

  // ---- calls

  private callCompiled(f: PyCompiled, args: readonly Value[], kw: Kwargs): Value {
    const { vm } = this;
    if (this.torch.trace) return vm.call(f.target, args, kw);
    const context = { options: f.options, frames: this.framesOf(f) };
    this.called.add(f);
    return this.runner.callCompiled(this.callable(f.target), args, kw, context);
  }
  /** frames compiled for each, for lenses */
  readonly frames = new Map<PyCompiled, number[]>();
  private framesOf(f: PyCompiled): number[] {
    let list = this.frames.get(f);
    if (!list) {
      list = [];
      this.frames.set(f, list);
    }
    return list;
  }

  /** library code is compiled through Dynamo's inner(*args, **kwargs) */
  callable(target: Value): Value {
    const { vm, torch } = this;
    if (torch.isModule(target)) {
      const forward = vm.typeOf(target).lookup("forward");
      const user = forward instanceof PyFunction && forward.code.file.library === "user";
      return user ? target : vm.call(this.wrapInline(), [target]);
    }
    if (target instanceof PyFunction && target.code.file.library !== "user") {
      return vm.call(this.wrapInline(), [target]);
    }
    if (target instanceof PyBuiltin) return vm.call(this.wrapInline(), [target]);
    return target;
  }

  /** functions that end a graph when a traced frame calls them */
  private beforeCall(f: Value, args: readonly Value[], kw: Kwargs): Value | undefined {
    const { torch, vm } = this;
    if (f instanceof PyFunction && f.marks.has("disable")) {
      if (torch.trace) {
        const shown = `<function ${f.qualname} at 0x7f0000000000>`;
        throw new Unsupported({
          type: "Skip calling `torch.compiler.disable()`d function",
          number: "0098",
          explanation: `Skip calling function \`${shown}\` since it was wrapped with \`torch.compiler.disable\` (reason: None)`,
          hints: ["Remove the `torch.compiler.disable` call"],
          context: shown,
        });
      }
      return undefined;
    }
    if (torch.trace && f instanceof PyFunction && f.module?.name === "logging" && LOGGER_METHOD.test(f.qualname))
      throw loggerBreak(torch, f, args, kw);
    if (!torch.trace || !(f instanceof PyBuiltin)) return undefined;
    if (f === vm.builtins.get("print") || f === vm.builtins.get("open") || f === vm.builtins.get("input")) {
      throw builtinBreak(torch, f.name, args, kw);
    }
    if (f.module === "_hashlib" || f.module === "time") {
      const qualname = f.name;
      throw new Unsupported({
        type: "Attempted to call function marked as skipped",
        number: "0007",
        explanation: `Dynamo does not know how to trace the builtin \`${f.module}.${qualname}.\` This function is either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ Python extension (perhaps created with pybind).`,
        hints: [
          "If it is a Python builtin, please file an issue on GitHub so the PyTorch team can add support for it and see the next case for a workaround.",
          "If it is a third-party C/C++ Python extension, please either wrap it into a PyTorch-understood custom operator (see https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html for more details) or, if it is traceable, use `torch.compiler.allow_in_graph`.",
        ],
        context: `module: ${f.module}, qualname: ${qualname}, skip reason: <missing reason>`,
      });
    }
    const self = args[0];
    if (f.method && self instanceof PyInstance && self.cls.module === "_hashlib") {
      const cls = self.cls.name;
      throw new Unsupported({
        type: "Unsupported method call",
        number: "0156",
        explanation: `Dynamo does not know how to trace method \`${f.name}\` of class \`${cls}\``,
        hints: [`Avoid calling \`${cls}.${f.name}\` in your code.`, "Please report an issue to PyTorch."],
        context: `call_method UserDefinedObjectVariable(${cls}) ${f.name} [] {}`,
      });
    }
    return undefined;
  }

  // ---- modules

  dynamoModule(m: PyModule): void {
    const { vm, torch } = this;
    func(vm, m, "reset", () => {
      this.runner.reset();
      return null;
    });
    m.dict.set("disable", this.disableFunction());
    func(vm, m, "graph_break", args => {
      if (!torch.trace) return null;
      throw new Unsupported({
        type: "Call to `torch._dynamo.graph_break()`",
        number: "0025",
        explanation: `User-inserted graph break. Message: ${args.length > 0 ? vm.str(args[0] ?? null) : "None"}`,
        hints: ["Remove the `torch._dynamo.graph_break()` call."],
        context: `Called \`torch._dynamo.graph_break()\` with args \`[${args.map(a => vm.repr(a)).join(", ")}]\`, kwargs \`{}\``,
      });
    });
    const mark = (name: string, how: "dynamic" | "static" | "unbacked"): void => {
      func(vm, m, name, ([t, dims]) => {
        if (!(t instanceof PyTensor)) return null;
        t.marks ??= new Map();
        const list =
          dims === undefined
            ? t.meta.shape.map((_, i) => i)
            : typeof dims === "number"
              ? [dims]
              : vm.toArray(dims).map(d => vm.index(d));
        for (const d of list) t.marks.set(d < 0 ? d + t.meta.shape.length : d, how);
        return null;
      });
    };
    mark("mark_dynamic", "dynamic");
    mark("maybe_mark_dynamic", "dynamic");
    mark("mark_static", "static");
    mark("mark_unbacked", "unbacked");
    func(vm, m, "mark_static_address", () => null);
    func(vm, m, "is_compiling", () => torch.trace !== null);
    func(vm, m, "allow_in_graph", ([f]) => f ?? null);
    func(vm, m, "optimize", (_args, kw) =>
      vm.builtin("optimize", ([f]) => vm.call(this.compileFunction(), [f ?? null], kw)),
    );
    func(vm, m, "list_backends", () => vm.list(["inductor"]));
    func(vm, m, "run", ([f]) => f ?? null);
    func(vm, m, "explain", () => vm.unknown("torch._dynamo.explain(...)"));
  }

  disableFunction(): PyBuiltin {
    const { vm } = this;
    const mark = (f: Value): Value => {
      if (!(f instanceof PyFunction)) return f;
      const copy = new PyFunction(f.cls, f.code, f.globals, f.module, f.defaults, f.kwDefaults, f.closure);
      copy.qualname = f.qualname;
      copy.attrs = f.attrs;
      copy.marks = new Set([...f.marks, "disable"]);
      return copy;
    };
    return vm.builtin("disable", args =>
      args[0] === undefined || args[0] === null ? vm.builtin("disable", ([f]) => mark(f ?? null)) : mark(args[0]),
    );
  }

  compilerModule(m: PyModule): void {
    const { vm, torch } = this;
    m.dict.set("disable", this.disableFunction());
    for (const n of ["is_compiling", "is_dynamo_compiling"]) func(vm, m, n, () => torch.trace !== null);
    func(vm, m, "is_exporting", () => false);
    m.dict.set("compile", this.compileFunction());
    func(vm, m, "reset", () => {
      this.runner.reset();
      return null;
    });
    for (const n of ["allow_in_graph", "assume_constant_result"]) func(vm, m, n, ([f]) => f ?? null);
    for (const n of ["cudagraph_mark_step_begin", "set_stance", "save_cache_artifacts", "load_cache_artifacts"])
      func(vm, m, n, () => null);
    func(vm, m, "substitute_in_graph", () => vm.builtin("decorator", ([f]) => f ?? null));
  }

  loggingModule(m: PyModule): void {
    const { vm, torch } = this;
    func(vm, m, "set_logs", (_args, kw) => {
      torch.logs = new Set();
      const take = (k: string, v: Value): void => {
        if (vm.truthy(v)) torch.logs.add(k);
      };
      for (const [k, v] of kw) if (k !== "modules" && k !== "all") take(k, v);
      return null;
    });
    func(vm, m, "getArtifactLogger", () => vm.call(vm.getattr(vm.importModule("logging", null), "getLogger"), []));
  }

  /** a config module: attributes are entries by dotted name */
  configModule(m: PyModule, store: () => Map<string, unknown>, prefix: string): void {
    const { vm, torch } = this;
    this.configs.set(m, { store, prefix });
    m.lazy = name => {
      const key = prefix + name;
      const s = store();
      if (s.has(key)) return undefined; // read live, below
      if (name === "patch") return vm.builtin("patch", (args, kw) => this.patch(m, args, kw));
      if (
        [...s.keys()].some(k => k.startsWith(`${key}.`)) ||
        /^(triton|cuda|aot_inductor|trace|rocm|cpp|debug|test_configs)$/.test(name)
      ) {
        const sub = vm.newModule(`${m.name}.${name}`);
        this.configModule(sub, store, `${key}.`);
        return sub;
      }
      if (/^(save_config|load_config|codegen_config|get_hash|shallow_copy_dict|to_dict)$/.test(name))
        return vm.builtin(name, () => vm.dict());
      return undefined;
    };
    if (this.configs.size === 1) {
      vm.guests.push({
        getattr: (o, name) => {
          const c = o instanceof PyObject ? this.configs.get(o) : undefined;
          if (!c || name.startsWith("__") || name === "patch") return undefined;
          const key = c.prefix + name;
          const s = c.store();
          if (s.has(key)) return fromPlain(torch, s.get(key));
          return undefined;
        },
        setattr: (o, name, v) => {
          const c = o instanceof PyObject ? this.configs.get(o) : undefined;
          if (!c) return false;
          c.store().set(c.prefix + name, toPlain(v));
          return true;
        },
      });
    }
  }

  private patch(m: PyModule, args: readonly Value[], kw: Kwargs): Value {
    const { vm } = this;
    const changes = vm.dict();
    const [first, second] = args;
    if (first instanceof PyDict) for (const [k, v] of first.entries()) changes.set(String(k), v);
    else if (typeof first === "string") changes.set(first, second ?? null);
    for (const [k, v] of kw) changes.set(k, v);
    return vm.call(this.mode("_Patch"), [m, changes]);
  }

  configGet(m: Value, name: string): Value {
    const c = m instanceof PyObject ? this.configs.get(m) : undefined;
    return c ? fromPlain(this.torch, c.store().get(c.prefix + name)) : null;
  }
  configSet(m: Value, name: string, v: Value): void {
    const c = m instanceof PyObject ? this.configs.get(m) : undefined;
    c?.store().set(c.prefix + name, toPlain(v));
  }
}

function variableClass(torch: Torch, v: Value): string {
  const { vm } = torch;
  const at = (path: string): string => `<class 'torch._dynamo.variables.${path}'>`;
  if (v instanceof PyTensor) return at("tensor.TensorVariable");
  if (v instanceof PyTuple) return at(v.cls === torch.sizeClass ? "lists.SizeVariable" : "lists.TupleVariable");
  if (v instanceof PyList) return at("lists.ListVariable");
  if (v instanceof PyDict) return at("dicts.ConstDictVariable");
  if (v instanceof PyObject && torch.isModule(v)) return at("nn_module.UnspecializedNNModuleVariable");
  if (v instanceof PyObject && !(v instanceof PyNamed) && vm.typeOf(v) !== vm.types.int)
    return at("user_defined.UserDefinedObjectVariable");
  return at("constant.ConstantVariable");
}

const LOGGER_METHOD = /^Logger\.(?:debug|info|warning|error|critical|exception|log)$/;

function loggerBreak(torch: Torch, f: PyFunction, [logger, ...args]: readonly Value[], kw: Kwargs): Unsupported {
  const shown = args.map(a => variableClass(torch, a).replace(/^.*\.(\w+)'>$/, "$1()")).join(", ");
  const named = [...kw.keys()].map(k => `'${k}'`).join(", ");
  return new Unsupported({
    type: "logging.Logger method not supported for non-export cases",
    number: "0291",
    explanation: "logging.Logger methods are not supported for non-export cases.",
    hints: ["Add the logging method to `torch._dynamo.config.ignore_logging_functions`."],
    context: `method: ${torch.vm.repr(logger ?? null)}.${f.name}, args: [${shown}], kwargs: {${named}}`,
  });
}

function builtinBreak(torch: Torch, name: string, args: readonly Value[], kw: Kwargs): Unsupported {
  const { vm } = torch;
  const types = args.map(a => `'${a instanceof PyTensor ? "Tensor" : vm.typeOf(a).name}'`).join(", ");
  const hasKw = kw.size > 0 ? "True" : "False";
  const hints = [
    `Avoid calling builtin \`${name}\` with argument types [${types}]. Consider using an equivalent alternative function/method to \`${name}\`.`,
    "If you are attempting to call a logging function (e.g. `print`), you can try adding it to `torch._dynamo.config.reorderable_logging_functions`.",
    "Please report an issue to PyTorch.",
  ];
  return new Unsupported({
    type: "Failed to trace builtin operator",
    number: "0059",
    explanation: `Dynamo does not know how to trace builtin operator \`${name}\` with argument types [${types}] (has_kwargs ${hasKw})`,
    hints,
    context: `builtin ${name} [${args.map(a => variableClass(torch, a)).join(", ")}] ${hasKw}`,
  });
}
