// A root that is there (a module, a function of tensors) run with inputs that nobody gave. In: the root, what is written of
// its inputs. Out: captured frames and what they rest on, or the failure that got farthest. Trials leave no trace.
import type * as ast from "../../python/ast";
import { PyFunction } from "../interp/frame";
import { type Kwargs, PyInstance, type Value } from "../objects/values";
import { type CompileOptions, PyTensor } from "../torch/objects";
import { asRoot, attempt, type Found, isFound, type Refused, refused } from "./attempt";
import { besideImage, isFree, isMap, sized } from "./choices/beside_image";
import { bareDraft, functionHoles, keysTaken, keywordHole, withWritten } from "./choices/holes";
import { inputChoices, ofGraph } from "./choices/inputs";
import { areMates, inputKind, isAdjacency, isCachePosition, isEdgeList } from "./choices/names";
import { shorter } from "./choices/smaller";
import { addUsage, emptyUsage, type IsValue, valueTest } from "./choices/usage";
import { functionOf, methodOf, moduleMethod } from "./context";
import { jaxtyped, type Written } from "./evidence/written";
import { takenByFirstLayer } from "./first_layer";
import { guarded } from "./guarded";
import { handedOnHoles } from "./handed_on";
import type { ImageSize } from "./image_size";
import { initialStates } from "./initial_states";
import { inferInputs, valuesOf } from "./inputs";
import { callArguments } from "./make";
import { prepare } from "./prepare";
import type { Program } from "./program";
import { receiverOf } from "./receiver";
import { endless, onTwoDevices } from "./search/failure";
import { halfAsked } from "./search/message_repairs";
import { ABSENT, type Choice, described, distinct, type Hole, type State, type TensorChoice } from "./types";

export interface RootRequest {
  readonly p: Program;
  readonly options: CompileOptions;
  readonly grad: boolean;
  /** sizes that nothing fixed stay symbolic, where the code goes on with them */
  readonly symbolic: boolean;
  /** inputs that the user wrote down */
  readonly written: Written;
  /** height and width of images that the constructor was given */
  readonly image?: ImageSize | undefined;
  /** the run that counts, once inputs have been found: it is worth steps of its own where the search took most of them */
  readonly last: { run: (() => Found | Refused) | null };
}

/** trials once more, after something else has been changed */
export const TRIALS_AGAIN = 24;
const STEPS = 2_000_000;

/** the root as it is, then with its tensors moved to the device, then on the CPU, then with what it lacks prepared */
export function withInputs(r: RootRequest, target: Value, notes: readonly string[], trials?: number): Found | Refused {
  const { p } = r;
  const before = p.torch.opaqueOperators;
  let found = searched(r, target, notes, trials);
  if (isFound(found) || !(target instanceof PyInstance) || (found.failure && endless(found.failure))) return found;
  const apart = found.failure !== null && onTwoDevices(found.failure);
  if (apart && attributesTo(p, target, "cuda"))
    found = searched(r, target, [...notes, "tensors it keeps in attributes are on cuda"], trials);
  if (isFound(found)) return found;
  // a kernel of its own that is not there, or whose results are not shaped like its first tensor
  const unshaped = p.torch.opaqueOperators > before && SHAPES.test(found.failure?.message ?? "");
  const uncompiled = unshaped || (found.failure !== null && /^(ModuleNotFound|Import)Error$/.test(found.failure.type));
  if (apart || uncompiled) {
    const why = apart ? "where its code makes tensors" : "where it needs no kernels of its own";
    // the search ended where the two devices met
    const there = onCpu(r, target, [...notes, `on the CPU, ${why}`], apart ? trials : TRIALS_AGAIN);
    if (there) return there;
  }
  let how: string[] | undefined;
  for (const f of [found.failure, found.first]) if (f && how === undefined) how = prepare(p, target, f);
  if (how === undefined || !movedTo(p, target, "cuda")) return inHalf(r, target, notes, found);
  attributesTo(p, target, "cuda");
  const prepared = [...notes, ...how];
  return inHalf(r, target, prepared, searched(r, target, prepared, TRIALS_AGAIN));
}

