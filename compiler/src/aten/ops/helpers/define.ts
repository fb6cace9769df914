// Constructors that keep the operator tables terse. In: what is special about an operator. Out: complete OpRecords.
// Promises: nothing is known here of any single operator; imports nothing but the table's vocabulary.

import {
  type Args,
  type ArgValue,
  type Derivative,
  type DerivativeContext,
  type Dim,
  type DType,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpName,
  type OpRecord,
  type Ops,
  type OpTag,
  type PromotionKind,
  PyFloat,
  type Result,
  SCALAR_TYPE_NAMES,
  type Scalar,
  type TensorMeta,
} from "../../types";
import { canCast } from "./dtypes";

/** A Python float, as decompositions write it: fl(1) prints 1.0. */
export const fl = (value: number): PyFloat => new PyFloat(value);

/** "torch.exp" and "Tensor.exp" for each name. */
export function spell(...names: string[]): string[] {
  return names.flatMap(n => [`torch.${n}`, `Tensor.${n}`]);
}

/** The value of a Scalar as a JS number (True = 1). */
export function numberOf(s: Scalar): number {
  return s instanceof PyFloat ? s.value : Number(s);
}

/** whether a Scalar is this number; unlike `numberOf` it leaves a float parameter one */
export function equalsNumber(s: Scalar, value: number): boolean {
  return s instanceof PyFloat ? s.is(value) : Number(s) === value;
}

export type GradFormula = <T>(b: GraphBuilder<T>, c: DerivativeContext<T>) => T | readonly (T | null)[] | null;

/** One formula per differentiable argument. */
export function each(grads: Readonly<Record<string, GradFormula>>): Derivative {
  return { kind: "each", grads };
}

/**
 * The gradients of `of`, from an operator that works them out together and is told which of them are needed: `grads` hands
 * it the mask.
 */
export function masked(
  of: readonly string[],
  grads: <T>(b: GraphBuilder<T>, c: DerivativeContext<T>, mask: readonly boolean[]) => readonly (T | null)[],
): Derivative {
  return {
    kind: "joint",
    of,
    grads: (b, c) => {
      const mask = of.map(n => c.needs(n));
      const all = grads(b, c, mask);
      return Object.fromEntries(of.map((n, i) => [n, mask[i] ? (all[i] ?? null) : null]));
    },
  };
}

export const NOT_DIFFERENTIABLE: Derivative = { kind: "none" };

/** aten(b)("mul.Tensor", x, y): the call form of decompositions and derivatives. */
export function aten<T>(b: GraphBuilder<T>): (op: string, ...args: ArgValue<T>[]) => T {
  return (op, ...args) => b.call(`aten.${op}`, args);
}

/** Tensors and numbers among the named arguments, as promotion wants them: a symbolic int counts as an int. */
export function metaOperands(a: Args<TensorMeta>, names: readonly string[]): (TensorMeta | Scalar)[] {
  const out: (TensorMeta | Scalar)[] = [];
  for (const name of names) {
    const v = a.raw(name);
    if (v === null) continue;
    out.push(a.isTensor(name) ? a.tensor(name) : typeof v === "object" && "kind" in v ? 0 : (v as Scalar));
  }
  return out;
}

const isMeta = (x: TensorMeta | Scalar): x is TensorMeta => typeof x === "object" && "shape" in x;

/** The usual elementwise meta over the named arguments. */
export function elementwiseMeta(
  m: MetaBuilder,
  a: Args<TensorMeta>,
  names: readonly string[],
  kind: PromotionKind = "default",
  dtype?: DType,
): TensorMeta {
  const operands = metaOperands(a, names);
  return m.elementwise(dtype ?? m.promote(kind, ...operands), ...operands.filter(isMeta));
}

/** Boxes, numbers and symbolic ints among the named arguments. */
export function lowerOperands<B>(a: Args<B>, names: readonly string[]): (B | Scalar | Dim)[] {
  return names.map(name => a.raw(name) as B | Scalar | Dim);
}

