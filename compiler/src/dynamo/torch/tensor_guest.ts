// What happens on a Tensor: attributes, methods, operators, truth. In: Python's requests through the guest interface.
// Out: the answer of the part that knows it.

import { lookupPython } from "../../aten/registry";
import type { BinaryOperator, CompareOperator, Guest } from "../interp/api";
import { PyError } from "../interp/api";
import { isNumber } from "../interp/numbers";
import { COMPARISON_WORDS, isComparison, OPERATOR_WORDS, operatorFunction } from "../interp/operator_names";
import { PyBuiltin, PyMethod, PyUnknown, type Value } from "../objects/values";
import type { Torch } from "./context";
import { Converter } from "./convert";
import { opaqueOp, runOp } from "./dispatch";
import { restsOnGuess } from "./guessed_shapes";
import { tensorGetItem, tensorSetItem } from "./indexing";
import { PySymFloat, PySymInt, PyTensor, PyUnknownNumber } from "./objects";
import { attribute } from "./tensor_attributes";
import { iterate, METHODS, RANDOM_FILLS, type TensorMethod } from "./tensor_methods";
import { breakOn, functionOp, methodOp, REPORT } from "./tensor_ops";
import { number, tensorText, truth } from "./tensor_values";

const isTensor = (v: Value): v is PyTensor => v instanceof PyTensor;
const operand = (v: Value): boolean =>
  isTensor(v) || isNumber(v) || v instanceof PySymInt || v instanceof PySymFloat || v instanceof PyUnknownNumber;

