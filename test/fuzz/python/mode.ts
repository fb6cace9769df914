// Fuzzing the compiler: programs from a grammar, real ones made wrong, and texts of extreme size or shape. Each is
// compiled by a fresh Session and, now and then, as an edit of another text, which must give the same answer.

import { signatureOf } from "../findings";
import { minimiseText } from "../minimise";
import type { Context, Counts } from "../mode";
import { Random } from "../random";
import type { CompileJob } from "./compile_child";
import { CompilerProcess, OBEY_MS, type Verdict } from "./compiler_process";
import { program, type Vocabulary } from "./grammar";
import { EXTREMES, mutate } from "./mutate";

/** MB that the heap may hold more than after the first collections */
const GROWTH_MB = 200;
const PRESETS = ["nightly-2026-11", "torch-2.11", "fuselens"] as const;

export async function fuzzPython(context: Context, vocabulary: Vocabulary): Promise<Counts> {
  const compiler = new CompilerProcess(context.compileChild);
  const counts = { cases: 0, grammar: 0, mutated: 0, extreme: 0, edits: 0, graphs: 0, stoppedAt2s: 0, slowestMs: 0, heapMb: 0 }; // biome-ignore format: counters
  let baseline = 0;
  try {
    for (let i = context.firstCase; context.more(); i++) {
      const r = new Random(context.seed).fork(i);
      const job = makeCase(r, i, context, vocabulary, counts);
      const verdict = await compiler.run(job);
      counts.cases += 1;
      for (const { kind, detail } of faultsOf(verdict)) {
        const signature = signatureOf(detail);
        if (context.findings.known(kind, signature)) continue;
        const fails = async (text: string): Promise<boolean> =>
          faultsOf(await compiler.run({ ...job, text })).some(
            f => f.kind === kind && signatureOf(f.detail) === signature,
          );
        const input = kind === "hang" ? job.text : await minimiseText(job.text, fails, context.trials);
        context.findings.add({ mode: "python", kind, signature, detail, seed: context.seed, case: i, input });
      }
      if (verdict.kind !== "answer") continue;
      const { answer } = verdict;
      counts.graphs += answer.graphs;
      counts.slowestMs = Math.max(counts.slowestMs, Math.round(answer.cpuMs));
      if (verdict.asked) counts.stoppedAt2s += 1;
      context.slow(answer.cpuMs, job.text);
      if (answer.heapMb > 0) {
        counts.heapMb = Math.round(answer.heapMb);
        if (counts.cases < 200 || baseline === 0) baseline = Math.max(baseline, answer.heapMb);
        else if (answer.heapMb > baseline + GROWTH_MB && !context.findings.known("growth", "heap")) {
          const detail = `the heap holds ${Math.round(answer.heapMb)} MB after ${counts.cases} programs, ${Math.round(baseline)} MB at first`;
          context.findings.add({ mode: "python", kind: "growth", signature: "heap", detail, seed: context.seed, case: i, input: job.text }); // biome-ignore format: one record
        }
      }
    }
  } finally {
    compiler.end();
  }
  return counts;
}

function makeCase(
  r: Random,
  index: number,
  context: Context,
  vocabulary: Vocabulary,
  counts: { grammar: number; mutated: number; extreme: number; edits: number },
): Omit<CompileJob, "id"> {
  const base = { path: "/fuzz/model.py", wat: r.chance(0.25), wantCode: false, preset: r.pick(PRESETS) };
  const extreme = index % 40 === 39 ? EXTREMES[Math.floor(index / 40) % EXTREMES.length] : undefined;
  if (extreme) {
    counts.extreme += 1;
    return { ...base, text: extreme[1](), wat: false };
  }
  if (r.chance(0.6)) {
    counts.grammar += 1;
    const text = program(r, vocabulary);
    return { ...base, text: r.chance(0.1) ? mutate(text, r, context.corpus) : text };
  }
  counts.mutated += 1;
  const before = r.pick(context.corpus);
  const text = mutate(before, r, context.corpus);
  if (!r.chance(0.2)) return { ...base, text };
  counts.edits += 1;
  return { ...base, text, before };
}

export function faultsOf(v: Verdict): { kind: string; detail: string }[] {
  switch (v.kind) {
    case "crash":
    case "hang":
      return [{ kind: v.kind, detail: v.detail }];
    case "answer":
      return [
        ...v.answer.wrong,
        ...(v.asked && v.obeyedMs > OBEY_MS
          ? [{ kind: "hang", detail: `asked to stop, it went on for ${Math.round(v.obeyedMs)} ms of CPU time` }]
          : []),
      ];
    default: {
      const never: never = v;
      return never;
    }
  }
}
