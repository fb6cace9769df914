// Operators over lists of tensors. Each overload names the operator that it applies to every element; metas, gradients
// and loops are that operator's own. Inductor keeps the loops of one list together; lists it has no loops for are calls.
import type {
  Args,
  ArgValue,
  DerivativeContext,
  Dim,
  GraphBuilder,
  LoweringBuilder,
  OpRecord,
  TensorMeta,
} from "../types";
import { records as convert } from "./convert";
import { NOT_DIFFERENTIABLE } from "./helpers/define";
import { ElementArgs } from "./helpers/element_args";
import { at } from "./helpers/shape";
import { records as lerp } from "./lerp";
import { records as binary } from "./pointwise_binary";
import { records as pairs } from "./pointwise_pairs";
import { records as sign } from "./pointwise_sign";
import { records as unary } from "./pointwise_unary";
import { records as reduction } from "./reduction";
import { records as selection } from "./selection";
import { records as special } from "./special_functions";
import { records as statistics } from "./statistics";

const elements = new Map<string, OpRecord>(
  [
    ...unary,
    ...special,
    ...sign,
    ...binary,
    ...selection,
    ...lerp,
    ...pairs,
    ...convert,
    ...reduction,
    ...statistics,
  ].map(r => [r.name, r]),
);

/** one parameter of a list operator and what an element gets of it */
interface Parameter {
  readonly name: string;
  readonly type: string;
  /** the element operator's parameter; absent: the element does not see it */
  readonly to?: string;
  /** a list gives each element its own value */
  readonly spread: boolean;
}

interface ListOp {
  readonly packet: string;
  readonly overload: string;
  /** the operator of each element */
  readonly element: string;
  readonly parameters: readonly Parameter[];
  /** "*" stands before this parameter */
  readonly keywordFrom?: number;
  /** Inductor writes loops for it; else it calls ATen */
  readonly loops: boolean;
  /** the in-place form stays in graphs after reinplacing */
  readonly inplaceLoops?: boolean;
  readonly decompose?: OpRecord["decompose"];
  readonly noInplace?: boolean;
}

const list = (name: string, to: string): Parameter => ({ name, type: "Tensor[]", to, spread: true });
const SELF = list("self", "self");
const ALPHA: Parameter = { name: "alpha", type: "Scalar", to: "alpha", spread: false };

function schemaOf(op: ListOp, inplace: boolean): string {
  const parts = op.parameters.map((p, i) => {
    const type = inplace && i === 0 ? p.type.replace("Tensor", "Tensor(a!)") : p.type;
    const fallback =
      p.name === "alpha" || (p.name === "value" && p.type === "Scalar")
        ? "=1"
        : p.name === "ord"
          ? "=2"
          : p.name === "non_blocking"
            ? "=False"
            : p.name === "dtype"
              ? "=None"
              : "";
    return `${type} ${p.name}${fallback}`;
  });
  if (op.keywordFrom !== undefined) parts.splice(op.keywordFrom, 0, "*");
  const overload = op.overload === "default" ? "" : `.${op.overload}`;
  return `${op.packet}${inplace ? "_" : ""}${overload}(${parts.join(", ")}) -> ${inplace ? "()" : "Tensor[]"}`;
}

interface Host<T> {
  isTensor(x: unknown): x is T;
  isDim(x: unknown): x is Dim;
  int(n: number): Dim;
  hint(d: Dim): number;
}

/** how many elements, by the first list */
function count<T>(op: ListOp, a: Args<T>): number {
  const first = op.parameters.find(p => p.spread);
  const v = first === undefined ? null : a.raw(first.name);
  return Array.isArray(v) ? v.length : 0;
}

function elementArgs<T>(op: ListOp, a: Args<T>, i: number, host: Host<T>): ElementArgs<T> {
  // what the element's schema has as default and the list's may lack
  const values: Record<string, ArgValue<T>> = { alpha: 1 };
  for (const p of op.parameters) {
    if (p.to === undefined) continue;
    const v = a.raw(p.name);
    values[p.to] = p.spread && Array.isArray(v) ? ((v as readonly ArgValue<T>[])[i] ?? null) : v;
  }
  return new ElementArgs(values, host);
}

