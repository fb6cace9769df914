// torch.nn.Module: registration of parameters, buffers and submodules, calls with hooks, conversion. The hot parts are
// native, the rest is said in Python and run by the interpreter. Source paths lie under torch/nn/modules, so their frames
// are left out of stacks, as Dynamo leaves out the real ones.
import { method } from "../builtins/define";
import { bind } from "../interp/attributes";
import { special } from "../interp/operators";
import { PyClass, PyDict, PyInstance, PyObject, PyTuple, PyUnknown, type Value } from "../objects/values";
import { isDifferentiableDType, type Torch } from "./context";
import { PyTensor } from "./objects";
import { methodOp } from "./tensor_ops";

export const MODULE_TEXT = `
class Module:
    dump_patches = False
    call_super_init = False

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_buffer(self, name, tensor, persistent=True):
        _register(self, "_buffers", name, tensor)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        _register(self, "_parameters", name, param)

    def add_module(self, name, module):
        _register(self, "_modules", name, module)

    register_module = add_module

    def children(self):
        for name, module in self.named_children():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self):
        for name, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for owner, module in owners:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield owner + ("." if owner else "") + name, value

    def parameters(self, recurse=True):
        for name, value in self._named_members(lambda module: module._parameters.items(), recurse=recurse):
            yield value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for name, value in self._named_members(lambda module: module._buffers.items(), recurse=recurse):
            yield value

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def get_submodule(self, target):
        found = self
        for part in target.split(".") if target else []:
            found = getattr(found, part)
        return found

    def get_parameter(self, target):
        owner, _, name = target.rpartition(".")
        return getattr(self.get_submodule(owner), name)

    get_buffer = get_parameter

    def set_submodule(self, target, module, strict=False):
        owner, _, name = target.rpartition(".")
        setattr(self.get_submodule(owner), name, module)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            p.grad = None

    def cuda(self, device=None):
        return _convert(self, "cuda" if device is None else device)

    def cpu(self):
        return _convert(self, "cpu")

    def float(self):
        return _convert(self, torch.float32)

    def double(self):
        return _convert(self, torch.float64)

    def half(self):
        return _convert(self, torch.float16)

    def bfloat16(self):
        return _convert(self, torch.bfloat16)

    def type(self, dst_type):
        return _convert(self, dst_type)

    def to(self, *args, **kwargs):
        return _convert(self, *args, **kwargs)

    def to_empty(self, *, device, recurse=True):
        return _convert(self, device)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        found = {} if destination is None else destination
        kept = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        for name, value in [*self._parameters.items(), *kept.items()]:
            if value is not None:
                found[prefix + name] = value if keep_vars else value.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=prefix + name + ".", keep_vars=keep_vars)
        return found

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return None

    def _hook(self, kind, hook):
        hooks = self.__dict__.setdefault(kind, {})
        key = len(hooks)
        hooks[key] = hook
        return _Handle(hooks, key)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._hook("_forward_hooks", (hook, with_kwargs))

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._hook("_forward_pre_hooks", (hook, with_kwargs))

    def register_full_backward_hook(self, hook, prepend=False):
        return _Handle({}, 0)

    register_backward_hook = register_full_backward_pre_hook = register_full_backward_hook

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _Handle({}, 0)

    register_load_state_dict_pre_hook = register_load_state_dict_post_hook = _register_load_state_dict_pre_hook
    _register_state_dict_hook = register_state_dict_post_hook = register_state_dict_pre_hook = _register_load_state_dict_pre_hook

    def share_memory(self):
        return self

    def extra_repr(self):
        return ""

    def _get_name(self):
        return self.__class__.__name__

    def compile(self, *args, **kwargs):
        self.__dict__["_compiled_call_impl"] = torch.compile(self, *args, **kwargs)

    def _call_hooked(self, args, kwargs):
        for hook, with_kwargs in self.__dict__.get("_forward_pre_hooks", {}).values():
            if with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        # no local has what forward gives
        return self._call_forward_hooks(args, kwargs, [self.forward(*args, **kwargs)])

    def _call_forward_hooks(self, args, kwargs, results):
        for hook, with_kwargs in self.__dict__.get("_forward_hooks", {}).values():
            last = results[-1:]
            hook_result = hook(self, args, kwargs, *last) if with_kwargs else hook(self, args, *last)
            if hook_result is not None:
                results.append(hook_result)
        return results[-1]

    def __repr__(self):
        inner = [f"({name}): {module!r}".replace("\\n", "\\n  ") for name, module in self._modules.items()]
        extra = self.extra_repr()
        if not inner:
            return f"{self._get_name()}({extra})"
        lines = ([extra] if extra else []) + inner
        return self._get_name() + "(\\n  " + "\\n  ".join(lines) + "\\n)"

    def __dir__(self):
        return list(self.__dict__) + list(self._parameters) + list(self._buffers) + list(self._modules)


class _Handle:
    def __init__(self, hooks, key):
        self.hooks, self.key = hooks, key

    def remove(self):
        self.hooks.pop(self.key, None)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.remove()
`;

