// What AOTAutograd hands to Inductor: one graph for inference, or a forward and a backward graph for training.
import type { Diagnostic } from "../dynamo/types";
import type { FxGraph } from "../fx/graph";
import type { FakeTensor } from "../fx/types";
import type { ShapeEnv } from "../inductor/symbolic/shape_env";

/** What is known of one compiled graph beside its nodes. */
export interface GraphInfo {
  readonly kind: "inference" | "forward" | "backward";
  readonly graph: FxGraph;
  /** input names in order: arg0_1 ..., primals_1 ..., or saved values and tangents_1 ... */
  readonly inputs: readonly string[];
  /** backward: which inputs the forward saved (the others are tangents) */
  readonly saved: ReadonlySet<string>;
  /** parameters and buffers: their addresses don't change between calls */
  readonly staticInputs: ReadonlySet<string>;
  /** inputs that copy_ nodes at the graph's end write */
  readonly mutatedInputs: readonly string[];
  /** backward: positions among the inputs whose memory may be used again */
  readonly donated: readonly number[];
  /** traced metas of the values that the user sees, by position among the graph's outputs; null: not a user's tensor */
  readonly userOutputs: readonly (FakeTensor | null)[];
}

/** Where the runtime takes a frame's results from. */
export interface OutputInfo {
  /** a tensor or symint the graph returns, or an input that the runtime hands out again */
  readonly from: { readonly graphOutput: number } | { readonly input: number };
  readonly requiresGrad: boolean;
  /** a view of an input's memory, which the runtime takes anew of the input: offset in elements; null: memory of its own */
  readonly viewOf: { readonly input: number; readonly offset: number } | null;
}

export interface InferenceResult {
  readonly kind: "inference";
  /** before any Inductor pass: what the log calls Forward graph; null where nobody asked for it */
  readonly graph: FxGraph | null;
  readonly compiled: GraphInfo;
  readonly outputs: readonly OutputInfo[];
}

export interface TrainResult {
  readonly kind: "train";
  /** unpartitioned, before any Inductor pass; null where nobody asked for it */
  readonly joint: FxGraph | null;
  readonly forward: GraphInfo;
  readonly backward: GraphInfo;
  /** positions among the forward outputs of the saved values, in the order of the backward's saved inputs */
  readonly savedOutputs: readonly number[];
  /** per primal: the backward output that is its gradient, or null */
  readonly gradients: readonly (number | null)[];
  /** positions among the graph's inputs of those whose new values stand first among the forward outputs */
  readonly returnedInputs: readonly number[];
  /** forward outputs that have tangents, in order of the tangents */
  readonly tangentOutputs: readonly number[];
  readonly outputs: readonly OutputInfo[];
}

export interface ErrorResult {
  readonly kind: "error";
}

export type AotResult = (InferenceResult | TrainResult | ErrorResult) & {
  readonly shapeEnv: ShapeEnv;
  /** the pre-grad graph that was compiled */
  readonly preGrad: FxGraph;
  /** earlier captures, given up because they fixed the value of a float input */
  readonly attempts: readonly { readonly preGrad: FxGraph; readonly graph: FxGraph; readonly train: boolean }[];
  /** positions of the frame's inputs that the graphs take, in order */
  readonly keptInputs: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
};
