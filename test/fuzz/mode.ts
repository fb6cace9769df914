// What every mode of fuzzing gets and gives.
import type { Findings } from "./findings";

export type Counts = Readonly<Record<string, number>>;

export interface Context {
  readonly root: string;
  readonly seed: number;
  /** number of the first case; one case is made again by its seed and number */
  readonly firstCase: number;
  /** tries that making a failing input small may take */
  readonly trials: number;
  /** whether time is left for another case */
  more(): boolean;
  readonly findings: Findings;
  /** real programs to make wrong */
  readonly corpus: readonly string[];
  /** folder of the bundles of the extension's pages, NAME.js */
  readonly pageScripts: string;
  /** bundle of python/compile_child.ts */
  readonly compileChild: string;
  /** takes note of inputs that take long */
  slow(cpuMs: number, input: string): void;
}