/** a module whose own tensors of half precision met its parameters: all of it in that, as scripts load such modules */
function inHalf(r: RootRequest, target: PyInstance, notes: readonly string[], found: Found | Refused): Found | Refused {
  const half = isFound(found) || !found.failure ? undefined : halfAsked(found.failure);
  const moved = half && guarded(r.p, STEPS, () => moduleMethod(r.p.vm, target, half === "float16" ? "half" : half));
  if (!moved || !("ok" in moved)) return found;
  r.p.half = half;
  try {
    const again = searched(r, target, [...notes, `in ${half}`], TRIALS_AGAIN);
    return isFound(again) ? again : found;
  } finally {
    r.p.half = null;
  }
}

const SHAPES = /sizes? of tensor|sizes? for dimension|must match|shape|channels|dimensions?\b/i;

/** all of it on the CPU, for code that makes tensors without a device, or has kernels of its own for the GPU alone */
function onCpu(
  r: RootRequest,
  target: PyInstance,
  notes: readonly string[],
  trials: number | undefined,
): Found | undefined {
  const { p } = r;
  p.device = "cpu";
  try {
    if (!movedTo(p, target, "cpu")) return undefined;
    attributesTo(p, target, "cpu");
    const found = searched(r, target, notes, trials);
    if (isFound(found)) return found;
  } finally {
    p.device = "cuda";
  }
  movedTo(p, target, "cuda");
  attributesTo(p, target, "cuda");
  return undefined;
}

function movedTo(p: Program, target: Value, device: Program["device"]): boolean {
  return "ok" in guarded(p, STEPS, () => moduleMethod(p.vm, target, device));
}

/** tensors that modules keep in plain attributes, which cuda() leaves where they are; whether there were any elsewhere */
function attributesTo(p: Program, target: Value, device: Program["device"]): boolean {
  const { vm } = p;
  const outcome = guarded(p, STEPS, () => {
    let moved = false;
    for (const m of vm.toArray(vm.call(vm.getattr(target, "modules"), []))) {
      if (!(m instanceof PyInstance) || !m.attrs) continue;
      for (const [k, v] of m.attrs.entries()) {
        if (!(v instanceof PyTensor) || v.meta.device.type === device) continue;
        m.attrs.set(String(k), vm.call(vm.getattr(v, device), []));
        moved = true;
      }
    }
    return moved;
  });
  return "ok" in outcome && outcome.ok;
}

/** the likeliest inputs at once; only where they don't do, a search, whose trials are watched and hence dearer */
function searched(r: RootRequest, target: Value, notes: readonly string[], trials?: number): Found | Refused {
  const f = target instanceof PyInstance ? methodOf(target.cls, "forward") : functionOf(target);
  if (!(f instanceof PyFunction)) return { why: "it has no forward method", failure: null };
  return searchedAs(r, target, f, notes, trials);
}

/** `f`: whose parameters are found, forward or what it hands all of its arguments on to */
function searchedAs(
  r: RootRequest,
  target: Value,
  f: PyFunction,
  notes: readonly string[],
  trials: number | undefined,
): Found | Refused {
  const { p } = r;
  const holes = inputHoles(r, target, f);
  const first: State = new Map(holes.map(h => [h.name, firstChoice(h, holes)]));
  const mark = p.diagnostics.length;
  const direct = captured(r, target, holes, first, notes, MARKS.slice(0, 1));
  if (isFound(direct) || (direct.failure && endless(direct.failure))) return direct;
  const receiver = receiverOf(p, target, f, direct.failure);
  if (receiver) return searchedAs(r, target, receiver, notes, trials);
  const run = (args: readonly Value[], kwargs: Kwargs) => trialRun(r, target, args, kwargs);
  const found = inferInputs(p, { holes, first, run, code: f.code, ...(trials === undefined ? {} : { trials }) });
  p.unsay(mark);
  if (found.kind === "failed")
    return { ...refused(found.failure, "no inputs were found that it accepts"), first: direct.failure };
  r.last.run = () => captured(r, target, holes, found.state, notes, MARKS);
  return r.last.run();
}

