// Fused kernels compute what their nodes compute one by one: random programs, compiled both ways, run on the CPU executor.
import type { PresetName } from "@fuselens/compiler";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor, type Pair } from "../worker/executor";
import { type FloatType, type RandomProgram, randomProgram } from "./random_program";

const run = cpuExecutor();

const GRAPHS = Number(process.env.FUSELENS_RANDOM_GRAPHS ?? 500);
const SEED = Number(process.env.FUSELENS_RANDOM_SEED ?? 20261);
const PER_JOB = 50;
/** absolute, or relative to the output's mean magnitude: halves round once more where they are not fused */
const TOLERANCE: Readonly<Record<FloatType, number>> = {
  float64: 1e-11,
  float32: 5e-4,
  float16: 5e-2,
  bfloat16: 3e-1,
};

interface Case {
  readonly program: RandomProgram;
  readonly pair: Pair;
}

function compiled(source: string, preset: PresetName, unfused: boolean): Pair["fused"] {
  const program = runSource("/random/model.py", source, { wat: true, unfused, preset });
  const [c] = program.compilations;
  const said = program.diagnostics.filter(d => d.severity === "error").map(d => `${d.span.line}: ${d.message}`);
  if (said.length || !c) throw new Error(`${said.join("\n") || "nothing was compiled"}\n${source}`);
  if (c.plan.blockers.length) throw new Error(`${c.plan.blockers.join("\n")}\n${source}`);
  return loadable(c);
}

/** what is wrong with the cases, in words, each with its program */
async function verify(cases: readonly Case[]): Promise<string[]> {
  const answer = await run({ kind: "verify", pairs: cases.map(c => c.pair) }).catch((e: unknown) =>
    e instanceof Error ? e : new Error(String(e)),
  );
  if (answer instanceof Error) {
    // one by one, so that the failure is told of its own program
    const [first] = cases;
    if (cases.length === 1) return [`${answer.message}\n${first?.program.source}`];
    const half = cases.length >> 1;
    return [...(await verify(cases.slice(0, half))), ...(await verify(cases.slice(half)))];
  }
  return answer.pairs.flatMap(({ outputs }, i) => {
    const program = cases[i]?.program;
    const tolerance = TOLERANCE[program?.coarsest ?? "float64"];
    const wrong = outputs.flatMap((o, k) => {
      const allowed = /^b?float/.test(o.dtype) ? tolerance : 0;
      return o.maxAbs <= allowed || o.maxRel <= allowed
        ? []
        : [`output ${k} (${o.dtype}) is off by ${o.maxAbs} (${o.maxRel})`];
    });
    return wrong.length ? [`${wrong.join("; ")}\n${program?.source}`] : [];
  });
}

describe("random programs", () => {
  const tapes = fc.sample(fc.array(fc.nat(1_000_000), { minLength: 160, maxLength: 160 }), {
    seed: SEED,
    numRuns: GRAPHS,
  });
  const programs = tapes.map(randomProgram);

  it.each(["torch-2.11", "fuselens"] as const)(
    `of ${GRAPHS} different graphs give the same values fused and unfused under preset %s`,
    async preset => {
      const wrong: string[] = [];
      for (let at = 0; at < programs.length; at += PER_JOB) {
        const cases: Case[] = [];
        for (const program of programs.slice(at, at + PER_JOB)) {
          try {
            const fused = compiled(program.source, preset, false);
            cases.push({ program, pair: { fused, unfused: compiled(program.source, preset, true) } });
          } catch (e) {
            wrong.push(e instanceof Error ? (e.stack ?? e.message) : String(e));
          }
        }
        if (cases.length) wrong.push(...(await verify(cases)));
      }
      expect(wrong.slice(0, 5).join("\n---\n"), `${wrong.length} programs`).toBe("");
    },
    600_000,
  );
});
