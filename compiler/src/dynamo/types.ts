// What capture hands to the session: the program's events in order, each compiled frame with its pre-grad graph.
import type { Device, DType } from "../aten/types";
import type { FxGraph, FxNode } from "../fx/graph";
import type { FakeTensor, StackFrame } from "../fx/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { ShapeEnv } from "../inductor/symbolic/shape_env";
import type { PythonFile } from "../python/file";

/** A tensor object of the running program; views share storage with their base. */
export interface RuntimeTensor {
  readonly id: number;
  readonly meta: FakeTensor;
  /** concrete sizes (hints where symbolic) */
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
}

/** How a program's tensor gets its values (`fuselens values` fills as the truth's values.py does). */
export type Fill =
  | { readonly how: "rand" | "randn" | "weight_matrix" | "weight_vector" | "other_parameter"; readonly k: number }
  | { readonly how: "randint"; readonly k: number; readonly low: number; readonly high: number }
  | { readonly how: "full"; readonly value: number | boolean }
  | { readonly how: "data"; readonly values: readonly (number | boolean)[] };

export interface InputInfo {
  readonly node: FxNode;
  /** "L['x']" */
  readonly source: string;
  readonly kind: "tensor" | "symint" | "symfloat";
  readonly parameter: boolean;
  readonly buffer: boolean;
  /** the runtime tensor behind it, or the number behind a symbol */
  readonly value: RuntimeTensor | number | null;
}

export interface GraphBreak {
  readonly line: number;
  readonly file: string;
  /** "Unsupported Tensor.item() call with capture_scalar_outputs=False" */
  readonly reason: string;
  /** the whole block as TORCH_LOGS=graph_breaks prints it, without level prefix */
  readonly text: string;
}

export interface Diagnostic {
  readonly file: string;
  readonly span: {
    readonly line: number;
    readonly column: number;
    readonly endLine: number;
    readonly endColumn: number;
  };
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly code: string;
  readonly message: string;
}

/** One compiled frame: the unit that AOTAutograd and Inductor get. */
export interface CapturedFrame {
  readonly id: number;
  /** function the frame belongs to; resumed frames are torch_dynamo_resume_in_NAME_at_LINE */
  readonly name: string;
  readonly file: string;
  readonly graph: FxGraph;
  readonly inputs: readonly InputInfo[];
  readonly shapeEnv: ShapeEnv;
  readonly gradEnabled: boolean;
  readonly fullgraph: boolean;
  /** torch._inductor.config as it stood at the compile, options and mode of torch.compile applied */
  readonly config: ReadonlyMap<string, unknown>;
  /** artifacts switched on by set_logs at that moment */
  readonly logs: ReadonlySet<string>;
  readonly deterministic: boolean;
  /** dtype of the autocast region, on the device of its tensors, that the call stood in; absent: none */
  readonly autocast?: DType | null;
  /** all of its tensors are on the CPU: later stages take them to be on the target GPU */
  readonly onCpu?: boolean;
  /** where tensors are made that name no device; absent: on the CPU */
  readonly defaultDevice?: Device;
  /** what the capture rests on that it could not know ("branch at line 12 taken", "shapes from a comment") */
  readonly assumed: readonly string[];
  /** its backward is compiled though the program does not call backward(): analysed as in training */
  readonly backward?: boolean;
  readonly stack: readonly StackFrame[];
}

/** What the running program does, in order; the CPU executor replays it for `values`. */
export type RuntimeStep =
  | { readonly kind: "create"; readonly tensor: RuntimeTensor; readonly fill: Fill }
  /** an eager operator (or several) outside a compiled frame; graph placeholders are `inputs` in order */
  | {
      readonly kind: "eager";
      readonly graph: FxGraph;
      readonly inputs: readonly RuntimeTensor[];
      readonly outputs: readonly RuntimeTensor[];
      /** whether autograd takes note of it */
      readonly gradEnabled: boolean;
      readonly span: Diagnostic["span"];
    }
  | {
      readonly kind: "call";
      readonly frame: CapturedFrame;
      readonly inputs: readonly (RuntimeTensor | number)[];
      readonly outputs: readonly (RuntimeTensor | null)[];
    }
  /** the call of a compiled function or module as the user wrote it, after its frames ran */
  | {
      readonly kind: "compiled_call";
      readonly outputs: readonly RuntimeTensor[];
      readonly args: readonly RuntimeTensor[];
    }
  | {
      readonly kind: "backward";
      readonly roots: readonly RuntimeTensor[];
      readonly grads: readonly (RuntimeTensor | null)[];
      /** the tensors that may get gradients, and those gradients: new where the program had none or dropped them */
      readonly leaves: readonly { readonly of: RuntimeTensor; readonly grad: RuntimeTensor }[];
      readonly span: Diagnostic["span"];
    }
  /** parameters handed to torch.compile are filled again, in named_parameters order */
  | {
      readonly kind: "refill";
      readonly parameters: readonly { readonly name: string; readonly tensor: RuntimeTensor; readonly fill: Fill }[];
    };

export type CaptureEvent =
  | { readonly kind: "cell"; readonly index: number } // a notebook cell begins
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "frame"; readonly frame: CapturedFrame }
  | { readonly kind: "graph_break"; readonly break: GraphBreak; readonly logs: ReadonlySet<string> }
  | { readonly kind: "runtime"; readonly step: RuntimeStep };

export interface CaptureResult {
  readonly events: readonly CaptureEvent[];
  readonly diagnostics: readonly Diagnostic[];
  /** TORCH_LOGS_FORMAT if the source sets one */
  readonly logFormat: string | null;
  /** functions and modules that were (or were analysed as if) compiled: where lenses go */
  readonly roots: readonly {
    readonly name: string;
    readonly span: Diagnostic["span"];
    readonly frames: readonly number[];
    readonly assumed: readonly string[];
  }[];
}

export interface CaptureOptions {
  readonly files: (path: string) => string | undefined;
  /** paths of the Python files and READMEs of the project that a file is part of; absent: it stands alone */
  readonly project?: (path: string) => readonly string[];
  /** parses a file of the user's; whoever runs files again keeps what an edit left as it was */
  readonly parse?: (path: string, text: string) => PythonFile;
  /** torch._inductor.config defaults of the preset, then --config overrides */
  readonly config: ReadonlyMap<string, unknown>;
  /** named behaviours of the preset */
  readonly behaviours: ReadonlyMap<string, unknown>;
  readonly shouldStop: () => boolean;
  readonly stepBudget: number;
  /** what os.environ holds; absent: nothing */
  readonly environment?: ReadonlyMap<string, string>;
  /**
   * Imports inside try of libraries that are not known: "plain" (the default) raises ImportError, which leads to the branch
   * in plain PyTorch; "present" takes the library to be there, its values unknown.
   */
  readonly imports?: "plain" | "present";
  /** classes and functions of the file to analyse as if compiled; undefined: its roots, where it compiles nothing itself */
  readonly roots?: readonly string[];
  /** whether a root module that the file never calls is analysed in train() with grad; absent: in eval() without */
  readonly training?: (root: string) => boolean;
  /** the number of a scalar that `run` can know (Tensor.item()) by executing; undefined: unknown */
  readonly evaluate?: (steps: readonly RuntimeStep[], tensor: RuntimeTensor) => readonly number[] | undefined;
  readonly defaultDevice?: Device;
  readonly defaultDtype?: DType;
  readonly sizes?: readonly Expr[];
}
