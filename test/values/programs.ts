// What `fuselens values` computes, many programs in one process over one worker. In: a file, a preset. Out: its values, or
// the largest errors of its fused kernels against the unfused ones, or in words why there are none.
import { defaultSessionOptions, type PresetName, type Program } from "@fuselens/compiler";
import type { Job, JobResult } from "@fuselens/gpu-worker/protocol";
import { compileFile } from "../../server/src/compile";
import { WorkerPool } from "../../server/src/worker/pool";
import { loadable, type ValuesReport, valuesJob, valuesReport } from "../../server/src/worker/values";

export { agrees } from "../../server/src/worker/agreement";

type Pair = Extract<Job, { kind: "verify" }>["pairs"][number];
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

  /**
   * Fused against unfused under each preset, in one job. Presets that make the same kernels share one comparison, and
   * those whose unfused kernels are the same share their results.
   */
  async verify(path: string, presets: readonly PresetName[]): Promise<readonly (readonly VerifiedGraph[])[]> {
    const compiled = presets.map(preset => {
      const fused = this.compile(path, preset).compilations;
      const unfused = compileFile(path, { ...options(preset), unfused: true }).compilations;
      const blocker = [...fused, ...unfused].flatMap(c => c.plan.blockers)[0];
      if (blocker !== undefined) throw new Error(`${preset}: ${blocker}`);
      if (fused.length !== unfused.length)
        throw new Error(`${preset}: the unfused program has another number of graphs`);
      return fused.map((c, i) => ({
        graph: c.graph,
        pair: { fused: loadable(c), unfused: loadable(unfused[i] ?? c) },
      }));
    });
    const places = new Map<string, number>();
    const pairs: Pair[] = [];
    const place = (pair: Pair): number => {
      const key = JSON.stringify(pair);
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, pairs.length);
      return pairs.push(pair) - 1;
    };
    // graph by graph: pairs that share an unfused plan stand next to each other
    const most = Math.max(0, ...compiled.map(graphs => graphs.length));
    for (let g = 0; g < most; g++)
      for (const graphs of compiled) for (const { pair } of graphs.slice(g, g + 1)) place(pair);
    if (pairs.length === 0) return compiled.map(() => []);
    const result = await this.submit({ kind: "verify", pairs });
    if (result.kind !== "verify") throw new Error("the worker answered another question");
    return compiled.map(graphs =>
      graphs.map(({ graph, pair }) => ({
        name: graph.name,
        kind: graph.kind,
        outputs: result.pairs[place(pair)]?.outputs ?? [],
      })),
    );
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