/** parameters of the function that runs: forward of a module, __call__ of an object, the function itself */
function inputHoles(r: RootRequest, target: Value, f: PyFunction): Hole[] {
  const { p } = r;
  const isInstance = target instanceof PyInstance;
  const { signature } = f.code;
  const typed = signature ? jaxtyped(signature) : new Map<string, Choice>();
  const holes = withWritten(
    functionHoles(p, f, isInstance ? target.cls : null, isInstance ? 1 : 0, inputChoices),
    new Map([...typed, ...r.written]),
  );
  // k beside q and v is a key, no count; h without w is a hidden state, no height
  const has = (name: string): boolean => holes.some(h => h.name === name);
  if (has("q") && has("k") && has("v")) tensorsFirst(holes, "k");
  if (!has("w") && !has("W")) tensorsFirst(holes, "h");
  // forward(*inputs): one tensor, as most are called; forward(h, *x): none, unless the code can't do without
  if (signature?.vararg) {
    const alone = !holes.some(h => h.required);
    const at = alone ? 0 : [...signature.posonlyargs, ...signature.args].length - (isInstance ? 1 : 0);
    holes.splice(at, 0, ...restHoles(r, f, signature.vararg.arg, alone));
  }
  // forward(**batch) that reads batch["tokens"]
  for (const key of keysTaken(signature?.kwarg?.arg ?? "", f.code.body ?? [])) {
    const taken = keywordHole(p, f, null, key, inputChoices);
    if (taken && !has(key)) holes.push(taken);
  }
  for (const h of handedOnHoles(p, target, f, inputChoices)) if (!has(h.name)) holes.push(h);
  const graph = holes.some(h => isEdgeList(h.name) || (isAdjacency(h.name) && isFree(h)));
  if (graph)
    holes.splice(0, holes.length, ...holes.map(h => (isFree(h) ? { ...h, choices: ofGraph(h.name, h.choices) } : h)));
  const at = holes.findIndex(h => h.required || h.fallback === null);
  const lead = holes[at];
  const first = lead?.choices[0];
  const one = first?.kind === "seq" && first.items.length === 1 ? first : undefined;
  const likely = (one ? one.items[0] : first)?.kind;
  const taken = lead && !lead.written && likely === "tensor" ? takenByFirstLayer(p, target) : undefined;
  const joined = lead && taken && holes.filter(h => h.required).length > 1 && isPart(lead, taken, holes);
  if (lead && taken && !graph && !joined && fits(lead, taken)) {
    const choices = one ? [{ ...one, items: [taken] }, ...lead.choices] : [taken, ...lead.choices];
    for (const [i, h] of holes.entries())
      if (i === at || (areMates(lead.name, h.name) && isFree(h)))
        holes[i] = { ...h, choices: distinct(i === at ? choices : [...choices, ...h.choices]) };
  }
  for (const [i, h] of holes.entries()) {
    const states = initialStates(p, target, h);
    if (states.length > 0) holes[i] = { ...h, choices: distinct([...states, ...h.choices]) };
  }
  if (r.image) sized(holes, r.image);
  besideImage(holes);
  if (p.small)
    holes.splice(
      0,
      holes.length,
      ...holes.map(h => (h.written ? h : { ...h, choices: distinct(h.choices.map(shorter)) })),
    );
  return holes;
}

function tensorsFirst(holes: Hole[], name: string): void {
  const at = holes.findIndex(h => h.name === name);
  const h = holes[at];
  if (!h || h.written) return;
  const tensors = h.choices.filter(c => c.kind === "tensor");
  holes[at] = { ...h, choices: distinct([...tensors, ...h.choices]) };
}

