// Forms of calls that PyTorch takes beside those of its schemas, where factors stand before the tensors that they are
// factors of: x.addmm_(1, -2, a, b). In: a call's positional arguments. Out: the same call in the schema's form.
import type { ArgValue } from "./types";

interface Form {
  /** keywords of the factors, in the order of their places; a lone one is the first */
  readonly factors: readonly string[];
  readonly tensors: number;
}

const SCALED: Form = { factors: ["beta", "alpha"], tensors: 3 };
const FORMS: Readonly<Record<string, Form>> = {
  addmm: SCALED,
  addmv: SCALED,
  addr: SCALED,
  addbmm: SCALED,
  baddbmm: SCALED,
  addcmul: { factors: ["value"], tensors: 3 },
  addcdiv: { factors: ["value"], tensors: 3 },
  add: { factors: ["alpha"], tensors: 2 },
  sub: { factors: ["alpha"], tensors: 2 },
};

/** undefined: it is no call in such a form */
export function inSchemaForm<T>(
  display: string,
  args: readonly ArgValue<T>[],
  isTensor: (x: unknown) => boolean,
): { readonly args: ArgValue<T>[]; readonly factors: ReadonlyMap<string, ArgValue<T>> } | undefined {
  const name = display.replace(/^.*\./, "").replace(/_$/, "");
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (!form || !isTensor(args[args.length - 1])) return undefined;
  const tensors = args.filter(isTensor);
  const numbers = args.filter(a => !isTensor(a));
  if (tensors.length !== form.tensors || numbers.length === 0 || numbers.length > form.factors.length) return undefined;
  return { args: tensors, factors: new Map(numbers.map((n, i) => [form.factors[i] ?? "", n] as const)) };
}
