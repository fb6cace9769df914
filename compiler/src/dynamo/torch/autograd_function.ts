// torch.autograd.Function.apply inside of a trace. In: the class, its arguments. Out: the results of its forward, whose
// gradients its own backward gives. Both are traced here, one behind the other, between nodes that name the parts:
//
//   f = begin(inputs);  outputs = forward(...);  g = grad(f, i);  ... = backward(g);  apply(f, outputs, grads, ...)
//
// (torch holds the same as two graph modules of autograd_function_apply.) Promises: nothing of the backward runs in the
// forward pass: AOTAutograd takes what lies between the first `grad` and `apply` out and runs it as the gradient.

import { FUNCTION_APPLY, FUNCTION_BEGIN, FUNCTION_GRAD } from "../../fx/bodies";
import type { FxNode } from "../../fx/graph";
import { isFakeTensor } from "../../fx/print";
import type { Argument, FakeTensor, StackFrame } from "../../fx/types";
import { PyFunction } from "../interp/frame";
import { type Kwargs, PyClass, PyMethod, PyTuple, type Value } from "../objects/values";
import { isDifferentiableDType, type Torch } from "./context";
import { asOneStep } from "./eager_region";
import { PyTensor } from "./objects";
import { type TraceSink, Unsupported } from "./sink";

/** Runs `cls.apply(*inputs)`; `makeContext` gives the ctx of its methods. */
export function applyFunction(
  torch: Torch,
  cls: Value,
  inputs: readonly Value[],
  kwargs: Kwargs,
  makeContext: () => Value,
): Value {
  const { vm } = torch;
  const tensors = inputs.filter(x => x instanceof PyTensor);
  const wanted = torch.gradEnabled && !torch.inferenceMode && tensors.some(t => t.meta.requiresGrad);
  const context = (): Value => {
    const ctx = makeContext();
    vm.setattr(ctx, "needs_input_grad", vm.tuple(inputs.map(x => x instanceof PyTensor && x.meta.requiresGrad)));
    return ctx;
  };
  if (!wanted) return runForward(torch, cls, context(), inputs, kwargs);
  const { trace } = torch;
  if (trace !== null) return traced(torch, trace, cls, context(), inputs, kwargs);
  for (const t of tensors) torch.noteLeaf(t);
  try {
    return asOneStep(
      torch,
      () => traced(torch, torch.trace as TraceSink, cls, context(), inputs, kwargs),
      out => (out instanceof PyTuple ? out.items : [out]).filter(t => t instanceof PyTensor),
    );
  } catch (e) {
    // it asks for data or does what no graph holds: operator by operator, then
    if (!(e instanceof Unsupported)) throw e;
    torch.assumeLater("an autograd.Function that no graph can hold has the gradient of its forward");
    return runForward(torch, cls, context(), inputs, kwargs);
  }
}

function traced(
  torch: Torch,
  trace: TraceSink,
  cls: Value,
  ctx: Value,
  inputs: readonly Value[],
  kwargs: Kwargs,
): Value {
  const { vm } = torch;
  const tensors = inputs.filter(x => x instanceof PyTensor);
  const nodes = tensors.map(t => trace.nodeOf(t));
  const begin = trace.emit("call_function", FUNCTION_BEGIN, [nodes], new Map(), null);
  torch.gradEnabled = false;
  // forward and backward are modules of their own, unless the call stands in one
  const { graph } = trace;
  const own = graph.body === null;
  try {
    const out = inBody(trace, own ? "fwd_body" : null, () => {
      const made = inFrame(torch, WRAPPER, () => runForward(torch, cls, ctx, inputs, kwargs));
      vm.observer?.stored?.("outs", made, null);
      return made;
    });
    const results = out instanceof PyTuple ? out.items : [out];
    const fixed = vm.getattr(ctx, "_non_differentiable");
    const without = fixed instanceof PyTuple ? fixed.items : [];
    const tracked = results.map(
      r => r instanceof PyTensor && !without.includes(r) && isDifferentiableDType(r.meta.dtype),
    );
    if (!tracked.includes(true)) return out;
    const outputs = results.flatMap((r, i) => (r instanceof PyTensor && tracked[i] ? [trace.nodeOf(r)] : []));
    const { grads, nodes: gradNodes } = gradients(torch, trace, begin, results, tracked);
    const saved = vm.getattr(ctx, "saved_tensors");
    const given = inBody(trace, own ? "bwd_body" : null, () => runBackward(torch, cls, ctx, inputs, grads));
    const metas = results.flatMap((r, i) => (r instanceof PyTensor && tracked[i] ? [withGrad(r.meta)] : []));
    const apply = trace.emit(
      "call_function",
      FUNCTION_APPLY,
      [begin, outputs, gradNodes, given.map(g => (g === null ? null : trace.nodeOf(g)))],
      new Map<string, Argument>([
        [
          "saved",
          saved instanceof PyTuple ? saved.items.flatMap(t => (t instanceof PyTensor ? [trace.nodeOf(t)] : [])) : [],
        ],
        ["gradients", backwardParameters(vm.getattr(cls, "backward"))],
      ]),
      metas,
    );
    let next = 0;
    const made = results.map((r, i): Value => {
      const meta = metas[next];
      if (!(r instanceof PyTensor) || !tracked[i] || meta === undefined) return r;
      const node = trace.emit("call_function", "operator.getitem", [apply, next++], new Map(), meta);
      const t = torch.newTensor(meta, r.storage);
      t.isLeaf = false;
      trace.adopt(t, node);
      return t;
    });
    // torch has an item for each tensor that the forward made
    const forward = graph.nodes.filter(n => n.meta.body !== undefined && n.meta.body === outputs[0]?.meta.body);
    for (let i = forward.filter(n => isFakeTensor(n.meta.val)).length; i > outputs.length; i--)
      graph.namespace.create("getitem");
    return out instanceof PyTuple ? vm.tuple(made) : (made[0] ?? null);
  } finally {
    if (own) graph.body = null;
    torch.gradEnabled = true;
  }
}

