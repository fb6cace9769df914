// Instructions that jump, iterate, handle exceptions, enter contexts and match patterns.
import type { OpName } from "../../code/instructions";
import { PyClass, PyDict, type PyInstance, PyList, PyTuple, type Value } from "../../objects/values";
import { type Interp, raisedAgain } from "../api";
import { enterContext, exitContext, raiseStatement } from "../control";
import { PyGenerator } from "../frame";
import { type Handler, jump, peek, pop, popN, push } from "./stack";

function matchClass(vm: Interp, o: Value, cls: Value, count: number, names: readonly string[]): Value {
  if (!(cls instanceof PyClass) || !vm.isInstance(o, cls)) return null;
  const attrs: Value[] = [];
  const positional = count > 0 ? cls.lookup("__match_args__") : undefined;
  if (count > 0 && positional === undefined) {
    // int(x), str(x) and the like match the value itself
    if (count > 1) return null;
    attrs.push(o);
  }
  const matchNames = positional === undefined ? [] : vm.toArray(positional).slice(0, count).map(String);
  for (const n of [...matchNames, ...names]) {
    const v = vm.getattrOrUndefined(o, n);
    if (v === undefined) return null;
    attrs.push(v);
  }
  return vm.tuple(attrs);
}

export const CONTROL = {
  JUMP: (_vm, f, i) => jump(f, i),
  POP_JUMP_IF_FALSE: (vm, f, i) => {
    const t = vm.truthy(peek(f, 1));
    f.stack.length--;
    return t ? undefined : jump(f, i);
  },
  POP_JUMP_IF_TRUE: (vm, f, i) => {
    const t = vm.truthy(peek(f, 1));
    f.stack.length--;
    return t ? jump(f, i) : undefined;
  },
  JUMP_IF_FALSE_OR_POP: (vm, f, i) => {
    if (!vm.truthy(peek(f, 1))) return jump(f, i);
    f.stack.length--;
    return undefined;
  },
  JUMP_IF_TRUE_OR_POP: (vm, f, i) => {
    if (vm.truthy(peek(f, 1))) return jump(f, i);
    f.stack.length--;
    return undefined;
  },
  GET_ITER: (vm, f) => {
    const v = peek(f, 1);
    // a generator stays itself, so that send() and yield from reach it
    f.stack[f.stack.length - 1] = v instanceof PyGenerator ? v : vm.iterate(v);
    return undefined;
  },
  FOR_ITER: (vm, f, i) => {
    const v = vm.next(peek(f, 1));
    if (v !== undefined) return push(f, v);
    f.stack.length--;
    return jump(f, i);
  },
  POP_TOP: (_vm, f) => {
    pop(f);
    return undefined;
  },
  COPY: (_vm, f, i) => push(f, peek(f, i.arg)),
  SWAP: (_vm, f, i) => {
    const top = f.stack.length - 1;
    const other = f.stack.length - i.arg;
    const a = f.stack[top] as Value;
    f.stack[top] = f.stack[other] as Value;
    f.stack[other] = a;
    return undefined;
  },
  RAISE: (vm, f, i) => raiseStatement(vm, f, popN(f, i.arg)),
  RERAISE: (_vm, f) => {
    f.handling.pop();
    throw raisedAgain(pop(f) as PyInstance, f);
  },
  PUSH_EXC: (_vm, f) => {
    f.handling.push(peek(f, 1) as PyInstance);
    return undefined;
  },
  CHECK_EXC_MATCH: (vm, f) => {
    const type = pop(f);
    const exc = peek(f, 1);
    const one = (t: Value): boolean =>
      t instanceof PyClass ? vm.typeOf(exc).isSubclassOf(t) : t instanceof PyTuple ? t.items.some(one) : false;
    return push(f, one(type));
  },
  POP_EXCEPT: (_vm, f) => {
    f.handling.pop();
    return undefined;
  },
  BEFORE_WITH: (vm, f) => {
    const { exit, entered } = enterContext(vm, peek(f, 1));
    f.stack.length--;
    f.stack.push(exit);
    return push(f, entered);
  },
  WITH_EXIT: (vm, f) => {
    exitContext(vm, peek(f, 1), null);
    f.stack.length--;
    return undefined;
  },
  WITH_EXCEPT: (vm, f) => push(f, exitContext(vm, peek(f, 2), peek(f, 1))),
  LOAD_ASSERTION_ERROR: (vm, f) => push(f, vm.exceptionClass("AssertionError")),
  MATCH_SEQUENCE: (vm, f) => {
    const v = pop(f);
    return push(f, v instanceof PyList || (v instanceof PyTuple && vm.typeOf(v) !== vm.types.str));
  },
  MATCH_MAPPING: (_vm, f) => push(f, pop(f) instanceof PyDict),
  MATCH_KEYS: (vm, f) => {
    const [o, k] = popN(f, 2) as [Value, Value];
    return push(f, vm.truthy(vm.compare("in", k, o)));
  },
  MATCH_CLASS: (vm, f, i) => {
    const [o, cls] = popN(f, 2) as [Value, Value];
    return push(f, matchClass(vm, o, cls, i.arg, i.data as string[]));
  },
  GET_LEN: (vm, f) => push(f, vm.length(pop(f))),
  SYNTAX_PROBLEM: (vm, _f, i) => {
    vm.report("syntax", String(i.data), "error", i.at.span);
    return undefined;
  },
} satisfies Partial<Record<OpName, Handler>>;
