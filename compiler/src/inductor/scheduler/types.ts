// What the scheduler takes and gives: dependencies, nodes and groups of nodes, the fusion log as data, refusals.
// Names are Inductor's (torch/_inductor/scheduler.py, dependencies.py).
import type { Device } from "../../aten/types";
import type { LoopBody } from "../ir/loop_body";
import type { Buffer, LoweredGraph, Operation } from "../ir/types";
import type { LayoutChoice } from "../operand_layouts/types";
import type { Expr, SymExpr } from "../symbolic/expr";
import type { NameSet } from "./op_set";

export type Dep =
  | {
      readonly kind: "memory";
      readonly name: string;
      readonly index: Expr;
      readonly vars: readonly SymExpr[];
      readonly sizes: readonly Expr[];
      readonly mode: "atomic_add" | "tma" | null;
    }
  | { readonly kind: "star"; readonly name: string; readonly mode: "atomic_add" | null }
  | { readonly kind: "weak"; readonly name: string; readonly mutatingBuffer: string; readonly isFake: boolean };

/** reads in the order of the loads in the body, without repeats */
export interface ReadWrites {
  readonly reads: readonly Dep[];
  readonly writes: readonly Dep[];
  /** index expressions used as values */
  readonly indexExprs: readonly Expr[];
  readonly rangeVars: readonly SymExpr[];
}

export interface NodeUser {
  /** null: the graph's output */
  readonly node: SchedulerNode | null;
  readonly canInplace: boolean;
  readonly isWeak: boolean;
}

export interface SchedulerBuffer {
  readonly buffer: Buffer;
  readonly name: string;
  definingOp: SchedulerNode;
  users: NodeUser[];
  readonly aliases: readonly string[];
  readonly mutations: readonly string[];
}

export type NodeType = "SchedulerNode" | "ExternKernelSchedulerNode" | "NopKernelSchedulerNode";
export type GroupType =
  | "FusedSchedulerNode"
  | "ForeachKernelSchedulerNode"
  | "FusedMixOrderReductions"
  | "FusedNestedReductions"
  | "FusedTransposeReduction"
  | "GroupedSchedulerNode";

interface NodeBase {
  /** "op0", groups "op0_op3" */
  readonly name: string;
  readWrites: ReadWrites;
  unmetDependencies: readonly Dep[];
  ancestors: NameSet;
  minOrder: number;
  maxOrder: number;
  minInputDistance: number;
  maxInputDistance: number;
  readonly device: Device;
  readonly outputs: readonly SchedulerBuffer[];
  /** buffers that no later node reads */
  lastUsage: ReadonlySet<string>;
}

/** one IR operation */
export interface SchedulerNode extends NodeBase {
  readonly type: NodeType;
  readonly operation: Operation;
  /** (iteration sizes, reduction sizes); empty for extern and nop */
  sizes: readonly [readonly Expr[], readonly Expr[]];
  /** (product of iteration sizes, product of reduction sizes) */
  group: readonly [Expr, Expr];
  body: LoopBody | null;
  /** after merge_loops: sizes print as tuples and deps are normalised */
  merged: boolean;
}

/** several operations that become one kernel (or one foreach/combo launch) */
export interface GroupNode extends NodeBase {
  readonly type: GroupType;
  /** members in fused order; of a foreach or combo the sub-kernels, which may be fused themselves */
  readonly snodes: readonly AnyNode[];
  group: readonly [Expr, Expr];
  /** FusedMixOrderReductions: rows first; FusedNestedReductions: outer first; FusedTransposeReduction: sums first */
  readonly halves?: readonly [AnyNode, AnyNode];
  readonly combo?: boolean;
}

export type AnyNode = SchedulerNode | GroupNode;

