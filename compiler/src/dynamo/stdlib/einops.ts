// einops, einops.layers.torch and the subset of numpy that model code computes sizes with. In: module names. Out: modules.
import { func } from "../builtins/define";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { asFloat, asInt } from "../interp/numbers";
import { plain } from "../interp/operators";
import { PyFloat, PyList, PyModule, PyTuple, type Value } from "../objects/values";
import { type Factory, libraryCode } from "./modules";
import { EINOPS_LAYERS_TEXT, EINOPS_TEXT } from "./prelude_einops";

export function einopsFactory(vm: Machine): Factory {
  let base: PyModule | undefined;
  const run = (m: PyModule, name: string, text: string): void => {
    m.dict.set("torch", vm.importModule("torch", null));
    m.dict.set("__module_object__", m);
    const frame = new Frame(libraryCode(name, text, "hidden", `${name}.py`), m.dict, null, []);
    frame.names = m.dict;
    vm.run(frame);
  };
  const einops = (): PyModule => {
    if (!base) {
      base = vm.newModule("einops");
      run(base, "einops", EINOPS_TEXT);
    }
    return base;
  };
  return name => {
    if (name === "einops" || name === "einops.einops") return einops();
    if (name === "einops.layers") {
      const m = vm.newModule(name);
      m.lazy = n => (n === "torch" ? vm.importModule("einops.layers.torch", null) : undefined);
      return m;
    }
    if (name === "einops.layers.torch") {
      const m = vm.newModule(name);
      for (const n of ["rearrange", "reduce"]) m.dict.set(n, einops().dict.get(n) ?? null);
      run(m, name, EINOPS_LAYERS_TEXT);
      return m;
    }
    if (name === "einops._torch_specific") {
      const m = vm.newModule(name);
      func(vm, m, "allow_ops_in_compiled_graph", () => null);
      return m;
    }
    if (name === "numpy" || name === "numpy.random" || name === "numpy.linalg") return numpy(vm, name);
    return undefined;
  };
}

/** scalars and size arithmetic are computed; arrays are unknown values */
function numpy(vm: Machine, name: string): PyModule {
  const m = vm.newModule(name);
  if (name !== "numpy") {
    m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`));
    return m;
  }
  for (const [k, v] of Object.entries({ pi: Math.PI, e: Math.E, inf: Infinity, nan: Number.NaN }))
    m.dict.set(k, new PyFloat(v));
  m.dict.set("newaxis", null);
  m.dict.set("__version__", "2.2.0");
  const t = vm.types;
  for (const n of ["float32", "float64", "float16", "float_"]) m.dict.set(n, t.float);
  for (const n of ["int32", "int64", "int8", "uint8", "int16", "intp", "int_"]) m.dict.set(n, t.int);
  m.dict.set("bool_", t.bool);
  m.dict.set("ndarray", vm.klass("ndarray", [], "numpy"));
  for (const n of ["floating", "integer", "number", "generic"]) m.dict.set(n, vm.klass(n, [], "numpy"));
  const number = (v: Value | undefined): number | undefined => asFloat(plain(v ?? null));
  const one = (n: string, f: (x: number) => number): void => {
    func(vm, m, n, ([v]) => {
      const x = number(v);
      return x === undefined ? vm.unknown(`numpy.${n}(...)`) : new PyFloat(f(x));
    });
  };
  for (const n of ["sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "floor", "ceil"] as const)
    one(n, Math[n]);
  one("absolute", Math.abs);
  const fold = (n: string, op: "*" | "+"): void => {
    func(vm, m, n, ([v, ...rest], kw) => {
      if (!(v instanceof PyList || v instanceof PyTuple) || rest.length > 0 || kw.size > 0)
        return vm.unknown(`numpy.${n}(...)`);
      return v.items.reduce<Value>((a, x) => vm.binary(op, a, x), op === "*" ? 1 : 0);
    });
  };
  fold("prod", "*");
  fold("sum", "+");
  func(vm, m, "power", ([a, b]) =>
    number(a) === undefined ? vm.unknown("numpy.power(...)") : vm.binary("**", a ?? 0, b ?? 0),
  );
  func(vm, m, "round", ([v]) =>
    number(v) === undefined ? vm.unknown("numpy.round(...)") : vm.call(vm.builtins.get("round") ?? null, [v ?? 0]),
  );
  func(vm, m, "maximum", ([a, b]) =>
    number(a) !== undefined && number(b) !== undefined
      ? vm.truthy(vm.compare(">", a ?? 0, b ?? 0))
        ? (a ?? 0)
        : (b ?? 0)
      : vm.unknown("numpy.maximum(...)"),
  );
  // ranges of numbers are lists here: they index and iterate alike
  func(vm, m, "arange", args => {
    const [a, b, s] = args.map(x => number(x));
    if (a === undefined) return vm.unknown("numpy.arange(...)");
    const [from, to, step] = b === undefined ? [0, a, 1] : [a, b, s ?? 1];
    const whole = args.every(x => asInt(plain(x)) !== undefined);
    const n = Math.min(100_000, Math.max(0, Math.ceil((to - from) / step)));
    return vm.list(Array.from({ length: n }, (_, i) => (whole ? from + i * step : new PyFloat(from + i * step))));
  });
  func(vm, m, "linspace", ([a, b, n]) => {
    const [from, to] = [number(a), number(b)];
    if (from === undefined || to === undefined) return vm.unknown("numpy.linspace(...)");
    const count = n === undefined ? 50 : vm.index(n);
    return vm.list(
      Array.from({ length: count }, (_, i) => new PyFloat(from + ((to - from) * i) / Math.max(1, count - 1))),
    );
  });
  for (const n of ["array", "asarray"])
    func(vm, m, n, ([v]) => (v instanceof PyList || v instanceof PyTuple ? vm.list(v.items) : (v ?? null)));
  func(vm, m, "cumsum", ([v]) => {
    let acc: Value = 0;
    return vm.list(vm.toArray(v ?? null).map(x => (acc = vm.binary("+", acc, x))));
  });
  m.lazy = n =>
    n === "random" || n === "linalg"
      ? vm.importModule(`numpy.${n}`, null)
      : n.startsWith("__")
        ? undefined
        : vm.unknown(`numpy.${n}`);
  return m;
}

export { PyModule };
