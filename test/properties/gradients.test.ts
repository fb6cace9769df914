// Gradients of every operator that has a derivative, against central differences in float64, on the CPU executor.
// Snippets come from test/recorded and from gradient_snippets.ts; shapes, strides and broadcasting are drawn anew.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "@fuselens/compiler";
import { allRecords } from "@fuselens/compiler/aten/registry";
import type { Derivative, OpRecord } from "@fuselens/compiler/aten/types";
import type { ValueRow, ValueStep } from "@fuselens/gpu-worker/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordedOperators } from "../../compiler/src/aten/testing/recorded_operators";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";
import {
  type GradientCheck,
  type GradientProgram,
  gradientCheck,
  gradientProgram,
  judged,
  type Snippet,
  unsuited,
} from "./gradient_case";
import { ownSnippets } from "./gradient_snippets";

const run = cpuExecutor();

const SEED = 411;
const PER_JOB = 40;
/** FUSELENS_GRADIENTS=FILE: every snippet is checked, and what was found is written there, to look at */
const everything = process.env.FUSELENS_GRADIENTS;
/** FUSELENS_GRADIENTS_ONLY=TEXT: snippets that hold this text, ours among them */
const only = process.env.FUSELENS_GRADIENTS_ONLY;
/** operators whose gradient is not checked, `NAME: reason` a line; a line may only go */
const UNCOVERED = join(__dirname, "gradients_uncovered.txt");

/** the operators whose derivative formula was evaluated since it was last emptied */
const evaluated = new Set<string>();
const differentiable = allRecords().filter(r => r.derivative !== undefined && r.derivative.kind !== "none");

function watch(record: OpRecord): void {
  const { derivative } = record;
  if (derivative === undefined || derivative.kind === "none") return;
  let watched: Derivative;
  if (derivative.kind === "joint") {
    const { grads } = derivative;
    watched = {
      ...derivative,
      grads: (b, c) => {
        evaluated.add(record.name);
        return grads(b, c);
      },
    };
  } else {
    const grads = Object.entries(derivative.grads).map(([name, f]): [string, typeof f] => [
      name,
      (b, c) => {
        evaluated.add(record.name);
        return f(b, c);
      },
    ]);
    watched = { ...derivative, grads: Object.fromEntries(grads) };
  }
  Object.assign(record, { derivative: watched });
}

interface Case {
  readonly snippet: Snippet;
  readonly made: GradientProgram;
  readonly program: Program;
  readonly operators: ReadonlySet<string>;
}

function compiled(snippet: Snippet, drawn: number): Case | string {
  let said = "";
  for (const plain of [false, true]) {
    const made = gradientProgram(snippet, drawn, plain);
    evaluated.clear();
    const program = runSource("/gradients/model.py", made.source, { wat: true, replay: true, preset: "torch-2.11" });
    const error = program.diagnostics.find(d => d.severity === "error")?.message ?? program.values.blocker;
    if (!error) return { snippet, made, program, operators: new Set(evaluated) };
    said = error;
  }
  return said;
}

type Outcome = { readonly case: Case; readonly problem: string; readonly finite: number };

async function checked(cases: readonly Case[]): Promise<Outcome[]> {
  const graphs: ReturnType<typeof loadable>[] = [];
  const steps: ValueStep[] = [];
  const checks: (GradientCheck | string)[] = [];
  for (const [i, c] of cases.entries()) {
    const check = gradientCheck(c.program, c.made, String(i), { ids: i * 4_000_000_000, graphs: graphs.length });
    checks.push(check);
    if (typeof check === "string") continue;
    for (const g of c.program.values.graphs) graphs.push(loadable(g));
    steps.push(...check.steps);
  }
  let rows = new Map<string, ValueRow>();
  if (steps.length) {
    const answer = await run({ kind: "values", graphs, steps }).catch((e: unknown) =>
      e instanceof Error ? e : new Error(String(e)),
    );
    if (answer instanceof Error) {
      const [only] = cases;
      if (cases.length === 1 && only) return [{ case: only, problem: `cannot run: ${answer.message}`, finite: 0 }];
      const half = cases.length >> 1;
      return [...(await checked(cases.slice(0, half))), ...(await checked(cases.slice(half)))];
    }
    rows = new Map(answer.rows.map(r => [r.slot, r.row]));
  }
  return cases.map((c, i) => {
    const check = checks[i];
    if (check === undefined || typeof check === "string") return { case: c, problem: `not run: ${check}`, finite: 0 };
    const { finite, wrong } = judged(check, c.made, rows);
    const problem = wrong.length ? `wrong: ${wrong.join("; ")}` : finite === 0 ? "nowhere finite" : "";
    return { case: c, problem, finite };
  });
}

