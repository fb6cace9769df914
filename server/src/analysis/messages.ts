// What the main thread and a compile thread say to each other; everything here can be structured-cloned.
import type {
  Artifact,
  Compilation,
  MeasuredWays,
  OutputCode,
  PresetName,
  ScheduledGraph,
  SchedulerGraph,
} from "@fuselens/compiler";
import type { EditorProgram } from "../ide/model";

export interface ThreadOptions {
  readonly preset: PresetName;
  readonly target: string;
  readonly config: readonly (readonly [string, unknown])[];
  /** what workers measured of graphs with matrix products, by the graph's choice key */
  readonly choices?: readonly (readonly [string, MeasuredWays])[];
  readonly environment?: readonly (readonly [string, string])[];
  readonly imports?: "plain" | "present";
  readonly stepBudget: number;
  /** folders that files are read from, beside a document's own package */
  readonly folders: readonly string[];
  /** example inputs kept outside the source: file, function, what a `# fuselens:` comment would say */
  readonly examples: readonly ExampleInputs[];
  /** root modules to show in train() with grad, forward and backward */
  readonly training?: readonly TrainedRoot[];
}

export interface TrainedRoot {
  readonly path: string;
  readonly root: string;
}

export interface ExampleInputs {
  readonly path: string;
  readonly root: string;
  readonly inputs: string;
}

export interface ThreadStart {
  /** one i32: the generation of the newest request; older ones stop */
  readonly generation: SharedArrayBuffer;
}

/** what a compile of its own, beside the one that follows the typing, is made for */
export type SideJob =
  | { readonly want: "stage"; readonly stage: Artifact }
  | { readonly want: "graphs" }
  | { readonly want: "benchmark" }
  | { readonly want: "program" }
  /** what a bug report needs; compiles many times */
  | { readonly want: "report"; readonly editor: string | null }
  /** the kernels of each graph and nothing else */
  | { readonly want: "schedules" };

export type CompileRequest =
  | {
      readonly kind: "compile";
      readonly id: number;
      readonly generation: number;
      readonly path: string;
      readonly text: string;
      readonly version: number;
      /** something was measured, so graphs are told apart by their code */
      readonly keyed: boolean;
    }
  /** a text that others import; nothing is compiled */
  | { readonly kind: "overlay"; readonly path: string; readonly text: string }
  /** comes before the first compile */
  | { readonly kind: "configure"; readonly options: ThreadOptions }
  | { readonly kind: "close"; readonly path: string }
  /** the thread ends when it has answered */
  | { readonly kind: "end" }
  /** output code of the program that the last compile of the path made */
  | { readonly kind: "codes"; readonly id: number; readonly path: string; readonly version: number }
  | {
      readonly kind: "side";
      readonly id: number;
      readonly generation: number;
      readonly path: string;
      readonly overlay: readonly (readonly [path: string, text: string])[];
      readonly options: ThreadOptions;
      readonly job: SideJob;
    };

export type SideResult =
  | { readonly want: "schedules"; readonly graphs: readonly ScheduledGraph[] }
  | { readonly want: "stage"; readonly text: string }
  | { readonly want: "report"; readonly text: string }
  | { readonly want: "graphs"; readonly graphs: readonly (SchedulerGraph | null)[] }
  | { readonly want: "benchmark"; readonly compilations: readonly Compilation[] }
  | { readonly want: "program"; readonly program: EditorProgram; readonly codes: readonly OutputCode[] };

export type ThreadAnswer =
  | {
      readonly kind: "compiled";
      readonly id: number;
      readonly version: number;
      /** null: overtaken by a newer request */
      readonly program: EditorProgram | null;
      /** files that the compile has read */
      readonly files: readonly string[];
      readonly milliseconds: number;
    }
  | { readonly kind: "codes"; readonly id: number; readonly codes: readonly OutputCode[] | null }
  /** null: given up */
  | { readonly kind: "side"; readonly id: number; readonly result: SideResult | null };
