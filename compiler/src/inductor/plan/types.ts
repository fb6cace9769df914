// ExecutablePlan: a compiled graph as plain data, in launch order. The Python `call`, the CPU runner and the worker's
// job payload all derive from it. Sizes are in elements, offsets too; bytes where the name says so.
import type { DType } from "../../aten/types";

/**
 * a size: a number, or a symbolic expression with its Python text and the value it has for the example inputs.
 * `meaning`: what the text stands for where it is a name of kernels' own (ps0), to be worked out before a launch
 */
export type PlanSize = number | { readonly text: string; readonly value: number; readonly meaning?: string };

export interface PlanTensor {
  readonly name: string;
  readonly size: readonly PlanSize[];
  readonly stride: readonly PlanSize[];
  readonly offset: PlanSize;
  readonly dtype: DType;
  readonly device: string; // "cuda:0", "cpu"
}

/** an input tensor; example values of one of integers or bools are 0 <= v < `below`, or 0 where nothing else is sure to be valid */
export interface PlanInput extends PlanTensor {
  readonly below?: number;
}

/** a value passed on: a buffer, a strided view of one, a number, a symbol's text, a list, None */
export type PlanArg =
  | { readonly kind: "buffer"; readonly name: string }
  | {
      readonly kind: "view";
      readonly buffer: string;
      readonly size: readonly PlanSize[];
      readonly stride: readonly PlanSize[];
      readonly offset: PlanSize;
      readonly dtype: DType;
    }
  | { readonly kind: "size"; readonly value: PlanSize }
  | { readonly kind: "number"; readonly value: number; readonly float: boolean }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "dtype"; readonly value: DType }
  | { readonly kind: "device"; readonly value: string }
  /** Python text that stands for itself: "torch.channels_last", "complex(1.0, 2.0)" */
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "list"; readonly items: readonly PlanArg[]; readonly tuple: boolean }
  | { readonly kind: "none" };

export interface PlanOrigin {
  /** source lines of the file, all frames; and the innermost ones */
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly nodes: readonly string[];
}

export interface PlanKernelArg {
  /** in_ptr0, in_out_ptr0, out_ptr1, ws_ptr, ks0, xnumel ... */
  readonly name: string;
  readonly role: "in" | "out" | "inout" | "workspace" | "size" | "numel" | "seed";
  readonly dtype: DType | null;
}

/** A generated kernel. `triton` and `wat` are texts made by codegen; both take their buffers from the launch step. */
export interface PlanKernel {
  readonly name: string;
  readonly type:
    | "SchedulerNode"
    | "FusedSchedulerNode"
    | "ForeachKernelSchedulerNode"
    | "FusedMixOrderReductions"
    | "FusedNestedReductions"
    | "FusedTransposeReduction";
  readonly heuristic:
    | "pointwise"
    | "reduction"
    | "persistent_reduction"
    | "foreach"
    | "split_scan"
    | "cooperative_reduction"
    | "template"
    | "fixed_config";
  readonly args: readonly PlanKernelArg[];
  /** the kernel's function and helpers, from `@triton.jit` on, the same under every header; and per line its origins */
  readonly triton: string;
  readonly tritonLines: readonly PlanOrigin[];
  /** what the kernel came from, as comment lines: the source comment first, then mapping and graph fragment */
  readonly provenance: readonly string[];
  /** decorator data, printed by the inductor header and read by the standalone one */
  readonly meta: TritonMeta;
  readonly origin: PlanOrigin;
  readonly bytes: number;
  readonly flops: number;
  readonly estimateUs: number;
}

/** block sizes, warps and pipeline stages that autotuning may choose */
export interface TritonConfig {
  readonly kwargs: Readonly<Record<string, number>>;
  readonly numWarps: number;
  readonly numStages: number;
}

export interface TritonMeta {
  readonly sizeHints: Readonly<Record<string, number>>;
  readonly tileHint?: "SQUARE" | "DEFAULT";
  readonly reductionHint?: "INNER" | "OUTER" | "OUTER_TINY" | "DEFAULT";
  /** parameter name → Triton type ("*fp32", "i32", "constexpr") in order */
  readonly signature: Readonly<Record<string, string>>;
  readonly constants: Readonly<Record<string, number>>;
  readonly divisible: readonly number[];
  /** inductor_meta as Python literals in print order: [key, python text] */
  readonly inductorMeta: readonly (readonly [string, string])[];
  /** candidate configurations for the standalone launcher (codegen.md §17) */
  readonly configs: readonly TritonConfig[];
  /** elements that a thread works on at least (fp8 conversions) */
  readonly minElemPerThread: number;
  readonly grid: { readonly type: string; readonly data: Readonly<Record<string, number>> };
}

/**
 * The CPU form of a launch: a WebAssembly module over one shared memory. It exports `run(buffers..., temps...,
 * symbols..., scratch?, begin, end)`: i32 byte addresses and sizes, then the slice [begin, end) of `parallelSize` to do.
 */
