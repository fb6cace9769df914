// One file compiled cold, then warm, in a process of its own. In: argv: a Python file, how often warm, and maybe a JSON file of
// texts that edits make of it, lists by kind. Out: one JSON line: milliseconds as CPU time of this process (other load on the
// machine does not count), stage by stage, nodes, memory; by kind of edit the wall time in a session that knows the text
// before.
import { readFileSync } from "node:fs";
import { defaultSessionOptions, type Program, Session } from "../../../compiler/src";
import { type Stage, withStages } from "../../../compiler/src/stages";
import { tuneFor } from "../../../server/src/start/tuning";

const [path = "", repeats = "3", editsPath] = process.argv.slice(2);
const text = readFileSync(path, "utf8");

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

interface Measured {
  readonly wall: number;
  readonly cpu: number;
  readonly stages: Record<string, number>;
  readonly program: Program;
}

/** a session of its own each time, as an editor without anything remembered would compile */
function compile(): Measured {
  const session = new Session(() => undefined, { ...defaultSessionOptions(), artifacts: new Set() });
  session.update("/model.py", text);
  const stages: Record<string, number> = {};
  const [began, beganCpu] = [performance.now(), cpuMs()];
  let [stage, since] = ["capture" as Stage, beganCpu];
  const enter = (next: Stage): void => {
    const now = cpuMs();
    stages[stage] = (stages[stage] ?? 0) + now - since;
    [stage, since] = [next, now];
  };
  const program = withStages(enter, () => session.run("/model.py"));
  enter("capture");
  return { wall: performance.now() - began, cpu: cpuMs() - beganCpu, stages, program };
}

/** bytes that the language server's sessions may remember */
const MEMORY = 64 * 2 ** 20;

/** edits of each kind that are not counted, as in the language server's benchmark */
const UNCOUNTED = 5;

/** milliseconds per edit, one after another in one session */
function edited(edits: Readonly<Record<string, readonly string[]>>): Record<string, number> {
  const session = new Session(() => undefined, { ...defaultSessionOptions(), artifacts: new Set(), memory: MEMORY });
  const run = (source: string): number => {
    const began = performance.now();
    session.update("/model.py", source);
    session.run("/model.py");
    return performance.now() - began;
  };
  run(text);
  return Object.fromEntries(
    Object.entries(edits).map(([kind, texts]) => [kind, round(median(texts.map(run).slice(UNCOUNTED)))] as const),
  );
}

const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)] ?? 0;
const round = (x: number): number => Math.round(x * 10) / 10;

// V8 is told what the language server tells it
tuneFor("first");
const cold = compile();
tuneFor("lasting");
const warm = Array.from({ length: Number(repeats) }, compile);
const edits = editsPath === undefined ? {} : edited(JSON.parse(readFileSync(editsPath, "utf8")));
const graphs = cold.program.compilations.map(c => c.graph);
const names = Object.keys(cold.stages);
process.stdout.write(
  `${JSON.stringify({
    aten_nodes: graphs.reduce((n, g) => n + g.aten.length, 0),
    kernels: graphs.reduce((n, g) => n + g.kernels.length, 0),
    cold_ms: round(cold.cpu),
    cold_wall_ms: round(cold.wall),
    warm_ms: round(median(warm.map(w => w.cpu))),
    warm_wall_ms: round(median(warm.map(w => w.wall))),
    stages_ms: Object.fromEntries(names.map(s => [s, round(median(warm.map(w => w.stages[s] ?? 0)))])),
    ...(editsPath === undefined ? {} : { edit_wall_ms: edits }),
    peak_mb: Math.round(process.resourceUsage().maxRSS / 1024),
  })}\n`,
);
