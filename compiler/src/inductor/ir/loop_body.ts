// LoopBody: one node's loop nest as data (torch/_inductor/loop_body.py). In: ranges and an inner function. Out: a list
// of operations over numbered index expressions that can be printed, run through any handler, reordered and merged.
import type { FloatParameter } from "../../aten/float_parameter";
import type { DType, OpName, ReductionType } from "../../aten/types";
import type { Expr, SymExpr } from "../symbolic/expr";

/** a number; a float parameter where nothing has asked for its number yet */
export type ConstantValue = number | boolean | FloatParameter;

/**
 * One operation of a body. `name` is its printed name (torch.fx naming: load, load_1, mul_2). Arguments that are other
 * operations stand as BodyNode. `index` names an entry of LoopBody.indexing ("index0"); reading it is an operation of
 * its own (get_index), since the printed form numbers those too.
 */
export type BodyNode = { readonly name: string } & (
  | { readonly op: "get_index"; readonly index: string }
  | { readonly op: "load"; readonly buffer: string; readonly at: BodyNode }
  | {
      readonly op: "store";
      readonly buffer: string;
      readonly at: BodyNode;
      readonly value: BodyNode;
      readonly mode: "atomic_add" | null;
    }
  | { readonly op: "store_reduction"; readonly buffer: string; readonly at: BodyNode; readonly value: BodyNode }
  | { readonly op: "constant"; readonly value: ConstantValue; readonly dtype: DType }
  | { readonly op: "index_expr"; readonly at: BodyNode; readonly dtype: DType }
  | { readonly op: "to_dtype"; readonly x: BodyNode; readonly dtype: DType; readonly srcDtype: DType | null }
  | { readonly op: "to_dtype_bitcast"; readonly x: BodyNode; readonly dtype: DType; readonly srcDtype: DType }
  /** defines the index symbol `symbol` (indirect0, ...) for later index expressions */
  | {
      readonly op: "set_indirect";
      readonly symbol: SymExpr;
      readonly x: BodyNode;
      readonly size: Expr;
      readonly check: boolean;
      readonly wrapNeg: boolean;
    }
  | {
      readonly op: "check_bounds";
      readonly at: BodyNode;
      readonly size: BodyNode;
      readonly lower: boolean;
      readonly upper: boolean;
    }
  | {
      readonly op: "masked";
      readonly mask: BodyNode;
      readonly subblock: string;
      readonly other: number | boolean /** prints as 0.0, not 0 */;
      readonly otherIsFloat: boolean;
    }
  | {
      readonly op: "reduction";
      readonly dtype: DType;
      readonly srcDtype: DType;
      readonly type: ReductionType;
      readonly value: BodyNode | readonly BodyNode[];
    }
  | {
      readonly op: "scan";
      readonly dtypes: readonly DType[];
      readonly combine: ScanCombine;
      readonly values: readonly BodyNode[];
    }
  | {
      readonly op: "sort";
      readonly dtypes: readonly DType[];
      readonly values: readonly BodyNode[];
      readonly stable: boolean;
      readonly descending: boolean;
    }
  | { readonly op: "getitem"; readonly x: BodyNode; readonly item: number }
  | { readonly op: "load_seed"; readonly buffer: string; readonly offset: number }
  | { readonly op: "random"; readonly kind: "rand" | "randn"; readonly seed: BodyNode; readonly offset: BodyNode }
  | {
      readonly op: "randint64";
      readonly seed: BodyNode;
      readonly offset: BodyNode;
      readonly low: BodyNode;
      readonly high: BodyNode;
    }
  | { readonly op: "call"; readonly fn: OpName; readonly args: readonly BodyNode[] }
);

/** a scan's combine function as operations over its 2n arguments (n left, then n right) */
export interface ScanCombine {
  readonly nodes: readonly BodyNode[];
  readonly parameters: readonly BodyNode[];
  readonly results: readonly BodyNode[];
  /** names of the operations in order, for the helper's name (_triton_helper_fn_add0) */
  readonly opNames: readonly string[];
}

/** a block of operations: the body itself, or what runs under a mask */
export interface Block {
  readonly nodes: readonly BodyNode[];
  /** value of a masked block */
  readonly result: BodyNode | null;
}

export interface LoopBody {
  /** p0.. iteration variables, then reduction variables, numbered on */
  readonly iterVars: readonly SymExpr[];
  readonly reduceVars: readonly SymExpr[];
  readonly iterSizes: readonly Expr[];
  readonly reduceSizes: readonly Expr[];
  /** index0.. in order of first use */
  readonly indexing: ReadonlyMap<string, Expr>;
  readonly block: Block;
  readonly subblocks: ReadonlyMap<string, Block>;
  readonly indirect: readonly SymExpr[];
}
