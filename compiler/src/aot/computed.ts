// What a node of a running program stands for. Data only.
import type { Scalar } from "../aten/types";
import type { OpaqueArg } from "../fx/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { Value } from "./value";

/** What a node stands for while the graph runs. */
export type Computed = Value | Expr | Scalar | string | null | OpaqueArg | readonly Computed[];
