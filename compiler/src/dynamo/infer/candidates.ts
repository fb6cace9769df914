// Which definitions of a file are analysed as if compiled. In: the program after it ran, and what its code says of itself.
// Out: compiled functions and modules that nothing calls; root modules (that no other class builds); functions of tensors.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { type PyClass, PyInstance, type PyModule, type Value } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import type { Torch } from "../torch/context";
import type { CompileOptions } from "../torch/objects";
import type { Call, Evidence } from "./evidence/calls";
import { annotationText, definedMethod } from "./syntax";

export interface Candidate {
  readonly name: string;
  /** the function whose parameters are the inputs */
  readonly def: ast.FunctionDef;
  readonly cls: ast.ClassDef | null;
  readonly value: Value;
  /** what torch.compile was given, where the file says it but never calls it */
  readonly options: CompileOptions | null;
  readonly call: Call | undefined;
}

export interface Definitions {
  readonly torch: Torch;
  readonly api: CompileApi;
  readonly main: PyModule;
  readonly module: ast.Module;
  /** those that the file makes, under conditions too */
  readonly definitions: readonly (ast.ClassDef | ast.FunctionDef)[];
  readonly evidence: Evidence;
}

export function findCandidates(d: Definitions): Candidate[] {
  const { main, api, evidence } = d;
  const classes = d.definitions.filter(s => s.kind === "ClassDef");
  const functions = d.definitions.filter(s => s.kind === "FunctionDef");
  const out: Candidate[] = [];
  for (const c of api.created) {
    if (api.called.has(c)) continue;
    const { target, options } = c;
    if (target instanceof PyFunction && !target.qualname.includes(".")) {
      const def = functions.filter(f => f.name === target.code.name).pop();
      if (def && target.globals === main.dict) {
        out.push({ name: def.name, def, cls: null, value: target, options, call: undefined });
      }
    } else if (target instanceof PyInstance) {
      const cls = classes.filter(k => k.name === target.cls.name).pop();
      const def = cls && forwardOf(target.cls, cls, classes);
      if (cls && def) out.push({ name: cls.name, def, cls, value: target, options, call: undefined });
    }
  }
  if (api.called.size > 0) return out;
  const taken = new Set(out.map(c => c.name));
  const built = namesUsedInside(classes);
  for (const cls of classes) {
    const made = moduleClass(d, cls.name);
    if (!made || taken.has(cls.name)) continue;
    const call = evidence.calls.get(made);
    if (built.has(cls.name) && !call) continue;
    const candidate = classCandidate(d, cls, made, classes);
    if (candidate) out.push(candidate);
  }
  const used = functionsUsed(d.module, functions);
  for (const def of functions) {
    const value = main.dict.get(def.name);
    if (!(value instanceof PyFunction) || taken.has(def.name)) continue;
    const call = evidence.calls.get(value);
    const fits = looksLikeTensorCode(def, call !== undefined);
    if (fits && (call || !used.has(def.name))) out.push({ name: def.name, def, cls: null, value, options: null, call });
  }
  return out.sort((a, b) => (a.cls ?? a.def).span.start - (b.cls ?? b.def).span.start);
}

/** the candidates of these names, whatever else the file does with them */
export function namedCandidates(d: Definitions, names: readonly string[]): Candidate[] {
  const classes = d.definitions.filter(s => s.kind === "ClassDef");
  return names.flatMap(name => {
    const cls = classes.filter(c => c.name === name).pop();
    const made = cls && moduleClass(d, name);
    const candidate = cls && made && classCandidate(d, cls, made, classes);
    return candidate ? [candidate] : [];
  });
}