function elementOf(op: ListOp): OpRecord {
  const r = elements.get(op.element);
  // a list operator over an operator that the table lacks is a bug of the table
  if (r === undefined) throw new Error(`${op.packet}: no operator ${op.element}`);
  return r;
}

/** a builder that reports the meta of one element as the result */
function forElement<B>(b: LoweringBuilder<B>, i: number): LoweringBuilder<B> {
  const all = b.out() as readonly TensorMeta[];
  return Object.create(b, { out: { value: () => at(all, i) } }) as LoweringBuilder<B>;
}

function lowerList<B>(op: ListOp, b: LoweringBuilder<B>, a: Args<B>, inplace: boolean): (B | null)[] {
  const host: Host<B> = { isTensor: (x): x is B => b.isBox(x), isDim: b.isDim, int: b.int, hint: b.hint };
  const lower = elementOf(op).lower;
  if (lower === undefined || !op.loops) {
    const name = `aten.${op.packet}.${op.overload}`;
    let last = op.parameters.length - 1;
    while (last >= 0 && !a.has(at(op.parameters, last).name)) last--;
    const given = op.parameters.slice(0, last + 1);
    const cut = op.keywordFrom ?? given.length;
    return b.externMany({
      kernel: `torch.ops.${name}`,
      op: name,
      inputs: op.parameters.flatMap(p =>
        p.type.startsWith("Tensor")
          ? p.spread
            ? a.tensors(p.name)
            : a.isTensor(p.name)
              ? [a.tensor(p.name)]
              : []
          : [],
      ),
      args: given.slice(0, cut).map(p => a.raw(p.name)),
      kwargs: Object.fromEntries(given.slice(cut).map(p => [p.name, a.raw(p.name)])),
    });
  }
  const members = Array.from(
    { length: count(op, a) },
    (_, i) => (): B => lower(forElement(b, i), elementArgs(op, a, i, host)) as B,
  );
  return b.foreach(members, inplace, inplace ? a.tensors("self") : undefined);
}

/** gradients element by element; one argument's list is done before the next argument's */
function listDerivative(op: ListOp): OpRecord["derivative"] {
  const element = elementOf(op).derivative;
  if (element === undefined || element.kind !== "each") return NOT_DIFFERENTIABLE;
  const spread = op.parameters.filter(
    p => p.type === "Tensor[]" && p.to !== undefined && Object.hasOwn(element.grads, p.to),
  );
  const grads = Object.fromEntries(
    spread.map(p => {
      const formula = element.grads[p.to as string] as NonNullable<(typeof element.grads)[string]>;
      const all = <T>(b: GraphBuilder<T>, c: DerivativeContext<T>): (T | null)[] =>
        Array.from({ length: count(op, c.args) }, (_, i) => {
          if (c.optGrad(i) === null) return null;
          const one: DerivativeContext<T> = {
            args: elementArgs(op, c.args, i, b),
            grad: () => c.grad(i),
            optGrad: () => c.optGrad(i),
            result: () => c.result(i),
            needs: name => c.needs(name === p.to ? p.name : name),
          };
          return formula(b, one) as T | null;
        });
      return [p.name, all] as const;
    }),
  );
  return { kind: "each", grads };
}

function recordsOf(op: ListOp): OpRecord[] {
  const name = `aten.${op.packet}.${op.overload}`;
  const meta: OpRecord["meta"] = (m, a) =>
    Array.from({ length: count(op, a) }, (_, i) => elementOf(op).meta(m, elementArgs(op, a, i, m)) as TensorMeta);
  const functional: OpRecord = {
    name,
    schema: schemaOf(op, false),
    python: [`torch.${op.packet}`],
    tags: ["foreach"],
    meta,
    derivative: listDerivative(op) ?? NOT_DIFFERENTIABLE,
    ...(op.decompose ? { decompose: op.decompose } : {}),
    lower: (b, a) => lowerList(op, b, a, false),
  };
  if (op.noInplace) return [functional];
  const written: OpRecord = {
    name: `aten.${op.packet}_.${op.overload}`,
    schema: schemaOf(op, true),
    python: [`torch.${op.packet}_`],
    tags: ["foreach", "inplace"],
    functional: name,
    meta: (_, a) => a.tensors("self"),
    ...(op.inplaceLoops ? { lower: (b, a) => lowerList(op, b, a, true) } : {}),
  };
  return [functional, written];
}