export type LowerOp = OpName | (<V>(ops: Ops<V>, ...xs: V[]) => V);

export interface PointwiseSpec {
  /** "aten.exp.default" */
  readonly name: string;
  readonly schema: string;
  readonly python?: readonly string[];
  readonly printedAs?: string;
  /** arguments that are broadcast and promoted; "self" alone if left out */
  readonly operands?: readonly string[];
  readonly promotion?: PromotionKind;
  /** result dtype where promotion does not decide it */
  readonly dtype?: DType;
  /** the loop body's operation, for an operator that is lowered directly */
  readonly op?: LowerOp;
  readonly lower?: OpRecord["lower"];
  readonly decompose?: OpRecord["decompose"];
  readonly composite?: OpRecord["composite"];
  readonly derivative?: Derivative;
  readonly meta?: OpRecord["meta"];
  readonly tags?: readonly OpTag[];
}

/** An elementwise operator. */
export function pointwise(spec: PointwiseSpec): OpRecord {
  const names = spec.operands ?? ["self"];
  const kind = spec.promotion ?? "default";
  const op = spec.op;
  const lower =
    spec.lower ??
    (op === undefined
      ? undefined
      : <B>(b: LoweringBuilder<B>, a: Args<B>): B =>
          b.elementwise(op, lowerOperands(a, names), {
            promotion: kind,
            ...(spec.dtype === undefined ? {} : { dtype: spec.dtype }),
          }));
  return {
    name: spec.name,
    schema: spec.schema,
    tags: spec.tags ?? ["pointwise"],
    meta: spec.meta ?? ((m, a) => elementwiseMeta(m, a, names, kind, spec.dtype)),
    ...(spec.python ? { python: spec.python } : {}),
    ...(spec.printedAs ? { printedAs: spec.printedAs } : {}),
    ...(lower ? { lower } : {}),
    ...(spec.decompose ? { decompose: spec.decompose } : {}),
    ...(spec.composite ? { composite: spec.composite } : {}),
    ...(spec.derivative ? { derivative: spec.derivative } : {}),
  };
}

/** "aten.exp.default" -> "aten.exp_.default" */
function inplaceName(name: string): string {
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}_${name.slice(dot)}`;
}

/** "exp.out_name(Tensor self, ...) -> Tensor" -> "exp_.out_name(Tensor(a!) self, ...) -> Tensor(a!)" */
function inplaceSchema(schema: string): string {
  return schema
    .replace(/^(\w+?)(?=[.(])/, "$1_")
    .replace(/\(Tensor (self|input)/, "(Tensor(a!) $1")
    .replace(/-> Tensor$/, "-> Tensor(a!)");
}

/** What an in-place operator's result is: the tensor itself, after the check that the result fits into it. */
export function inplaceMeta(m: MetaBuilder, self: TensorMeta, result: TensorMeta): TensorMeta {
  if (!canCast(result.dtype, self.dtype)) {
    return m.fail(
      `result type ${dtypeTitle(result.dtype)} can't be cast to the desired output type ${dtypeTitle(self.dtype)}`,
    );
  }
  const grows =
    result.shape.length > self.shape.length ||
    result.shape.some((s, i) => !m.eq(s, self.shape[i + self.shape.length - result.shape.length] ?? s));
  if (grows) {
    return m.fail(`output with shape ${shapeText(m, self)} doesn't match the broadcast shape ${shapeText(m, result)}`);
  }
  return self;
}

const shapeText = (m: MetaBuilder, t: TensorMeta): string => `[${t.shape.map(s => m.hint(s)).join(", ")}]`;

/** where torch.nn.functional's functions are called from */
export const F = "torch.nn.functional.";

export { isComplexDType, isFloatDType, isIntegralDType } from "./dtypes";

/** the scalar type's C++ name, as messages show it */
const dtypeTitle = (d: DType): string => SCALAR_TYPE_NAMES[d] ?? d;