export function tensorGuest(torch: Torch): Guest {
  const { vm } = torch;
  const bound = (name: string, self: PyTensor, fn: TensorMethod): Value => {
    const b = new PyBuiltin(vm.types.builtin, name, ([t, ...args], kw) => fn(torch, t as PyTensor, args, kw));
    b.method = true;
    return new PyMethod(vm.types.method, b, self);
  };
  const stillGuessed =
    (move: TensorMethod): TensorMethod =>
    (t, self, args, kw) => {
      const moved = move(t, self, args, kw);
      if (isTensor(moved)) moved.guessedFrom = self.guessedFrom;
      return moved;
    };
  /** what an unknown function gave may have a method of its own where a tensor's wants other arguments */
  const orItself =
    (run: TensorMethod): TensorMethod =>
    (t, self, args, kw) => {
      try {
        return run(t, self, args, kw);
      } catch (e) {
        if (e instanceof PyError && e.value.cls.name === "TypeError") return self;
        throw e;
      }
    };
  return {
    getattr(o, name) {
      if (!isTensor(o)) {
        // torch.Tensor.add and the like
        if (o !== torch.tensorClass && o !== torch.parameterClass) return undefined;
        return classMethod(torch, name);
      }
      // Dynamo realises a lazy input as soon as anything is read off it
      torch.trace?.nodeOf(o);
      const own = o.attrs?.get(name);
      if (own !== undefined) return own;
      const simple = attribute(torch, o, name);
      if (simple !== undefined) return simple;
      if (o.cls !== torch.tensorClass && o.cls !== torch.parameterClass) {
        const custom = o.cls.lookup(name);
        if (custom !== undefined) return undefined;
      }
      const m = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      if (m) return bound(name, o, m);
      if (RANDOM_FILLS.has(name) && !torch.trace) {
        return bound(name, o, (_t, self) => {
          self.storage.wrote();
          return self;
        });
      }
      if (lookupPython(`Tensor.${name}`).length > 0) {
        const run: TensorMethod = (t, self, args, kw) => methodOp(t, name, self, args, kw);
        // what an unknown function gave is still that where it is on another device
        if (o.guessedFrom === null) return bound(name, o, run);
        return bound(name, o, /^(to|cuda|cpu)$/.test(name) ? stillGuessed(run) : orItself(run));
      }
      if (/^__\w+__$/.test(name)) return undefined;
      // what an unknown function gave holds tensors like itself under such names
      if (o.guessedFrom !== null && !name.startsWith("_")) return restsOnGuess(o) ? o : partOf(torch, o, name);
      if (KNOWN_METHODS.test(name)) return bound(name, o, (t, self, args, kw) => methodOp(t, name, self, args, kw));
      return !name.startsWith("_") && restsOnGuess(o) ? o : undefined;
    },
    call: f => (isTensor(f) && (f.guessedFrom !== null || restsOnGuess(f)) ? f : undefined),
    unpack(v, n) {
      if (!isTensor(v) || torch.hints(v)[0] === n || (v.guessedFrom === null && !restsOnGuess(v))) return undefined;
      return new Array<Value>(n).fill(v);
    },
    setattr(o, name, v) {
      if (!isTensor(o)) return false;
      if (name === "data" && isTensor(v)) {
        if (torch.trace) methodOp(torch, "set_", o, [v], new Map());
        else o.meta = { ...v.meta, requiresGrad: o.meta.requiresGrad };
        return true;
      }
      if (name === "requires_grad") {
        const on = vm.truthy(v);
        if (torch.trace && on !== o.meta.requiresGrad) {
          breakOn(
            "Unsupported Tensor.requires_grad setter",
            "0206",
            "Dynamo does not support changes to a Tensor's `requires_grad`.",
            [REPORT],
            "requires_grad",
          );
        }
        o.meta = { ...o.meta, requiresGrad: on };
        return true;
      }
      if (name === "grad") {
        o.setGrad(isTensor(v) ? v : null);
        return true;
      }
      return false;
    },
    binary(op, a, b, inplace) {
      if (!isTensor(a) && !isTensor(b)) return undefined;
      if (!operand(a) || !operand(b)) return undefined;
      const custom = !isTensor(a) ? b : a;
      if (isTensor(custom) && custom.cls !== torch.tensorClass && custom.cls !== torch.parameterClass) {
        const overridden = custom.cls.lookup(`__${OPERATOR_WORDS[op]}__`);
        if (overridden !== undefined) return undefined;
      }
      return binaryOp(torch, op, a, b, inplace);
    },
    unary(op, a) {
      if (!isTensor(a)) return undefined;
      if (op === "+") return a;
      const name = op === "-" ? "neg" : "invert";
      return functionOp(torch, `operator.${name}`, [a], undefined, op === "-" ? "Tensor.neg" : "Tensor.bitwise_not");
    },
    compare(op, a, b) {
      if (!isTensor(a) && !isTensor(b)) return undefined;
      return compareOp(torch, op, a, b);
    },
    getitem(o, key) {
      if (!isTensor(o)) return undefined;
      // what an unknown function gave is one of several tensors before it is a sample of a batch
      const part = o.guessedFrom !== null && (typeof key === "string" || typeof key === "number");
      return part ? o : tensorGetItem(torch, o, key);
    },
    setitem(o, key, v) {
      if (!isTensor(o)) return false;
      tensorSetItem(torch, o, key, v);
      return true;
    },
    truth: v => (isTensor(v) ? truth(torch, v) : undefined),
    touched(v) {
      if (isTensor(v)) torch.trace?.nodeOf(v);
    },
    length: v => (isTensor(v) ? METHODS.__len__?.(torch, v, [], new Map()) : undefined),
    iterate(v) {
      if (!isTensor(v)) return undefined;
      return vm.iterate(iterate(torch, v));
    },
    index(v) {
      if (!isTensor(v)) return undefined;
      const n = number(torch, v, "int");
      return typeof n === "number" ? n : 0;
    },
    repr: v => (isTensor(v) ? tensorText(torch, v) : undefined),
    hash: v => (isTensor(v) ? v : undefined),
    format: (v, spec) =>
      isTensor(v)
        ? spec === "" || v.meta.shape.length > 0
          ? tensorText(torch, v)
          : vm.format(number(torch, v, "float"), spec)
        : undefined,
  };
}

/** what an object of a class that nobody knows holds under a name */
function partOf(torch: Torch, of: PyTensor, name: string): Value {
  if (!torch.trace) return of;
  const target = `${of.guessedFrom}.${name}`;
  const conv = new Converter(torch, torch.trace.graph);
  const call = {
    op: "call_function",
    target,
    spelling: "",
    options: { opaque: `${target} is not known here` },
  } as const;
  const made = opaqueOp({ call, conv, args: [conv.convert(of).arg], kwargs: new Map() });
  if (isTensor(made)) made.guessedFrom = target;
  return made;
}