const LOOPED_UNARY = ["neg", "abs", "sqrt", "rsqrt", "reciprocal", "sign"];
const CALLED_UNARY = [
  "acos",
  "asin",
  "atan",
  "ceil",
  "cos",
  "cosh",
  "erf",
  "erfc",
  "exp",
  "expm1",
  "floor",
  "frac",
  "lgamma",
  "log",
  "log10",
  "log1p",
  "log2",
  "round",
  "sigmoid",
  "sin",
  "sinh",
  "tan",
  "tanh",
  "trunc",
];

const unaries: ListOp[] = [...LOOPED_UNARY, ...CALLED_UNARY]
  .filter(n => elements.has(`aten.${n}.default`))
  .map(n => ({
    packet: `_foreach_${n}`,
    overload: "default",
    element: `aten.${n}.default`,
    parameters: [SELF],
    loops: LOOPED_UNARY.includes(n),
  }));

const scalarOf = (to: string): Parameter => ({ name: "scalar", type: "Scalar", to, spread: false });
const scalarsOf = (to: string): Parameter => ({ name: "scalars", type: "Scalar[]", to, spread: true });
const tensorOf = (to: string): Parameter => ({ name: "other", type: "Tensor", to, spread: false });

function arithmetic(n: "add" | "sub" | "mul" | "div"): ListOp[] {
  const alpha = n === "add" || n === "sub";
  const packet = `_foreach_${n}`;
  const whole = n !== "sub";
  return [
    {
      packet,
      overload: "List",
      element: `aten.${n}.Tensor`,
      parameters: [SELF, list("other", "other"), ...(alpha ? [ALPHA] : [])],
      ...(alpha ? { keywordFrom: 2 } : {}),
      loops: true,
      inplaceLoops: whole,
    },
    {
      packet,
      overload: "Scalar",
      element: `aten.${n}.Scalar`,
      parameters: [SELF, scalarOf("other")],
      loops: true,
      inplaceLoops: whole,
    },
    {
      packet,
      overload: "ScalarList",
      element: `aten.${n}.Scalar`,
      parameters: [SELF, scalarsOf("other")],
      loops: false,
    },
    ...(n === "sub"
      ? []
      : [
          {
            packet,
            overload: "Tensor",
            element: `aten.${n}.Tensor`,
            parameters: [SELF, tensorOf("other"), ...(n === "add" ? [ALPHA] : [])],
            ...(n === "add" ? { keywordFrom: 2 } : {}),
            loops: true,
          } satisfies ListOp,
        ]),
  ];
}

function extremum(n: "maximum" | "minimum" | "clamp_max" | "clamp_min"): ListOp[] {
  const packet = `_foreach_${n}`;
  const pair = n === "maximum" || n === "clamp_min" ? "maximum" : "minimum";
  const bound = pair === "maximum" ? "clamp_min" : "clamp_max";
  const to = pair === "maximum" ? "min" : "max";
  return [
    {
      packet,
      overload: "List",
      element: `aten.${pair}.default`,
      parameters: [SELF, list("other", "other")],
      loops: true,
    },
    { packet, overload: "Scalar", element: `aten.${bound}.default`, parameters: [SELF, scalarOf(to)], loops: true },
    {
      packet,
      overload: "ScalarList",
      element: `aten.${bound}.default`,
      parameters: [SELF, scalarsOf(to)],
      loops: false,
    },
  ];
}

const many = <T>(
  b: GraphBuilder<T>,
  op: string,
  args: readonly ArgValue<T>[],
  kwargs?: Record<string, ArgValue<T>>,
): ArgValue<T> => b.callMany(op, args, kwargs) as readonly ArgValue<T>[];

