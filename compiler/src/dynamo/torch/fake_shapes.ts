// The shape of what a fake implementation gives. In: the fake and its arguments, some of symbolic sizes. Out: the result's
// metadata: it is run once with the sizes as they are and once with others, and a size that follows one of them is that one.
import type { FakeTensor } from "../../fx/types";
import { type Expr, int, intValue } from "../../inductor/symbolic/expr";
import { PyError } from "../interp/api";
import { type Kwargs, PyList, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { PyTensor } from "./objects";

/** of one result or of several; null: no tensor */
export type FakeResult = FakeTensor | readonly (FakeTensor | null)[] | null;

const isOne = (r: FakeResult): r is FakeTensor => r !== null && !Array.isArray(r);

/** how much larger the sizes are in the second run, times their place */
const APART = 8;

export function fakeResult(torch: Torch, fake: Value, args: readonly Value[], kw: Kwargs): FakeResult {
  const symbols = new Map<Expr, number>();
  for (const a of [...args, ...kw.values()])
    if (a instanceof PyTensor)
      for (const d of a.meta.shape)
        if (intValue(d) === undefined && !symbols.has(d)) symbols.set(d, torch.meta.hint(d));
  const hints = [...symbols.keys()];
  const first = run(torch, fake, args, kw, d => symbols.get(d) ?? torch.meta.hint(d));
  if (first === null || hints.length === 0) return first;
  const inSymbols = (t: FakeTensor, again: FakeTensor | null): FakeTensor => {
    const other = again?.shape.map(intValue);
    const shape = t.shape.map((d, i) => {
      const [n, m] = [intValue(d), other?.[i]];
      return n === m ? d : (hints.find(s => symbols.get(s) === n && moved(s) === m) ?? d);
    });
    return shape.every((d, i) => d === t.shape[i]) ? t : contiguous(torch, t, shape);
  };
  const moved = (d: Expr): number => (symbols.get(d) ?? torch.meta.hint(d)) + APART * (hints.indexOf(d) + 1);
  let second: FakeResult = null;
  const said = torch.events.length;
  try {
    second = run(torch, fake, args, kw, moved);
  } catch (e) {
    // it takes no other sizes
    if (!(e instanceof PyError)) throw e;
  }
  torch.events.length = said;
  if (isOne(first)) return inSymbols(first, isOne(second) ? second : null);
  const others = isOne(second) ? [] : (second ?? []);
  return first.map((t, i) => (t === null ? null : inSymbols(t, others[i] ?? null)));
}

/** outside of the trace, with tensors of these sizes */
function run(torch: Torch, fake: Value, args: readonly Value[], kw: Kwargs, sizeOf: (d: Expr) => number): FakeResult {
  const { vm, trace } = torch;
  const standIn = (v: Value): Value => {
    if (!(v instanceof PyTensor)) return v;
    const fixed = torch.concrete(v.meta);
    const shape = v.meta.shape.map(d => int(intValue(d) ?? sizeOf(d)));
    const same = shape.every((d, i) => intValue(d) === intValue(fixed.shape[i] ?? d));
    return torch.newTensor(same ? fixed : contiguous(torch, fixed, shape));
  };
  const given = args.map(standIn);
  const named = new Map([...kw].map(([k, v]) => [k, standIn(v)] as const));
  const resume = torch.pauseSteps();
  const { observer } = vm;
  torch.trace = null;
  vm.observer = null;
  try {
    const out = vm.call(fake, given, named);
    const metaOf = (v: Value): FakeTensor | null => (v instanceof PyTensor ? v.meta : null);
    return out instanceof PyTuple || out instanceof PyList ? out.items.map(metaOf) : metaOf(out);
  } finally {
    torch.trace = trace;
    vm.observer = observer;
    resume();
  }
}

const contiguous = (torch: Torch, like: FakeTensor, shape: readonly Expr[]): FakeTensor => {
  const { dtype, device, requiresGrad } = like;
  return { ...(torch.meta.tensor(shape, { dtype, device }) as FakeTensor), requiresGrad };
};
