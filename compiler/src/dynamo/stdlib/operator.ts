// The module operator. In: the machine. Out: its module object.
import { func } from "../builtins/define";
import type { BinaryOperator, CompareOperator } from "../interp/api";
import type { Machine } from "../interp/machine";
import { COMPARISON_WORDS, OPERATOR_WORDS, operatorFunction } from "../interp/operator_names";
import type { PyModule, Value } from "../objects/values";

export function operatorModule(vm: Machine): PyModule {
  const m = vm.newModule("operator");
  for (const op of Object.keys(OPERATOR_WORDS) as BinaryOperator[]) {
    func(vm, m, operatorFunction(op), ([a, b]) => vm.binary(op, a ?? null, b ?? null));
    func(vm, m, `i${OPERATOR_WORDS[op]}`, ([a, b]) => vm.binary(op, a ?? null, b ?? null, true));
  }
  for (const [op, name] of [...Object.entries(COMPARISON_WORDS), ["is", "is_"], ["is not", "is_not"]] as const)
    func(vm, m, name, ([a, b]) => vm.compare(op as CompareOperator, a ?? null, b ?? null));
  func(vm, m, "contains", ([a, b]) => vm.compare("in", b ?? null, a ?? null));
  func(vm, m, "neg", ([a]) => vm.unary("-", a ?? null));
  func(vm, m, "not_", ([a]) => !vm.truthy(a ?? null));
  func(vm, m, "truth", ([a]) => vm.truthy(a ?? null));
  func(vm, m, "index", ([a]) => vm.index(a ?? null));
  func(vm, m, "getitem", ([a, k]) => vm.getitem(a ?? null, k ?? null));
  func(vm, m, "setitem", ([a, k, v]) => {
    vm.setitem(a ?? null, k ?? null, v ?? null);
    return null;
  });
  func(vm, m, "itemgetter", keys =>
    vm.builtin("itemgetter", ([o]) => {
      const got = keys.map(k => vm.getitem(o ?? null, k));
      return got.length === 1 ? (got[0] as Value) : vm.tuple(got);
    }),
  );
  func(vm, m, "attrgetter", names =>
    vm.builtin("attrgetter", ([o]) => {
      const got = names.map(n =>
        String(n)
          .split(".")
          .reduce<Value>((x, k) => vm.getattr(x, k), o ?? null),
      );
      return got.length === 1 ? (got[0] as Value) : vm.tuple(got);
    }),
  );
  func(vm, m, "methodcaller", ([name, ...args], kw) =>
    vm.builtin("methodcaller", ([o]) => vm.call(vm.getattr(o ?? null, String(name)), args, kw)),
  );
  return m;
}