/** addcmul and addcdiv are written as two lists */
function fusedPair(n: "addcmul" | "addcdiv", inner: "mul" | "div"): ListOp[] {
  const packet = `_foreach_${n}`;
  const tensors = [SELF, list("tensor1", "tensor1"), list("tensor2", "tensor2")];
  return [
    {
      packet,
      overload: "Scalar",
      element: `aten.${n}.default`,
      parameters: [...tensors, { name: "value", type: "Scalar", to: "value", spread: false }],
      loops: false,
      decompose: (b, a) =>
        b.callMany(
          "aten._foreach_add.List",
          [a.raw("self"), many(b, `aten._foreach_${inner}.List`, [a.raw("tensor1"), a.raw("tensor2")])],
          { alpha: a.raw("value") },
        ),
    },
    {
      packet,
      overload: "ScalarList",
      element: `aten.${n}.default`,
      parameters: [...tensors, { name: "scalars", type: "Scalar[]", to: "value", spread: true }],
      loops: false,
    },
  ];
}

const lists: ListOp[] = [
  ...unaries,
  ...(["add", "sub", "mul", "div"] as const).flatMap(arithmetic),
  ...(["maximum", "minimum", "clamp_max", "clamp_min"] as const).flatMap(extremum),
  {
    packet: "_foreach_pow",
    overload: "List",
    element: "aten.pow.Tensor_Tensor",
    parameters: [SELF, list("exponent", "exponent")],
    loops: true,
  },
  {
    packet: "_foreach_pow",
    overload: "Scalar",
    element: "aten.pow.Tensor_Scalar",
    parameters: [SELF, { name: "exponent", type: "Scalar", to: "exponent", spread: false }],
    loops: true,
  },
  {
    packet: "_foreach_pow",
    overload: "ScalarAndTensor",
    element: "aten.pow.Scalar",
    parameters: [{ name: "self", type: "Scalar", to: "self", spread: false }, list("exponent", "exponent")],
    loops: true,
    noInplace: true,
  },
  ...fusedPair("addcmul", "mul"),
  ...fusedPair("addcdiv", "div"),
  {
    packet: "_foreach_lerp",
    overload: "Scalar",
    element: "aten.lerp.Scalar",
    parameters: [SELF, list("tensors1", "end"), { name: "weight", type: "Scalar", to: "weight", spread: false }],
    loops: false,
    decompose: (b, a) => {
      const apart = many(b, "aten._foreach_sub.List", [a.raw("tensors1"), a.raw("self")]);
      return b.callMany("aten._foreach_add.List", [
        a.raw("self"),
        many(b, "aten._foreach_mul.Scalar", [apart, a.raw("weight")]),
      ]);
    },
  },
  {
    packet: "_foreach_lerp",
    overload: "List",
    element: "aten.lerp.Tensor",
    parameters: [SELF, list("tensors1", "end"), list("weights", "weight")],
    loops: false,
  },
  {
    packet: "_foreach_norm",
    overload: "Scalar",
    element: "aten.linalg_vector_norm.default",
    parameters: [
      SELF,
      { name: "ord", type: "Scalar", to: "ord", spread: false },
      { name: "dtype", type: "ScalarType?", to: "dtype", spread: false },
    ],
    loops: false,
    noInplace: true,
  },
  {
    packet: "_foreach_copy",
    overload: "default",
    element: "aten.copy.default",
    parameters: [SELF, list("src", "src"), { name: "non_blocking", type: "bool", spread: false }],
    loops: true,
    inplaceLoops: true,
  },
];

const zero: OpRecord[] = [
  {
    name: "aten._foreach_zero.default",
    schema: "_foreach_zero(Tensor[] self) -> Tensor[]",
    tags: ["foreach"],
    meta: (_, a) => a.tensors("self"),
    decompose: (b, a) => a.tensors("self").map(x => b.call("aten.zeros_like.default", [x])),
    derivative: NOT_DIFFERENTIABLE,
  },
  {
    name: "aten._foreach_zero_.default",
    schema: "_foreach_zero_(Tensor(a!)[] self) -> ()",
    python: ["torch._foreach_zero_"],
    tags: ["foreach", "inplace"],
    functional: "aten._foreach_zero.default",
    meta: (_, a) => a.tensors("self"),
  },
];

export const records: readonly OpRecord[] = [...lists.flatMap(recordsOf), ...zero];