type MemberDict = "_parameters" | "_buffers" | "_modules";

function dictOf(o: Value, name: MemberDict): PyDict | undefined {
  const d = o instanceof PyObject ? o.attrs?.get(name) : undefined;
  return d instanceof PyDict ? d : undefined;
}

/** puts the native methods on the class that MODULE_TEXT made, and its helpers into `globals` */
export function installModuleNatives(torch: Torch, cls: PyClass, globals: PyDict): void {
  const { vm } = torch;
  torch.moduleClass = cls;
  method(vm, cls, "__init__", ([self]) => {
    if (!(self instanceof PyObject)) return null;
    self.attrs ??= vm.dict();
    for (const name of ["_parameters", "_buffers", "_modules"]) self.attrs.set(name, vm.dict());
    self.attrs.set("_non_persistent_buffers_set", vm.set([]));
    self.attrs.set("training", true);
    return null;
  });
  method(vm, cls, "__setattr__", ([self, name, value]) => {
    setMember(torch, self ?? null, String(name), value ?? null);
    return null;
  });
  method(vm, cls, "__getattr__", ([self, name]) => {
    const n = String(name);
    for (const dict of ["_parameters", "_buffers", "_modules"] as const) {
      const v = dictOf(self ?? null, dict)?.get(n);
      if (v !== undefined) return v;
    }
    return vm.raise("AttributeError", `'${vm.typeOf(self ?? null).name}' object has no attribute '${n}'`);
  });
  method(vm, cls, "__delattr__", ([self, name]) => {
    for (const dict of ["_parameters", "_buffers", "_modules"] as const) {
      if (dictOf(self ?? null, dict)?.deleteKey(String(name))) return null;
    }
    if (!(self instanceof PyObject && self.attrs?.deleteKey(String(name)))) {
      vm.raise("AttributeError", `'${vm.typeOf(self ?? null).name}' object has no attribute '${String(name)}'`);
    }
    return null;
  });
  method(vm, cls, "__call__", ([self, ...args], kw) => {
    const o = self as PyInstance;
    const compiled = o.attrs?.get("_compiled_call_impl");
    if (compiled !== undefined && compiled !== null && !torch.trace) return vm.call(compiled, args, kw);
    // both kinds are noted, whichever there are
    if (HOOKS.map(n => noteHooks(torch, o, n)).some(has => has)) {
      // what hooks are handed is looked at before they run
      for (const x of [...args, ...kw.values()]) if (x instanceof PyTensor) torch.trace?.nodeOf(x);
      return vm.call(vm.getattr(o, "_call_hooked"), [vm.tuple(args), vm.dict([...kw])]);
    }
    return vm.call(vm.getattr(o, "forward"), args, kw);
  });
  cls.dict.set("_version", 1);
  globals.set(
    "_register",
    vm.builtin("_register", ([self, dict, name, value]) => {
      if (!(self instanceof PyObject)) return null;
      const d = dictOf(self, String(dict) as MemberDict);
      if (!d) return vm.raise("AttributeError", "cannot assign before Module.__init__() call");
      const module = value === null || value instanceof PyUnknown || torch.isModule(value ?? null);
      if (d === dictOf(self, "_modules") && !module) {
        vm.raise("TypeError", `${vm.typeOf(value ?? null).name} is not a Module subclass`);
      }
      vm.observer?.mutated?.(self);
      d.set(String(name), value ?? null);
      return null;
    }),
  );
  globals.set(
    "_convert",
    vm.builtin("_convert", ([self, ...args], kw) => convertModule(torch, self ?? null, args, kw)),
  );
}

const HOOKS = ["_forward_hooks", "_forward_pre_hooks"] as const;

