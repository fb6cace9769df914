// What the main thread and the compile thread say to each other; everything here can be structured-cloned.
import type { PresetName, Program } from "@fuselens/compiler";

export interface ThreadOptions {
  readonly preset: PresetName;
  readonly target: string;
  readonly config: readonly (readonly [string, unknown])[];
  readonly wat: boolean;
  readonly stepBudget: number;
}

export interface ThreadStart {
  readonly options: ThreadOptions;
  /** SharedArrayBuffer of one i32: the generation of the newest request; older ones stop */
  readonly generation: SharedArrayBuffer;
}

export type CompileRequest =
  | {
      readonly kind: "compile";
      readonly id: number;
      readonly generation: number;
      readonly path: string;
      readonly text: string;
      readonly version: number;
    }
  | { readonly kind: "configure"; readonly options: ThreadOptions }
  | { readonly kind: "close"; readonly path: string };

export interface CompileAnswer {
  readonly id: number;
  readonly version: number;
  /** null: overtaken by a newer request */
  readonly program: Program | null;
}
