// What the parts of plan building share. In: a schedule and options. Out: growing lists of steps, and the sets that say
// which buffers exist at this point. build_plan.ts implements it.
import type { FxNode } from "../../fx/graph";
import type { TilingChooser } from "../codegen/triton/generate";
import type { GraphView } from "../codegen/triton/graph_view";
import type { CodegenOptions } from "../codegen/triton/options";
import type { Schedule, SchedulerNode } from "../scheduler/types";
import type { InplaceContext } from "./inplace";
import type { PlanOrigin, PlanStep } from "./types";

export interface PlanOptions extends CodegenOptions {
  /** name of the graph: that of the function it was captured from */
  readonly name: string;
  /** number of the AOT compilation in its program */
  readonly aotId: number;
  /** source lines of nodes */
  readonly originOf: (nodes: readonly FxNode[]) => PlanOrigin;
  /** tiling of a kernel; default: scheduler/tiling */
  readonly chooseTiling?: TilingChooser;
  /** by input: PlanInput.below */
  readonly exampleBounds?: ReadonlyMap<string, number>;
}

export interface PlanContext {
  readonly schedule: Schedule;
  readonly options: PlanOptions;
  readonly view: GraphView;
  readonly inplace: InplaceContext;
  /** buffers that have been given memory */
  readonly allocated: Set<string>;
  /** why the plan can't be executed */
  readonly blockers: string[];
  push(step: PlanStep): void;
  /** allocates a node's outputs; `inplaceOf` says which of them take over an input's memory */
  markRun(node: SchedulerNode, inplaceOf: ReadonlyMap<string, string> | null): void;
  allocate(buffer: string): void;
  /** gives back what has been used for the last time */
  freeBuffers(): void;
  /** number for the next workspace's name */
  nextWorkspace(): number;
}