/** what is between the call and the forward in torch's stacks */
const WRAPPER: StackFrame = {
  file: "torch/_functorch/autograd_function.py",
  func: "inner",
  line: 880,
  code: "outs = orig_fwd(*args, **kwargs)",
  span: { line: 880, column: 15, endLine: 880, endColumn: 40 },
};

function inFrame<R>(torch: Torch, frame: StackFrame, run: () => R): R {
  const outer = torch.innerFrame;
  torch.innerFrame = { frame, depth: torch.vm.frames.length };
  try {
    return run();
  } finally {
    torch.innerFrame = outer;
  }
}

function inBody<R>(trace: TraceSink, name: string | null, run: () => R): R {
  if (name === null) return run();
  trace.graph.openBody(name);
  try {
    return run();
  } finally {
    trace.graph.body = null;
  }
}

/** names that the gradients have in a backward(ctx, grad, ...) */
function backwardParameters(backward: Value): string[] {
  const f = backward instanceof PyMethod ? backward.func : backward;
  return f instanceof PyFunction ? f.code.varnames.slice(1, f.code.argCount) : [];
}

function runForward(torch: Torch, cls: Value, ctx: Value, inputs: readonly Value[], kwargs: Kwargs): Value {
  const { vm } = torch;
  const setup = cls instanceof PyClass ? cls.lookup("setup_context") : undefined;
  const forward = vm.getattr(cls, "forward");
  if (setup === undefined) return vm.call(forward, [ctx, ...inputs], kwargs);
  const out = vm.call(forward, inputs, kwargs);
  vm.call(vm.getattr(cls, "setup_context"), [ctx, vm.tuple(inputs), out]);
  return out;
}

/** what the backward is called with: one gradient per result, None for what has none */
function gradients(
  torch: Torch,
  trace: TraceSink,
  begin: FxNode,
  results: readonly Value[],
  tracked: readonly boolean[],
): { readonly grads: Value[]; readonly nodes: FxNode[] } {
  const nodes: FxNode[] = [];
  const grads = results.map((r, i): Value => {
    if (!(r instanceof PyTensor) || !tracked[i]) return null;
    const meta: FakeTensor = { ...r.meta, requiresGrad: false };
    const node = trace.emit("call_function", FUNCTION_GRAD, [begin, nodes.length], new Map(), meta);
    nodes.push(node);
    const g = torch.newTensor(meta);
    trace.adopt(g, node);
    return g;
  });
  return { grads, nodes };
}

/** the gradient of each tensor argument, in their order */
function runBackward(
  torch: Torch,
  cls: Value,
  ctx: Value,
  inputs: readonly Value[],
  grads: readonly Value[],
): (PyTensor | null)[] {
  const { vm } = torch;
  const out = vm.call(vm.getattr(cls, "backward"), [ctx, ...grads]);
  const given = out instanceof PyTuple ? [...out.items] : [out];
  // more gradients than arguments are right as long as they are None
  while (given.length > inputs.length && given.at(-1) === null) given.pop();
  if (given.length !== inputs.length) {
    const name = cls instanceof PyClass ? cls.name : "Function";
    vm.raise(
      "RuntimeError",
      `function ${name}Backward returned an incorrect number of gradients (expected ${inputs.length}, got ${given.length})`,
    );
  }
  return inputs.flatMap((x, i) => {
    const g = given[i] ?? null;
    return x instanceof PyTensor ? [g instanceof PyTensor ? g : null] : [];
  });
}

const withGrad = (m: FakeTensor): FakeTensor => ({ ...m, requiresGrad: true });