/** methods that write their tensor which are functions of torch too */
const AS_FUNCTIONS = new Set(
  (
    "addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ clamp_ clamp_max_ clamp_min_ clip_ deg2rad_ fix_ frac_ gcd_ " +
    "lcm_ ldexp_ logit_ nan_to_num_ negative_ rad2deg_ sinc_ square_ xlogy_"
  ).split(" "),
);

function asFunctions(methods: readonly string[]): string[] {
  const names = methods.map(m => m.replace(/^Tensor\./, "")).filter(n => AS_FUNCTIONS.has(n));
  return names.map(n => `torch.${n}`);
}

/** The in-place form of a record: same arguments, writes and returns `self`. */
export function inplace(record: OpRecord, python: readonly string[] = [], printedAs?: string): OpRecord {
  const name = inplaceName(record.name);
  const packet = name.split(".")[1] ?? "";
  return {
    name,
    schema: inplaceSchema(record.schema),
    python: [`Tensor.${packet}`, ...python, ...asFunctions([`Tensor.${packet}`, ...python])],
    ...(printedAs ? { printedAs } : {}),
    tags: ["inplace"],
    functional: record.name,
    meta: (m, a) => inplaceMeta(m, a.tensor("self"), record.meta(m, a) as TensorMeta),
  };
}

/** A record and its in-place form. */
export function withInplace(record: OpRecord, python: readonly string[] = []): OpRecord[] {
  return [record, inplace(record, python)];
}

/** A Python-level function, or an operator that PyTorch composes before autograd sees it. */
export function composite(spec: {
  readonly name: string;
  readonly schema: string;
  readonly python?: readonly string[];
  readonly printedAs?: string;
  readonly tags?: readonly OpTag[];
  readonly meta: OpRecord["meta"];
  readonly composite: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T>;
}): OpRecord {
  return spec;
}

/** Positional arguments up to the last one that was given, then given keywords: a call as the graph prints it. */
function givenArguments<T>(
  a: Args<T>,
  positional: readonly string[],
  keywords: readonly string[] = [],
): { args: ArgValue<T>[]; kwargs: Record<string, ArgValue<T>> } {
  let last = positional.length - 1;
  while (last >= 0 && !a.isNamed(positional[last] as string)) last--;
  const kwargs: Record<string, ArgValue<T>> = {};
  for (const k of keywords) if (a.has(k)) kwargs[k] = a.raw(k);
  return { args: positional.slice(0, last + 1).map(n => a.raw(n)), kwargs };
}

/** A lowering to a call of the ATen kernel itself. */
export function fallback(
  name: string,
  tensors: readonly string[],
  positional: readonly string[],
  keywords: readonly string[] = [],
): <B>(b: LoweringBuilder<B>, a: Args<B>) => B {
  return (b, a) =>
    b.extern({
      kind: "fallback",
      kernel: `torch.ops.${name}`,
      op: name,
      inputs: boxes(a, tensors),
      ...givenArguments(a, positional, keywords),
    });
}

/** Same for an operator with several results; `strides` as ExternManyCall has them. */
export function fallbackMany(
  name: string,
  tensors: readonly string[],
  positional: readonly string[],
  keywords: readonly string[] = [],
  strides?: "contiguous",
): <B>(b: LoweringBuilder<B>, a: Args<B>) => (B | null)[] {
  return (b, a) =>
    b.externMany({
      kernel: `torch.ops.${name}`,
      op: name,
      inputs: boxes(a, tensors),
      ...givenArguments(a, positional, keywords),
      ...(strides === undefined ? {} : { strides }),
    });
}

/** the tensors that these arguments are or hold */
function boxes<B>(a: Args<B>, names: readonly string[]): B[] {
  return names.flatMap(n =>
    a.isTensor(n) ? [a.tensor(n)] : Array.isArray(a.raw(n)) ? a.optTensors(n).filter(t => t !== null) : [],
  );
}
