// What `fuselens values` computes, many programs in one process over one worker. In: a file, a preset. Out: its values, or
// the largest errors of its fused kernels against the unfused ones, or in words why there are none.
import { defaultSessionOptions, type PresetName, type Program } from "@fuselens/compiler";
import type { Job, JobResult } from "@fuselens/gpu-worker/protocol";
import { compileFile } from "../../server/src/compile";
import { WorkerPool } from "../../server/src/worker/pool";
import { type ValuesReport, valuesJob, valuesReport } from "../../server/src/worker/values";

type Verified = Extract<JobResult, { kind: "verify" }>["pairs"][number]["outputs"];

export interface VerifiedGraph {
  readonly name: string;
  readonly kind: string;
  readonly outputs: Verified;
}

export class Programs {
  private readonly workers: WorkerPool;
  /** the last program: values and verification start from the same */
  private last: { readonly key: string; readonly program: Program } | null = null;

  constructor(workerFile: string) {
    this.workers = new WorkerPool({ workerFile, log: text => console.error(text) });
  }

  dispose(): Promise<void> {
    return this.workers.dispose();
  }

  async values(path: string, preset: PresetName): Promise<ValuesReport> {
    const program = this.compile(path, preset);
    const result = await this.submit(valuesJob(program));
    if (result.kind !== "values") throw new Error("the worker answered another question");
    return valuesReport(program, result);
  }

  async verify(path: string, preset: PresetName): Promise<readonly VerifiedGraph[]> {
    const fused = this.compile(path, preset).compilations;
    const unfused = compileFile(path, { ...options(preset), unfused: true }).compilations;
    const blocker = [...fused, ...unfused].flatMap(c => c.plan.blockers)[0];
    if (blocker !== undefined) throw new Error(blocker);
    if (fused.length !== unfused.length) throw new Error("the unfused program has another number of graphs");
    const graph = ({ plan, wat }: Program["compilations"][number]) => ({ plan, wat: [...wat], standalone: "" });
    const pairs = fused.map((c, i) => ({ fused: graph(c), unfused: graph(unfused[i] as typeof c) }));
    const result = await this.submit({ kind: "verify", pairs });
    if (result.kind !== "verify") throw new Error("the worker answered another question");
    return fused.map((c, i) => ({ name: c.graph.name, kind: c.graph.kind, outputs: result.pairs[i]?.outputs ?? [] }));
  }

  private async submit(job: Job): Promise<JobResult> {
    return (await this.workers.submit(job, { fresh: true })).result;
  }

  private compile(path: string, preset: PresetName): Program {
    const key = `${preset} ${path}`;
    if (this.last?.key !== key) this.last = { key, program: compileFile(path, options(preset)) };
    return this.last.program;
  }
}

const options = (preset: PresetName) => ({ ...defaultSessionOptions(), preset, wat: true, replay: true });
