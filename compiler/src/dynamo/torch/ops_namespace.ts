// torch.ops.NAMESPACE.OP.OVERLOAD: operators by their ATen names, and custom ones. In: names. Out: callables that record
// the operator itself; a custom operator runs its fake implementation for shapes and stays opaque in the graph.
import { lookup, lookupPython } from "../../aten/registry";
import { FxGraph } from "../../fx/graph";
import { method } from "../builtins/define";
import { unrecorded } from "../objects/journal";
import { type Kwargs, PyBuiltin, type PyClass, PyInstance, PyModule, type Value } from "../objects/values";
import type { Torch } from "./context";
import { Converter } from "./convert";
import { opaqueOp, runOp } from "./dispatch";
import { fakeResult } from "./fake_shapes";

export function opsNamespace(torch: Torch, space: string): Value | undefined {
  if (space.startsWith("__")) return undefined;
  const m = new PyModule(torch.vm.types.module, `torch.ops.${space}`, torch.vm.dict());
  m.lazy = name => (name.startsWith("__") ? undefined : packet(torch, space, name));
  return m;
}

const packetClasses = new WeakMap<Torch, PyClass>();

function packet(torch: Torch, space: string, name: string): Value {
  const { vm } = torch;
  let cls = packetClasses.get(torch);
  if (!cls) {
    cls = vm.klass("OpOverloadPacket", [], "torch._ops");
    const own = cls;
    method(vm, own, "__call__", ([self, ...args], kw) => {
      const call = self instanceof PyInstance ? self.attrs?.get("_call") : undefined;
      return call === undefined ? null : vm.call(call, args, kw);
    });
    method(vm, own, "__getattr__", ([self, overload]) => {
      const make = self instanceof PyInstance ? self.attrs?.get("_overload") : undefined;
      return make === undefined ? null : vm.call(make, [overload ?? null]);
    });
    packetClasses.set(torch, own);
  }
  const o = new PyInstance(cls);
  const spelling = `${space}.${name}`;
  o.attrs = vm.dict([
    ["_call", vm.builtin(name, (args, kw) => callOp(torch, spelling, args, kw))],
    [
      "_overload",
      vm.builtin("overload", ([overload]) => {
        const full = `${spelling}.${String(overload)}`;
        if (/^_?(schema|name|op|overloads)$|^__/.test(String(overload))) return vm.unknown(full);
        return new PyBuiltin(vm.types.builtin, name, (args, kw) => callOp(torch, full, args, kw));
      }),
    ],
    ["__name__", name],
  ]);
  return o;
}

const customClasses = new WeakMap<Torch, PyClass>();

function customClass(torch: Torch): PyClass {
  const { vm } = torch;
  const cls = vm.klass("CustomOpDef", [], "torch._library.custom_ops");
  method(vm, cls, "__call__", ([self, ...args], kw) => callOp(torch, `${operatorOf(self)}.default`, args, kw));
  method(vm, cls, "register_fake", ([self, fake]) => {
    torch.fakes.set(operatorOf(self).replace(".", "::"), fake ?? null);
    return fake ?? null;
  });
  for (const n of ["register_autograd", "register_vmap", "register_autocast"]) method(vm, cls, n, () => null);
  method(vm, cls, "register_kernel", ([, , kernel]) => kernel ?? vm.builtin("register", ([k]) => k ?? null));
  return cls;
}

/** what torch.library.custom_op gives: called, it is the operator; its methods say how the operator behaves */
export function customOperator(torch: Torch, name: string, fn: Value): Value {
  const { vm } = torch;
  torch.customOps.set(name, fn);
  const cls = customClasses.get(torch) ?? unrecorded(() => customClass(torch));
  customClasses.set(torch, cls);
  const o = new PyInstance(cls);
  o.attrs = vm.dict([
    ["_qualname", name],
    ["__name__", name.split("::").pop() ?? name],
  ]);
  return o;
}

/** "space.name" of a CustomOpDef */
const operatorOf = (o: Value | undefined): string =>
  String(o instanceof PyInstance ? o.attrs?.get("_qualname") : "").replace("::", ".");

function callOp(torch: Torch, target: string, args: readonly Value[], kw: Kwargs): Value {
  const packetName = target.split(".").slice(0, 2).join(".");
  const custom = torch.customOps.get(packetName.replace(".", "::"));
  if (custom !== undefined) return callCustom(torch, target, custom, args, kw);
  const known = lookup(target) !== undefined || lookupPython(target).length > 0;
  const spelling = known ? target : lookupPython(packetName).length > 0 ? packetName : target;
  return runOp(torch, { op: "call_function", target, spelling, display: target }, args, kw);
}

/** shapes from the fake implementation, or from running the function itself without recording it; `target`: as it was called */
function callCustom(torch: Torch, target: string, fn: Value, args: readonly Value[], kw: Kwargs): Value {
  const [space = "", name = "", overload] = target.split(".");
  const fake = torch.fakes.get(`${space}::${name}`) ?? fn;
  const trace = torch.trace;
  const graph = trace?.graph ?? new FxGraph();
  const conv = new Converter(torch, graph);
  const prepared = {
    call: {
      op: "call_function",
      target: overload === undefined ? `torch.ops.${target}` : target,
      spelling: "",
      options: { candidate: overload === undefined ? name : `${name}_${overload}` },
    },
    conv,
    args: args.map(a => conv.convert(a).arg),
    kwargs: new Map([...kw].map(([k, v]) => [k, conv.convert(v).arg] as const)),
  } as const;
  const shaped = fakeResult(torch, fake, args, kw);
  return opaqueOp(prepared, shaped);
}