/** every reason why two nodes stay apart; docs/reasons.md explains each */
export type RefusalCode =
  | "no_shared_data"
  | "intermediate_nodes"
  | "numel_rnumel_mismatch_reduce"
  | "numel_rnumel_mismatch_pointwise"
  | "nodes_numel_rnumel_incompatibility"
  | "nodes_numel_incompatibility"
  | "invalid_tiling_for_reduction"
  | "tiling_mismatch"
  | "memory_deps_did_not_match"
  | "order"
  | "cycle"
  | "max_fusion_size"
  | "peak_memory"
  | "score_fusion_memory_threshold"
  | "too_far_away"
  | "device_mismatch"
  | "extern_kernel"
  | "nop_kernel"
  | "foreach_dependency"
  | "foreach_length"
  | "split_scan"
  | "template_epilogue"
  | "template_prologue"
  | "benchmark_slowdown"
  | "register_spilling"
  | "both_reductions_reorder"
  | "grouped_node"
  | "tiling_prevents_reduction_fusion"
  | "no_fuse_buffer"
  | "too_many_buffers"
  | "cost_model"
  | "not_one_pass";

/** what a node does with a buffer */
export type AccessKind = "reads" | "writes";

export interface Refusal {
  readonly code: RefusalCode;
  /** names of the two nodes as the log prints them at that moment */
  readonly a: string;
  readonly b: string;
  /** Inductor's own text of the reason */
  readonly detail: string;
  /** members, so that lines can be found however names have merged */
  readonly aOps: readonly string[];
  readonly bOps: readonly string[];
  /** how each indexes the buffer that costs most, in its own loop variables; "" where they share none */
  readonly aIndex: string;
  readonly bIndex: string;
  readonly buffer: string | null;
  /** whether each reads or writes that buffer; null where they share none */
  readonly aAccess: AccessKind | null;
  readonly bAccess: AccessKind | null;
  /** bytes that one pass would not move (DESIGN invariant 5) */
  readonly bytesLost: number;
  readonly round: number;
  readonly inReorderRound: boolean;
}

/** the fusion log as data, in order; the printer in report/ turns it into TORCH_LOGS text */
export type FusionEvent =
  | { readonly kind: "attempting"; readonly round: number; readonly maxRounds: number; readonly nodes: number }
  /** candidates with their names as at that moment; members as operations, for the short debug text */
  | { readonly kind: "candidates"; readonly nodes: readonly CandidateSnapshot[] }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "found"; readonly count: number }
  | { readonly kind: "fusing"; readonly a: string; readonly b: string; readonly result: string }
  | {
      readonly kind: "benchmark";
      readonly a: readonly string[];
      readonly b: readonly string[];
      readonly ratio: number;
      readonly fused: boolean;
      readonly estimated: boolean;
    }
  | { readonly kind: "autotune"; readonly lines: readonly string[] }
  | {
      readonly kind: "completed";
      readonly round: number;
      readonly maxRounds: number;
      readonly before: number;
      readonly after: number;
    }
  | { readonly kind: "complete"; readonly rounds: number }
  | { readonly kind: "note"; readonly level: "DEBUG" | "INFO"; readonly text: string };

export interface CandidateSnapshot {
  readonly name: string;
  readonly type: NodeType | GroupType;
  /** a foreach holds fused nodes, whatever else is fused holds single ones */
  readonly members: readonly (SchedulerNode | CandidateSnapshot)[];
}

export interface Schedule {
  /** as scheduled: with the layouts that were chosen */
  readonly graph: LoweredGraph;
  /** how operands of products and convolutions lie, and why */
  readonly layouts: readonly LayoutChoice[];
  /** text of the BEFORE FUSION / AFTER FUSION dumps needs the nodes as they were: the dump is made eagerly, only if asked */
  readonly preFusionDump: string | null;
  readonly postFusionDump: string | null;
  readonly events: readonly FusionEvent[];
  readonly refusals: readonly Refusal[];
  /** nodes after fusion, in launch order */
  readonly nodes: readonly AnyNode[];
  readonly buffers: ReadonlyMap<string, SchedulerBuffer>;
  /** original name of a mutated buffer by the output that mutated it */
  readonly mutationRealName: ReadonlyMap<string, string>;
  readonly mutationRenames: ReadonlyMap<string, string>;
  readonly removedOps: ReadonlySet<string>;
  /** Inductor's count_bytes (scheduler.md §0) per node and in all */
  readonly bytes: ReadonlyMap<string, number>;
  readonly totalBytes: number;
  readonly peakMemory: number;
}