/** the module classes of the file that a class mentions: analysed in its stead where it cannot be */
export function partsOf(d: Definitions, c: Candidate): Candidate[] {
  const classes = d.definitions.filter(s => s.kind === "ClassDef");
  const names = new Set<string>();
  if (c.cls) {
    walk([c.cls.bases, c.cls.body], n => {
      if (n.kind === "Name") names.add(n.id);
    });
  }
  return classes.flatMap(cls => {
    const made = names.has(cls.name) && cls !== c.cls ? moduleClass(d, cls.name) : undefined;
    const candidate = made && classCandidate(d, cls, made, classes);
    return candidate ? [candidate] : [];
  });
}

function classCandidate(
  d: Definitions,
  cls: ast.ClassDef,
  made: PyClass,
  classes: readonly ast.ClassDef[],
): Candidate | undefined {
  const def = forwardOf(made, cls, classes);
  const call = d.evidence.calls.get(made);
  const instance = d.evidence.instances.get(made)?.value;
  return def && { name: cls.name, def, cls, value: call?.target ?? instance ?? made, options: null, call };
}

function moduleClass(d: Definitions, name: string): PyClass | undefined {
  const v = d.main.dict.get(name);
  return d.torch.isModuleClass(v) ? v : undefined;
}

function forwardOf(v: PyClass, own: ast.ClassDef, classes: readonly ast.ClassDef[]): ast.FunctionDef | undefined {
  const forward = definedMethod(own, "forward");
  if (forward) return forward;
  for (const base of v.mro.slice(1)) {
    const def = classes.find(c => c.name === base.name);
    const inherited = def && definedMethod(def, "forward");
    if (inherited) return inherited;
  }
  return fromElsewhere(v, own);
}

/** a forward that a class of another file defines */
function fromElsewhere(v: PyClass, own: ast.ClassDef): ast.FunctionDef | undefined {
  const f = v.lookup("forward");
  if (!(f instanceof PyFunction) || f.code.signature === null) return undefined;
  const { signature: args, body } = f.code;
  const { span, nameSpan } = own;
  return {
    kind: "FunctionDef",
    name: "forward",
    nameSpan,
    span,
    args,
    body: body ?? [],
    decorators: [],
    returns: null,
    isAsync: false,
  };
}

/** class names that other classes mention: those that they build, or derive from */
function namesUsedInside(classes: readonly ast.ClassDef[]): Set<string> {
  const used = new Set<string>();
  for (const c of classes) {
    walk([c.bases, c.body], n => {
      if (n.kind === "Name" && n.id !== c.name) used.add(n.id);
    });
  }
  return used;
}

function functionsUsed(module: ast.Module, functions: readonly ast.FunctionDef[]): Set<string> {
  const used = new Set<string>();
  const names = new Set(functions.map(f => f.name));
  for (const s of module.body) {
    const own = s.kind === "FunctionDef" ? s.name : "";
    walk(s, n => {
      if (n.kind === "Name" && names.has(n.id) && n.id !== own) used.add(n.id);
    });
  }
  return used;
}

/** computes on tensors: uses torch or F, and trains nothing, builds no models, reads no files */
function looksLikeTensorCode(f: ast.FunctionDef, called: boolean): boolean {
  const params = [...f.args.posonlyargs, ...f.args.args];
  if (params.length === 0 || f.isAsync) return false;
  let torchUse = 0;
  let other = 0;
  walk(f.body, n => {
    if (n.kind === "Attribute" && n.value.kind === "Name") {
      if (/^(F|torch)$/.test(n.value.id)) torchUse++;
      if (/^(nn|os|json|argparse|plt|np|logging|time|dist)$/.test(n.value.id)) other++;
    }
    if (
      n.kind === "Attribute" &&
      /^(backward|zero_grad|load_state_dict|named_parameters|parameters|step|manual_seed|allclose)$/.test(n.attr)
    )
      other++;
    if (n.kind === "Call" && n.func.kind === "Name" && /^(open|print|input)$/.test(n.func.id)) other++;
    if (n.kind === "Yield" || n.kind === "YieldFrom") other++;
  });
  const annotated = params.some(a => /^(\w*Tensor)$/.test(annotationText(a.annotation)));
  return (torchUse > 0 || annotated || called) && other === 0;
}
