// fuselens.compare: one root under two configurations. {uri, root?, left?: {config, preset}, right?: {config, preset},
// config?}: `config` alone sets today's options against today's with these.
import { checkConfig, isPresetName } from "@fuselens/compiler/vocabulary";
import type { CancellationToken } from "vscode-languageserver/node";
import type { ThreadOptions } from "../../analysis/messages";
import { type Comparison, compare as compareSides } from "../../ide/comparison";
import { generatedCode } from "../../ide/generated";
import type { ServerContext } from "../context";
import { startProgress } from "../progress";
import { invalid, type ShownDocument, type Target, viewOf } from "./target";

export interface ComparedSide {
  readonly title: string;
  readonly kernels: number;
  readonly bytes: number;
  /** what the sides are compared by, line by line */
  readonly text: string;
  /** output code */
  readonly code: string;
}

export interface ShownComparison extends ShownDocument {
  readonly summary: string;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
}

interface Configuration {
  readonly title: string;
  readonly options: ThreadOptions;
}

export async function compare(ctx: ServerContext, target: Target, token: CancellationToken): Promise<ShownComparison> {
  const view = await viewOf(ctx, target);
  const left = configuration(ctx, target["left"]);
  const right = configuration(ctx, target["right"] ?? { config: target["config"] });
  const progress = await startProgress(ctx, "FuseLens", `comparing ${left.title} with ${right.title}`, token);
  try {
    const overlay = ctx.overlay();
    const side = async (c: Configuration) => {
      const request = { path: view.path, overlay, options: c.options };
      const { program, codes } = await ctx.side.run(request, { want: "program" }, progress.cancellation);
      const root = program.roots.find(r => r.name === target.root);
      return { title: c.title, program, root: root?.name, code: generatedCode(program, root, codes).text };
    };
    const a = await side(left);
    progress.report(50, right.title);
    const b = await side(right);
    const result: Comparison = compareSides(a, b);
    return {
      title: `compare_${target.root ?? "all"}.md`,
      language: "markdown",
      text: result.markdown,
      summary: result.summary,
      left: {
        title: a.title,
        kernels: result.left.kernels,
        bytes: result.left.bytes,
        text: result.left.text,
        code: a.code,
      },
      right: {
        title: b.title,
        kernels: result.right.kernels,
        bytes: result.right.bytes,
        text: result.right.text,
        code: b.code,
      },
    };
  } finally {
    progress.done();
  }
}

function configuration(ctx: ServerContext, value: unknown): Configuration {
  const base = ctx.threadOptions();
  if (value === undefined || value === null) return { title: `as configured (${base.preset})`, options: base };
  if (typeof value !== "object") throw invalid("a configuration is {config?: {NAME: VALUE}, preset?: NAME}");
  const { config, preset } = value as { config?: unknown; preset?: unknown };
  if (preset !== undefined && (typeof preset !== "string" || !isPresetName(preset)))
    throw invalid(`no preset ${JSON.stringify(preset)}`);
  if (config !== undefined && config !== null && typeof config !== "object")
    throw invalid("config is an object of torch._inductor.config names");
  const changes = Object.entries((config ?? {}) as Record<string, unknown>);
  for (const [name, value] of changes) {
    const problem = checkConfig(name, value);
    if (problem) throw invalid(problem.text);
  }
  const title = [
    ...(preset === undefined ? [] : [String(preset)]),
    ...changes.map(([k, v]) => `${k}=${String(v)}`),
  ].join(", ");
  const options = ctx.threadOptions({
    ...(typeof preset === "string" && isPresetName(preset) ? { preset } : {}),
    config: [...new Map([...base.config, ...changes])],
  });
  return { title: title || `as configured (${base.preset})`, options };
}
