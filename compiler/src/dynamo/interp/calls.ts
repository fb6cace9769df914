// What calls make: the frame of a function's call, the instance of a class. In: what is called, and arguments.
import { type Kwargs, PyCell, type PyClass, PyInstance, PyStaticMethod, type Value } from "../objects/values";
import type { Interp } from "./api";
import { bindParameters } from "./arguments";
import { bind } from "./attributes";
import { Frame, type PyFunction } from "./frame";

/** the frame of a call, its arguments bound */
export function makeFrame(vm: Interp, f: PyFunction, args: readonly Value[], kwargs: Kwargs): Frame {
  vm.observer?.called?.(f, args);
  const code = f.code;
  const cells: PyCell[] = [];
  for (let i = 0; i < code.cellNames.length; i++) cells.push(new PyCell(vm.types.cell));
  cells.push(...f.closure);
  const frame = new Frame(code, f.globals, f, cells);
  bindParameters(vm, f, args, kwargs, frame.locals);
  for (const [slot, cell] of code.cellParams) {
    const c = cells[cell];
    if (c) c.value = frame.locals[slot];
  }
  return frame;
}

export function instantiate(vm: Interp, cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
  const meta = cls.cls === cls ? undefined : cls.cls.lookup("__call__");
  if (meta !== undefined && cls.cls !== vm.types.type) {
    return vm.call(bind(vm, meta, cls, cls.cls), args, kwargs);
  }
  return construct(vm, cls, args, kwargs);
}

/** type.__call__ */
export function construct(vm: Interp, cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
  const make = cls.lookup("__new__");
  let self: Value;
  if (make !== undefined) {
    const f = make instanceof PyStaticMethod ? make.func : make;
    self = vm.call(f, [cls, ...args], kwargs);
    if (!vm.typeOf(self).isSubclassOf(cls)) return self;
  } else {
    self = new PyInstance(cls);
  }
  const init = cls.lookup("__init__");
  if (init !== undefined) vm.call(bind(vm, init, self, cls), args, kwargs);
  else if (make === undefined && (args.length > 0 || kwargs.size > 0)) {
    vm.raise("TypeError", `${cls.name}() takes no arguments`);
  }
  return self;
}
