// Code that a file defines and never runs compiled: its root modules (that no other class builds) and functions of tensors
// are analysed as if compiled. In: the program after it ran, and what its own calls showed. Out: captured frames marked
// with what was assumed, and the places where lenses go.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { Interrupted, PyError } from "../interp/api";
import { PyClass } from "../objects/values";
import type { CaptureResult, Diagnostic } from "../types";
import { type Found, isFound, type Refused } from "./attempt";
import { type Candidate, findCandidates, namedCandidates, partsOf } from "./candidates";
import { parseComment, type Written } from "./evidence/written";
import { constructorOf } from "./makers";
import type { Program } from "./program";
import { captureRoot, silently } from "./root";
import { endless, NO_OPERATORS } from "./search/failure";
import { definitionsIn } from "./syntax";

type Root = CaptureResult["roots"][number];

/** steps per root, attempts included, where the whole analysis has as many left: less of them is left to others */
const STEPS_PER_ROOT = 30_000_000;
const SHARE_OF_REST = 0.7;

export function analyseRoots(p: Program): Root[] {
  const { module } = p.parsed;
  const definitions = { ...p, module, definitions: definitionsIn(module) };
  if (p.api.called.size === 0) p.evidence.runDrivers(p.parsed, f => silently(p, f));
  const roots: Root[] = [];
  const seen = new Set<string>();
  const queue = p.only ? namedCandidates(definitions, p.only) : findCandidates(definitions);
  for (let c = queue.shift(); c !== undefined; c = queue.shift()) {
    if (seen.has(c.name)) continue;
    seen.add(c.name);
    const root = analyse(p, c);
    if (root) roots.push(root);
    // what it is made of still has kernels to show
    else if (!p.only) queue.push(...partsOf(definitions, c).filter(x => !seen.has(x.name)));
  }
  return roots;
}

function analyse(p: Program, c: Candidate): Root | undefined {
  const { vm, torch } = p;
  vm.stepLimit = vm.steps + Math.min(STEPS_PER_ROOT, Math.floor((vm.host.stepBudget - vm.steps) * SHARE_OF_REST));
  try {
    const found = captured(p, c);
    if (!isFound(found)) return found.why.includes(NO_OPERATORS) && asItIs(p, c) ? idle(p, c) : skip(p, c, found.why);
    if (found.frames.length === 0) say(p, c, "not-compiled", "runs all of its operators outside of compiled graphs");
    return { name: c.name, span: place(c.cls ?? c.def), frames: found.frames, assumed: found.assumed };
  } catch (e) {
    if (e instanceof Interrupted && vm.steps < vm.host.stepBudget && !vm.host.shouldStop())
      return skip(p, c, e.message);
    if (e instanceof PyError) return skip(p, c, `${e.value.cls.name}: ${vm.str(e.value)}`);
    throw e;
  } finally {
    vm.stepLimit = null;
    vm.frames.length = 0;
    torch.trace = null;
    vm.observer = null;
  }
}

function captured(p: Program, c: Candidate): Found | Refused {
  const written = commentOf(p, c);
  const training = c.cls !== null && p.training(c.name);
  p.wantsGrad = null;
  const found = captureRoot(p, c, written, training ? "training" : "eval");
  if (isFound(found) || !c.cls || c.options || training) return found;
  // what only works on its input while it trains (augmentations, noise) does nothing in eval()
  const idle = found.why.includes(NO_OPERATORS);
  if (p.wantsGrad !== null) {
    const other = withGrad(p, c, written);
    return isFound(other) ? other : found;
  }
  // a way of its own in eval(), a search or a generation, that can't be followed says nothing of the other one
  const parted = asksForTraining(c) && !(found.failure && endless(found.failure));
  if (!idle && !parted) return found;
  if (parted) moreSteps(p);
  const other = captureRoot(p, c, written, "training");
  return isFound(other) ? other : found;
}

/** the other way of a root is looked for in as many steps as this, or half of what is left of all */
const OTHER_WAY = 10_000_000;