/** whether a module has hooks of a kind: a graph that ran through them holds for these alone */
function noteHooks({ vm }: Torch, o: PyInstance, kind: (typeof HOOKS)[number]): boolean {
  const hooks = o.attrs?.get(kind);
  if (!(hooks instanceof PyDict) || hooks.size === 0) return false;
  const seen = vm.observer?.loadedAttribute?.(o, kind, hooks) ?? hooks;
  for (const [key, hook] of hooks.entries()) {
    const pair = vm.observer?.loadedItem?.(seen, key, hook) ?? hook;
    if (hook instanceof PyTuple) vm.observer?.loadedItem?.(pair, 0, hook.items[0] ?? null);
  }
  return true;
}

function setMember(torch: Torch, self: Value, name: string, value: Value): void {
  const { vm } = torch;
  if (!(self instanceof PyObject)) return;
  const cls = vm.typeOf(self);
  const found = cls.lookup(name);
  const isProperty = found instanceof PyObject && found.cls === vm.types.property;
  const setter = found instanceof PyInstance ? special(vm, found, "__set__") : undefined;
  if (!isProperty && setter === undefined) {
    const params = dictOf(self, "_parameters");
    const modules = dictOf(self, "_modules");
    const buffers = dictOf(self, "_buffers");
    if (value instanceof PyTensor && value.cls.isSubclassOf(torch.parameterClass)) {
      if (!params) return vm.raise("AttributeError", "cannot assign parameters before Module.__init__() call");
      for (const d of [self.attrs, buffers, modules]) d?.deleteKey(name);
      params.set(name, value);
      return;
    }
    if (torch.isModule(value)) {
      if (!modules) return vm.raise("AttributeError", "cannot assign module before Module.__init__() call");
      for (const d of [self.attrs, buffers, params]) d?.deleteKey(name);
      modules.set(name, value);
      return;
    }
    if (value instanceof PyTensor && value.isBuffer && buffers) {
      buffers.set(name, value);
      return;
    }
    for (const d of [params, modules, buffers]) {
      if (d?.get(name) === undefined) continue;
      d.set(name, value);
      return;
    }
  }
  const plain = vm.objectAttribute("__setattr__");
  if (plain !== undefined) vm.call(bind(vm, plain, self, cls), [name, value]);
}

/** .to(), .cuda(), .half(): parameters keep their identity, buffers are replaced */
function convertModule(torch: Torch, root: Value, args: readonly Value[], kw: ReadonlyMap<string, Value>): Value {
  const seen = new Set<Value>();
  const floatingOnly = (t: PyTensor): boolean => isDifferentiableDType(t.meta.dtype);
  const convert = (t: PyTensor): PyTensor => {
    const useful = floatingOnly(t) ? args : args.filter(a => torch.asDtype(a) === undefined);
    const kwargs = new Map([...kw].filter(([k, v]) => floatingOnly(t) || !(k === "dtype" && v !== null)));
    if (useful.length === 0 && kwargs.size === 0) return t;
    if (!changes(torch, t, useful, kwargs)) return t;
    const was = torch.gradEnabled;
    torch.gradEnabled = false;
    const made = methodOp(torch, "to", t, useful, kwargs);
    torch.gradEnabled = was;
    return made instanceof PyTensor ? made : t;
  };
  const visit = (m: Value): void => {
    if (seen.has(m)) return;
    seen.add(m);
    for (const p of dictOf(m, "_parameters")?.values() ?? []) {
      if (!(p instanceof PyTensor) || seen.has(p)) continue;
      seen.add(p);
      const made = convert(p);
      if (made === p) continue;
      p.meta = { ...made.meta, requiresGrad: p.meta.requiresGrad };
      p.takeRuntime(made);
    }
    const buffers = dictOf(m, "_buffers");
    for (const [, k, b] of buffers?.rawEntries() ?? []) if (b instanceof PyTensor) buffers?.set(String(k), convert(b));
    for (const child of dictOf(m, "_modules")?.values() ?? []) visit(child);
  };
  visit(root);
  return root;
}

/** whether .to() with these arguments would make a new tensor */
function changes(torch: Torch, t: PyTensor, args: readonly Value[], kw: ReadonlyMap<string, Value>): boolean {
  for (const v of [...args, kw.get("dtype"), kw.get("device")]) {
    if (v === undefined || v === null || typeof v === "boolean") continue;
    if (v instanceof PyTensor) return true;
    const dtype = torch.asDtype(v);
    if (dtype !== undefined && dtype !== t.meta.dtype) return true;
    const device = dtype === undefined ? torch.asDevice(v) : undefined;
    if (device && (device.type !== t.meta.device.type || device.index !== t.meta.device.index)) return true;
  }
  const format = kw.get("memory_format");
  return format !== undefined && format !== null && t.meta.shape.length === 4;
}

export { PyClass };
