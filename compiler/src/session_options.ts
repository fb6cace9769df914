// What a Session is told: preset, target, config overrides, what the program finds around it, what to make of it.
import type { MeasuredWays } from "./inductor/templates/ways";
import type { PresetName } from "./presets";
import type { Artifact } from "./report/log";

export interface SessionOptions {
  preset: PresetName;
  target: string;
  /** torch._inductor.config overrides by dotted name */
  config: Map<string, unknown>;
  /** what os.environ holds; by default nothing */
  environment?: ReadonlyMap<string, string>;
  /** guarded imports of libraries that are not known: "plain" lets them fail, "present" takes the library to be there */
  imports?: "plain" | "present";
  /** READMEs, configs and Python files of the project that a file is part of, asked where guesses at arguments fail */
  project?: (path: string) => readonly string[];
  /** artifacts to log; null follows the program's own set_logs */
  artifacts: ReadonlySet<Artifact> | null;
  /** make the CPU form of every kernel too */
  wat: boolean;
  /** compile eager operators too, so that the whole program can be replayed on an executor */
  replay: boolean;
  /** every node its own kernel: the reference that fused kernels are verified against */
  unfused: boolean;
  /** what workers measured of graphs with matrix products, by ReportChoice.key: the fastest way is taken */
  choices?: ReadonlyMap<string, MeasuredWays>;
  /** interpreter steps before a file is given up */
  stepBudget: number;
  /** what to analyse as if compiled; undefined: the file's roots, where it compiles nothing itself */
  roots?: readonly string[];
  /** whether a root module that its file never calls is analysed in train() with grad; absent: in eval() without */
  training?: (root: string, path: string) => boolean;
  /** bytes that may be kept from run to run; 0: each run does everything anew */
  memory?: number;
}

export function defaultSessionOptions(): SessionOptions {
  return {
    preset: "nightly-2026-11",
    target: "h100",
    config: new Map(),
    artifacts: null,
    wat: false,
    replay: false,
    unfused: false,
    stepBudget: 20_000_000,
  };
}
