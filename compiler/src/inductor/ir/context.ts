// State of one graph's lowering: names, buffers and operations in order, current origins (GraphLowering's fields).
// In: the graph and options. Out: what every file of this folder works through. Promises: op and buffer numbers count up
// and are never reused; everything created gets the origins in force.
import type { ArgsHost } from "../../aten/args";
import { isExpr } from "../../aten/dim_math";
import type { ArgValue, DType } from "../../aten/types";
import type { FxGraph, FxNode } from "../../fx/graph";
import { type Expr, int } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import {
  type ComputedBuffer,
  type ConcatBuffer,
  type ExternBuffer,
  type InputBuffer,
  type IrBuffer,
  type IrLayout,
  isTensorBox,
  type Loops,
  type Origins,
  type StorageBox,
  type TensorBox,
  type View,
} from "./boxes";
import type { PaddingOptions } from "./layouts";
import type { TargetProperties } from "./target";

export type EnvValue = ArgValue<TensorBox>;

export interface LoweringOptions {
  readonly kind: "inference" | "forward" | "backward";
  /** torch._inductor.config by name ("triton.cooperative_reductions"), over the defaults */
  readonly config: ReadonlyMap<string, unknown>;
  /** preset behaviours by name */
  readonly behaviours?: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  readonly sizevars: SizeVars;
}

export class Lowering {
  readonly buffers: IrBuffer[] = [];
  readonly buffersByName = new Map<string, IrBuffer>();
  /** operations in order; the buffer that each defines, or the mutation-only extern */
  readonly operations: (ComputedBuffer | ExternBuffer | ConcatBuffer)[] = [];
  readonly inputs = new Map<string, TensorBox>();
  readonly originalInputs = new Map<string, TensorBox>();
  readonly constants = new Map<
    string,
    { readonly values: readonly number[]; readonly dtype: DType; readonly size: readonly number[] }
  >();
  readonly mutatedBuffers = new Set<string>();
  readonly nameToUsers = new Map<string, TensorBox[]>();
  readonly foreachLists: string[][] = [];
  readonly env = new Map<FxNode, EnvValue>();
  currentNode: FxNode | null = null;
  origins: Origins = new Set();
  layoutOpt = false;
  prefersChannelsLast: ReadonlySet<FxNode> = new Set();
  /** nodes under which no strides are padded */
  dislikesPadding: ReadonlySet<FxNode> = new Set();

  readonly argsHost: ArgsHost<TensorBox> = {
    isTensor: isTensorBox,
    isDim: isExpr,
    int,
    specialize: d => this.sizevars.guardInt(d as Expr) ?? 0,
  };

  constructor(
    readonly graph: FxGraph,
    readonly options: LoweringOptions,
  ) {}

  get sizevars(): SizeVars {
    return this.options.sizevars;
  }
  get target(): TargetProperties {
    return this.options.target;
  }

  config(name: string): unknown {
    return this.options.config.get(name) ?? DEFAULTS[name];
  }
  configNumber(name: string): number {
    const v = this.config(name);
    return typeof v === "number" ? v : Number(DEFAULTS[name]);
  }
  configFlag(name: string): boolean {
    return Boolean(this.config(name));
  }

  get padding(): PaddingOptions {
    return {
      enabled:
        this.configFlag("comprehensive_padding") &&
        (this.currentNode === null || !this.dislikesPadding.has(this.currentNode)),
      alignment: this.configNumber("padding_alignment_bytes"),
      threshold: this.configNumber("padding_stride_threshold"),
      padDynamic: this.configFlag("pad_dynamic_shapes"),
      padChannelsLast: this.configFlag("pad_channels_last"),
    };
  }

  // --- creation under the current origins ---

  storage(data: Loops | IrBuffer): StorageBox {
    return { kind: "storage", data, origins: this.origins };
  }
  box(data: StorageBox | View): TensorBox {
    return { kind: "tensor", data, origins: this.origins };
  }
  /** TensorBox.create */
  boxOf(data: Loops | IrBuffer): TensorBox {
    return this.box(this.storage(data));
  }

  nextBufferName(): string {
    return `buf${this.buffers.length}`;
  }
  nextOperationName(): string {
    return `op${this.operations.length}`;
  }

  registerComputed(data: Loops, layout: IrLayout, origins: Origins): ComputedBuffer {
    const b: ComputedBuffer = {
      kind: "computed",
      irClass: "ComputedBuffer",
      name: this.nextBufferName(),
      operation: this.nextOperationName(),
      data,
      layout,
      origins,
      originNode: data.originNode,
    };
    this.register(b);
    this.operations.push(b);
    return b;
  }

  registerExtern(fields: Omit<ExternBuffer, "kind" | "name" | "operation" | "origins" | "originNode">): ExternBuffer {
    const target = this.currentNode?.op === "call_function" ? this.currentNode.target : undefined;
    const b: ExternBuffer = {
      ...fields,
      ...(target === undefined || target === fields.op ? {} : { target }),
      kind: "extern",
      name: this.nextBufferName(),
      operation: this.nextOperationName(),
      origins: this.origins,
      originNode: null,
    };
    this.register(b);
    this.operations.push(b);
    return b;
  }

  /** names a concatenation, once its inputs have their names */
  registerConcat(b: ConcatBuffer): void {
    b.name = this.nextBufferName();
    b.operation = this.nextOperationName();
    this.register(b);
    this.operations.push(b);
  }

  registerInput(b: InputBuffer): void {
    this.buffersByName.set(b.name, b);
  }

  private register(b: IrBuffer): void {
    this.buffers.push(b);
    this.buffersByName.set(b.name, b);
  }

  /** runs `f` with other origins in force (added to those outside) */
  withOrigins<T>(origins: Origins, f: () => T): T {
    const outer = this.origins;
    this.origins = outer.size === 0 ? origins : new Set([...outer, ...origins]);
    try {
      return f();
    } finally {
      this.origins = outer;
    }
  }
}

/** torch._inductor.config, what lowering reads */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  realize_reads_threshold: 4,
  realize_opcount_threshold: 30,
  realize_acc_reads_threshold: 8,
  unroll_reductions_threshold: 8,
  split_reductions: true,
  min_num_split: 0,
  "triton.cooperative_reductions": false,
  "triton.mix_order_reduction": true,
  "triton.persistent_reductions": true,
  max_pointwise_cat_inputs: 8,
  force_pointwise_cat: false,
  online_softmax: true,
  layout_optimization: true,
  keep_output_stride: true,
  max_autotune: false,
  max_autotune_gemm: false,
  emulate_precision_casts: false,
  comprehensive_padding: true,
  padding_alignment_bytes: 128,
  padding_stride_threshold: 1024,
  pad_outputs: false,
  pad_channels_last: false,
  pad_dynamic_shapes: false,
  loop_ordering_after_fusion: true,
  fallback_random: false,
  force_layout_optimization: false,
};