describe("gradients", () => {
  it("are what central differences say", async () => {
    for (const r of differentiable) watch(r);
    const seen = new Set<string>();
    const called = new Set<string>();
    // half types are checked as float64 too: one snippet of each kind is enough
    const recorded = recordedOperators("static").flatMap((r): Snippet[] => {
      const s = { code: r.code, inputs: r.inputs.replace(/:[hb]\[/g, ":f[") };
      const key = `${s.code} | ${s.inputs}`;
      if (r.joint === undefined || unsuited(s) || seen.has(key)) return [];
      seen.add(key);
      // one snippet for each function or operator that no earlier one calls, unless all are wanted
      const calls = s.code.match(/[\w.]+(?=\()|[-+*/@%<>~&|^]+|\[/g) ?? [s.code];
      const fresh = calls.filter(name => !called.has(name));
      for (const name of fresh) called.add(name);
      return fresh.length || everything !== undefined ? [s] : [];
    });
    const snippets = [...(only === "own" ? [] : recorded), ...ownSnippets(allRecords())].filter(
      s => only === undefined || only === "own" || s.code.includes(only),
    );
    const drawn = fc.sample(fc.nat(2 ** 31), { seed: SEED, numRuns: snippets.length });
    const report: string[] = [];
    const cases: Case[] = [];
    for (const [i, s] of snippets.entries()) {
      let c: Case | string;
      try {
        c = compiled(s, drawn[i] ?? 0);
      } catch (e) {
        c = e instanceof Error ? (e.stack ?? e.message) : String(e);
      }
      if (typeof c === "string") {
        report.push(`not compiled: ${s.code} | ${s.inputs}: ${c}`);
        continue;
      }
      cases.push(c);
    }
    const covered = new Set<string>();
    const wrong: string[] = [];
    for (let at = 0; at < cases.length; at += PER_JOB) {
      for (const o of await checked(cases.slice(at, at + PER_JOB))) {
        const title = `${o.case.snippet.code.replace(/\n/g, "; ")} | ${o.case.snippet.inputs}`;
        if (o.problem) report.push(`${title}: ${o.problem} [${[...o.case.operators].join(" ")}]`);
        if (o.problem.startsWith("wrong")) wrong.push(`${title}: ${o.problem}\n${o.case.made.source}`);
        if (!o.problem) for (const name of o.case.operators) covered.add(name);
      }
    }
    const missing = differentiable.map(r => r.name).filter(n => !covered.has(n));
    if (everything !== undefined)
      writeFileSync(
        everything,
        [...report, "", `${covered.size} of ${differentiable.length}`, ...missing, ""].join("\n"),
      );
    const known = new Set(
      readFileSync(UNCOVERED, "utf8")
        .split("\n")
        .filter(l => l && !l.startsWith("#"))
        .map(l => l.split(":")[0] ?? ""),
    );
    expect(wrong.slice(0, 5).join("\n---\n"), `${wrong.length} snippets`).toBe("");
    expect(missing.filter(n => !known.has(n))).toEqual([]);
    expect(
      [...known].filter(n => covered.has(n)),
      "covered by now: take the lines out",
    ).toEqual([]);
  }, 900_000);
});
