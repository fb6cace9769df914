// Classes whose isinstance() is a test of shape: collections.abc and numbers. In: the machine. Out: classes.
import { defineInstances } from "../builtins/define";
import { isCallable } from "../builtins/functions";
import { PyGenerator } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { special } from "../interp/operators";
import {
  PyBytes,
  type PyClass,
  PyDict,
  PyIterator,
  PyList,
  PyRange,
  PySet,
  PyTuple,
  type Value,
} from "../objects/values";

/** a class whose isinstance() is a test of shape */
export function abstractClass(vm: Machine, name: string, module: string, test: (v: Value) => boolean): PyClass {
  const c = vm.klass(name, [], module);
  defineInstances(vm, c, test);
  return c;
}

export function abstractCollections(vm: Machine): Map<string, PyClass> {
  const has = (v: Value, name: string): boolean => special(vm, v, name) !== undefined;
  const iterable = (v: Value): boolean =>
    typeof v === "string" ||
    v instanceof PyList ||
    v instanceof PyTuple ||
    v instanceof PyDict ||
    v instanceof PySet ||
    v instanceof PyRange ||
    v instanceof PyIterator ||
    v instanceof PyGenerator ||
    has(v, "__iter__");
  const sequence = (v: Value): boolean =>
    typeof v === "string" ||
    v instanceof PyList ||
    v instanceof PyTuple ||
    v instanceof PyRange ||
    v instanceof PyBytes;
  const tests: Record<string, (v: Value) => boolean> = {
    Iterable: iterable,
    Iterator: v => v instanceof PyIterator || v instanceof PyGenerator || has(v, "__next__"),
    Generator: v => v instanceof PyGenerator,
    Callable: v => isCallable(vm, v),
    Sequence: sequence,
    MutableSequence: v => v instanceof PyList,
    Mapping: v => v instanceof PyDict,
    MutableMapping: v => v instanceof PyDict,
    Set: v => v instanceof PySet,
    MutableSet: v => v instanceof PySet && !v.frozen,
    Sized: v => sequence(v) || v instanceof PyDict || v instanceof PySet || has(v, "__len__"),
    Container: v => sequence(v) || v instanceof PyDict || v instanceof PySet,
    Collection: v => sequence(v) || v instanceof PyDict || v instanceof PySet,
    Hashable: v => !(v instanceof PyList || v instanceof PyDict),
    Awaitable: () => false,
    Coroutine: () => false,
    AsyncIterator: () => false,
    AsyncIterable: () => false,
  };
  return new Map(Object.entries(tests).map(([n, t]) => [n, abstractClass(vm, n, "collections.abc", t)]));
}
