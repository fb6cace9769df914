// Plan values as Python text. In: sizes, views, arguments of a plan. Out: what the generated wrapper prints.
// Promises: strings pass the one escaping function for Python.
import { stringRepr } from "../../../fx/py_repr";
import { sameSizes, sizeText } from "../../plan/sizes";
import type { PlanArg, PlanSize, PlanTensor } from "../../plan/types";
import { floatText, pythonInt } from "../triton/python_text";

/** (a, b), (a, ), () */
export function shapeTuple(sizes: readonly PlanSize[]): string {
  return sizes.length === 1 ? `(${sizeText(sizes[0] as PlanSize)}, )` : `(${sizes.map(sizeText).join(", ")})`;
}

export function reinterpret(
  buffer: string,
  v: { readonly size: readonly PlanSize[]; readonly stride: readonly PlanSize[]; readonly offset: PlanSize },
): string {
  return `reinterpret_tensor(${buffer}, ${shapeTuple(v.size)}, ${shapeTuple(v.stride)}, ${sizeText(v.offset)})`;
}

export type TensorTable = ReadonlyMap<string, PlanTensor>;

export function argText(a: PlanArg, tensors: TensorTable): string {
  switch (a.kind) {
    case "buffer":
      return a.name;
    case "view": {
      const base = tensors.get(a.buffer);
      if (base && base.dtype !== a.dtype) {
        const same = sameSizes(base.size, a.size) && sameSizes(base.stride, a.stride) && sizeText(a.offset) === "0";
        return `aten.view.dtype(${same ? a.buffer : reinterpret(a.buffer, a)}, torch.${a.dtype})`;
      }
      return reinterpret(a.buffer, a);
    }
    case "size":
      return sizeText(a.value);
    case "number":
      return a.float ? floatText(a.value) : pythonInt(a.value);
    case "bool":
      return a.value ? "True" : "False";
    case "string":
      return stringRepr(a.value);
    case "dtype":
      return `torch.${a.value}`;
    case "device": {
      const [type = "cpu", index] = a.value.split(":");
      return index === undefined
        ? `device(type=${stringRepr(type)})`
        : `device(type=${stringRepr(type)}, index=${Number(index)})`;
    }
    case "list": {
      const items = a.items.map(x => argText(x, tensors));
      return a.tuple ? `(${items.join(", ")}${items.length === 1 ? "," : ""})` : `[${items.join(", ")}]`;
    }
    case "literal":
      return a.value;
    case "none":
      return "None";
    default: {
      const never: never = a;
      return never;
    }
  }
}
