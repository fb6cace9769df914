// User-written Triton kernels: triton.jit and what stands around it. In: launches, kernel[grid](...). Out: one opaque
// operator per tensor that the kernel stores to, so that what reads it later depends on the launch. The kernel's body is
// only looked at for its stores.

import { FxGraph } from "../../fx/graph";
import type * as ast from "../../python/ast";
import { func, method } from "../builtins/define";
import { PyFunction } from "../interp/frame";
import { type Kwargs, PyInstance, type PyModule, type Value } from "../objects/values";
import type { Factory } from "../stdlib/modules";
import type { Torch } from "./context";
import { Converter } from "./convert";
import { opaqueOp } from "./dispatch";
import { PyTensor } from "./objects";

const LAUNCH = "torch.ops.higher_order.triton_kernel_wrapper_mutation";

export function tritonFactory(torch: Torch): Factory {
  const { vm } = torch;
  const kernelClass = vm.klass("JITFunction", [], "triton.runtime.jit");
  const kernels = new WeakMap<PyInstance, Value>();
  const jit = (fn: Value): Value => {
    const o = new PyInstance(kernelClass);
    kernels.set(o, fn);
    o.attrs = vm.dict([
      ["fn", fn],
      ["__name__", fn instanceof PyFunction ? fn.name : "kernel"],
    ]);
    return o;
  };
  const innermost = (k: Value): PyFunction | undefined => {
    for (let v: Value | undefined = k; v !== undefined; v = v instanceof PyInstance ? kernels.get(v) : undefined) {
      if (v instanceof PyFunction) return v;
    }
    return undefined;
  };
  method(vm, kernelClass, "__getitem__", ([self]) =>
    vm.builtin("launch", (args, kw) => launch(torch, innermost(self ?? null), args, kw)),
  );
  // a kernel called by another kernel is never run here; called from Python it does nothing
  method(vm, kernelClass, "__call__", () => null);
  method(vm, kernelClass, "run", ([self, ...args], kw) => launch(torch, innermost(self ?? null), args, kw));

  const decorator = (m: PyModule, name: string): void => {
    func(vm, m, name, args =>
      args[0] instanceof PyFunction || args[0] instanceof PyInstance
        ? jit(args[0])
        : vm.builtin(name, ([f]) => jit(f ?? null)),
    );
  };
  return name => {
    if (name !== "triton" && !name.startsWith("triton.")) return undefined;
    const m = vm.newModule(name);
    m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`));
    if (name === "triton") {
      m.dict.set("__version__", "3.6.0");
      for (const n of ["jit", "autotune", "heuristics"]) decorator(m, n);
      const power = (x: Value | undefined): Value => {
        const n = vm.index(x ?? 1);
        return n <= 1 ? 1 : 2 ** Math.ceil(Math.log2(n));
      };
      func(vm, m, "cdiv", ([a, b]) => vm.binary("//", vm.binary("-", vm.binary("+", a ?? 0, b ?? 1), 1), b ?? 1));
      func(vm, m, "next_power_of_2", ([x]) => power(x));
      func(vm, m, "Config", () => vm.unknown("triton.Config(...)"));
      m.lazy = n =>
        ["language", "runtime", "testing", "tools", "compiler"].includes(n)
          ? vm.importModule(`triton.${n}`, null)
          : n.startsWith("__")
            ? undefined
            : vm.unknown(`triton.${n}`);
    }
    if (name === "triton.testing") {
      func(vm, m, "do_bench", ([f]) => {
        vm.call(f ?? null, []);
        return 0;
      });
    }
    return m;
  };
}

/** one launch: the tensors that the kernel writes are rebound to opaque results */
function launch(torch: Torch, kernel: PyFunction | undefined, args: readonly Value[], kw: Kwargs): Value {
  const { vm } = torch;
  const params = kernel?.code.signature
    ? [...kernel.code.signature.posonlyargs, ...kernel.code.signature.args].map(a => a.arg)
    : [];
  const bound = new Map<string, Value>(args.map((a, i) => [params[i] ?? `arg${i}`, a] as const));
  for (const [k, v] of kw) bound.set(k, v);
  const stored = kernel?.code.body ? storedParameters(kernel.code.body, params) : new Set(params);
  const tensors = [...bound].filter((e): e is [string, PyTensor] => e[1] instanceof PyTensor);
  const written = tensors.filter(([n]) => stored.has(n)).map(([, t]) => t);
  const all = [...bound.values()].filter(v => v instanceof PyTensor || typeof v === "number");
  for (const t of written.length > 0 ? written : tensors.slice(-1).map(([, t]) => t)) {
    const trace = torch.trace;
    const graph = trace?.graph ?? new FxGraph();
    const conv = new Converter(torch, graph);
    const args = [t, ...all.filter(v => v !== t)].map(v => conv.convert(v).arg);
    const why = `the body of the Triton kernel ${kernel?.name ?? ""} is not followed`;
    const call = { op: "call_function", target: LAUNCH, spelling: "", options: { opaque: why } } as const;
    const made = opaqueOp({ call, conv, args, kwargs: new Map() }, t.meta);
    t.storage.wrote();
    if (trace && made instanceof PyTensor) t.setProxy(made.proxy);
  }
  if (all.length === 0)
    vm.report("opaque-operator", "a Triton kernel that takes no tensors does nothing here", "information");
  return null;
}

/** the parameters that `tl.store` and `tl.atomic_*` write through, directly or by way of locals */
function storedParameters(body: readonly ast.Stmt[], params: readonly string[]): Set<string> {
  const origins = new Map<string, Set<string>>(params.map(p => [p, new Set([p])]));
  const out = new Set<string>();
  const namesIn = (n: unknown): Set<string> => {
    const found = new Set<string>();
    visit(n, x => {
      if (x.kind === "Name") for (const o of origins.get(x.id) ?? []) found.add(o);
    });
    return found;
  };
  visit(body, n => {
    if (n.kind === "Assign" && n.targets[0]?.kind === "Name") {
      const id = n.targets[0].id;
      origins.set(id, new Set([...(origins.get(id) ?? []), ...pointers(namesIn(n.value), params)]));
    }
    if (n.kind !== "Call" || n.func.kind !== "Attribute" || !/^(store|atomic_\w+|advance)$/.test(n.func.attr)) return;
    if (n.func.attr === "advance") return;
    const target = n.args[0];
    for (const o of namesIn(target)) if (/ptr|_p$|^[a-zA-Z]\w*$/.test(o)) out.add(o);
  });
  return out;
}

const pointers = (names: Set<string>, params: readonly string[]): string[] =>
  [...names].filter(n => params.includes(n));

function visit(root: unknown, f: (n: ast.Node) => void): void {
  if (Array.isArray(root)) {
    for (const x of root) visit(x, f);
    return;
  }
  if (root === null || typeof root !== "object" || root instanceof Uint8Array) return;
  if ("kind" in root) f(root as ast.Node);
  for (const [k, v] of Object.entries(root)) if (k !== "span" && typeof v === "object" && v !== null) visit(v, f);
}