export interface WatKernel {
  readonly name: string;
  readonly text: string;
  readonly buffers: readonly string[];
  /** bytes of storage that the launch borrows */
  readonly temps?: readonly PlanSize[];
  /** names of the size symbols that it takes the values of */
  readonly symbols?: readonly string[];
  readonly parallelSize: PlanSize;
  /** work items below which one thread does it all; where it is 64 or more, slices begin at multiples of 64 */
  readonly grain: number;
  /** what runs after all slices are done: exports run_1, run_2, ..., called as `run` is */
  readonly later?: readonly { readonly parallelSize: PlanSize; readonly grain: number }[];
  /** bytes of scratch per thread; if not 0, its address is an argument */
  readonly scratchBytes: PlanSize;
  /** line of the text → origins */
  readonly lines: readonly PlanOrigin[];
  /** run before the slices: buffers filled with zero (atomic targets, partial sums) */
  readonly zeroed: readonly string[];
}

export interface ExternStep {
  readonly kind: "extern";
  readonly kernel: string;
  readonly op: string;
  readonly call: "out" | "alloc" | "fallback";
  readonly output: string;
  /** what an alloc or fallback call gives back, one per result (null: a result that is None); for an out call its out= tensor */
  readonly results: readonly (PlanTensor | null)[];
  readonly args: readonly PlanArg[];
  readonly kwargs: readonly (readonly [string, PlanArg])[];
  readonly origin: PlanOrigin;
  readonly ops: readonly string[];
  readonly comment: string;
  readonly opaque?: string;
  /** the operator that checks of the results name, where it is not `op` */
  readonly target?: string;
  /** the result begins at no multiple of 16 bytes of its memory */
  readonly unaligned?: true;
}

/** operations that compute an operand on the way to a template's product, and the buffers that they would write */
export interface ComputedBefore {
  readonly ops: readonly string[];
  readonly results: readonly PlanTensor[];
}

export type PlanStep =
  | {
      readonly kind: "assert";
      readonly name: string;
      readonly size: readonly PlanSize[];
      readonly stride: readonly PlanSize[];
    }
  | {
      readonly kind: "allocate";
      readonly tensor: PlanTensor;
      readonly from: /** `zero`: filled with zeros (workspaces that are added to) */
        | { readonly kind: "new"; readonly zero?: boolean }
        /** takes over another buffer's storage: pool reuse or in place */
        | { readonly kind: "reuse"; readonly buffer: string; readonly inplace: boolean }
        /** a slice of another buffer's storage */
        | { readonly kind: "alias"; readonly base: string };
    }
  | { readonly kind: "free"; readonly name: string }
  | {
      readonly kind: "launch";
      readonly kernel: number;
      readonly args: readonly PlanArg[];
      readonly origin: PlanOrigin;
      readonly ops: readonly string[];
      readonly comment: string;
      /**
       * A template's kernel: the matrix products that it computes, as calls. An executor without the template runs these,
       * into memory of its own where a result lives inside the kernel alone, then what is left of the kernel.
       */
      readonly products?: readonly ExternStep[];
      /** what such an executor runs before them, each as a kernel of its own */
      readonly before?: readonly ComputedBefore[];
    }
  | ExternStep
  /** one result of a call; index null: its only one */
  | { readonly kind: "getitem"; readonly output: PlanTensor; readonly of: string; readonly index: number | null }
  /** mix-order: the workspace's partial results are summed up */
  | {
      readonly kind: "finish_partials";
      readonly output: PlanTensor;
      readonly workspace: string;
      readonly slot: number;
      readonly splits: PlanSize;
      readonly columns: PlanSize;
      readonly reduction: "sum" | "prod";
    };

/** a kernel's members in order, with marks where its reduction loop closes and opens again */
export type PlanScheduleEntry =
  | { readonly type: string; readonly name: string }
  | "disable_reduction"
  | "enable_reduction";

export interface ExecutablePlan {
  /** "f", and the AOT id text "0_inference" */
  readonly name: string;
  readonly aotId: string;
  readonly kind: "inference" | "forward" | "backward";
  /** symbols bound by inputs: name, example value, which input (and dim) it comes from */
  readonly symbols: readonly {
    readonly name: string;
    readonly value: number;
    readonly input: number;
    readonly dim: number | null;
  }[];
  readonly inputs: readonly (PlanInput | { readonly name: string; readonly symbol: string; readonly value: number })[];
  readonly constants: readonly (PlanTensor & { readonly values: readonly number[] })[];
  readonly kernels: readonly PlanKernel[];
  readonly steps: readonly PlanStep[];
  readonly outputs: readonly PlanArg[];
  readonly mutatedInputs: readonly string[];
  /** per kernel made of one fused list, in the order of generation */
  readonly scheduleEntries: readonly (readonly PlanScheduleEntry[])[];
  /** why this plan can't be executed (opaque operators), empty when it can */
  readonly blockers: readonly string[];
  readonly peakBytes: number;
}
