// einops, numpy, timm and fairscale as far as model code uses them. In: module names. Out: modules.

import { func } from "../builtins/define";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { runningFile } from "../interp/running_file";
import { sharedName } from "../interp/shared_names";
import { PyDict, PyModule, PyUnknown, type Value } from "../objects/values";
import { restsOnGuess } from "../torch/guessed_shapes";
import { PyTensor } from "../torch/objects";
import { localsOf } from "./frames";
import { type Factory, libraryCode } from "./modules";
import { numpyOfNumbers } from "./numpy_numbers";
import { DIFFUSERS_LAYERS, hasDiffusersLayers } from "./prelude_diffusers/index";
import { EINOPS_LAYERS_TEXT, EINOPS_TEXT } from "./prelude_einops";
import { FRAMEWORKS, frameworkAlias } from "./prelude_frameworks";
import { isTransformers, LANGUAGE_MODELS, languageModel } from "./prelude_language_models";
import { LAYER_LIBRARIES, LAYER_PACKAGES } from "./prelude_layers";
import { NUMPY_TEXT } from "./prelude_numpy/index";
import { TORCHVISION } from "./prelude_torchvision";

export function librariesFactory(vm: Machine): Factory {
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
      func(vm, base, "_is_unknown", ([v]) => v instanceof PyUnknown);
      func(vm, base, "_unknown", ([what]) => vm.unknown(String(what)));
      func(vm, base, "_rests_on_guess", ([t]) => t instanceof PyTensor && restsOnGuess(t));
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
    const layers = layersText(name);
    if (layers !== undefined) {
      const m = vm.newModule(name);
      m.dict.set("nn", vm.importModule("torch.nn", null));
      m.dict.set("F", vm.importModule("torch.nn.functional", null));
      func(vm, m, "_unknown", ([what]) => vm.unknown(String(what)));
      func(vm, m, "_project_hub", ([folder]) => projectHub(vm, String(folder)));
      run(m, name, layers);
      m.lazy = n => {
        if (n.startsWith("__")) return undefined;
        const inner = `${name}.${n}`;
        return Object.hasOwn(LAYER_LIBRARIES, inner)
          ? vm.importModule(inner, null)
          : (sharedName(vm, n) ?? vm.unknown(inner));
      };
      return m;
    }
    const framework = frameworkText(name);
    if (framework !== undefined) return frameworkModule(vm, run, name, framework);
    if (name === "packaging" || name === "torchvision") {
      const m = vm.newModule(name);
      m.dict.set("__version__", "0.26.0");
      if (name === "torchvision") func(vm, m, "_is_tracing", () => false);
      m.lazy = n => {
        if (n.startsWith("__")) return undefined;
        return frameworkText(`${name}.${n}`) === undefined
          ? vm.unknown(`${name}.${n}`)
          : vm.importModule(`${name}.${n}`, null);
      };
      return m;
    }
    if (LAYER_PACKAGES.has(name)) {
      const m = vm.newModule(name);
      // timm keeps its layers under their old and new names in the releases before 1.0
      m.dict.set("__version__", name === "timm" ? "0.9.16" : "1.0.0");
      m.lazy = n => {
        const inner = `${name}.${n}`;
        if (LAYER_PACKAGES.has(inner) || Object.hasOwn(LAYER_LIBRARIES, inner)) return vm.importModule(inner, null);
        if (n.startsWith("__")) return undefined;
        return (/^timm(\.models)?$/.test(name) ? networkOfTimm(vm, n) : undefined) ?? vm.unknown(inner);
      };
      return m;
    }
    if (name === "numpy") return numpy(vm, run);
    if (name === "numpy.typing") {
      const m = vm.newModule(name);
      m.lazy = n => vm.unknown(`numpy.typing.${n}`);
      return m;
    }
    return undefined;
  };
}

function layersText(name: string): string | undefined {
  // timm keeps a file for each kind of layer, and the package exports them all
  const text = /^timm\.(models\.)?layers\.\w+$/.test(name) ? "timm.layers" : name;
  return Object.hasOwn(LAYER_LIBRARIES, text) ? LAYER_LIBRARIES[text] : undefined;
}

function frameworkText(name: string): string | undefined {
  if (Object.hasOwn(FRAMEWORKS, name)) return FRAMEWORKS[name];
  if (name === "transformers.language_models") return LANGUAGE_MODELS;
  if (hasDiffusersLayers(name)) return DIFFUSERS_LAYERS;
  // a model of transformers lends its layers; what else it has is unknown
  if (isTransformers(name) && /(^|\.)(modeling|configuration)(_\w+)?$|^pytorch_\w+$/.test(name))
    return FRAMEWORKS["transformers"];
  return Object.hasOwn(TORCHVISION, name) ? TORCHVISION[name] : undefined;
}