function moreSteps({ vm }: Program): void {
  const more = Math.min(OTHER_WAY, Math.floor((vm.host.stepBudget - vm.steps) / 2));
  vm.stepLimit = Math.max(vm.stepLimit ?? 0, vm.steps + more);
}

/** whether forward does one thing in train() and another in eval() */
function asksForTraining(c: Candidate): boolean {
  const forward = c.cls?.body.find(s => s.kind === "FunctionDef" && s.name === "forward");
  let asks = false;
  walk(forward?.kind === "FunctionDef" ? forward.body : [], n => {
    if (n.kind !== "If" && n.kind !== "IfExp") return;
    walk([n.test], t => {
      asks ||= t.kind === "Attribute" && t.attr === "training" && t.value.kind === "Name" && t.value.id === "self";
    });
  });
  return asks;
}

/** with grad, where that is what lacks of the inputs too */
function withGrad(p: Program, c: Candidate, written: Written | undefined): Found | Refused {
  const found = captureRoot(p, c, written, "eval with grad");
  if (isFound(found) || p.wantsGrad !== "of inputs") return found;
  p.inputGrad = true;
  try {
    return captureRoot(p, c, written, "eval with grad");
  } finally {
    p.inputGrad = false;
  }
}

function place(def: ast.FunctionDef | ast.ClassDef): Diagnostic["span"] {
  const { line, column, endLine, endColumn } = def.nameSpan;
  return { line, column, endLine, endColumn };
}

/** whether nothing had to be guessed for its constructor */
function asItIs(p: Program, c: Candidate): boolean {
  return !(c.value instanceof PyClass) || constructorOf(p, c.value, p.main.dict).holes.every(h => !h.required);
}

/** one that hands on what it gets has nothing to compile, whatever that is */
function idle(p: Program, c: Candidate): undefined {
  say(p, c, "no-operators", "runs no tensor operators: there is nothing to compile");
}

function say(p: Program, c: Candidate, code: string, text: string): void {
  p.vm.report(code, `${c.name} ${text}`, "hint", (c.cls ?? c.def).nameSpan);
}

/** says at the definition why it has no kernels, and how to give it shapes */
function skip(p: Program, c: Candidate, why: string): undefined {
  const whole = (c.cls ?? c.def).span;
  // where the file's own call fails in it, the error says all there is to say
  if (p.diagnostics.some(d => d.severity === "error" && holds(whole, d.span.line))) return undefined;
  const reason = why.split("\n")[0] ?? why;
  const how = `a comment such as \`# fuselens: ${exampleOf(c.def)}\` above it gives it inputs`;
  say(p, c, "not-analysed", `was not analysed: ${reason}; ${how}`);
  return undefined;
}

const holds = (span: { readonly line: number; readonly endLine: number }, line: number): boolean =>
  span.line <= line && line <= span.endLine;

/** example inputs for a function's own parameters, to be changed: "x=f32[8,128], y=f32[8,128]" */
function exampleOf(def: ast.FunctionDef): string {
  const { posonlyargs, args, defaults } = def.args;
  const names = [...posonlyargs, ...args].map(a => a.arg);
  const needed = names.slice(0, names.length - defaults.length).filter(n => n !== "self");
  return (needed.length ? needed : ["x"]).map(n => `${n}=f32[8,128]`).join(", ");
}

/** `# fuselens:` on the line of the def, above it, or first in its body */
function commentOf(p: Program, c: Candidate): Written | undefined {
  const starts = [c.def, ...(c.cls ? [c.cls] : [])].map(d => d.decorators[0]?.span.line ?? d.span.line);
  const body = c.def.body[0]?.span.line ?? c.def.span.line;
  for (const comment of p.parsed.comments()) {
    const line = comment.span.line;
    const near = starts.some(s => line >= s - 1 && line <= s) || (line >= c.def.span.line && line <= body);
    const written = near ? parseComment(comment.text) : undefined;
    if (written) return written;
  }
  return undefined;
}