/** an image beside other inputs, where the first layer takes more channels than images have: it takes all of them joined */
const isPart = (h: Hole, { dims }: TensorChoice, others: readonly Hole[]): boolean =>
  inputKind(h.name) === "image" && (dims[1] ?? 0) > (others.some(x => x.required && isMap(x)) ? 3 : 4);

/** whether a module's first layer says more of its first input than the input's name and use do */
function fits(h: Hole, { dims }: TensorChoice): boolean {
  const kind = inputKind(h.name);
  if (h.usage.rank !== undefined && h.usage.rank !== dims.length) return false;
  return kind === "other" || kind === "label" || (kind === "image" && dims.length === 4);
}

/** `*rest`: as many as the code takes it apart into, where it does; else one, and that is called x */
function restHoles({ p }: RootRequest, f: PyFunction, name: string, required: boolean): Hole[] {
  const bare = { ...bareDraft(name, f.globals), required };
  const usage = emptyUsage();
  const own = valueTest(name, new Set());
  addUsage(usage, f.code.body ?? [], e => own(e) || (e.kind === "Call" && isListOf(e, own)));
  if (required && usage.parts && usage.parts.length > 1)
    return usage.parts.map(part => {
      const draft = { ...bare, name: part.name, usage: part.usage };
      return { ...draft, choices: inputChoices(p, draft), rest: true };
    });
  const choices = inputChoices(p, { ...bare, name: "x" });
  return [{ ...bare, choices, rest: true }];
}

const isListOf = (e: ast.Call, is: IsValue): boolean =>
  e.func.kind === "Name" && /^(tuple|list)$/.test(e.func.id) && e.args.length === 1 && is(e.args[0] as ast.Expr);

/** required parameters get their first choice; a forward whose parameters all have defaults gets its first one */
function firstChoice(h: Hole, all: readonly Hole[]): Choice {
  if (h.required || isCachePosition(h.name)) return h.choices[0] ?? ABSENT;
  const none = all.every(x => !x.required);
  return none && h === all[0] && h.fallback === null ? (h.choices[0] ?? ABSENT) : ABSENT;
}

/** whether it ran operators: in frames, or outside of them */
function trialRun(r: RootRequest, target: Value, args: readonly Value[], kwargs: Kwargs): boolean {
  const { runner, api, torch } = r.p;
  const frames: number[] = [];
  const eager = torch.eagerOperators;
  asRoot(r.p, r.grad, () =>
    runner.isolated(() => runner.callCompiled(api.callable(target), args, kwargs, { options: r.options, frames })),
  );
  return frames.length > 0 || torch.eagerOperators > eager;
}

/** dimensions of an input that stay symbolic: the batch and the length of sequences, then the batch alone, then none */
const MARKS: readonly ((c: TensorChoice) => readonly number[])[] = [
  ({ dims, dtype }) => (dims.length === 3 || (dims.length === 2 && dtype === "int64") ? [0, 1] : [0]),
  () => [0],
  () => [],
];

/** the run that counts, with the first of `marks` that the code goes on with */
function captured(
  r: RootRequest,
  target: Value,
  holes: readonly Hole[],
  state: State,
  notes: readonly string[],
  marks: typeof MARKS,
): Found | Refused {
  const options = { ...r.options, assumed: [...r.options.assumed, ...notes, ...described(holes, state)] };
  let last: Found | Refused = { why: "nothing to try", failure: null };
  for (const marked of r.symbolic ? marks : marks.slice(-1)) {
    const inputs = () => {
      const values = valuesOf(r.p, holes, state);
      for (const [name, v] of values) {
        const c = state.get(name);
        if (!(v instanceof PyTensor) || c?.kind !== "tensor") continue;
        const free = marked(c).filter(i => i < c.dims.length && !c.fixed?.includes(i));
        v.marks = new Map(free.map(i => [i, "dynamic"]));
      }
      return callArguments(holes, values);
    };
    last = attempt(r.p, { target, options, grad: r.grad, inputs });
    if (isFound(last)) return last;
  }
  return last;
}