/** methods that may be missing in the table; they become opaque operators instead of AttributeErrors */
const KNOWN_METHODS =
  /^(new_\w+|to_\w+|is_\w+|\w+_$|svd|qr|lu|fft|stft|istft|median|mode|kthvalue|histc|unique|unique_consecutive|cummax|cummin|logcumsumexp|corrcoef|cov|renorm|geqrf|inverse|pinverse|det|logdet|slogdet|cholesky|triangular_solve|nanmedian|quantile|nanquantile|view_as_complex|view_as_real|rename|refine_names|align_to|index_reduce|swapdims|argwhere|polygamma|igammac?|histogram|nonzero_static|narrow_copy|conj_physical|dequantize|int_repr|hash_tensor|indices|values|crow_indices|col_indices|ccol_indices|row_indices|sparse_mask|lu_solve|orgqr|ormqr|unsafe_chunk|unsafe_split|unsafe_split_with_sizes|align_as|smm|sspaddmm)$/;

function classMethod(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  const fn = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  const known = fn !== undefined || lookupPython(`Tensor.${name}`).length > 0;
  if (!known || name === "__iter__" || name === "__getitem__" || name === "__setitem__") return undefined;
  if (name.startsWith("__") && name !== "__len__") return undefined;
  const b = new PyBuiltin(vm.types.builtin, name, ([self, ...args], kw) => {
    if (!(self instanceof PyTensor))
      return vm.raise("TypeError", `descriptor '${name}' requires a 'torch._C.TensorBase' object`);
    return fn ? fn(torch, self, args, kw) : methodOp(torch, name, self, args, kw);
  });
  b.method = true;
  return b;
}

function binaryOp(torch: Torch, op: BinaryOperator, a: Value, b: Value, inplace: boolean): Value {
  if (inplace && isTensor(a)) {
    const target = `operator.i${OPERATOR_WORDS[op]}`;
    const spelling = lookupPython(target).length > 0 ? target : `Tensor.${INPLACE[op] ?? `${OPERATOR_WORDS[op]}_`}`;
    return functionOp(torch, target, [a, b], undefined, spelling);
  }
  return functionOp(torch, `operator.${operatorFunction(op)}`, [a, b]);
}

const INPLACE: Partial<Record<BinaryOperator, string>> = {
  "/": "div_",
  "//": "floor_divide_",
  "%": "remainder_",
  "**": "pow_",
  "&": "bitwise_and_",
  "|": "bitwise_or_",
  "^": "bitwise_xor_",
  "<<": "bitwise_left_shift_",
  ">>": "bitwise_right_shift_",
  "@": "matmul_",
};

function compareOp(torch: Torch, op: CompareOperator, a: Value, b: Value): Value | undefined {
  if (!isComparison(op)) return undefined;
  // which items are equal to what nobody knows is not known either, but how many there are
  const unknown = [a, b].find(v => v instanceof PyUnknown);
  const compared = [a, b].find(isTensor);
  if (unknown instanceof PyUnknown && compared && torch.trace) {
    const conv = new Converter(torch, torch.trace.graph);
    const options = { opaque: `${unknown.what} is not known here` };
    const call = { op: "call_function", target: `operator.${COMPARISON_WORDS[op]}`, spelling: "", options } as const;
    const args = [conv.convert(compared).arg];
    return opaqueOp({ call, conv, args, kwargs: new Map() }, { ...compared.meta, dtype: "bool", requiresGrad: false });
  }
  if (!operand(a) || !operand(b)) {
    if (op === "==") return false;
    return op === "!=" ? true : undefined;
  }
  if (op === "==" && isTensor(a)) {
    return runOp(torch, { op: "call_method", target: "__eq__", spelling: "operator.eq" }, [a, b], new Map());
  }
  return functionOp(torch, `operator.${COMPARISON_WORDS[op]}`, [a, b]);
}
