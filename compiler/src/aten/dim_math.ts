// Integer arithmetic for records. In: a shape environment. Out: DimMath over inductor/symbolic expressions.
// Promises: constants fold; a comparison that the expressions don't decide is decided by the hints and recorded as guard.
import {
  ceilDiv,
  type Expr,
  float,
  floorDiv,
  int,
  intValue,
  isFalse,
  isTrue,
  max,
  min,
  mod,
  product,
  type RelationOp,
  relation,
  sub,
  sum,
  trueDiv,
} from "../inductor/symbolic/expr";
import { printLog } from "../inductor/symbolic/print_log";
import type { ShapeEnv } from "../inductor/symbolic/shape_env";
import { type Dim, type DimMath, OpError } from "./types";

/** What arithmetic needs of a ShapeEnv. */
export interface ShapeGuards {
  /** decides a relation by its hints and records it as guard */
  evaluate(condition: Expr): boolean;
  /** the relation's truth if it follows from ranges and guards already made; never guards */
  known(condition: Expr): boolean | undefined;
  /** example value */
  hint(e: Expr): number;
  /** a new data-dependent size */
  unbacked(): Expr;
}

/** Guards for graphs without symbols: nothing can be undecided. */
export const STATIC_GUARDS: ShapeGuards = {
  evaluate: () => {
    throw new OpError("Could not guard on data-dependent expression", "GuardOnDataDependentSymNode");
  },
  known: () => undefined,
  hint: e => intValue(e) ?? 1,
  unbacked: () => {
    throw new OpError("Operator's output shape depends on input data", "DynamicOutputShapeException");
  },
};

/** The guards of a frame's shape environment; `reason` says what asked ("aten.view.default"). */
export function guardsOf(env: ShapeEnv, reason: () => string = () => "operator"): ShapeGuards {
  return {
    evaluate: c => {
      const value = env.evaluate(c, reason());
      if (value === undefined) {
        throw new OpError(`Could not guard on data-dependent expression ${printLog(c)}`, "GuardOnDataDependentSymNode");
      }
      return value;
    },
    known: c => env.evaluateStatic(c),
    // A size that only the data decides counts as large, so that it never looks like a broadcast dim.
    hint: e => env.hint(e) ?? 8192,
    unbacked: () => env.createUnbacked(),
  };
}

/** A Dim that came from this library; the table knows Dims by nothing but kind and id. */
export const asExpr = (x: Dim | number): Expr => (typeof x === "number" ? int(x) : (x as unknown as Expr));

export function isExpr(x: unknown): x is Expr {
  return (
    typeof x === "object" &&
    x !== null &&
    "kind" in x &&
    "id" in x &&
    "args" in x &&
    Array.isArray(x.args) &&
    "cache" in x
  );
}

export function makeDimMath(env: ShapeGuards): DimMath {
  const compare = (op: RelationOp, a: Dim | number, b: Dim | number): boolean => {
    const r = relation(op, asExpr(a), asExpr(b));
    if (isTrue(r)) return true;
    if (isFalse(r)) return false;
    return env.known(r) ?? env.evaluate(r);
  };
  return {
    int,
    dim: x => asExpr(x),
    add: (...xs) => sum(xs.map(asExpr)),
    sub: (a, b) => sub(asExpr(a), asExpr(b)),
    mul: (...xs) => product(xs.map(asExpr)),
    floordiv: (a, b) => floorDiv(asExpr(a), nonzero(b)),
    ceildiv: (a, b) => ceilDiv(asExpr(a), nonzero(b)),
    mod: (a, b) => mod(asExpr(a), nonzero(b)),
    min: (a, b) => min(asExpr(a), asExpr(b)),
    max: (a, b) => max(asExpr(a), asExpr(b)),
    product: xs => product(xs.map(asExpr)),
    eq: (a, b) => compare("eq", a, b),
    lt: (a, b) => compare("lt", a, b),
    le: (a, b) => compare("le", a, b),
    knownEq: (a, b) => {
      const r = relation("eq", asExpr(a), asExpr(b));
      return isTrue(r) || (!isFalse(r) && env.known(r) === true);
    },
    static: x => intValue(asExpr(x)),
    hint: x => intValue(asExpr(x)) ?? env.hint(asExpr(x)),
    fixed: x => {
      const value = intValue(asExpr(x)) ?? env.hint(asExpr(x));
      if (!compare("eq", x, value)) throw new Error("a size differs from its example value");
      return value;
    },
    real: float,
    truediv: (a, b) => trueDiv(asExpr(a), nonzero(b)),
    isDim: (x): x is Dim => isExpr(x),
  };
}

function nonzero(x: Dim | number): Expr {
  const e = asExpr(x);
  if (intValue(e) === 0) throw new OpError("integer division or modulo by zero", "ZeroDivisionError");
  return e;
}