/** one class for all modules of a framework that export it: a text is run once */
function frameworkModule(
  vm: Machine,
  run: (m: PyModule, name: string, text: string) => void,
  name: string,
  text: string,
): PyModule {
  const m = vm.newModule(name);
  m.dict.set("__version__", "4.99.0");
  let known = texts.get(vm);
  if (!known) {
    known = new Map();
    texts.set(vm, known);
  }
  const made = known.get(text);
  if (made) for (const [k, v] of made.dict.entries()) if (!String(k).startsWith("__")) m.dict.set(String(k), v);
  if (!made) {
    known.set(text, m);
    m.dict.set("__builtins__", vm.importModule("builtins", null));
    m.dict.set("nn", vm.importModule("torch.nn", null));
    m.dict.set("F", vm.importModule("torch.nn.functional", null));
    func(vm, m, "_resets_give_pairs", () => resetsGivePairs(vm));
    func(vm, m, "_unknown", ([what]) => vm.unknown(String(what)));
    func(vm, m, "_caller_arguments", ([self]) => callerArguments(vm, self ?? null));
    run(m, `framework:${name}`, text);
  }
  m.lazy = n => {
    if (n.startsWith("__")) return undefined;
    const model = languageModel(name, n);
    if (model !== undefined) return vm.getattr(vm.importModule("transformers.language_models", null), model);
    const alias = frameworkAlias(name, n);
    const stands = alias === undefined ? undefined : m.dict.get(alias);
    if (stands !== undefined) return stands;
    const shared = sharedName(vm, n);
    if (shared !== undefined) return shared;
    const inner = `${name}.${n}`;
    return frameworkText(inner) !== undefined ? vm.importModule(inner, null) : vm.unknown(inner);
  };
  return m;
}
const texts = new WeakMap<Machine, Map<string, PyModule>>();

/** what the constructors of an object that are running were given, the derived class's last: Lightning keeps it as hyperparameters */
function callerArguments(vm: Machine, self: Value): Value {
  const out = vm.dict();
  const running = vm.frames.filter(f => f.code.name === "__init__" && f.locals[0] === self);
  for (const init of running.reverse()) {
    const s = init.code.signature;
    if (!s || init.code.file.library === "hidden") continue;
    const held = localsOf(vm, init);
    const names = [...s.posonlyargs, ...s.args, ...s.kwonlyargs].map(a => a.arg).slice(1);
    for (const n of names) {
      const v = held.get(n);
      if (v !== undefined) out.set(n, v);
    }
    const rest = s.kwarg === null ? undefined : held.get(s.kwarg.arg);
    if (rest instanceof PyDict) for (const [k, v] of rest.entries()) out.set(String(k), v);
  }
  return out;
}

/** whether the program that runs is written for environments of gym 0.26 and later: `state, info = env.reset()` */
function resetsGivePairs(vm: Machine): boolean {
  const lines = vm.frames.find(f => f.code.file.library === "user")?.code.file.lines ?? [];
  const paired = lines.some(l => /,\s*\w+\s*=\s*[\w.]+\.reset\(/.test(l));
  return paired || !lines.some(l => /^\s*[\w.]+\s*=\s*[\w.]+\.reset\(/.test(l));
}

/** a network of timm's, or what makes them by their names, which the package exports */
function networkOfTimm(vm: Machine, name: string): Value | undefined {
  const m = vm.importModule("timm.models._networks", null);
  return name.startsWith("_") || !(m instanceof PyModule) ? undefined : m.dict.get(name);
}

/** the hubconf.py of a folder of the project; null: there is none */
function projectHub(vm: Machine, folder: string): Value {
  const parts = folder.split("/").filter(p => p !== "" && p !== "." && p !== "..");
  const found = vm.host.texts?.module([...parts, "hubconf"].join("."), runningFile(vm) ?? "");
  return found === undefined ? null : vm.importModule("hubconf", found.replace(/hubconf\.py$/, "_.py"));
}

/** arrays are CPU tensors in disguise */
function numpy(vm: Machine, run: (m: PyModule, name: string, text: string) => void): PyModule {
  const m = vm.newModule("numpy");
  const round = vm.builtins.get("round");
  if (round !== undefined) m.dict.set("__builtins_round", round);
  run(m, "numpy", NUMPY_TEXT);
  for (const n of ["max", "min"]) {
    const f = m.dict.get(`${n}_`);
    if (f !== undefined) m.dict.set(n, f);
  }
  numpyOfNumbers(vm, m);
  m.lazy = n => {
    if (n.startsWith("__")) return undefined;
    return (
      (n === "bool" ? m.dict.get("bool_") : PYTHONS_OWN.test(n) ? vm.builtins.get(n) : null) ?? vm.unknown(`numpy.${n}`)
    );
  };
  return m;
}

/** types that numpy had under Python's names until 1.24 */
const PYTHONS_OWN = /^(int|float|complex|object|str)$/;
